// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A `joint.partition` says by position what is saved; halves that came as text
// say it by name, in an order of their own. So both functions are rewritten:
//
//   1. saved values in the order of the backward's arguments, sizes first
//   2. forward: results of the joint graph, then saved values
//   3. backward: saved values, then its other arguments; gradients in the joint
//      graph's order, without the empty places that PyTorch has for arguments
//      that take none
//
// Linear.

#include "cutback/Partition/LinkHalves.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class Linker {
public:
  Linker(GraphOp graph, func::FuncOp forward, func::FuncOp backward,
         const HalvesSignature &signature)
      : graph(graph), forward(forward), backward(backward),
        signature(signature), builder(graph.getContext()) {
    saved.assign(signature.saved.begin(), signature.saved.end());
    llvm::stable_sort(saved, [](const auto &a, const auto &b) {
      return a.backwardArgument < b.backwardArgument;
    });
    auto firstTensor =
        std::stable_partition(saved.begin(), saved.end(),
                              [&](const auto &value) { return isSize(value); });
    numSizes = firstTensor - saved.begin();
  }

  Partition run() {
    Partition partition;
    forward->moveAfter(graph);
    backward->moveAfter(forward);
    forward.setName((graph.getSymName() + "_forward").str());
    backward.setName((graph.getSymName() + "_backward").str());
    orderForward();
    orderArguments();
    orderGradients();
    partition.forward = forward;
    partition.backward = backward;
    builder.setInsertionPointAfter(backward);
    partition.link = PartitionOp::create(
        builder, graph.getLoc(),
        builder.getStringAttr(graph.getSymName() + kPartitionSuffix),
        FlatSymbolRefAttr::get(graph.getSymNameAttr()),
        FlatSymbolRefAttr::get(forward.getSymNameAttr()),
        FlatSymbolRefAttr::get(backward.getSymNameAttr()),
        builder.getArrayAttr(names), builder.getI64IntegerAttr(numSizes),
        builder.getI64IntegerAttr(signature.numForwardResults),
        builder.getDenseI32ArrayAttr(gradientOf));
    return partition;
  }

private:
  bool isSize(const HalvesSignature::Saved &value) {
    return !isa<ShapedType>(
        backward.getArgumentTypes()[value.backwardArgument]);
  }

  void orderForward() {
    Operation *terminator = forward.getBody().front().getTerminator();
    SmallVector<Value> results(
        terminator->getOperands().take_front(signature.numForwardResults));
    for (const auto &value : saved)
      results.push_back(terminator->getOperand(value.forwardResult));
    terminator->setOperands(results);
    forward.setType(builder.getFunctionType(forward.getArgumentTypes(),
                                            TypeRange(ValueRange(results))));
  }

  void orderArguments() {
    unsigned count = backward.getNumArguments();
    SmallVector<unsigned> order;
    std::vector<uint8_t> isSaved(count, 0);
    for (const auto &value : saved) {
      order.push_back(value.backwardArgument);
      isSaved[value.backwardArgument] = 1;
    }
    for (unsigned i = 0; i < count; ++i)
      if (!isSaved[i])
        order.push_back(i);
    Block &block = backward.getBody().front();
    SmallVector<DictionaryAttr> attributes;
    for (unsigned i : order) {
      BlockArgument old = block.getArgument(i);
      BlockArgument moved = block.addArgument(old.getType(), old.getLoc());
      old.replaceAllUsesWith(moved);
      DictionaryAttr own = backward.getArgAttrDict(i);
      attributes.push_back(own ? own : builder.getDictionaryAttr({}));
    }
    block.eraseArguments(0, count);
    backward.setType(builder.getFunctionType(block.getArgumentTypes(),
                                             backward.getResultTypes()));
    backward.setAllArgAttrs(attributes);
    for (unsigned i = 0; i < saved.size(); ++i)
      nameSaved(i);
  }

  /// A saved argument keeps its name, and has the role of one.
  void nameSaved(unsigned argument) {
    auto name =
        backward.getArgAttrOfType<StringAttr>(argument, JointDialect::kName);
    names.push_back(name ? name : builder.getStringAttr(""));
    backward.setArgAttr(argument, JointDialect::kRole,
                        RoleAttr::get(builder.getContext(), RoleKind::Saved,
                                      StringAttr(), -1, false));
  }

  void orderGradients() {
    Operation *terminator = backward.getBody().front().getTerminator();
    llvm::DenseMap<int32_t, Value> gradients;
    for (auto [argument, value] :
         llvm::zip_equal(signature.gradientOf, terminator->getOperands()))
      if (argument >= 0)
        gradients.try_emplace(argument, value);
    SmallVector<Value> results;
    for (int32_t argument : graph.getOutput().getGradientOf()) {
      gradientOf.push_back(argument);
      results.push_back(gradients.lookup(argument));
    }
    terminator->setOperands(results);
    backward.setType(builder.getFunctionType(backward.getArgumentTypes(),
                                             TypeRange(ValueRange(results))));
  }

  GraphOp graph;
  func::FuncOp forward, backward;
  const HalvesSignature &signature;
  OpBuilder builder;
  SmallVector<HalvesSignature::Saved> saved;
  int64_t numSizes = 0; ///< of the saved values
  SmallVector<Attribute> names;
  SmallVector<int32_t> gradientOf;
};

} // namespace

Partition cutback::linkHalves(GraphOp graph, func::FuncOp forward,
                              func::FuncOp backward,
                              const HalvesSignature &signature) {
  return Linker(graph, forward, backward, signature).run();
}
