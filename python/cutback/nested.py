# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of nested graphs.

Of a region that is compiled once for all its calls, a plan sees the ops of the
graph in place of the call; PyTorch runs the call as a whole, or saves what it
gives. What the plan calls "CALL.VALUE" is inside. A branch or a loop is one op
to both.
"""

import operator

import torch

from . import graph_text

# What Cutback reads in place of the call (CallTarget::Graph in lib/Import).
_READ_IN_PLACE = {"invoke_subgraph", "wrap", "wrap_activation_checkpoint",
                  "tag_activation_checkpoint"}


def call_of(node):
    """The call, of a graph that is read in place, that `node` is a result of;
    or None."""
    if node.op != "call_function" or node.target is not operator.getitem:
        return None
    call = node.args[0]
    is_read_in_place = getattr(call.target, "_name", None) in _READ_IN_PLACE
    return call if is_read_in_place and _graphs_of(call) else None


def _graphs_of(node):
    """The graphs that a call runs."""
    if node.op != "call_function" or \
       not isinstance(node.target, torch._ops.HigherOrderOperator):
        return []
    graphs = []
    for argument in node.all_input_nodes:
        if argument.op == "get_attr":
            module = getattr(node.graph.owning_module, argument.target, None)
            if isinstance(module, torch.fx.GraphModule):
                graphs.append(module.graph)
    return graphs


def must_run_once(node):
    """Whether a second run would draw other numbers or write a second time; of
    a call, its graphs."""
    schema = getattr(node.target, "_schema", None)
    if graph_text.is_random(node) or (schema and schema.is_mutable):
        return True
    return any(must_run_once(inner) for graph in _graphs_of(node)
               for inner in graph.nodes)


def is_handed_through(node):
    """Whether a result of a call is one of its arguments."""
    graph, = _graphs_of(node.args[0])
    results = graph.find_nodes(op="output")[0].args[0]
    result = results[node.args[1]]
    return isinstance(result, torch.fx.Node) and result.op == "placeholder"
