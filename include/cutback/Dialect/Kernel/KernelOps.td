// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `kernel`: a training step as launches of kernels in one arena.
#ifndef CUTBACK_DIALECT_KERNEL_KERNELOPS_TD
#define CUTBACK_DIALECT_KERNEL_KERNELOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let summary = "a training step as launches of kernels in one arena";
  let description = [{
    A half of a step is a function of `kernel.launch` ops. A launch holds the
    tensor ops that it stands for, and names the `kernel.func` that computes
    them element by element, and where its results lie in the arena. A launch
    without a kernel is a call: its ops run as they stand.

    ```mlir
    %y, %m = kernel.launch @row_mean_sub(%x) at [0, 4096] {
      %m = aten.mean.dim(%x, [1], true) : ...
      %y = aten.sub.Tensor(%x, %m) : ...
      kernel.yield %y, %m : ...
    } : (tensor<8x128xf32>) -> (tensor<8x128xf32>, tensor<8x1xf32>)

    kernel.func @row_mean_sub(%x: memref<1024xf32>, %y: memref<1024xf32>,
                              %m: memref<8xf32>) schedule row {
      kernel.nest (%i, %j) in [8, 128 reduced] {
        %0 = kernel.load %x[%i * 128 + %j]
        ...
    ```
  }];
  let cppNamespace = "::cutback::kernel";
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect"];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

def Kernel_Combine : I32EnumAttr<"Combine", "how a reduction combines", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"MaxUnsigned", 4, "max_unsigned">,
  I32EnumAttrCase<"MinUnsigned", 5, "min_unsigned">,
  I32EnumAttrCase<"And", 6, "and">, I32EnumAttrCase<"Or", 7, "or">]> {
  let cppNamespace = "::cutback::kernel";
}

def Kernel_Draw : I32EnumAttr<"Draw", "what is drawn", [
  I32EnumAttrCase<"Uniform", 0, "uniform">,
  I32EnumAttrCase<"Normal", 1, "normal">,
  I32EnumAttrCase<"Bits", 2, "bits">]> {
  let cppNamespace = "::cutback::kernel";
}

def Kernel_FuncOp : Kernel_Op<"func", [
    Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "what one launch computes, element by element";
  let description = [{
    Arguments are stretches of memory: those that are read, then those that are
    written. The body is one `kernel.nest` for each loop nest; they are
    independent of each other.

    `schedule` says how the loops are laid over a device (KernelSchedule).

    The last arguments may be sizes, of type `index`: a kernel with some is one
    for all sizes. Its memory has as many elements as the launch gives.

    ```mlir
    kernel.func @k_exp(%x: memref<?xf32>) to (%y: memref<?xf32>)
        schedule "pointwise" sizes (%s0: index) {
      kernel.nest (%i) in [symbol(%s0) * 64] {
    ```

    Constraints:
    * C1: arguments are memrefs of one dimension, then sizes
    * C2: the first `num_inputs` are only read, the others written; each is used
    * C3: only with sizes is memory of unknown size
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$schedule,
                       I64Attr:$num_inputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// Arguments that are memory, and those that are sizes.
    ::llvm::MutableArrayRef<::mlir::BlockArgument> getMemories();
    ::llvm::MutableArrayRef<::mlir::BlockArgument> getSizes();
  }];
}

def Kernel_NestOp : Kernel_Op<"nest", [
    SingleBlock, NoTerminator, HasParent<"FuncOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop nest whose body is scalars";
  let description = [{
    Runs its body once for each combination of the kept axes, in any order.
    There, every op runs for all iterations of the reduced axes before the next
    op does. A scalar that depends on a reduced axis is one an iteration; others
    are one for all of them.

    An extent that depends on sizes is dynamic in `extents`, and the next result
    of `size_map`, whose symbols are `sizes`, is what it is.
  }];
  let arguments = (ins DenseI64ArrayAttr:$extents,
                       DenseBoolArrayAttr:$reduced,
                       Variadic<Index>:$sizes,
                       OptionalAttr<AffineMapAttr>:$size_map);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// By scalar of the body: whether it depends on a reduced axis.
    ::llvm::DenseMap<::mlir::Value, bool> findReduced();
  }];
}

