# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of nested graphs, such as those of regions that are compiled once.

A plan sees the ops of such a graph in place of its call; PyTorch runs the call
as a whole, or saves what it gives. What the plan calls "CALL.VALUE" is inside.
"""

import operator

import torch

from . import graph_text


def call_of(node):
    """The call of a nested graph that `node` is a result of, or None."""
    if node.op != "call_function" or node.target is not operator.getitem:
        return None
    call = node.args[0]
    return call if _graph_of(call) else None


def _graph_of(node):
    """The graph that a call runs, or None."""
    if node.op != "call_function" or not node.args or \
       not isinstance(node.target, torch._ops.HigherOrderOperator):
        return None
    first = node.args[0]
    if not isinstance(first, torch.fx.Node) or first.op != "get_attr":
        return None
    module = node.graph.owning_module.get_submodule(first.target)
    return module.graph if isinstance(module, torch.fx.GraphModule) else None


def must_run_once(node):
    """Whether a second run would draw other numbers or write a second time; of
    a call, its graph."""
    schema = getattr(node.target, "_schema", None)
    if graph_text.is_random(node) or (schema and schema.is_mutable):
        return True
    graph = _graph_of(node)
    return graph is not None and any(map(must_run_once, graph.nodes))


def is_handed_through(node):
    """Whether a result of a call is one of its arguments."""
    results = _graph_of(node.args[0]).find_nodes(op="output")[0].args[0]
    result = results[node.args[1]]
    return isinstance(result, torch.fx.Node) and result.op == "placeholder"
