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

def Joint_RandomOp : Op<Joint_Dialect, "random", [
    Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<RematerializableOpInterface>,
    DeclareOpInterfaceMethods<FusibleOpInterface>,
    DeclareOpInterfaceMethods<CostModelOpInterface>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<SizeEvaluationOpInterface>]> {
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
    stream in word 2, 0 in word 3), of whose four words it takes number i mod
    4; a 64-bit type takes words 0-1 or 2-3 of counter i / 2. `uniform` is in
    [0, 1), a multiple of 2^-24 (2^-53 for f64); `normal` has mean 0 and
    variance 1 (Box and Muller, on pairs of elements); `bits` fills an integer
    type. The stream keeps the ops of a graph apart whatever their sizes;
    `--cutback-functionalize-rng` gives each op its own.

    Constraints:
    * C1: one size for each `?` of the result
    * C2: `uniform` and `normal` have a floating-point result, `bits` an
      integer result
  }];
  let arguments = (ins Joint_Distribution:$distribution,
                       TensorOf<[I64]>:$seed, I64Attr:$stream,
                       Variadic<Index>:$sizes,
                       OptionalAttr<StrArrayAttr>:$names);
  let results = (outs AnyRankedTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // CUTBACK_DIALECT_JOINT_RANDOM_TD
