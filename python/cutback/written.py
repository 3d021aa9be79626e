# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers that a step writes, and whose old elements its backward reads.

A joint graph reads and writes them by name: what the backward reads of such an
argument, or of a view of it, has to be a copy of before. PyTorch's own passes
take copies for superfluous (Inductor's drop `clone`), and its partitioner then
saves the memory that is written. So the copy is put back beforehand; and halves
that save what the forward writes are refused.
"""

import torch
from torch.utils.checkpoint import CheckpointPolicy

from ._library import CutbackError, Diagnostic


class WrongHalves(CutbackError):
    """Halves that no gradients can be had from."""


def _schema(node):
    return getattr(node.target, "_schema", None) \
        if node.op == "call_function" else None


def _written_by(node):
    """Arguments of a node that it writes."""
    schema = _schema(node)
    if schema is None or not schema.is_mutable:
        return []
    return [value for value, one in zip(node.args, schema.arguments)
            if one.alias_info is not None and one.alias_info.is_write
            and isinstance(value, torch.fx.Node)]


def _is_view(node):
    """Whether it may share the memory of its first argument."""
    schema = _schema(node)
    if schema is None:
        return node.op == "call_function" and "getitem" in str(node.target) \
            and _is_view(node.args[0])
    return node.target is torch.ops.aten._unsafe_view.default or (
        not schema.is_mutable and any(
            one.alias_info is not None for one in schema.returns))


def _roots(graph):
    """What the memory of each node is that may be an argument's."""
    roots = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            roots[node] = node
        elif _is_view(node) and node.args and node.args[0] in roots:
            roots[node] = roots[node.args[0]]
    return roots


def _writes(graph, roots):
    """The last node that writes an argument, by argument."""
    return {roots[one]: node for node in graph.nodes
            for one in _written_by(node) if one in roots}


def _before(nodes):
    found, todo = set(), list(nodes)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo.extend(node.all_input_nodes)
    return found


def _reads(node):
    """Whether it reads its arguments: the backward of a batch norm in training
    is handed statistics that it does not read."""
    return "batch_norm_backward" not in str(node.target)


def keep_copies(module, num_fwd_outputs):
    """Gives the backward a copy of what it reads of arguments that the forward
    writes; names of those arguments."""
    graph = module.graph
    roots = _roots(graph)
    writes = _writes(graph, roots)
    if not writes:
        return []
    outputs = graph.output_node().args[0][:num_fwd_outputs]
    forward = _before([*writes.values(), *(
        one for one in outputs if isinstance(one, torch.fx.Node))])
    read = [argument for argument in writes if any(
        roots.get(one) is argument for node in graph.nodes
        if node.op == "call_function" and node not in forward and _reads(node)
        for one in node.all_input_nodes)]
    last = graph.find_nodes(op="placeholder")[-1]
    for argument in read:
        with graph.inserting_after(last):
            copy = graph.call_function(torch.ops.aten.clone.default,
                                       (argument,))
        copy.meta = {key: value for key, value in argument.meta.items()
                     if key in ("val", "tensor_meta", "stack_trace")}
        if isinstance(copy.meta.get("val"), torch.Tensor):
            copy.meta["val"] = copy.meta["val"].clone()
        # Computed again it would be of what was written.
        copy.meta["recompute"] = CheckpointPolicy.MUST_SAVE
        copy.meta["ac_graph_id"] = 0
        argument.replace_all_uses_with(
            copy, delete_user_cb=lambda node: node is not copy
            and node.op != "output" and argument not in _written_by(node))
    if read:
        module.recompile()
    return [one.name for one in read]


def check_halves(forward, backward, num_fwd_outputs):
    """That a forward saves nothing that it writes."""
    roots = _roots(forward.graph)
    writes = _writes(forward.graph, roots)
    if not writes:
        return
    read = {node.name for node in backward.graph.find_nodes(op="placeholder")
            if any(_reads(user) for user in node.users)}
    for node in forward.graph.output_node().args[0][num_fwd_outputs:]:
        if isinstance(node, torch.fx.Node) and roots.get(node) in writes \
                and node.name in read:
            raise WrongHalves(3, [Diagnostic(
                "error", "", 0, 0,
                "PyTorch's partition saves '%s', which is memory of '%s', and"
                " the forward writes that before the backward reads it: the"
                " gradients would be of other values; write the buffer outside of"
                " the compiled region"
                % (node.name, roots[node].name))])
