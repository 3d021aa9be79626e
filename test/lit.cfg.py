# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How lit runs the tests of this folder.
#
# Features a test can ask for with REQUIRES:
#   slow         --param slow=1, as check-cutback-slow passes it
#   shared-data  the golden data (see docs/Testing.md) is at $CUTBACK_SHARED or
#                in ../shared beside the checkout; %golden is where it lies
#                unpacked
#   benchmarks   the programs of benchmarks/ are built
#   asan         our code is compiled with sanitizers
#   shared-library  libcutback.so is built; %shared_library is its path
#   pkg-config   pkg-config is there
#   torch        PyTorch is in build/torch (tools/dev/bootstrap --with-torch),
#                or $CUTBACK_TORCH_PYTHON is a Python that has it;
#                %torch_python is that Python
#   nvcc         NVIDIA's compiler is in build/cuda (tools/dev/bootstrap
#                --with-cuda); %cuda_home is its folder
#   highs        HiGHS is in build/highs (tools/dev/bootstrap --with-highs)
#   browser      Chromium is there (tools/dev/bootstrap --with-browser)
# Heavy suites run a part of theirs: %share/N is K/N, with a K from 0 on that is
# another one with every third commit; .ci/run has a third of the slow tests at a
# commit, and a test among them so sees one part after the other. CUTBACK_SHARE is
# K in place of that number.
# Further substitutions: %source, %corpus, %python, %tooldir, %build, %plugin,
# %standin (the folder of a libcuda.so.1 that needs no GPU), %cxx, %mlir_prefix,
# %llvm_tools.

import glob
import os
import shutil
import subprocess
import sys
import tarfile

import lit.formats

if not hasattr(config, "cutback_binary_dir"):
    lit_config.fatal("give lit the folder in the build: build/release/test/...")

config.name = "Cutback"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["corpus", "unit", "Inputs"]
config.test_source_root = os.path.dirname(__file__)

