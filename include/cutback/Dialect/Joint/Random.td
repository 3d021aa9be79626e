// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers as a pure function of a seed.
#ifndef CUTBACK_DIALECT_JOINT_RANDOM_TD
#define CUTBACK_DIALECT_JOINT_RANDOM_TD

include "cutback/Dialect/Joint/JointBase.td"
include "cutback/Dialect/Joint/JointInterfaces.td"
include "cutback/Dialect/Joint/RandomEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

/// What a pure op answers to passes; `more` is said of some alone.
class Joint_DrawOp<string mnemonic, list<Trait> traits = [], string more = "">
    : Op<Joint_Dialect, mnemonic, !listconcat([
    Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>,
    DeclareOpInterfaceMethods<FusibleOpInterface>,
    DeclareOpInterfaceMethods<CostModelOpInterface>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<SizeEvaluationOpInterface>], traits)> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDefinition = [{
    bool $cppClass::isRecomputable() { return true; }
    int64_t $cppClass::getAliasedOperand(unsigned) { return -1; }
    bool $cppClass::isRandom() { return false; }
    bool $cppClass::isComputeIntensive() { return false; }
    bool $cppClass::hasOrderedEffects() { return false; }
    bool $cppClass::usesMatrixUnits() { return false; }
    bool $cppClass::canHaveGradient(unsigned) { return false; }
    ::llvm::LogicalResult $cppClass::buildVjp(VjpContext &) {
      return ::llvm::success();
    }
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      setResultNames(*this, getNamesAttr(), setName);
    }
  }] # more;
}

/// Each element draws as often as its parameters ask for: no formula of a
/// kernel. The last operand has the type of the result.
class Joint_ElementDrawOp<string mnemonic> : Joint_DrawOp<mnemonic, [], [{
    FusionKind $cppClass::getFusionKind() { return FusionKind::Never; }
    bool $cppClass::getIterationSpace(
        ::llvm::ArrayRef<::llvm::ArrayRef<int64_t>>, IterationSpace &) {
      return false;
    }
    // Some ten numbers an element; the parameters are not known.
    double $cppClass::getFlops(
        ::llvm::ArrayRef<::llvm::ArrayRef<int64_t>> shapes) {
      return 400 * countDrawn(shapes);
    }
    bool $cppClass::evaluateSizes(
        ::llvm::ArrayRef<::mlir::Type> operandTypes, ::llvm::ArrayRef<int64_t>,
        ::llvm::SmallVectorImpl<::mlir::Type> &resultTypes,
        ::llvm::SmallVectorImpl<int64_t> &resultInts) {
      resultTypes.push_back(operandTypes.back());
      resultInts.push_back(::mlir::ShapedType::kDynamic);
      return true;
    }
  }]>;

def Joint_RandomOp : Joint_DrawOp<"random", [AttrSizedOperandSegments]> {
  let summary = "random numbers of one stream";
  let description = [{
    A pure function of the seed: run again, in whichever half, it gives the
    same bits, so it may be recomputed at any budget and nothing of it has to
    be saved.

    ```mlir
    %r = joint.random <uniform> %seed stream 3 [%n]
        : (tensor<i64>, index) -> tensor<?x16xf32>
    ```

    Element *i* in row-major order comes from Philox-4x32-10 (Salmon et al.,
    SC 2011) with the seed as key and the counter (i / 4 in words 0 and 1,
    stream in word 2, the round in word 3), of whose four words it takes number i mod
    4; a 64-bit type takes words 0-1 or 2-3 of counter i / 2. `uniform` is in
    [0, 1), a multiple of 2^-24 (2^-53 for f64); `normal` has mean 0 and
    variance 1 (Box and Muller, on pairs of elements); `bits` fills an integer
    type. The stream keeps the ops of a graph apart whatever their sizes;
    `--cutback-functionalize-rng` gives each op its own. In a graph of a loop
    the round keeps its runs apart; without one it is 0:

    ```mlir
    %r = joint.random <normal> %seed stream 3 round %i
        : (tensor<i64>, tensor<i64>) -> tensor<16xf32>
    ```

    Constraints:
    * C1: one size for each `?` of the result
    * C2: `uniform` and `normal` have a floating-point result, `bits` an
      integer result
  }];
  let arguments = (ins Joint_Distribution:$distribution,
                       TensorOf<[I64]>:$seed, I64Attr:$stream,
                       Optional<TensorOf<[I64]>>:$round,
                       Variadic<Index>:$sizes,
                       OptionalAttr<StrArrayAttr>:$names);
  let results = (outs AnyRankedTensor:$result);
}

def Joint_PoissonOp : Joint_ElementDrawOp<"poisson"> {
  let summary = "Poisson numbers of one stream, a rate for each";
  let description = [{
    As `joint.random`, a pure function of the seed, and of rates: element *i* is
    how many waits fit into a time of `rate[i]`, where wait *k* is
    -log(1 - u) of the f64 number 2^24 i + k of the stream. Past 2^24 events it
    ends. A rate that is no number, or below 0, gives 0.

    ```mlir
    %n = joint.poisson %seed stream 3 of %rate
        : (tensor<i64>, tensor<16xf32>) -> tensor<16xf32>
    ```

    Constraints:
    * C1: rates and result have one floating-point type
  }];
  let arguments = (ins TensorOf<[I64]>:$seed, I64Attr:$stream,
                       Optional<TensorOf<[I64]>>:$round,
                       AnyRankedTensor:$rate,
                       OptionalAttr<StrArrayAttr>:$names);
  let results = (outs AnyRankedTensor:$result);
}

def Joint_BinomialOp : Joint_ElementDrawOp<"binomial"> {
  let summary = "binomial numbers of one stream, trials and a chance for each";
  let description = [{
    As `joint.random`, a pure function of the seed, and of trials and chances:
    element *i* is how many of `trials[i]` numbers are below `chance[i]`, where
    number *k* is the f64 number 2^31 i + k of the stream. Trials that are not
    from 0 to 2^31 give NaN.

    ```mlir
    %n = joint.binomial %seed stream 3 of %trials, %chance
        : (tensor<i64>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    ```

    Constraints:
    * C1: trials, chances and result have one floating-point type
  }];
  let arguments = (ins TensorOf<[I64]>:$seed, I64Attr:$stream,
                       Optional<TensorOf<[I64]>>:$round,
                       AnyRankedTensor:$trials, AnyRankedTensor:$chance,
                       OptionalAttr<StrArrayAttr>:$names);
  let results = (outs AnyRankedTensor:$result);
}

#endif // CUTBACK_DIALECT_JOINT_RANDOM_TD
