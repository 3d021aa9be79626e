// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of PyTorch's namespace `prims`, which its backend's decompositions
// leave.
#ifndef CUTBACK_DIALECT_ATEN_PRIMS_TD
#define CUTBACK_DIALECT_ATEN_PRIMS_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_PrimsCopy<string name, string formula, string schema, string rule>
    : Aten_PrimsOp<name, schema> {
  let family = "The same values on another device, or laid out in another way.";
  let element = formula;
  let infer = rule;
  let fusion = "Pointwise";
  let loops = "pointwise";
}

class Aten_PrimsCast<string name, string formula, string schema, string rule>
    : Aten_PrimsOp<name, schema> {
  let family = "The same values as another type.";
  let element = formula;
  let infer = rule;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flags = ["kIdentityIfSameType"];
}

class Aten_PrimsCreate<string name, string formula, string schema, string rule>
    : Aten_PrimsOp<name, schema> {
  let family = "A new tensor, from sizes and numbers only.";
  let element = formula;
  let infer = rule;
  let fusion = "Create";
  let loops = "gather";
  let flags = ["kNotDifferentiable"];
}

class Aten_PrimsSeed<string name, string schema, string rule>
    : Aten_PrimsOp<name, schema> {
  let family = "Seeds, drawn from the generator's state.";
  let infer = rule;
  let fusion = "Create";
  let loops = "gather";
  let flags = ["kRandom", "kNotDifferentiable"];
}

class Aten_PrimsFromSeed<string name, string schema, string rule, int w = 10>
    : Aten_PrimsOp<name, schema> {
  let family = "Random numbers as a function of a seed: equal seeds give equal "
               "numbers.";
  let infer = rule;
  let weight = w;
  let fusion = "Create";
  let loops = "gather";
  let flops = "perOutput";
  let flags = ["kNotDifferentiable"];
}

class Aten_PrimsMove<string name, string formula, string schema, string rule>
    : Aten_PrimsOp<name, schema> {
  let family = "Each element comes from a place known from the sizes.";
  let element = formula;
  let infer = rule;
  let fusion = "Gather";
  let loops = "gather";
}

class Aten_PrimsPointwise<string name, string formula, string schema,
                          string rule, int w = 1>
    : Aten_PrimsOp<name, schema> {
  let family = "Elementwise; the operands have equal types.";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

class Aten_PrimsPool<string name, string schema, string rule, int w = 4>
    : Aten_PrimsOp<name, schema> {
  let family = "Max pooling that keeps offsets in the window in place of "
               "indices.";
  let infer = rule;
  let weight = w;
  let fusion = "Gather";
  let loops = "gather";
  let flops = "perOutput";
}

def Aten_PrimsConvertElementTypeOp : Aten_PrimsCast<
    "convert_element_type", "copy",
    "(Tensor a, ScalarType dtype) -> Tensor", "convertElementType">,
    Vjp<"primsConvert">, Kernel<"copy">;
def Aten_PrimsDevicePutOp : Aten_PrimsCopy<"device_put", "copy",
    "(Tensor a, Device device, bool non_blocking=False) -> Tensor",
    "sameAsSelf">, Vjp<"primsConvert">, Kernel<"copy">;
def Aten_PrimsIotaOp : Aten_PrimsCreate<"iota", "iota",
    "(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, "
    "Device device, bool requires_grad) -> Tensor", "iota">, Kernel<"iota">;
def Aten_PrimsRevOp : Aten_PrimsMove<"rev", "flip",
    "(Tensor a, int[] dims) -> Tensor", "sameAsSelf">, Vjp<"flip">,
    Kernel<"flip">;
def Aten_PrimsFmaOp : Aten_PrimsPointwise<"fma", "multiplyAdd",
    "(Tensor a, Tensor b, Tensor c) -> Tensor", "broadcast", 2>, Vjp<"fma">,
    Kernel<"fusedMultiplyAdd">;
def Aten_PrimsInductorSeedOp : Aten_PrimsSeed<"inductor_seed",
    "(Device device) -> Tensor", "seeds">;
def Aten_PrimsInductorSeedsOp : Aten_PrimsSeed<"inductor_seeds",
    "(int count, Device device) -> Tensor", "seeds">;
def Aten_PrimsInductorLookupSeedOp : Aten_PrimsFromSeed<
    "inductor_lookup_seed", "(Tensor seeds, int index) -> Tensor", "seeds", 0>;
def Aten_PrimsInductorRandomOp : Aten_PrimsFromSeed<"inductor_random",
    "(SymInt[] size, Tensor seed, str mode, *, "
    "ScalarType? align_dtype=None) -> Tensor", "create">;
def Aten_PrimsInductorRandintOp : Aten_PrimsFromSeed<"inductor_randint",
    "(SymInt low, SymInt high, SymInt[] size, Tensor seed) -> Tensor",
    "randint">;
def Aten_PrimsInductorForceStrideOrderOp : Aten_PrimsCopy<
    "inductor_force_stride_order", "copy",
    "(Tensor input, SymInt[] stride) -> Tensor", "sameAsInput">;
def Aten_PrimsLowMemoryMaxPoolWithOffsetsOp : Aten_PrimsPool<
    "_low_memory_max_pool_with_offsets",
    "(Tensor self, SymInt[] kernel_size, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool ceil_mode) -> (Tensor, "
    "Tensor)", "lowMemoryMaxPool">, Vjp<"maxPoolWithOffsets">,
    Kernel<"maxPool">;
def Aten_PrimsLowMemoryMaxPoolOffsetsToIndicesOp : Aten_PrimsPool<
    "_low_memory_max_pool_offsets_to_indices",
    "(Tensor self, SymInt[] kernel_size, SymInt[] input_size, "
    "SymInt[] stride, SymInt[] padding, SymInt[] dilation) -> Tensor",
    "offsetsToIndices">, Kernel<"offsetsToIndices">;

#endif // CUTBACK_DIALECT_ATEN_PRIMS_TD
