# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model as a program that `cutback compile` reads, and what of it the program
does not say: where tensors are found at a call, which arguments are constants,
what the loss reaches, how the outputs are put together.
"""

import contextlib
import dataclasses
import inspect
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import torch
from torch.utils import _pytree as pytree

from . import unseen
from ._library import CutbackError, Diagnostic
from ._library import input_error as _error
from ._step import program_path
from .guards import (Attributes, Guard, Known, Reads, autocast_inside,
                     check_backward_hooks, restored,
                     without_inference_mode)
from .options import python_names
from .partition import FallbackWarning
from .places import place_of


def run_program(*arguments, command="compile"):
    """`cutback COMMAND` with these arguments."""
    cutback = program_path()
    if cutback is None:
        raise _error("the program cutback is not found: put it in PATH, or name"
                     " it in CUTBACK_PROGRAM")
    done = subprocess.run([cutback, command, *arguments],
                          capture_output=True, text=True, check=False)
    with python_names():
        if done.returncode != 0:
            raise CutbackError(done.returncode, [Diagnostic(
                "error", "", 0, 0, done.stderr.strip())])
    _warn(done.stderr, "cutback %s: " % command)


def _warn(text, prefix):
    """Of ops that the interpreter runs: a warning each, with its notes."""
    for part in text.split(prefix + "warning: ")[1:]:
        warnings.warn("cutback: " + part.strip().replace(
            prefix + "note: ", ""), FallbackWarning, stacklevel=10)


@dataclasses.dataclass
class Exported:
    """For one state of a model, and one call of it."""

    model: object  # a module, a program, or a dict of tensors
    place: object
    in_spec: object
    out_spec: object
    leaf_names: list  # as a caller knows them
    constants: list  # of leaves: whether a tensor; else its type and value
    outputs_are: list  # of leaves: ("tensor", sizes or None), ("value", it)
    requires_grad: set  # names of arguments: "param.w", "input.0"
    unreached: set  # of those, the ones that the loss does not depend on
    own: dict  # tensors that no call and no module has, by name
    guard: object = None
    program: object = None

    @property
    def is_program(self):
        return not isinstance(self.model, torch.nn.Module)

    @classmethod
    def of(cls, model, args, kwargs, dynamic_shapes, lacks_loss=False):
        """Of a module for these arguments, or of a program; with `lacks_loss`
        gradients may come from outside to any of its outputs."""
        if isinstance(model, torch.nn.Module):
            return _of_module(cls, model, args, kwargs, dynamic_shapes,
                              lacks_loss)
        if dynamic_shapes is not None:
            raise _error("dynamic_shapes goes with a module; the program was"
                         " exported with its own")
        return _of_program(cls, model, lacks_loss)

    def compile(self, folder, options, points, strict, update=()):
        """Writes the step; `update` are options of an optimizer."""
        self.write(lambda given, graph: _compile(
            given, graph, folder, options, points, strict, self.place, update))

    def write(self, make):
        """Calls `make` with the program as a file, and its graph."""
        program, self.program = self.program, None
        try:
            _write(program, make)
        except CutbackError as error:
            # Steps of vmap and the like; other programs stay as they are, with
            # the ops that the model has.
            if "run_decompositions" not in str(error):
                raise
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                program = program.run_decompositions({})
            _write(program, make)

    @property
    def count(self):
        """Of the outputs that the step computes."""
        return sum(kind == "tensor" for kind, _ in self.outputs_are)

    def outputs(self, made):
        """The model's outputs of the step's."""
        made = iter(made)
        return pytree.tree_unflatten([
            what if kind == "value"
            else next(made) if what is None else next(made).reshape(what)
            for kind, what in self.outputs_are], self.out_spec)

    def source(self, name):
        """Where the tensor for an argument of the step is: a number of the
        call's tensors, or a dict and a name."""
        kind, _, own = name.partition(".")
        if kind == "input":
            return None, int(own)
        if isinstance(self.model, torch.nn.Module):
            path, _, attribute = own.rpartition(".")
            try:
                module = self.model.get_submodule(path)
            except AttributeError:
                return self.own, own
            for holder in (module._parameters, module._buffers,
                           module.__dict__):
                if isinstance(holder.get(attribute), torch.Tensor):
                    return holder, attribute
        elif isinstance(self.model, dict) and own in self.model:
            return self.model, own
        return self.own, own

    def save(self, folder, options, points, strict, dynamic, update=()):
        """What `load` reads."""
        torch.save(self.own, folder / "python.pt")
        (folder / "python.json").write_text(json.dumps({
            "version": 1,
            "in_spec": pytree.treespec_dumps(self.in_spec),
            "out_spec": pytree.treespec_dumps(self.out_spec),
            "leaf_names": self.leaf_names,
            "constants": [[is_tensor, _written(value)]
                          for is_tensor, _, value in self.constants],
            "outputs": [[kind, list(what) if isinstance(what, tuple)
                         else _written(what) if kind == "value" else None]
                        for kind, what in self.outputs_are],
            "requires_grad": sorted(self.requires_grad),
            "unreached": sorted(self.unreached),
            "device": str(self.place.device),
            "names": self.guard.names(), "facts": self.guard.facts(),
            "grad_mode": self.guard.asks_grad_mode,
            "options": dataclasses.asdict(options), "hooks": points,
            "strict": strict, "optimizer": list(update),
            "dynamic": "its sizes are open, and cutback.load does not know"
                       " their names: compile the module anew"
                       if dynamic else None,
        }, indent=1))

    @classmethod
    def load(cls, folder, kept, model):
        if kept.get("version") != 1:
            raise _error("'%s' is of another version of cutback: compile the"
                         " module anew" % folder)
        tensors = _tensors_of(model)
        place = place_of(tensors or [torch.empty(0, device=kept["device"])])
        if str(place.device) != kept["device"]:
            raise _error("the step runs on %s, and the model is on %s"
                         % (kept["device"], place.device))
        guard = None
        if isinstance(model, torch.nn.Module):
            guard = Guard(model, Known(model, kept["names"],
                                       kept["grad_mode"]))
            missing = sorted(set(kept["facts"]) ^ set(guard.facts()))
            if missing:
                raise _error("the step was compiled of the model in another"
                             " state, which differs in: %s"
                             % "; ".join(missing[:4]))
        constants = [(is_tensor, type(_read(value)), _read(value))
                     for is_tensor, value in kept["constants"]]
        return cls(
            model, place, pytree.treespec_loads(kept["in_spec"]),
            pytree.treespec_loads(kept["out_spec"]), kept["leaf_names"],
            constants,
            [(kind, _read(what) if kind == "value"
              else None if what is None else tuple(what))
             for kind, what in kept["outputs"]],
            set(kept["requires_grad"]), set(kept["unreached"]),
            torch.load(folder / "python.pt", map_location=place.device,
                       weights_only=True), guard)


