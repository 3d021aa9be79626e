# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `cutback report` says eager PyTorch keeps, against hooks.

RECORDED holds the bytes of the distinct storages that
torch.autograd.graph.saved_tensors_hooks saw in one forward of each golden model in
PyTorch 2.13 on a CPU, without those of parameters, buffers and inputs. Inputs with a
gradient in the golden data took one.

    eager-bytes.py CUTBACK FOLDER            compare
    eager-bytes.py --record FOLDER           count anew, with PyTorch
"""
import json
import os
import subprocess
import sys

RECORDED = {
    "autocast_bf16": 570116,
    "batchnorm_eval": 1229988,
    "bert_hf": 260740,
    "convnext": 419140,
    "dlrm": 5728,
    "double_use": 16956,
    "dynamic_llama": 836260,
    "gpt2": 594692,
    "gpt2_eager_attention": 660228,
    "gpt2_pipe": 1123076,
    "linear_regression_inputs": 160,
    "llama": 558532,
    "llama_hf": 343940,
    "lstm": 41860,
    "mamba": 389156,
    "mlp": 25600,
    "moe": 149348,
    "multi_output": 1280,
    "resnet": 1232676,
    "t5_hf": 629780,
    "two_losses": 8800,
    "unet": 2189056,
    "unused_parameter": 1280,
    "vit": 596944,
}


def hooked(folder):
    """The bytes that hooks see of a model."""
    import torch
    import torch.distributed.pipelining  # pylint: disable=unused-import
    from safetensors.torch import load_file
    model = torch.export.load(os.path.join(folder, "model.pt2")).module()
    expected = load_file(os.path.join(folder, "expected.safetensors"))
    inputs = []
    while "input.%d" % len(inputs) in expected:
        value = expected["input.%d" % len(inputs)]
        if value.is_floating_point():
            value.requires_grad_("grad.input.%d" % len(inputs) in expected)
        inputs.append(value)
    given = {each.untyped_storage().data_ptr() for each in
             [*model.parameters(), *model.buffers(), *inputs]}
    seen, kept = {}, []

    def pack(tensor):
        kept.append(tensor)
        storage = tensor.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(*inputs)
    return sum(size for place, size in seen.items() if place not in given)


def ours(cutback, folder):
    """The bytes that a report says."""
    text = subprocess.run([cutback, "report", os.path.join(folder, "model.pt2"),
                           "--json"], capture_output=True, text=True, check=True)
    return json.loads(text.stdout)["eager_pytorch"]["saved_bytes"]


def main():
    """Prints each model that is off."""
    program, root = sys.argv[1:]
    off = 0
    for name, recorded in RECORDED.items():
        folder = os.path.join(root, name)
        if program == "--record":
            print('    "%s": %d,' % (name, hooked(folder)))
            continue
        counted = ours(program, folder)
        if counted != recorded:
            off += 1
            print("%s: %d bytes, hooks count %d" % (name, counted, recorded))
    print("%d models, %d off" % (len(RECORDED), off))


if __name__ == "__main__":
    main()
