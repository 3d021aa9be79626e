# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cutback's decision inside PyTorch's partitioner.

PyTorch's `min_cut_rematerialization_partition` does a good deal beside the
decision what to save, and it changes with each release: common subexpressions,
tags of checkpointing, collectives, the calling contract of the two halves,
replay of random state, the order of the backward. All of it is kept: the
function is run with one name in its globals bound to another function, the one
that chooses the saved values. Nothing of PyTorch is patched.

What is not as expected (a graph that cannot be read, a PyTorch without that
name, a plan that does not fit the graph) ends in PyTorch's own decision and one
warning. A training never fails because of this module; only an option that is
wrong is an error.
"""

import dataclasses
import logging
import types
import warnings

import torch
import torch._functorch.partitioners as partitioners

from . import graph_text, nested, written
from ._library import (CutbackError, Graph, LibraryMissing, check_library)
from .options import Options, python_names
from .releases import check_release

check_release(torch.__version__)

_CHOICE = "choose_saved_values_set"
_LOGGER = logging.getLogger("cutback")


class FallbackWarning(UserWarning):
    """PyTorch's own decision was taken, for the reason that the text names; or
    an op of a compiled step is run by the interpreter."""


class Surprise(Exception):
    """Something about a graph or a plan that is not as it should be."""


def _fall_back(reason):
    text = str(reason) or type(reason).__name__
    warnings.warn(
        "cutback: this graph is partitioned as PyTorch does it: " + text,
        FallbackWarning, stacklevel=2)


def _is_wrong_option(error):
    """Whether it is the caller's to mend: no plan of PyTorch's hides that."""
    return isinstance(error, LibraryMissing) or (
        isinstance(error, CutbackError) and error.status == 2)


def plan_of(module, num_fwd_outputs, options=None, static_indices=(),
            roles=None):
    """The plan of a joint graph.

    `static_indices`: positions of the arguments that outlive the step.
    `roles`: what arguments are, as `graph_text.text_of` takes it.
    """
    return _planner(module, num_fwd_outputs, static_indices, roles)(
        Options.of(options))


def _planner(module, num_fwd_outputs, static_indices, roles=None):
    """Reads a joint graph once; gives its plan for an `Options` object."""
    graph = Graph.parse(
        graph_text.text_of(module, num_fwd_outputs, roles), "<joint graph>",
        ["--forward-outputs=%d" % num_fwd_outputs])
    device = graph_text.device_of(module.graph)
    sizes = graph_text.symbol_sizes(module.graph)

    def plan(options):
        with python_names():
            made = graph.plan(options.arguments(device, static_indices)
                              + sizes)
        if _LOGGER.isEnabledFor(logging.INFO):
            _LOGGER.info("plans %d ops: %d bytes saved for the backward in %d"
                         " values, %d ops run twice", made.json["ops"],
                         made.json["saved_bytes"], len(made.saved),
                         len(made.recomputed))
        return made

    return plan


def _is_opaque(node):
    """A Python object as an argument; not all releases have such (2.11 has not)."""
    ask = getattr(partitioners, "is_opaque_node", None)
    return ask is not None and ask(node)


def _is_state_of_backward(node):
    """The object by which hooks inside of a compiled region find the backward,
    which PyTorch expects among what is saved, and hands over apart."""
    ask = getattr(partitioners, "_is_backward_state", None)
    return ask is not None and ask(node)


def complete(saved, backward_outputs, may_run_twice, entered=()):
    """Follows the backward from its outputs to what is saved.

    Adds to `saved`, a set of nodes, the sizes and the Python objects that it
    needs, and of a nested graph the results, unless the plan saves nothing that
    it computes: then it runs again, and its arguments are added. Raises
    `Surprise` if it would run an op twice that must not, or reads another
    argument that is not saved. Random ops of checkpointed regions may run
    twice: PyTorch runs them with one state of the generator.

    `may_run_twice`: nodes of the forward; others run in the backward alone.
    `entered`: calls of nested graphs inside of which the plan saves something.
    """
    entered = {*entered, *map(nested.call_of, saved)}

    def is_result_to_save(node):
        call = nested.call_of(node)
        return call in may_run_twice and (
            call in entered or nested.must_run_once(call)
            or nested.is_handed_through(node))

    todo, seen = [(node, False) for node in backward_outputs], set()
    while todo:
        node, of_nested = todo.pop()
        if node in seen or node in saved:
            continue
        seen.add(node)
        if partitioners.is_sym_node(node) and node in may_run_twice:
            saved.add(node)
            continue
        if node.op == "placeholder" and (
                _is_opaque(node) or _is_state_of_backward(node)):
            saved.add(node)
            continue
        if is_result_to_save(node):
            saved.add(node)
            continue
        if node.op == "placeholder" and node in may_run_twice:
            if not of_nested:
                raise Surprise("the backward reads argument '%s', which the"
                               " plan does not save" % node.name)
            saved.add(node)
        if node in may_run_twice and node.op == "call_function" and \
           nested.must_run_once(node) and not (
               graph_text.is_random(node) and
               partitioners.must_recompute(node)):
            raise Surprise("the plan runs '%s' twice" % node.name)
        of_nested = of_nested or isinstance(
            node.target, torch._ops.HigherOrderOperator)
        todo.extend((one, of_nested) for one in node.all_input_nodes)


def _saved_nodes(graph, node_info, plan, num_fwd_outputs):
    by_name = {node.name: node for node in graph.nodes}
    saved, entered = set(), set()
    for name in plan.saved:
        outer = name.partition(".")[0]
        if outer not in by_name:
            raise Surprise("the graph has no node '%s', which the plan saves"
                           % name)
        (saved if outer == name else entered).add(by_name[outer])
    outputs = graph.find_nodes(op="output")[0].args[0]
    backward = [node for node in outputs[num_fwd_outputs:]
                if isinstance(node, torch.fx.Node)]
    forward = {node for node in graph.nodes if node_info.is_required_fw(node)}
    complete(saved, backward, forward, entered)
    # The order of the graph, as PyTorch's own choice has it.
    return [node for node in graph.nodes if node in saved]


def _within_budget(saved, saved_at, node_info, budget):
    """The saved nodes at the lowest price of a byte that keeps to PyTorch's
    activation budget: 0 is what the inputs take, 1 what the plan without a
    budget, `saved`, does. `saved_at`: saved nodes by how much more a
    byte costs than in that plan. Warns where none keeps to it, and gives the fewest.
    """

    def size(nodes):
        return sum(map(partitioners._size_of, nodes))

    least = size(node_info.inputs)
    limit = least + budget * max(size(saved) - least, 0)
    if size(saved) <= limit:
        return saved
    # Powers of ten: at 10^-4 ps a byte costs next to nothing, at 10^6 all.
    low, high = -4.0, 6.0
    saved = saved_at(10 ** high)
    if size(saved) > limit:
        # Not PyTorch's: it would draw random numbers a second time.
        warnings.warn(
            "cutback: no plan keeps to the activation memory budget of %s: it"
            " allows %d bytes, the smallest plan saves %d"
            % (budget, limit, size(saved)), stacklevel=2)
        return saved
    for _ in range(12):
        middle = (low + high) / 2
        tried = saved_at(10 ** middle)
        if size(tried) <= limit:
            saved, high = tried, middle
        else:
            low = middle
    return saved


def _chooser(options, num_fwd_outputs):
    """A function in the place of PyTorch's `choose_saved_values_set`."""
    theirs = getattr(partitioners, _CHOICE)

    def choose(joint_graph, node_info, memory_budget=1.0, **more):
        def fall_back(reason):
            _fall_back(reason)
            return theirs(joint_graph, node_info, memory_budget=memory_budget,
                          **more)

        try:
            static = [position for position, node in enumerate(
                joint_graph.find_nodes(op="placeholder"))
                if node in node_info.static_lifetime_input_nodes]
            plan_for = _planner(joint_graph.owning_module, num_fwd_outputs,
                                static)

            def saved_by(options):
                return _saved_nodes(joint_graph, node_info, plan_for(options),
                                    num_fwd_outputs)

            # PyTorch's rules have no price of a byte, and what PyTorch does
            # instead draws random numbers twice: the roofline model has one.
            def saved_at(price):
                return saved_by(dataclasses.replace(
                    options, cost_model="roofline", torch_config=(),
                    activation_budget=None, budget_solver=None,
                    rules="torch-2.13", minimize=None,
                    byte_price=(options.byte_price or 0) + price))

            if memory_budget == 1:
                return saved_by(options)
            if options.strategy != "min-cut":
                raise Surprise("an activation memory budget needs the strategy"
                               " min-cut")
            if isinstance(options.byte_price, str):
                raise Surprise("an activation memory budget raises the price of"
                               " a byte from picoseconds, not from byte_price="
                               "%r: leave it out" % options.byte_price)
            return _within_budget(saved_by(options), saved_at, node_info,
                                  memory_budget)
        except Exception as error:
            if _is_wrong_option(error):
                raise
            return fall_back(error)

    return choose