def _write(program, make):
    with tempfile.TemporaryDirectory(prefix="cutback-") as work:
        given = pathlib.Path(work) / "model.pt2"
        with _apart(program.state_dict):
            torch.export.save(program, given)
        make(str(given), program.graph)


def _compile(given, graph, folder, options, points, strict, place, update):
    run_program(given, "-o", str(folder), *update,
                *("--hook=" + point for point in points),
                *(["--strict"] if strict and not place.on_device else []),
                *place.arguments(graph, options))


@contextlib.contextmanager
def _apart(state):
    """Within it parameters that share memory, but are not one, do not: a file
    that has them in one memory has them tied."""
    held, memories = dict(state), {}
    for one in held.values():
        memories.setdefault(one.untyped_storage().data_ptr(), {})[id(one)] = one
    apart = {key: torch.nn.Parameter(one.detach().clone(), one.requires_grad)
             for several in memories.values() if len(several) > 1
             for key, one in several.items()
             if isinstance(one, torch.nn.Parameter)}
    for name, one in held.items():
        if id(one) in apart:
            state[name] = apart[id(one)]
    try:
        yield
    finally:
        state.update(held)


def _tensors_of(model):
    if isinstance(model, torch.nn.Module):
        return [*model.parameters(), *model.buffers()]
    return list(model.values())


