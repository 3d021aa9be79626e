// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations, softmax and losses as units.
//
// Statistics (mean, 1 / standard deviation) of 16-bit floats are kept in f32,
// as GPU kernels do; torch's CPU kernels keep those of layer and batch norm in
// the input's type unless the weight is f32. A graph that says so is right too:
// `resultAs` (KernelTypes.h). Where the number of statistics depends on the
// kernel (none or one a channel, when batch norm evaluates) it is `?`.

#include "Common.h"

using namespace mlir;
using namespace cutback::aten;
using namespace cutback::aten::infer;

LogicalResult infer::sameAsInput(const InferCall &call, Results &results) {
  return sameAsSelf(call, results);
}

//===----------------------------------------------------------------------===//
// Layer and RMS norm
//===----------------------------------------------------------------------===//

/// The input, and the shape of its statistics: size 1 where it is normalized.
static LogicalResult getNormalized(const InferCall &call, TensorShape &input,
                                   TensorShape &statistics) {
  Dims normalized;
  if (failed(call.tensor("input", input)) ||
      failed(getSizes(call, "normalized_shape", normalized)))
    return failure();
  if (normalized.empty() || normalized.size() > input.dims.size())
    return call.error("normalized_shape has ", normalized.size(),
                      " sizes, the input rank ", input.rank());
  size_t kept = input.dims.size() - normalized.size();
  statistics.dims = input.dims;
  statistics.element = statisticsType(input.element);
  for (auto [i, size] : llvm::enumerate(normalized)) {
    if (failed(checkSame(call, "normalized sizes", size, input.dims[kept + i])))
      return failure();
    statistics.dims[kept + i] = 1;
  }
  return success();
}

LogicalResult infer::nativeLayerNorm(const InferCall &call, Results &results) {
  TensorShape input, statistics;
  if (failed(getNormalized(call, input, statistics)) ||
      failed(push(call, results, input)) ||
      failed(push(call, results, statistics)))
    return failure();
  return push(call, results, statistics);
}

LogicalResult infer::nativeLayerNormBackward(const InferCall &call,
                                             Results &results) {
  TensorShape input, statistics;
  std::optional<TensorShape> weight, bias;
  if (failed(getNormalized(call, input, statistics)) ||
      failed(call.optionalTensor("weight", weight)) ||
      failed(call.optionalTensor("bias", bias)))
    return failure();
  return pushMasked(call, results, {input, weight, bias});
}

LogicalResult infer::fusedRmsNorm(const InferCall &call, Results &results) {
  TensorShape input, statistics;
  if (failed(getNormalized(call, input, statistics)) ||
      failed(push(call, results, input)))
    return failure();
  return push(call, results, statistics);
}

LogicalResult infer::fusedRmsNormBackward(const InferCall &call,
                                          Results &results) {
  TensorShape input, statistics;
  std::optional<TensorShape> weight;
  if (failed(getNormalized(call, input, statistics)) ||
      failed(call.optionalTensor("weight", weight)))
    return failure();
  return pushMasked(call, results, {input, weight});
}

//===----------------------------------------------------------------------===//
// Group norm
//===----------------------------------------------------------------------===//

LogicalResult infer::nativeGroupNorm(const InferCall &call, Results &results) {
  TensorShape input;
  int64_t batch = 0, groups = 0;
  if (failed(call.tensor("input", input)) || failed(call.integer("N", batch)) ||
      failed(call.integer("group", groups)) ||
      failed(push(call, results, input)) ||
      failed(push(call, results, {batch, groups}, input.element)))
    return failure();
  return push(call, results, {batch, groups}, input.element);
}

