# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan options of the command line as an object.

`FIELDS` says which field is which option; a test compares it with the options
that the library has. The options in `FROM_PYTORCH` are facts of the graph that
the package finds out by itself, or say what is differentiated and in which order,
which PyTorch has done, or print something.
"""

import contextlib
import dataclasses

# The option of the command line, and the cost model that it needs, if one.
FIELDS = {
    "strategy": ("strategy", None),
    "cost_model": ("cost-model", None),
    "device": ("device", None),
    "byte_price": ("byte-price", "roofline"),
    "minimize": ("minimize", "roofline"),
    "memory_limit": ("memory-limit", "roofline"),
    "effort": ("effort", "roofline"),
    "split": ("split", "roofline"),
    "bounds": ("bounds", None),
    "rules": ("rules", "pytorch"),
    "torch_config": ("torch-config", "pytorch"),
    "activation_budget": ("activation-budget", "pytorch"),
    "budget_solver": ("budget-solver", "pytorch"),
    "recomputable": ("recomputable", None),
    "policy": ("policy", None),
    "checkpoint": ("checkpoint", None),
    "budget": ("budget", "roofline"),
    "checkpoint_sequential": ("checkpoint-sequential", None),
    "checkpoint_policy": ("checkpoint-policy", None),
    "solver": ("solver", None),
    "dump_network": ("dump-network", None),
}
FROM_PYTORCH = ("free-parameters", "sym", "keep-composites",
                "grad-of", "of", "grad-penalty", "sequence",
                "collectives-first", "group-size", "hook", "remarks")


@dataclasses.dataclass(frozen=True)
class Options:
    """What decides a plan; the fields are options of `cutback report`.

    `device` None: what the tensors of the graph are on: the CPU, or a GPU that
    there is a description of, else the default of the command line.
    `byte_price` None: a share of the step's time, as the report shows it; "2x":
    twice that, which saves less; a number: picoseconds.
    `minimize` None: time at that price, with no larger peak than PyTorch's
    decision has.
    `memory_limit`: the fastest plan whose arena is not larger: a size, or a share
    of what saving everything needs.
    """

    strategy: str = "min-cut"
    cost_model: str = "roofline"
    device: str | None = None
    byte_price: float | str | None = None  # "2x", or picoseconds; roofline
    minimize: str | None = None  # "time" or "peak"; roofline
    memory_limit: float | str | None = None  # 0.5, or "24GiB"; roofline
    effort: int | None = None  # 1, 2 or 3, of a search for memory; roofline
    split: str | None = None  # "loss" or "auto", "loss:8"; roofline
    bounds: bool = False  # what no plan comes below, in reports
    rules: str = "torch-2.13"  # pytorch
    torch_config: tuple = ()  # pytorch; a dict of torch._functorch.config
    activation_budget: float | None = None  # pytorch; 0 to 1
    budget_solver: str | None = None  # "dp", "greedy" or "ilp"
    recomputable: tuple = ()  # ops of your own: "mylib.gelu"
    policy: tuple = ()  # a dict: {"addmm_3": "must-save"}
    checkpoint: tuple = ()  # modules that are regions: "blocks.*"
    budget: tuple = ()  # a dict: {"blocks.*": 0.4}; roofline
    checkpoint_sequential: int | None = None
    checkpoint_policy: tuple = ()  # ops of regions: "save:matmul"
    solver: str = "auto"
    dump_network: str | None = None

    def __post_init__(self):
        # Dicts as pairs, so that objects are equal and have a hash.
        for name in ("torch_config", "policy", "budget"):
            given = getattr(self, name)
            pairs = given.items() if hasattr(given, "items") else given
            object.__setattr__(self, name, tuple(map(tuple, pairs)))
        for name in ("recomputable", "checkpoint", "checkpoint_policy"):
            given = getattr(self, name)
            object.__setattr__(self, name, (
                (given,) if isinstance(given, str) else tuple(given)))

    def arguments(self, device=None, free_parameters=(), runs_elsewhere=True):
        """As the command line has them, for a graph on `device` with the
        positions of arguments that outlive the step. PyTorch runs the ops that
        a graph has, where it `runs_elsewhere`."""
        given = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            option, needs = FIELDS[field.name]
            if field.name == "device":
                value = value or device
            elif value == field.default and field.name not in (
                    "strategy", "cost_model"):
                continue
            if value is None or value == ():
                continue
            if isinstance(value, bool):
                given += ["--" + option] * value
            elif isinstance(value, tuple):
                given += ["--%s=%s" % (option, _word(one)) for one in value]
            else:
                given.append("--%s=%s" % (option, value))
        if runs_elsewhere:
            given.append("--keep-composites")
        if self.cost_model == "pytorch" and runs_elsewhere:
            free = ",".join(map(str, free_parameters)) or "none"
            given.append("--free-parameters=" + free)
        return given

    @classmethod
    def of(cls, given):
        """From None, an object of this class, or a dict of its fields."""
        if isinstance(given, cls):
            return given
        given = given or {}
        known = [field.name for field in dataclasses.fields(cls)]
        for name in given:
            if name not in known:
                raise TypeError("there is no option '%s' of a plan; there are"
                                " %s" % (name, ", ".join(known)))
        return cls(**given)


def _word(value):
    return "=".join(map(str, value)) if isinstance(value, tuple) else value


def in_python(message):
    """A message of the library with the names that Python has for options."""
    for name, (option, _) in sorted(FIELDS.items(), key=lambda field:
                                    -len(field[1][0])):
        message = message.replace("--%s=" % option, name + "=")
        message = message.replace("'--%s'" % option, "'%s'" % name)
        message = message.replace("--" + option, name)
    return message


@contextlib.contextmanager
def python_names():
    """Errors about options, raised inside, speak of the fields."""
    from ._library import CutbackError

    try:
        yield
    except CutbackError as error:
        if error.status != 2:
            raise
        raise CutbackError(2, [
            dataclasses.replace(one, message=in_python(one.message))
            for one in error.diagnostics]) from None