def _written(value):
    """As JSON has it, with the type that Python has."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    raise _error("the value %r of the call has no place in a folder: without"
                 " folder= it stays in this process" % (value,))


def _read(value):
    return float(value["float"]) if isinstance(value, dict) else value


def _of_module(cls, model, args, kwargs, dynamic_shapes, lacks_loss):
    tensors = [one for one in pytree.tree_leaves((args, kwargs))
               if isinstance(one, torch.Tensor)]
    place = place_of([*model.parameters(), *model.buffers(), *tensors])
    check_backward_hooks(model)
    args, kwargs = _distinct(model, args, kwargs)
    reads = Reads(model)
    with torch.enable_grad():
        program, found = _export(model, args, kwargs, dynamic_shapes, reads)
    if reads.grad_mode and not torch.is_grad_enabled():
        program, found = _export(model, args, kwargs, dynamic_shapes, reads)
    guard = Guard(model, reads)
    leaves = pytree.tree_leaves((args, kwargs))
    tensors = [one for one in leaves if isinstance(one, torch.Tensor)]
    wanted, unreached = _wanted_of(model, tensors, found)
    return cls(
        model, place, program.call_spec.in_spec, program.call_spec.out_spec,
        _names_of(model, args, kwargs),
        [(isinstance(one, torch.Tensor), type(one),
          None if isinstance(one, torch.Tensor) else one) for one in leaves],
        _outputs_of(program, bool(wanted), lacks_loss), wanted, unreached,
        _own_of(program, place), guard, program)


def _distinct(model, args, kwargs):
    """Arguments of which no two are one tensor, nor one of the model's: an
    export takes equal ones for one argument."""
    seen = {id(one) for one in (*model.parameters(), *model.buffers())}

    def distinct(one):
        if isinstance(one, torch.Tensor) and id(one) in seen:
            one = one.detach().requires_grad_(one.requires_grad)
        seen.add(id(one))
        return one

    return pytree.tree_map(distinct, (args, kwargs))


def _wanted_of(module, tensors, found):
    """Names of what takes a gradient, and of what of it the loss does not
    reach; `tensors` are those of the call."""
    named = [("param." + name, one) for name, one in
             module.named_parameters(remove_duplicate=False)]
    named += [("buffer." + name, one) for name, one in
              module.named_buffers(remove_duplicate=False)]
    named += [("input.%d" % i, one) for i, one in enumerate(tensors)]
    wanted = {name for name, one in named if one.requires_grad}
    return wanted, {name for name, one in named
                    if name in wanted and id(one) not in found.reached}


def _export(model, args, kwargs, dynamic_shapes, reads):
    """The program, and what a forward under watch told."""
    def export():
        with autocast_inside(model):
            return torch.export.export(model, args, kwargs,
                                       dynamic_shapes=dynamic_shapes)

    with reads.noted(), without_inference_mode():
        with restored(model):
            before = _drawn()
            found = unseen.look(model, args, kwargs)
            now = _drawn()
            draws = [name for name, state in before.items()
                     if repr(now[name]) != repr(state)]
            after = Attributes(reads.attributes())
        with restored(model):
            program = export()
    if draws:
        with restored(model):
            _check_draws(program, export(), draws)
    changed = after.changed()
    if changed:
        with restored(model):
            after.put()
            other = export()
        _check_changed(program, other, reads, changed)
    return program, found


def _drawn():
    """States of generators that are not PyTorch's, by their names."""
    states = {"random": random.getstate()}
    if "numpy" in sys.modules:
        states["numpy.random"] = sys.modules["numpy"].random.get_state()
    return states


def _check_draws(program, other, names):
    """The forward draws numbers that a step has as constants: whether it
    computes something else with others."""
    names = " and ".join("the module '%s'" % one for one in names)
    if str(program.graph) != str(other.graph):
        raise _error("the forward draws numbers of %s, and computes something"
                     " else with others: a compiled step has them as constants;"
                     " draw them with torch, or give them as arguments" % names)
    warnings.warn("cutback: the forward draws numbers of %s; a compiled step"
                  " has those of this call" % names, stacklevel=7)


def _check_changed(program, other, reads, changed):
    """The forward sets attributes: whether it computes something else then."""
    names = reads.paths(changed)
    if str(program.graph) != str(other.graph):
        raise _error("the forward sets %s, and computes something else when it"
                     " finds what it has set: a compiled step has it as a"
                     " constant; make it a buffer, or an argument" % names)
    warnings.warn("cutback: the forward sets %s, which calls of the compiled"
                  " step do not do" % names, stacklevel=6)
    reads.ignore(changed)


