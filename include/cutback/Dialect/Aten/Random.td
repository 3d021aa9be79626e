// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that draw from the generator's state.
#ifndef CUTBACK_DIALECT_ATEN_RANDOM_TD
#define CUTBACK_DIALECT_ATEN_RANDOM_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_RandomCreate<string name, string schema, string rule, int w = 10>
    : Aten_AtenOp<name, schema> {
  let family = "New random numbers.";
  let infer = rule;
  let weight = w;
  let fusion = "Create";
  let loops = "gather";
  let flops = "perOutput";
  let flags = ["kRandom", "kNotDifferentiable"];
}

class Aten_RandomPointwise<string name, string schema, string rule, int w = 10>
    : Aten_AtenOp<name, schema> {
  let family = "Random numbers, with a parameter for each element.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
  let flags = ["kRandom"]; // the gradient is zero
}

class Aten_Dropout<string name, string schema, string rule, int w = 10>
    : Aten_AtenOp<name, schema> {
  let family = "Drops elements at random; not random when not in training or "
               "with probability 0.";
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
  let flags = ["kRandomWithDropout"];
}

class Aten_DropoutBackward<string name, string formula, string schema,
                           string rule, int w = 2>
    : Aten_AtenOp<name, schema> {
  let family = "Gradient of dropout from its mask.";
  let element = formula;
  let infer = rule;
  let weight = w;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

def Aten_RandOp : Aten_RandomCreate<"rand",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">,
    Kernel<"uniform">;
def Aten_RandnOp : Aten_RandomCreate<"randn",
    "(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "create">,
    Kernel<"normal">;
def Aten_RandintOp : Aten_RandomCreate<"randint",
    "(SymInt high, SymInt[] size, *, ScalarType? dtype=long, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "randint">, Kernel<"integers">;
def Aten_RandintLowOp : Aten_RandomCreate<"randint.low",
    "(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=long, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
    "Tensor", "randint">, Kernel<"integers">;
def Aten_RandpermOp : Aten_RandomCreate<"randperm",
    "(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor", "randperm">,
    Kernel<"permutation"> {
  let loops = "none";
}
def Aten_RandLikeOp : Aten_RandomCreate<"rand_like",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"uniform">;
def Aten_RandnLikeOp : Aten_RandomCreate<"randn_like",
    "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"normal">;
def Aten_RandintLikeOp : Aten_RandomCreate<"randint_like",
    "(Tensor self, SymInt high, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"integers">;
def Aten_RandintLikeLowDtypeOp : Aten_RandomCreate<"randint_like.low_dtype",
    "(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "MemoryFormat? memory_format=None) -> Tensor", "createLike">,
    Kernel<"integers">;
def Aten_BernoulliOp : Aten_RandomPointwise<"bernoulli",
    "(Tensor self, *, Generator? generator=None) -> Tensor", "createLike">,
    Vjp<"constant">, Kernel<"bernoulli">;
def Aten_BernoulliPOp : Aten_RandomPointwise<"bernoulli.p",
    "(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    "createLike">, Vjp<"constant">, Kernel<"bernoulli">;
def Aten_NormalFunctionalOp : Aten_RandomPointwise<"normal_functional",
    "(Tensor self, float mean=0., float std=1., *, "
    "Generator? generator=None) -> Tensor", "createLike">, Vjp<"constant">,
    Kernel<"normal">;
def Aten_MultinomialOp : Aten_RandomCreate<"multinomial",
    "(Tensor self, SymInt num_samples, bool replacement=False, *, "
    "Generator? generator=None) -> Tensor", "multinomial">,
    Kernel<"multinomial"> {
  let loops = "none";
}
def Aten_NativeDropoutOp : Aten_Dropout<"native_dropout",
    "(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    "nativeDropout">, Vjp<"nativeDropout">, Kernel<"nativeDropout">;
def Aten_DropoutOp : Aten_Dropout<"dropout",
    "(Tensor input, float p, bool train) -> Tensor", "sameAsInput">,
    Vjp<"dropout">, Kernel<"dropout">, Decomposition<"dropout">;
def Aten_FeatureDropoutOp : Aten_Dropout<"feature_dropout",
    "(Tensor input, float p, bool train) -> Tensor", "sameAsInput">,
    Vjp<"dropout">, Kernel<"featureDropout">, Decomposition<"featureDropout"> {
  let loops = "none";
}
def Aten_NativeDropoutBackwardOp : Aten_DropoutBackward<
    "native_dropout_backward", "dropoutBackward",
    "(Tensor grad_output, Tensor mask, float scale) -> Tensor", "broadcast">,
    Vjp<"nativeDropoutBackward">, Kernel<"dropoutBackward">;
def Aten_UniformOp : Aten_RandomPointwise<"uniform",
    "(Tensor self, float from=0., float to=1., *, Generator? generator=None) "
    "-> Tensor", "sameAsSelf">, Vjp<"constant">, Kernel<"uniform">;
def Aten_RandomOp : Aten_RandomPointwise<"random",
    "(Tensor self, *, Generator? generator=None) -> Tensor", "sameAsSelf">,
    Vjp<"constant">, Kernel<"randomIntegers">;
def Aten_RandomFromOp : Aten_RandomPointwise<"random.from",
    "(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
    "sameAsSelf">, Vjp<"constant">, Kernel<"randomIntegers">;
