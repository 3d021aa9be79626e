# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan options of the command line as an object."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Options:
    """What decides a plan; the fields are options of `cutback report`.

    `device` None: the GPU that the tensors of the graph are on, as far as there
    is a description of it, else the default of the command line.
    """

    strategy: str = "min-cut"
    cost_model: str = "roofline"
    device: str | None = None  # roofline
    byte_price: float = 0.0  # picoseconds a byte; roofline
    rules: str = "torch-2.13"  # pytorch
    solver: str = "auto"

    def arguments(self, device=None, free_parameters=()):
        """As the command line has them, for a graph on `device` with the
        positions of arguments that outlive the step."""
        given = ["--strategy=" + self.strategy,
                 "--cost-model=" + self.cost_model, "--solver=" + self.solver]
        if self.cost_model == "pytorch":
            free = ",".join(map(str, free_parameters)) or "none"
            return given + ["--rules=" + self.rules,
                            "--free-parameters=" + free]
        if self.device or device:
            given.append("--device=" + (self.device or device))
        if self.byte_price:
            given.append("--byte-price=%s" % self.byte_price)
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