def _names_of(model, args, kwargs):
    """Names of the leaves of a call, as the forward has them."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = []
    for i, one in enumerate(args):
        kinds = (inspect.Parameter.POSITIONAL_ONLY,
                 inspect.Parameter.POSITIONAL_OR_KEYWORD)
        name = ("'%s'" % parameters[i].name if i < len(parameters)
                and parameters[i].kind in kinds else str(i))
        names += [name + pytree.keystr(path)
                  for path, _ in pytree.tree_flatten_with_path(one)[0]]
    for key, one in kwargs.items():
        names += ["'%s'%s" % (key, pytree.keystr(path))
                  for path, _ in pytree.tree_flatten_with_path(one)[0]]
    return names


def _of_program(cls, program, lacks_loss):
    place = place_of([*program.state_dict.values(),
                      *(one for one in pytree.tree_leaves(
                          program.example_inputs)
                        if isinstance(one, torch.Tensor))])
    constants, wanted = [], set()
    signature = program.graph_signature
    leaves = pytree.tree_leaves(program.example_inputs)
    specs = [one for one in signature.input_specs
             if one.kind == torch.export.graph_signature.InputKind.USER_INPUT]
    for i, one in enumerate(specs):
        value = getattr(one.arg, "value", None)
        is_tensor = isinstance(one.arg,
                               torch.export.graph_signature.TensorArgument)
        if not is_tensor and i < len(leaves) and value is None:
            value = leaves[i]
        constants.append((is_tensor, type(value), value))
    wanted |= {"param." + name for name, one in program.state_dict.items()
               if one.requires_grad}
    wanted |= {"input.%d" % i for i, one in enumerate(
        one for one in leaves if isinstance(one, torch.Tensor))
        if one.requires_grad}
    own = _own_of(program, place)
    own.update(program.state_dict)
    names = ["'%s'" % (one.arg.name or i) for i, one in enumerate(specs)]
    made = cls(program, place, program.call_spec.in_spec,
               program.call_spec.out_spec, names, constants,
               _outputs_of(program, bool(wanted), lacks_loss), wanted, set(),
               own, None,
               program)
    made.unreached = _unreached_of(program, leaves)
    return made


def _unreached_of(program, leaves):
    """Names of arguments that the loss of a program does not depend on."""
    module = program.module()
    try:
        args, kwargs = program.example_inputs
        found = unseen.look(module, args, kwargs)
    except Exception:  # it does not run on its example: then none is known
        return set()
    tensors = [one for one in leaves if isinstance(one, torch.Tensor)]
    return _wanted_of(module, tensors, found)[1]


def _own_of(program, place):
    """Constants, numbers of the program's text, may have been on a CPU."""
    return {name: one.to(place.device)
            for name, one in program.constants.items()
            if isinstance(one, torch.Tensor)}


def _outputs_of(program, has_gradients, lacks_loss):
    """How each of the model's outputs is made; makes a loss of one element a
    scalar, as `cutback compile` wants it."""
    signature = program.graph_signature
    kinds = torch.export.graph_signature
    outputs = [one.arg for one in signature.output_specs
               if one.kind in (kinds.OutputKind.USER_OUTPUT,
                               kinds.OutputKind.LOSS_OUTPUT)]
    made = []
    for i, one in enumerate(outputs):
        if isinstance(one, kinds.ConstantArgument):
            made.append(("value", one.value))
        elif isinstance(one, kinds.TensorArgument):
            made.append(("tensor", None))
        else:
            raise _error("output %d of the model is a size that is not known:"
                         " return tensors, the loss first" % i)
    if not has_gradients:
        return made
    if not outputs or made[0][0] != "tensor":
        raise _error("the first output of the model is to be its loss, a float"
                     " tensor of one element, and is %s: return the loss first"
                     % (repr(made[0][1]) if made else "missing"))
    _check_loss(program, outputs[0].name, made, lacks_loss)
    return made


def _check_loss(program, name, made, lacks_loss):
    node = next(one for one in program.graph.nodes if one.name == name)
    value = node.meta["val"]
    sizes = tuple(value.shape)
    if (not value.is_floating_point()
            or any(not isinstance(one, int) or one != 1 for one in sizes)):
        if lacks_loss:
            return
        raise _error("the first output of the model is to be its loss, a float"
                     " tensor of one element, and is %s of %s: return the loss"
                     " first, or compile with requires_grad_(False) what is"
                     " only run forward"
                     % (value.dtype, [str(one) for one in sizes]))
    if not sizes:
        return
    made[0] = ("tensor", sizes)
    graph = program.graph
    output = graph.output_node()
    with graph.inserting_before(output):
        scalar = graph.call_function(
            torch.ops.aten.reshape.default, (node, []))
    scalar.meta.update(node.meta)
    scalar.meta["val"] = value.new_empty(())
    spec = next(one for one in program.graph_signature.output_specs
                if one.arg.name == name)
    arguments = list(output.args[0])
    position = program.graph_signature.output_specs.index(spec)
    arguments[position] = scalar
    output.args = (tuple(arguments),)
    spec.arg = torch.export.graph_signature.TensorArgument(scalar.name)
    program.graph_module.recompile()