def _with_choice(function, choose):
    """`function` with `_CHOICE` bound to `choose`, without changing it."""
    if not isinstance(function, types.FunctionType) or \
       _CHOICE not in function.__code__.co_names:
        raise Surprise("PyTorch %s chooses saved values in another way"
                       % torch.__version__)
    bound = types.FunctionType(
        function.__code__, {**function.__globals__, _CHOICE: choose},
        function.__name__, function.__defaults__, function.__closure__)
    bound.__kwdefaults__ = function.__kwdefaults__
    return bound


def _checked(halves, num_fwd_outputs):
    written.check_halves(*halves, num_fwd_outputs)
    return halves


def partition_fn(joint_module, joint_inputs, *args, num_fwd_outputs,
                 static_lifetime_input_indices=None, options=None, **kwargs):
    """Splits a joint graph into a forward and a backward.

    For every `partition_fn=` of AOTAutograd. `options`: an `Options` object or
    a dict of its fields. Everything else is handed to PyTorch's partitioner.
    """
    check_library()
    theirs = partitioners.min_cut_rematerialization_partition
    kwargs.update(
        num_fwd_outputs=num_fwd_outputs,
        static_lifetime_input_indices=static_lifetime_input_indices)
    options = Options.of(options)
    written.keep_copies(joint_module, num_fwd_outputs)
    try:
        choose = _chooser(options, num_fwd_outputs)
        ours = _with_choice(theirs, choose)
        return _checked(ours(joint_module, joint_inputs, *args, **kwargs),
                        num_fwd_outputs)
    except FallbackWarning:  # the caller made errors of warnings
        raise
    except Exception as error:
        if _is_wrong_option(error) or isinstance(
                error, written.WrongHalves):
            raise
        _fall_back(error)
    return _checked(theirs(joint_module, joint_inputs, *args, **kwargs),
                    num_fwd_outputs)