LogicalResult infer::nativeGroupNormBackward(const InferCall &call,
                                             Results &results) {
  TensorShape input;
  std::optional<TensorShape> weight;
  int64_t channels = 0;
  if (failed(call.tensor("input", input)) ||
      failed(call.optionalTensor("weight", weight)) ||
      failed(call.integer("C", channels)))
    return failure();
  TensorShape affine;
  affine.dims = {channels};
  affine.element = weight ? weight->element : input.element;
  return pushMasked(call, results, {input, affine, affine});
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// The input and its number of channels.
static LogicalResult getChannels(const InferCall &call, TensorShape &input,
                                 int64_t &channels) {
  if (failed(call.tensor("input", input)))
    return failure();
  if (input.rank() < 2)
    return call.error("batch norm of a tensor of rank ", input.rank());
  channels = input.dims[1];
  return success();
}

LogicalResult infer::nativeBatchNorm(const InferCall &call, Results &results) {
  TensorShape input;
  int64_t channels = 0;
  bool training = StringRef(call.getSchema().packet).contains("_with_update");
  if (failed(getChannels(call, input, channels)) ||
      (!training && failed(call.boolean(optional("training"), training))) ||
      failed(push(call, results, input)))
    return failure();
  Type type = statisticsType(input.element);
  for (int i = 0; i < 2; ++i)
    if (failed(push(call, results, {training ? channels : kUnknown}, type)))
      return failure();
  // cudnn's bytes that it reserves for the backward.
  if (call.getSchema().results.size() < 4)
    return success();
  Type byte = IntegerType::get(call.getContext(), 8, IntegerType::Unsigned);
  return push(call, results, {kUnknown}, byte);
}

LogicalResult infer::batchNormFunctional(const InferCall &call,
                                         Results &results) {
  TensorShape runningMean, runningVar;
  if (failed(nativeBatchNorm(call, results)) ||
      failed(call.tensor("running_mean", runningMean)) ||
      failed(call.tensor("running_var", runningVar)))
    return failure();
  results.truncate(call.getSchema().results.size() - 2);
  return success(succeeded(push(call, results, runningMean)) &&
                 succeeded(push(call, results, runningVar)));
}

LogicalResult infer::nativeBatchNormBackward(const InferCall &call,
                                             Results &results) {
  TensorShape input, affine;
  std::optional<TensorShape> weight;
  int64_t channels = 0;
  if (failed(getChannels(call, input, channels)) ||
      failed(call.optionalTensor("weight", weight)))
    return failure();
  affine.dims = {channels};
  affine.element = weight ? weight->element : statisticsType(input.element);
  return pushMasked(call, results, {input, affine, affine});
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static LogicalResult getAlongDim(const InferCall &call, TensorShape &self) {
  int64_t dim = 0;
  if (failed(getSelf(call, self)))
    return failure();
  return call.dimension("dim", self.rank(), dim);
}

LogicalResult infer::softmax(const InferCall &call, Results &results) {
  TensorShape self;
  Type type;
  if (failed(getAlongDim(call, self)) ||
      failed(getDtype(call, self.element, type)))
    return failure();
  return push(call, results, self.dims, type);
}

LogicalResult infer::softmaxHalf(const InferCall &call, Results &results) {
  TensorShape self;
  bool toFloat = false;
  if (failed(getAlongDim(call, self)) ||
      failed(call.boolean("half_to_float", toFloat)))
    return failure();
  return push(call, results, self.dims,
              toFloat ? floatType(call) : self.element);
}

LogicalResult infer::softmaxBackward(const InferCall &call, Results &results) {
  TensorShape gradient, output;
  Type type;
  if (failed(call.tensor("grad_output", gradient)) ||
      failed(call.tensor("output", output)) ||
      failed(call.dtype("input_dtype", type)) ||
      failed(broadcastInto(call, gradient.dims, output.dims)))
    return failure();
  return push(call, results, gradient.dims, type ? type : gradient.element);
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// `reduction`: 0 keeps an element a sample, 1 is the mean, 2 the sum.
static LogicalResult pushReduced(const InferCall &call, Results &results,
                                 ArrayRef<int64_t> dims, Type type) {
  int64_t reduction = 0;
  if (failed(call.integer("reduction", reduction)))
    return failure();
  if (reduction < 0 || reduction > 2)
    return call.error("reduction ", reduction,
                      " is none of 0 (none), 1 (mean), 2 (sum)");
  return push(call, results, reduction == 0 ? dims : ArrayRef<int64_t>(), type);
}

LogicalResult infer::pointwiseLoss(const InferCall &call, Results &results) {
  TensorShape self, target;
  if (failed(call.tensor("self", self)) ||
      failed(call.tensor("target", target)))
    return failure();
  Dims dims = self.dims;
  if (failed(broadcastInto(call, dims, target.dims)))
    return failure();
  // With logits PyTorch writes the loss to 1 - target.
  bool isOfTarget = call.getSchema().find("pos_weight") >= 0 &&
                    isa<FloatType>(target.element);
  return pushReduced(call, results, dims,
                     isOfTarget ? target.element
                                : promoteTypes({self, target}));
}

LogicalResult infer::pointwiseLossBackward(const InferCall &call,
                                           Results &results) {
  TensorShape gradient, self, target;
  if (failed(call.tensor("grad_output", gradient)) ||
      failed(call.tensor("self", self)) ||
      failed(call.tensor("target", target)))
    return failure();
  Dims dims = self.dims;
  if (failed(broadcastInto(call, dims, target.dims)) ||
      failed(broadcastInto(call, dims, gradient.dims)))
    return failure();
  return push(call, results, dims, promoteTypes({gradient, self, target}));
}

/// `self` [N, C, ...] or [C]; the shape of one value a sample, [N, ...].
static LogicalResult getSamples(const InferCall &call, TensorShape &self,
                                Dims &samples) {
  if (failed(call.tensor("self", self)))
    return failure();
  if (self.dims.empty())
    return call.error("the input has no dimension of classes");
  samples = self.dims;
  samples.erase(samples.begin() + (self.rank() == 1 ? 0 : 1));
  return success();
}

LogicalResult infer::nllLoss(const InferCall &call, Results &results) {
  TensorShape self, target;
  Dims samples;
  if (failed(getSamples(call, self, samples)) ||
      failed(call.tensor("target", target)))
    return failure();
  if (!isIntegral(target.element))
    return call.error("the target must be class numbers, not ", target.element);
  if (target.dims.size() != samples.size())
    return call.error("a target of rank ", target.rank(), " for input of rank ",
                      self.rank());
  for (auto [a, b] : llvm::zip_equal(samples, target.dims))
    if (failed(checkSame(call, "numbers of samples", a, b)))
      return failure();
  for (auto [a, b] : llvm::zip_equal(samples, target.dims))
    a = mergeSizes(a, b);
  return pushReduced(call, results, samples, self.element);
}

LogicalResult infer::nllLossForward(const InferCall &call, Results &results) {
  TensorShape self;
  if (failed(nllLoss(call, results)) || failed(call.tensor("self", self)))
    return failure();
  return push(call, results, {}, self.element);
}

LogicalResult infer::crossEntropyLoss(const InferCall &call, Results &results) {
  TensorShape self, target;
  Dims samples;
  if (failed(call.tensor("target", target)))
    return failure();
  if (isIntegral(target.element))
    return nllLoss(call, results);
  // Probabilities: one a class, so the target has the input's shape.
  if (failed(getSamples(call, self, samples)))
    return failure();
  if (target.rank() != self.rank())
    return call.error("probabilities of rank ", target.rank(),
                      " for input of rank ", self.rank());
  return pushReduced(call, results, samples, promoteTypes({self, target}));
}

/// The loss, and the gradients that the op makes ahead.
LogicalResult infer::linearCrossEntropy(const InferCall &call,
                                        Results &results) {
  TensorShape input, weight, target;
  if (failed(call.tensor("input", input)) ||
      failed(call.tensor("linear_weight", weight)) ||
      failed(call.tensor("target", target)))
    return failure();
  if (input.rank() != 2 || weight.rank() != 2 || target.rank() != 1)
    return call.error("input, weight and target have 2, 2 and 1 dimensions, "
                      "not ",
                      input.rank(), ", ", weight.rank(), " and ",
                      target.rank());
  if (call.getSchema().results.size() == 1)
    return push(call, results, target.dims, input.element);
  bool ofInput = false, ofWeight = false, ofBias = false;
  if (failed(push(call, results, {}, input.element)) ||
      failed(call.boolean(optional("compute_input_grad"), ofInput)) ||
      failed(call.boolean(optional("compute_linear_weight_grad"), ofWeight)) ||
      failed(call.boolean(optional("compute_linear_bias_grad"), ofBias)))
    return failure();
  auto pushIf = [&](bool isMade, ArrayRef<int64_t> dims) {
    return push(call, results, isMade ? Dims(dims) : Dims(dims.size(), 0),
                input.element);
  };
  if (failed(pushIf(ofInput, input.dims)) ||
      failed(pushIf(ofWeight, weight.dims)))
    return failure();
  return pushIf(ofBias, weight.dims[0]);
}

LogicalResult infer::logSigmoidForward(const InferCall &call,
                                       Results &results) {
  TensorShape self;
  if (failed(getSelf(call, self)) || failed(push(call, results, self)))
    return failure();
  // The CPU kernel keeps exp(-|x|), the GPU's nothing: not even the rank is
  // known.
  pushNone(call, results);
  return success();
}
