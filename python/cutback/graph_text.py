# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A joint graph of PyTorch as text that Cutback reads, with what the text does
not say: the sizes that symbols have, the device, long-lived arguments.

Tags of checkpointing are in the text, as PyTorch prints them beside the nodes.
"""

import contextlib
import re

import torch

_PLAIN = re.compile(r"\bPlainAOTInput\(idx=(\d+)\)")
_RETURN = re.compile(r"^ *return (pytree\.tree_unflatten\()?\[$", re.M)
# "['fc']" and the like, on a path such as G['m']._modules['fc']
_STEPS = re.compile(r"\['([^']+)'\]")

# The same in the paths of modules: "L['fn'].blocks._modules['0']".
_ROOT = re.compile(r"^[A-Z]\['[^']+'\]\.?")
_CHILD = re.compile(r"\._modules\['([^']+)'\]")

# Words in the names of GPUs, and the descriptions that Cutback has.
_DEVICES = (("H200", "h200"), ("H100", "h100"), ("A100", "a100"), ("L4", "l4"),
            ("4090", "rtx4090"))


def roles_of(graph, inputs, model):
    """What the placeholders of Dynamo's graph are of `model`, by position, as
    the comments of joint graphs say it: {3: "ParamAOTInput(target='fc.weight')"}.

    A parameter or buffer is known by itself, where the model is a module, or
    else by the path that Dynamo found it on: "m.fc.weight" for a global `m`.
    """
    own = {}
    if isinstance(model, torch.nn.Module):
        for named in (model.named_parameters, model.named_buffers):
            for name, tensor in named():
                own.setdefault(id(tensor), name)
    roles, taken = {}, set()
    for place, (node, value) in enumerate(
            zip(graph.find_nodes(op="placeholder"), inputs)):
        source = getattr(getattr(node, "_dynamo_source", None), "name", "")
        path = str(source() if callable(source) else source)
        name = own.get(id(value)) or ".".join(_STEPS.findall(path))
        is_parameter = isinstance(value, torch.nn.Parameter)
        is_buffer = id(value) in own or "._buffers[" in path
        if name and name not in taken and (is_parameter or is_buffer):
            taken.add(name)
            roles[place] = "%sAOTInput(target=%r)" % (
                "Param" if is_parameter else "Buffer", name)
    return roles


@contextlib.contextmanager
def _places_of_modules(module):
    """What stands in no line of the user's, because it is all inside of
    torch.nn, has the module that it belongs to for its place."""
    placed = []
    try:
        for node in module.graph.nodes:
            stack = (node.meta.get("nn_module_stack")
                     or node.meta.get("fwd_nn_module_stack"))
            if node.stack_trace or not stack:
                continue
            path, kind = list(stack.values())[-1]
            path = _ROOT.sub("", _CHILD.sub(r".\1", str(path)))
            node.stack_trace = 'File "<module %s>", line 1, in %s\nforward' % (
                path or "of the model", getattr(kind, "__name__", kind))
            placed.append(node)
        yield
    finally:
        for node in placed:
            del node.meta["stack_trace"]


def text_of(module, num_fwd_outputs, roles=None):
    """The text of a joint GraphModule; values are called as its nodes.

    `roles` from `roles_of`: joint graphs of torch.compile say of all arguments
    that they are plain inputs.

    A title as in PyTorch's logs says that the graph is a joint one where its
    comments do not: nested graphs have none, those of tensor subclasses others.
    """
    with _places_of_modules(module):
        text = module.print_readable(
            print_output=False, include_stride=True, include_device=True,
            expanded_def=True)
    text = _with_writes(text, module.graph, num_fwd_outputs)
    if roles:
        text = _PLAIN.sub(lambda match: roles.get(int(match[1]), match[0]),
                          text)
    if "# PlainAOTOutput(" in text and "# GradAOTOutput(" in text:
        return text
    return "===== Joint graph 0 =====\n" + text


def _with_writes(text, graph, num_fwd_outputs):
    """With the writes into arguments that AOTAutograd does behind the forward:
    the graph has only results for them. The backward must not read such an
    argument, and autograd refuses it as a saved tensor."""
    arguments = {str(node.meta.get("desc")): node
                 for node in graph.find_nodes(op="placeholder")}
    output = graph.output_node()
    lines = []
    for result, description in zip(output.args[0][:num_fwd_outputs],
                                   output.meta.get("desc") or ()):
        argument = arguments.get(_written(description))
        if argument and _have_one_shape(argument, result):
            lines.append("        cutback_write_%d = torch.ops.aten.copy_"
                         ".default(%s, %s)\n" % (len(lines), argument, result))
    return _RETURN.sub("".join(lines) + r"\g<0>", text, count=1)


def _written(description):
    """The description of the argument that a result is written into, or None;
    of tensor subclasses a part into a part."""
    name = type(description).__name__
    if name == "InputMutationAOTOutput":
        return str(description.mutated_input)
    if name == "SubclassGetAttrAOTOutput":
        base = _written(description.base)
        return base and "SubclassGetAttrAOTInput(base=%s, attr=%r)" % (
            base, description.attr)
    return None


def _have_one_shape(*nodes):
    values = [getattr(node, "meta", {}).get("val") for node in nodes]
    return all(isinstance(value, torch.Tensor) and
               value.shape == values[0].shape for value in values)


def _leaves(value):
    if isinstance(value, (tuple, list)):
        for element in value:
            yield from _leaves(element)
    else:
        yield value


def symbol_sizes(graph):
    """The sizes that the symbols of a graph had when it was traced, as
    options: ["--sym=s0=24"]."""
    sizes = {}
    for node in graph.nodes:
        for value in _leaves(node.meta.get("val")):
            numbers = [value]
            if isinstance(value, torch.Tensor):
                numbers = value.shape
            for number in numbers:
                if not isinstance(number, torch.SymInt):
                    continue
                symbol = number.node.expr
                if symbol.is_Symbol and str(symbol) not in sizes:
                    sizes[str(symbol)] = number.node.hint
    return ["--sym=%s=%d" % (name, size)
            for name, size in sorted(sizes.items()) if size is not None]


def is_random(node):
    """Whether a second run of a node would give other numbers. Attention
    without dropout draws none."""
    if torch.Tag.nondeterministic_seeded not in \
       getattr(node.target, "tags", ()):
        return False
    for place, argument in enumerate(node.target._schema.arguments):
        if argument.name == "dropout_p":
            named = node.kwargs.get("dropout_p", argument.default_value)
            return (*node.args[place:], named)[0] != 0
    return True


def device_of(graph):
    """The description of the device that most arguments are on, or None."""
    counts = {}
    for node in graph.find_nodes(op="placeholder"):
        for value in _leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor):
                counts[value.device] = counts.get(value.device, 0) + 1
    if not counts:
        return None
    device = max(counts, key=counts.get)
    if device.type == "cpu":
        return "cpu"
    if device.type != "cuda" or not torch.cuda.is_available():
        return None
    words = torch.cuda.get_device_name(device).upper().replace("-", " ").split()
    for word, name in _DEVICES:
        if word in words:
            return name
    return None
