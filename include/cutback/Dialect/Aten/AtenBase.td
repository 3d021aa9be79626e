// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `aten`: the class that all its ops have in common.
//
// An op is one line: its name in PyTorch, its schema in PyTorch's notation,
// and the family class, which says how types are inferred, what it costs and
// how it fuses. The op classes hold no code of their own (CallOp.h).
#ifndef CUTBACK_DIALECT_ATEN_ATENBASE_TD
#define CUTBACK_DIALECT_ATEN_ATENBASE_TD

include "mlir/IR/OpBase.td"

def Aten_Dialect : Dialect {
  let name = "aten";
  let summary = "the vocabulary of PyTorch's training graphs";
  let description = [{
    One op for each overload of ATen and of `prims` that training graphs use,
    and for the Python operators on symbolic sizes. Names, parameters and
    defaults are PyTorch's. The assembly is a call:

    ```mlir
    %y = aten.convolution(%x, %w, none, [2, 2], [3, 3], [1, 1], false, [0, 0], 1)
        : (tensor<8x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<8x64x112x112xf32>
    %s = aten.sum.dim_IntList(%y, [0], true, dtype = f32)
        : (tensor<8x64x112x112xf32>) -> tensor<1x64x112x112xf32>
    ```

    Parameters behind `*` in the schema are written with their keyword;
    arguments at their default are left out. A symbolic size is an operand of
    type `index`, in a list too: `aten.view(%x, [%s0, 64])`. `none` is None. A
    `Tensor` parameter also takes a Python number or a symbolic scalar
    (`aten.mul.Tensor(%x, 0.5)`).

    Every op has variadic `inputs` and `outputs`, and two properties: `args`,
    the argument list with `#joint.operand` where an operand stands, always of
    full length, and `names`, one a result, read from and printed as the SSA
    names.

    Constraints of every op:
    * C1: `args` has one entry for each parameter of the schema
    * C2: each entry, and each operand's type, fits its parameter
    * C3: there are as many operands as `args` asks for
    * C4: `names` has one entry for each result; of one result it is the name
    * C5: the declared result types are compatible with the inferred ones:
      equal element types, no two static sizes that differ; a result of type
      `none` is not defined and compatible with every type

    Effects: most ops are pure. A random op (`rand`, `bernoulli`, dropout and
    attention with a dropout probability other than 0) may go when nobody uses
    its results, but is never merged with another, hoisted or recomputed; its
    order among other random ops is the order in the body. Collectives, checks
    and stage markers stay where they are.

    Views: a result is a view of the operand that the alias annotations of the
    schema name. Where strides decide (`reshape`, `contiguous`, `to.dtype`,
    `flatten`, ...) no op says that it aliases.

    Folding: views and casts that change nothing, when they carry no tag, and
    nothing else.

    `.default` is not written: `aten.mm` is `torch.ops.aten.mm.default`. Ops of
    `prims` are `aten.prims.*`; `operator.*`, `math.*`, `builtins.*` and
    `torch.sym_*` are `aten.sym.*`.
  }];
  let cppNamespace = "::cutback::aten";
  let dependentDialects = ["::cutback::joint::JointDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let hasNonDefaultDestructor = 1;
  // The ops share one struct of properties, which ODS does not make.
  let usePropertiesForAttributes = 0;
  let extraClassDeclaration = [{
    /// Built at the first call, then shared by all threads.
    const SchemaTable &getSchemas();
    struct Storage;

  private:
    std::unique_ptr<Storage> storage;

  public:
  }];
}

/// The base of all ops. `torch` is the qualified name with overload. The class
/// that cutback-tblgen makes is a typed name; what the op does is in CallOp.h.
class Aten_Op<string torch, string mnemonic, string schemaText>
    : Op<Aten_Dialect, mnemonic> {
  /// Read by cutback-tblgen.
  string torchName = torch;
  string signature = schemaText;
  /// One sentence on the family, for the reference.
  string family = "";
  /// Function of namespace cutback::aten::infer.
  string infer = ?;
  /// Case of joint::FusionKind.
  string fusion = "Never";
  /// Function of namespace cutback::aten::loops: what its elements depend on.
  string loops = "none";
  /// Function of namespace cutback::aten::elements: the formula of one element.
  string element = "none";
  /// Function of namespace cutback::aten::flops, and its weight.
  string flops = "none";
  int weight = 0;
  /// Cases of OpFlags.
  list<string> flags = [];
  /// Bit i: parameter i never has a gradient.
  int noGradient = 0;
  /// Constants of namespaces cutback::autograd::vjps (the rule of the
  /// gradient), cutback::decompose::decompositions (the op in terms of others)
  /// and cutback::interpreter::kernels; empty for none.
  string vjp = "";
  string decomposition = "";
  string coreUnit = "";
  string coreForm = "";
  string kernel = "";
  /// The call target that this op is another name of.
  string means = "";
  /// The call target whose result this op writes into its first operand.
  string functional = "";
  /// What results are in other releases: "6: i64[], 7: i64[]" says that results
  /// 6 and 7 may also be that. Such calls are planned as today's are.
  string otherReleases = "";

  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let summary = "`" # torch # "`";
  let description = family # "\n\n`" # torch # schemaText # "`";
}

/// Besides its family, an op says what other libraries hold for it:
///
///   def Aten_ExpOp : Aten_Transcendental<"exp", ...>, Vjp<"exp">, Kernel<"exp">;
///
/// The libraries make their declarations and tables from that (cutback-tblgen),
/// so a rule that is named here and that nobody wrote does not link.
class Vjp<string rule> {
  string vjp = rule;
}
class Decomposition<string rule> {
  string decomposition = rule;
}
/// Pointwise ops and reductions in place of a unit that has a gradient rule, or
/// of a gradient: before the cut, on graphs that anybody's rules decide on.
class CoreUnit<string rule> {
  string coreUnit = rule;
}
/// The same where the plan is made in core ops, and behind PyTorch's decisions.
class CoreForm<string rule> {
  string coreForm = rule;
}
class Kernel<string function> {
  string kernel = function;
}
/// Decomposition replaces the op by `first`, argument by argument; parameters
/// that `first` lacks fall away.
class SecondName<string first> {
  string means = first;
  string decomposition = "alias";
}

/// Family classes inherit from this one. An op of namespace aten: `name` is
/// "mul.Tensor" or, without overload, "mm".
class Aten_AtenOp<string name, string schema>
    : Aten_Op<"aten." # name # !if(!eq(!find(name, "."), -1), ".default", ""),
              name, schema>;

/// An op of namespace prims; none of them is overloaded.
class Aten_PrimsOp<string name, string schema>
    : Aten_Op<"prims." # name # ".default", "prims." # name, schema>;

/// A functional collective.
class Aten_C10dOp<string name, string schema>
    : Aten_Op<"_c10d_functional." # name # ".default", "c10d." # name, schema>;

/// `name` is "operator.add", "math.trunc" or "torch.sym_float".
class Aten_SymOp<string name, string schema>
    : Aten_Op<name, "sym." # !subst("sym_", "", !substr(name,
                  !add(!find(name, "."), 1))), schema>;

class Aten_PipeOp<string name, string schema>
    : Aten_Op<name # ".default", "pipe_split", schema>;

#endif // CUTBACK_DIALECT_ATEN_ATENBASE_TD
