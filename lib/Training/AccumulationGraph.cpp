// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of micro-batches add up as in PyTorch's AccumulateGrad: in the
// order in which they come, in the type of the gradient, so that each addition
// rounds where PyTorch rounds, and the first gradient keeps its bits (zero plus
// -0 is 0).
//
// Which one is the first is an argument, so that one segment serves all: sum =
// number == 0 ? gradient : sum + gradient. A sum of a training before, even one
// that is not finite, has no effect then. One kernel a parameter, which reads
// and writes each element once.

#include "SegmentGraph.h"

#include "cutback/Dialect/Aten/OpNames.h"
#include "cutback/Runtime/Artifact.h"

using namespace mlir;
using namespace cutback;
namespace op = cutback::aten::op;

namespace {

class AccumulationBuilder : SegmentGraphBuilder {
public:
  AccumulationBuilder(joint::GraphOp step, UpdateGraph &made)
      : SegmentGraphBuilder(step, made) {}

  LogicalResult build() {
    if (failed(checkSeeds()))
      return failure();
    for (const UpdatedParameter &parameter : made.parameters) {
      addArgument(parameter.sum, parameter.type);
      addArgument(parameter.gradientName, parameter.type);
    }
    addArgument(kMicroBatch, RankedTensorType::get({}, builder.getF64Type()));
    begin({});
    SmallVector<std::pair<Value, Value>> pairs;
    for (size_t i = 0; i < made.parameters.size(); ++i) {
      Value sum = nextArgument(), gradient = nextArgument();
      pairs.emplace_back(sum, gradient);
    }
    Value isFirst = call(op::eq_Scalar, {nextArgument(), 0.0});
    for (auto [parameter, values] : llvm::zip_equal(made.parameters, pairs)) {
      auto [sum, gradient] = values;
      locateAt(parameter);
      write(sum, call(op::where_self, {isFirst, gradient,
                                       call(op::add_Tensor, {sum, gradient})}));
    }
    return end({});
  }

private:
  /// A share of the loss is a share of what its gradient begins with.
  LogicalResult checkSeeds() {
    if (hasSeeds(step))
      return success();
    auto diag = step.emitError("its gradients begin inside of it, at no "
                               "argument: a micro-batch cannot have its share "
                               "of the loss");
    diag.attachNote() << "give the forward program (torch.export), whose "
                         "gradients are made here, or leave --accumulate out";
    return diag;
  }
};

} // namespace

FailureOr<UpdateGraph> cutback::buildAccumulation(joint::GraphOp graph,
                                                  const Optimizer &optimizer) {
  UpdateGraph made;
  made.segment = kAccumulateSegment;
  auto parameters = findParameters(graph, optimizer);
  if (failed(parameters))
    return failure();
  made.parameters = std::move(*parameters);
  if (failed(AccumulationBuilder(graph, made).build()))
    return failure();
  return std::move(made);
}
