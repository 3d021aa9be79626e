// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs `joint.random`, `joint.poisson` and `joint.binomial`: functions of a
// seed, a stream and the round of the loop around them.
//
// Elements are drawn in row-major order, each from the numbers of the stream
// that are its own, so what an element is does not depend on the others.

#include "Runner.h"

#include "Kernels/Draws.h"

#include "cutback/Dialect/Joint/Random.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// The generator of an op with seed, stream and perhaps a round.
template <typename Draw>
static std::optional<Philox>
generatorOf(Draw op, llvm::function_ref<RuntimeValue(Value)> valueOf) {
  auto number = [&](Value value) -> std::optional<int64_t> {
    RuntimeValue held = valueOf(value);
    const auto *tensor = std::get_if<Tensor>(&held);
    if (!tensor || tensor->numel() != 1)
      return std::nullopt;
    return tensor->getInt(0);
  };
  std::optional<int64_t> seed = number(op.getSeed());
  std::optional<int64_t> round =
      op.getRound() ? number(op.getRound()) : std::optional<int64_t>(0);
  if (!seed || !round)
    return std::nullopt;
  return Philox(static_cast<uint64_t>(*seed),
                streamOfRound(op.getStream(), *round));
}

LogicalResult Runner::runRandom(joint::RandomOp op, Values &results) {
  std::optional<Philox> generator =
      generatorOf(op, [&](Value value) { return values.lookup(value); });
  auto type = cast<RankedTensorType>(op.getResult().getType());
  std::optional<DType> dtype = dtypeOf(type.getElementType());
  SmallVector<SmallVector<int64_t>> sizes;
  if (!generator || !dtype || failed(resultSizes(op, sizes)))
    return op.emitError("needs a seed of one element, and known sizes");
  Tensor result = memory.allocate(op.getResult(), *dtype, sizes.front());
  bool wide = itemSize(*dtype) == 8;
  for (int64_t i = 0, n = result.numel(); i < n; ++i) {
    if (op.getDistribution() == joint::Distribution::Uniform)
      result.set(i, generator->uniform(*dtype, i));
    else if (op.getDistribution() == joint::Distribution::Normal)
      result.set(i, generator->normal(*dtype, i));
    else
      result.setInt(i, static_cast<int64_t>(wide ? generator->word64(i)
                                                 : generator->word(i)));
  }
  results[0] = result;
  return success();
}

LogicalResult Runner::runPoisson(joint::PoissonOp op, Values &results) {
  std::optional<Philox> generator =
      generatorOf(op, [&](Value value) { return values.lookup(value); });
  RuntimeValue held = values.lookup(op.getRate());
  const auto *rate = std::get_if<Tensor>(&held);
  if (!generator || !rate)
    return op.emitError("needs a seed of one element, and rates");
  Tensor rates = rate->contiguous();
  Tensor result = memory.allocate(op.getResult(), rate->type, rate->sizes);
  for (int64_t i = 0, n = result.numel(); i < n; ++i)
    result.set(i, drawPoisson(*generator, i, rates.getDouble(i)));
  results[0] = result;
  return success();
}

LogicalResult Runner::runBinomial(joint::BinomialOp op, Values &results) {
  std::optional<Philox> generator =
      generatorOf(op, [&](Value value) { return values.lookup(value); });
  RuntimeValue held = values.lookup(op.getTrials()),
               other = values.lookup(op.getChance());
  const auto *trials = std::get_if<Tensor>(&held);
  const auto *chance = std::get_if<Tensor>(&other);
  if (!generator || !trials || !chance || trials->sizes != chance->sizes)
    return op.emitError("needs a seed of one element, trials, and a chance for "
                        "each");
  Tensor counts = trials->contiguous(), p = chance->contiguous();
  Tensor result = memory.allocate(op.getResult(), trials->type, trials->sizes);
  for (int64_t i = 0, n = result.numel(); i < n; ++i)
    result.set(
        i, drawBinomial(*generator, i, counts.getDouble(i), p.getDouble(i)));
  results[0] = result;
  return success();
}