tool_dir = os.path.join(config.cutback_binary_dir, "bin")
config.environment["PATH"] = os.pathsep.join(
    [tool_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["LLVM_SYMBOLIZER_PATH"] = os.path.join(
    config.llvm_tools_dir, "llvm-symbolizer"
)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

corpus = os.path.join(config.test_source_root, "corpus")
config.substitutions += [
    ("%source", config.cutback_source_dir),
    ("%corpus", corpus),
    ("%python", sys.executable),
    ("%llvm_tools", config.llvm_tools_dir),
    ("%shared_library", config.cutback_shared_library),
    ("%tooldir", os.path.join(config.cutback_source_dir, "tools", "dev")),
    ("%build", config.cutback_binary_dir),
    ("%standin", os.path.join(config.cutback_binary_dir, "test", "standin")),
    ("%plugin", os.path.join(config.cutback_binary_dir, "lib",
                             "CutbackPlugin.so")),
    ("%cxx", config.cxx_compiler),
    ("%mlir_prefix", config.mlir_prefix),
]



def turn():
    """A third of the number of commits; 0 outside of a checkout."""
    if "CUTBACK_SHARE" in os.environ:
        return int(os.environ["CUTBACK_SHARE"])
    counted = subprocess.run(
        ["git", "-C", config.cutback_source_dir, "rev-list", "--count", "HEAD"],
        capture_output=True, text=True)
    return int(counted.stdout or 0) // 3 if counted.returncode == 0 else 0


number = turn()
config.substitutions += [
    (r"%%share/%d\b" % parts, "%d/%d" % (number % parts, parts))
    for parts in range(2, 41)
]

slow = lit_config.params.get("slow", "0") not in ("0", "")
if slow:
    config.available_features.add("slow")
if config.cutback_sanitize == "ON":
    config.available_features.add("asan")
if config.cutback_benchmarks == "ON":
    config.available_features.add("benchmarks")
if config.cutback_shared_library:
    config.available_features.add("shared-library")
if shutil.which("pkg-config"):
    config.available_features.add("pkg-config")

torch_python = os.environ.get("CUTBACK_TORCH_PYTHON") or os.path.join(
    config.cutback_source_dir, "build", "torch", "bin", "python"
)
torch_lib = os.path.join(os.path.dirname(os.path.dirname(torch_python)), "lib")
if glob.glob(torch_lib + "/python3*/site-packages/torch/version.py"):
    config.available_features.add("torch")
else:
    lit_config.note(
        "no PyTorch beside '%s': tests inside PyTorch are skipped"
        " (tools/dev/bootstrap --with-torch)" % torch_python
    )
config.substitutions.append(("%torch_python", torch_python))
cuda_home = os.path.join(config.cutback_source_dir, "build", "cuda", "toolkit")
if os.path.exists(os.path.join(cuda_home, "bin", "cuobjdump")):
    config.available_features.add("nvcc")
else:
    lit_config.note("no CUDA compiler in build/cuda: tests of machine code for"
                    " GPUs are skipped (tools/dev/bootstrap --with-cuda)")
config.substitutions.append(("%cuda_home", cuda_home))
highs_python = os.path.join(config.cutback_source_dir, "build", "highs", "bin",
                            "python")
if os.path.exists(highs_python):
    config.available_features.add("highs")
else:
    lit_config.note("no HiGHS in build/highs: the test of exact plans is skipped"
                    " (tools/dev/bootstrap --with-highs)")
if any(shutil.which(name)
       for name in ("chromium", "chromium-browser", "google-chrome")):
    config.available_features.add("browser")
else:
    lit_config.note("no Chromium: tests that look at pages are skipped"
                    " (tools/dev/bootstrap --with-browser)")
# Ranks as processes, by each MPI that there is a library for.
mpirun = {"openmpi": "env OMPI_ALLOW_RUN_AS_ROOT=1"
                     " OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
                     " mpirun.openmpi --oversubscribe",
          "mpich": "mpirun.mpich"}
for name, command in mpirun.items():
    library = os.path.join(config.cutback_binary_dir, "lib",
                           "libcutback-mpi-%s.so" % name)
    if os.path.exists(library) and shutil.which("mpirun." + name):
        config.available_features.add(name)
    else:
        lit_config.note("no %s: its tests are skipped"
                        " (tools/dev/bootstrap --with-mpi)" % name)
    config.substitutions.append(("%mpirun_" + name, command))


def archives_of(shared):
    """The archives that tests read, with the folder each is unpacked into."""
    found = []
    for archive in ("small", "plan", "bench", "partition", "train"):
        path = os.path.join(shared, "golden", archive + ".tar.xz")
        found.append((path, "."))
    path = os.path.join(shared, "corpus", "torch23-joint16.tar.xz")
    found.append((path, "corpus"))
    return found if all(os.path.exists(path) for path, _ in found) else []


def unpack(archives, target):
    """Unpacks graphs and references, weights of small models and trainings
    alone; once,
    told by a stamp."""
    stamp = os.path.join(target, "unpacked-with-programs")
    newest = max(os.path.getmtime(path) for path, _ in archives)
    if os.path.exists(stamp) and os.path.getmtime(stamp) >= newest:
        return
    wanted = (".txt", ".json", ".log", ".py")
    weights = ("/model.pt2", "/joint.pt2", "/expected.safetensors")
    for path, folder in archives:
        with tarfile.open(path) as archive:
            for member in archive:
                ends = wanted
                if member.name.startswith("train/"):
                    ends += ("/batches.safetensors", "/final.safetensors")
                if member.name.startswith("small/"):
                    ends += weights
                plain = member.isfile() and member.name.endswith(ends)
                if plain and ".." not in member.name.split("/"):
                    member.mode = 0o644
                    archive.extract(member, os.path.join(target, folder))
    with open(stamp, "w"):
        pass


shared = os.environ.get("CUTBACK_SHARED") or os.path.join(
    os.path.dirname(config.cutback_source_dir), "shared"
)
golden = os.path.join(config.cutback_binary_dir, "golden")
archives = archives_of(shared)
if not archives:
    lit_config.note(
        "no golden data at '%s': tests that need it are skipped"
        " (set CUTBACK_SHARED)" % shared
    )
elif slow:
    unpack(archives, golden)
    config.available_features.add("shared-data")
config.substitutions.append(("%golden", golden))