def Kernel_LoadOp : Kernel_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "an element of memory";
  let description = [{
    The element of `memory` at `map(indices)`. With a mask, only where it is
    true, and `otherwise` elsewhere.

    Constraints:
    * C1: `map` has one result, and one dimension an index; behind those, one
      symbol a size of the kernel
    * C2: the result has the memory's element type, as has `otherwise`; there is
      one exactly if there is a mask
    * C3: an index that is known from loops, `kernel.choose` and map, without a
      mask, is inside
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<Index>:$indices,
                       Optional<I1>:$mask, Optional<AnyType>:$otherwise,
                       AffineMapAttr:$map);
  let results = (outs AnyType:$element);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Kernel_StoreOp : Kernel_Op<"store"> {
  let summary = "writes an element of memory";
  let description = [{
    Constraints: as of `kernel.load`; and
    * C4: the index of an element that depends on a reduced axis depends on one
  }];
  let arguments = (ins AnyType:$element, AnyMemRef:$memory,
                       Variadic<Index>:$indices, AffineMapAttr:$map);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Kernel_SizeOp : Kernel_Op<"size", [Pure, HasParent<"NestOp">]> {
  let summary = "a number that depends on sizes";
  let description = [{
    `map` of the kernel's sizes, as a scalar of the result's type; floats are
    rounded once.
  }];
  let arguments = (ins Variadic<Index>:$sizes, AffineMapAttr:$map);
  let results = (outs AnyTypeOf<[Index, AnySignlessInteger, AnyFloat]>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Kernel_ReduceOp : Kernel_Op<"reduce", [
    Pure, AllTypesMatch<["element", "result"]>, HasParent<"NestOp">]> {
  let summary = "combines a scalar over the reduced axes";
  let description = [{
    The order of the combination is that of the target. Max and Min are NaN if
    an element is.
  }];
  let arguments = (ins Kernel_Combine:$combine, AnyType:$element);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $combine $element attr-dict `:` type($result)
  }];
}

def Kernel_ReduceIndexOp : Kernel_Op<"reduce_index", [
    Pure, HasParent<"NestOp">]> {
  let summary = "where a scalar is greatest, or least, along the reduced axes";
  let description = [{
    Counted from 0 in row-major order: the first NaN, else the first of equals.
  }];
  let arguments = (ins UnitAttr:$least, AnyType:$element);
  let results = (outs I64:$result);
  let assemblyFormat = [{
    (`least` $least^)? $element attr-dict `:` type($element)
  }];
}

def Kernel_PickOp : Kernel_Op<"pick", [
    Pure, HasParent<"NestOp">, AllTypesMatch<["element", "result"]>]> {
  let summary = "the scalar of one iteration of the reduced axes";
  let description = [{
    That of iteration number `at`, counted in row-major order; an error at run
    time if there is none.
  }];
  let arguments = (ins AnyType:$element, Index:$at);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $element `at` $at attr-dict `:` type($element)
  }];
}

def Kernel_ChooseOp : Kernel_Op<"choose", [Pure, HasParent<"NestOp">]> {
  let summary = "a place along a dimension that data name";
  let description = [{
    `at`, which is inside of [0, `size`): an error at run time where it is not.
    `wrapped`: a place below 0 counts from the end.
  }];
  let arguments = (ins Index:$at, Index:$size, UnitAttr:$wrapped);
  let results = (outs Index:$place);
  let assemblyFormat = [{
    $at `of` $size (`wrapped` $wrapped^)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// The size, where it is known.
    std::optional<int64_t> findSize();
  }];
}

def Kernel_DrawOp : Kernel_Op<"draw", [Pure, HasParent<"NestOp">]> {
  let summary = "element number `index` of a random stream";
  let description = [{
    As `joint.random` has it, with the seed and the round that it reads.
  }];
  let arguments = (ins Kernel_Draw:$draw, I64:$seed, Index:$index,
                       I64Attr:$stream, Optional<I64>:$round);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $draw $seed `stream` $stream (`round` $round^)? `[` $index `]` attr-dict
    `:` type($result)
  }];
}