def Aten_RandomToOp : Aten_RandomPointwise<"random.to",
    "(Tensor self, int to, *, Generator? generator=None) -> Tensor",
    "sameAsSelf">, Vjp<"constant">, Kernel<"randomIntegers">;
def Aten_ExponentialOp : Aten_RandomPointwise<"exponential",
    "(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor",
    "sameAsSelf">, Vjp<"constant">, Kernel<"exponential">;
def Aten_BernoulliTensorOp : Aten_RandomPointwise<"bernoulli.Tensor",
    "(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
    "sameAsSelf">, Vjp<"draw">, Kernel<"bernoulli">;
def Aten_PoissonOp : Aten_RandomPointwise<"poisson",
    "(Tensor self, Generator? generator=None) -> Tensor", "sameAsSelf">,
    Vjp<"constant">, Kernel<"poisson">;
def Aten_InternalStandardGammaOp : Aten_RandomPointwise<"_standard_gamma",
    "(Tensor self, Generator? generator=None) -> Tensor", "sameAsSelf">,
    Vjp<"standardGamma">, Kernel<"standardGamma"> {
  let flags = ["kRandom"];
}
def Aten_InternalStandardGammaGradOp : Aten_DropoutBackward<
    "_standard_gamma_grad", "none", "(Tensor self, Tensor output) -> Tensor",
    "broadcast", 200>, Kernel<"standardGammaGrad"> {
  let family = "The slope of a draw from a gamma distribution in its shape. It "
               "has no gradient.";
}
def Aten_InternalSampleDirichletOp : Aten_RandomPointwise<"_sample_dirichlet",
    "(Tensor self, Generator? generator=None) -> Tensor", "sameAsSelf">,
    Decomposition<"dirichlet"> {
  let flags = ["kRandom"];
  let loops = "none";
}
def Aten_BinomialOp : Aten_RandomPointwise<"binomial",
    "(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
    "broadcast">, Kernel<"binomial"> {
  let flags = ["kRandom", "kNotDifferentiable"];
}
def Aten_NormalTensorFloatOp : Aten_RandomPointwise<"normal.Tensor_float",
    "(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
    "sameAsSelf">, Vjp<"draw">, Kernel<"normal">;
def Aten_LogNormalOp : Aten_RandomPointwise<"log_normal",
    "(Tensor self, float mean=1., float std=2., *, Generator? generator=None) "
    "-> Tensor", "sameAsSelf">, Vjp<"constant">, Kernel<"logNormal">;
def Aten_CauchyOp : Aten_RandomPointwise<"cauchy",
    "(Tensor self, float median=0., float sigma=1., *, Generator? "
    "generator=None) -> Tensor", "sameAsSelf">, Vjp<"constant">,
    Kernel<"cauchy">;
def Aten_GeometricOp : Aten_RandomPointwise<"geometric",
    "(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    "sameAsSelf">, Vjp<"constant">, Kernel<"geometric">;
def Aten_NormalTensorTensorOp : Aten_RandomPointwise<"normal.Tensor_Tensor",
    "(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    "broadcast">, Vjp<"draw">, Kernel<"normal">;
def Aten_NormalFloatTensorOp : Aten_RandomPointwise<"normal.float_Tensor",
    "(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    "sameAsSelf">, Vjp<"draw">, Kernel<"normal">;
def Aten_NormalFloatFloatOp : Aten_RandomCreate<"normal.float_float",
    "(float mean, float std, SymInt[] size, *, Generator? generator=None, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
    "pin_memory=None) -> Tensor", "create">, Kernel<"normal">;
def Aten_AlphaDropoutOp : Aten_Dropout<"alpha_dropout",
    "(Tensor input, float p, bool train) -> Tensor", "sameAsInput">,
    Vjp<"dropout">, Decomposition<"alphaDropout"> {
  let loops = "none";
}
def Aten_FeatureAlphaDropoutOp : Aten_Dropout<"feature_alpha_dropout",
    "(Tensor input, float p, bool train) -> Tensor", "sameAsInput">,
    Vjp<"dropout">, Decomposition<"alphaDropout"> {
  let loops = "none";
}
def Aten_RreluWithNoiseFunctionalOp : Aten_Dropout<
    "rrelu_with_noise_functional",
    "(Tensor self, Tensor noise, Scalar lower=0.125, "
    "Scalar upper=0.33333333333333331, bool training=False, "
    "Generator? generator=None) -> (Tensor, Tensor noise_out)",
    "rreluWithNoise">, Kernel<"rreluWithNoise">,
    Decomposition<"rreluWithNoise"> {
  let family = "Negative elements times slopes that are drawn, and the slopes.";
}
def Aten_RreluWithNoiseBackwardOp : Aten_DropoutBackward<
    "rrelu_with_noise_backward", "rreluBackward",
    "(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, "
    "Scalar upper, bool training, bool self_is_result) -> Tensor",
    "sameAsSelf">, Kernel<"rreluWithNoiseBackward">;
def Aten_RreluOp : Aten_Dropout<"rrelu",
    "(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
    "training=False, Generator? generator=None) -> Tensor", "sameAsSelf">,
    Vjp<"rrelu">, Decomposition<"rrelu">;

#endif // CUTBACK_DIALECT_ATEN_RANDOM_TD
