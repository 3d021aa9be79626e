// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `joint`: the structure of a training graph.
#ifndef CUTBACK_DIALECT_JOINT_JOINTBASE_TD
#define CUTBACK_DIALECT_JOINT_JOINTBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Joint_Dialect : Dialect {
  let name = "joint";
  let summary = "structure of a training graph";
  let description = [{
    Holds the forward and the backward pass of one training step in one graph
    and says what every argument and result is for. It computes nothing: the
    body is made of ops of other dialects (`aten`, or any dialect whose ops
    have models for the interfaces of this one).
  }];
  let cppNamespace = "::cutback::joint";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Argument attributes of `joint.graph` and of extracted functions.
    static constexpr ::llvm::StringLiteral kRole = "joint.role";
    static constexpr ::llvm::StringLiteral kName = "joint.name";
    /// Symbolic sizes of an argument or of a data-dependent result: an array
    /// of one string a dimension ("s0", "2*s0 + 1", "16").
    static constexpr ::llvm::StringLiteral kDims = "joint.dims";
    /// Discardable op attribute: `#joint.policy<...>`.
    static constexpr ::llvm::StringLiteral kPolicy = "joint.policy";
    /// Discardable attribute of a graph: what its regions ask for, by path
    /// ("0.2"), a dictionary each (`lib/Transforms/Regions`).
    static constexpr ::llvm::StringLiteral kRegions = "joint.regions";
    /// The plan: results to save (array of bool), recomputed op (unit; an
    /// integer id on copies), side of an op that is neither.
    static constexpr ::llvm::StringLiteral kSave = "joint.save";
    static constexpr ::llvm::StringLiteral kRecompute = "joint.recompute";
    static constexpr ::llvm::StringLiteral kSide = "joint.side";
    /// Declared strides of a result that is not contiguous (array of i64).
    static constexpr ::llvm::StringLiteral kStrides = "joint.strides";
  }];
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Joint_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::cutback::joint";
  let genSpecializedAttr = 0;
}

def Joint_Side : Joint_I32Enum<"Side", "half of a training step", [
  I32EnumAttrCase<"Forward", 0, "forward">,
  I32EnumAttrCase<"Backward", 1, "backward">]>;
def Joint_SideAttr : EnumAttr<Joint_Dialect, Joint_Side, "side"> {
  let assemblyFormat = "`<` $value `>`";
}

def Joint_RoleKind : Joint_I32Enum<"RoleKind", "what an argument is for", [
  I32EnumAttrCase<"Param", 0, "param">,
  I32EnumAttrCase<"Buffer", 1, "buffer">,
  I32EnumAttrCase<"Input", 2, "input">,
  I32EnumAttrCase<"Constant", 3, "constant">,
  I32EnumAttrCase<"Tangent", 4, "tangent">,
  I32EnumAttrCase<"GradSeed", 5, "grad_seed">,
  I32EnumAttrCase<"RngSeed", 6, "rng_seed">,
  I32EnumAttrCase<"RngOffset", 7, "rng_offset">,
  I32EnumAttrCase<"Size", 8, "size">,
  I32EnumAttrCase<"Saved", 9, "saved">]>;

def Joint_PolicyKind : Joint_I32Enum<"PolicyKind",
    "what the user or a checkpoint region asks for an op's results", [
  I32EnumAttrCase<"MustSave", 0, "must_save">,
  I32EnumAttrCase<"PreferSave", 1, "prefer_save">,
  I32EnumAttrCase<"MustRecompute", 2, "must_recompute">,
  I32EnumAttrCase<"PreferRecompute", 3, "prefer_recompute">,
  I32EnumAttrCase<"AdviseRecompute", 4, "advise_recompute">]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Joint_Attr<string name, string attrMnemonic> : AttrDef<Joint_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Joint_RoleAttr : Joint_Attr<"Role", "role"> {
  let summary = "what an argument of a training graph is for";
  let description = [{
    `#joint.role<param "fc1.weight">`, `#joint.role<tangent of 0>` (gradient of
    forward result 0), `#joint.role<rng_seed backward>`. The name is the
    qualified name in the model where it is known, else empty.
  }];
  let parameters = (ins EnumParameter<Joint_RoleKind>:$kind,
                        OptionalParameter<"::mlir::StringAttr">:$name,
                        DefaultValuedParameter<"int64_t", "-1">:$of,
                        DefaultValuedParameter<"bool", "false">:$backward);
  let hasCustomAssemblyFormat = 1;
}

def Joint_PolicyAttr : Joint_Attr<"Policy", "policy"> {
  let summary = "save or recompute, as a user or a checkpoint region asks";
  let description = [{
    `#joint.policy<prefer_recompute, region = 3>`. A region inside of another one
    has its number behind that of its parent: `region = [3, 0]`. Numbers order
    the regions of one parent; an op outside all of them has none.
    `advise_recompute` binds nobody: it says which region an op is in.

    `run = 2` marks a copy: the op as the backward runs it for the region that
    the first two numbers name. An op that is no copy has no run.
  }];
  let parameters = (ins EnumParameter<Joint_PolicyKind>:$kind,
                        OptionalArrayRefParameter<"int64_t">:$region,
                        DefaultValuedParameter<"int64_t", "0">:$run);
  let builders = [
    AttrBuilder<(ins "PolicyKind":$kind, "int64_t":$outermost), [{
      return Base::get($_ctxt, kind,
                       outermost < 0 ? ::llvm::ArrayRef<int64_t>()
                                     : ::llvm::ArrayRef(outermost),
                       int64_t(0));
    }]>
  ];
  let extraClassDeclaration = [{
    /// Whether it asks for a second run, and binds.
    bool asksToRecompute() const {
      return getKind() == PolicyKind::MustRecompute ||
             getKind() == PolicyKind::PreferRecompute;
    }
    /// The number of the outermost region that the op is in, or -1.
    int64_t getOutermost() const {
      return getRegion().empty() ? -1 : getRegion().front();
    }
  }];
  let hasCustomAssemblyFormat = 1;
}

def Joint_SymbolAttr : Joint_Attr<"Symbol", "symbol"> {
  let summary = "what is known about a symbolic size";
  let description = [{
    `#joint.symbol<hint = 24, min = 2, max = 64>`: the size the graph was made
    with, and the range it may take. What is not known is left out.
  }];
  let parameters = (ins
      OptionalParameter<"std::optional<int64_t>">:$hint,
      OptionalParameter<"std::optional<int64_t>">:$min,
      OptionalParameter<"std::optional<int64_t>">:$max);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Joint_OperandAttr : Joint_Attr<"Operand", "operand"> {
  let summary = "place of an SSA operand in an argument list";
  let assemblyFormat = "";
}

def Joint_NoneAttr : Joint_Attr<"None", "none"> {
  let summary = "an argument given as None";
  let assemblyFormat = "";
}

#endif // CUTBACK_DIALECT_JOINT_JOINTBASE_TD