def Kernel_ArenaOp : Kernel_Op<"arena", [
    SingleBlock, NoTerminator,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the memory that the launches of a step share";
  let description = [{
    Results of launches lie at their offsets in one stretch of so many bytes.
    The region lists the segments of the step, in the order in which they run.

    ```mlir
    kernel.arena 4096 of @g_partition {
      kernel.segment forward @g_forward keeps 1
      kernel.segment backward @g_backward keeps 2 takes forward[1 as 0]
    }
    ```

    With `symbols`, the graph's, the sizes of the step are expressions of them:
    the number of bytes is `?`, and so is every place. What C2 says is asked when
    sizes are known (Lowering/SymbolicKernels.h).

    Constraints:
    * C1: the first two segments are the halves of `partition`, and the second
      takes what the first hands over; all names differ
    * C2: no launch writes over bytes that are read later, in any segment, or
      outside. It may write over what it reads for the last time itself, at the
      same offset, if its kernel reads each element where it writes it, once
  }];
  let arguments = (ins I64Attr:$bytes, FlatSymbolRefAttr:$partition,
                       OptionalAttr<DictionaryAttr>:$symbols);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<Bytes>($bytes) `of` $partition (`symbols` $symbols^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    auto getSegments() { return getBody().front().getOps<SegmentOp>(); }
    SegmentOp getSegment(::llvm::StringRef name);
  }];
}

def Kernel_SegmentOp : Kernel_Op<"segment", [HasParent<"ArenaOp">]> {
  let summary = "launches of a step that run one behind the other";
  let description = [{
    The launches of `function`. Its first `kept` results are results of the
    step, and stay to its end. Argument `arguments[i]` is result `results[i]` of
    the earlier segment `from[i]`; all others are arguments of the step, under
    their names (`joint.name`).

    Constraints:
    * C1: `function` is a function of the module
    * C2: an argument is taken once, from a result of its type
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$function,
                       I64Attr:$kept, StrArrayAttr:$from,
                       DenseI32ArrayAttr:$results,
                       DenseI32ArrayAttr:$arguments);
  let assemblyFormat = [{
    custom<SegmentName>($name) $function `keeps` $kept
    custom<Taken>($from, $results, $arguments) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Null where the module has none of that name.
    ::mlir::func::FuncOp getFunctionOp();
  }];
}

def Kernel_LaunchOp : Kernel_Op<"launch", [
    SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "runs a kernel";
  let description = [{
    Stands for the tensor ops inside. With a kernel, `buffers` are the tensors
    whose memory the kernel's inputs are, and its outputs are the results
    `outputs`. `at` has, for each result, its offset in the arena in bytes, or
    -1 where it has no place of its own there: a view, a size, an argument. It is
    `?` in a step whose sizes are symbols: what is found when they are known.

    A tensor whose size depends on data has the place `own`: a buffer outside of
    the arena, allocated when the launch runs and freed behind its last reader.
    Where the program bounds the size, `most` has the bytes that it is at most:

    ```mlir
    %rows.out, %n.out = kernel.launch call at [own max 48, -1] : ...
    ```

    `sizes` are expressions of the step's symbols, one a size of the kernel.

    A call of graphs (`joint.nested`) may hold launches, too. Their places are
    in its scratch, `scratch` bytes of the arena at `scratch_at`, which nobody
    else has while the call runs; each graph has all of it:

    ```mlir
    %y.out = kernel.launch call at [0] scratch 512 at 1024 : ... {
      %y = joint.nested "higher_order.cond"(%p, @yes, @no, [%x]) ... {
      ^bb0(%a: tensor<4xf32>):
        %sin.out = kernel.launch @k_sin(%a) outputs [0] at [0] : ...
    ```

    Constraints:
    * C1: the kernel exists and has as many arguments, of as many elements
    * C2: the region ends with `kernel.yield` of the results
    * C3: one offset a result
    * C4: `own` are tensors of unknown size, and no others have a bound
    * C5: scratch is that of a call
  }];
  let arguments = (ins OptionalAttr<FlatSymbolRefAttr>:$kernel,
                       Variadic<AnyType>:$buffers, DenseI32ArrayAttr:$outputs,
                       DenseI64ArrayAttr:$at,
                       OptionalAttr<StrArrayAttr>:$sizes,
                       OptionalAttr<DenseI64ArrayAttr>:$most,
                       OptionalAttr<I64Attr>:$scratch,
                       OptionalAttr<I64Attr>:$scratch_at);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    YieldOp getYield();
    ::llvm::LogicalResult verifyPlaces();
    /// In `at`: a buffer of its own, outside of the arena.
    static constexpr int64_t kOwn = -2;
    /// In `most`: not known.
    static constexpr int64_t kNoBound = -1;
    /// Bytes that result `i` takes at most, where it has a buffer of its own.
    int64_t getMostOf(unsigned i) {
      return getMost() ? (*getMost())[i] : kNoBound;
    }
  }];
}

def Kernel_YieldOp : Kernel_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"LaunchOp">]> {
  let summary = "results of a launch";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // CUTBACK_DIALECT_KERNEL_KERNELOPS_TD
