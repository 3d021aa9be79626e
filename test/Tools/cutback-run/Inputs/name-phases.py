# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code for the stand-in of a driver: gives each phase of a pipeline of
--target=cuda, which was split without nvcc, images that are the name of its
folder, and signs manifests and pipeline.json again.

  name-phases.py TOOLS P
"""
import json
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
from artifacts.manifest import name_again, sign

pipeline = pathlib.Path(sys.argv[2]) / "pipeline.json"
text = pipeline.read_text()
for stage in json.loads(text)["stages"]:
    for phase in stage["phases"] + stage.get("smaller", {}).get("phases", []):
        folder = pipeline.parent / phase["folder"]
        manifest = json.loads((folder / "manifest.json").read_text())
        images = [segment["name"] + ".fatbin"
                  for segment in manifest["segments"]]
        for image in images:
            (folder / image).write_text(phase["folder"])
        name_again(folder, images)
        manifest = json.loads((folder / "manifest.json").read_text())
        text = text.replace(phase["checksum"], manifest["checksum"])
pipeline.write_text(sign(text))
