// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the results and arguments of two halves map to a joint graph: as the
// `joint.partition` between them says, or, for halves that came as text, by
// names. PyTorch keeps the names of values: a backward's argument is called
// as the value that the forward returns for it, a tangent as in the joint
// graph. Only states of the random generator have a name of their own in the
// backward; they come in the same order on both sides. Linear in the lists.

#include "cutback/Partition/Certificate.h"

#include "CertificateClasses.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

/// The names in the link are those of the backward's first arguments, and
/// sizes come before tensors.
static LogicalResult checkLink(func::FuncOp backward, joint::PartitionOp link) {
  uint64_t numSizes = link.getNumSavedSizes();
  for (auto [i, attr] : llvm::enumerate(link.getSaved())) {
    StringRef name = cast<StringAttr>(attr).getValue();
    auto own = backward.getArgAttrOfType<StringAttr>(i, JointDialect::kName);
    if (own && own.getValue() != name)
      return emitError(link.getLoc(), "saved value ")
             << i << " is called '" << name << "', the backward's argument '"
             << own.getValue() << "'";
    bool isTensor = isa<ShapedType>(backward.getArgumentTypes()[i]);
    if (isTensor != (i >= numSizes))
      return emitError(link.getLoc(), "saved value '")
             << name << "' is a " << (isTensor ? "tensor" : "size") << ", but "
             << numSizes << " sizes come first";
  }
  return success();
}

LogicalResult cutback::verifyHalves(GraphOp graph, func::FuncOp forward,
                                    func::FuncOp backward,
                                    joint::PartitionOp link,
                                    CertificateStats *stats) {
  unsigned numSaved = link.getSaved().size();
  if (link.getForward() != forward.getName() ||
      link.getBackward() != backward.getName())
    return emitError(link.getLoc(), "links '")
           << link.getForward() << "' and '" << link.getBackward() << "', not '"
           << forward.getName() << "' and '" << backward.getName() << "'";
  if (numSaved > backward.getNumArguments() ||
      numSaved > forward.getNumResults())
    return emitError(link.getLoc(), "saves ")
           << numSaved << " values, but the forward returns "
           << forward.getNumResults() << " and the backward takes "
           << backward.getNumArguments();
  if (failed(checkLink(backward, link)))
    return failure();
  HalvesSignature signature;
  signature.numForwardResults = forward.getNumResults() - numSaved;
  if (link.getNumForwardResults() != signature.numForwardResults)
    return emitError(link.getLoc(), "counts ")
           << link.getNumForwardResults() << " forward results, the forward "
           << "returns " << signature.numForwardResults;
  for (unsigned i = 0; i < numSaved; ++i)
    signature.saved.push_back({signature.numForwardResults + i, i});
  signature.gradientOf.assign(link.getGradientOf().begin(),
                              link.getGradientOf().end());
  return verifyHalves(graph, forward, backward, signature, stats);
}

//===----------------------------------------------------------------------===//
// By names
//===----------------------------------------------------------------------===//

namespace {

class SignatureFinder {
public:
  SignatureFinder(GraphOp graph, func::FuncOp forward, func::FuncOp backward)
      : graph(graph), forward(forward), backward(backward) {}

  FailureOr<HalvesSignature> run() {
    signature.numForwardResults = graph.getNumForwardResults();
    if (forward.getNumResults() < signature.numForwardResults)
      return emitError(forward.getLoc(), "returns ")
             << forward.getNumResults() << " values, the joint graph has "
             << signature.numForwardResults << " forward results";
    if (!forward.getBody().hasOneBlock())
      return emitError(forward.getLoc(),
                       "has no body to take the names of its results "
                       "from");
    if (failed(matchSaved()) || failed(matchGradients()))
      return failure();
    return signature;
  }

private:
  LogicalResult matchSaved() {
    Operation *terminator = forward.getBody().front().getTerminator();
    llvm::StringMap<unsigned> resultByName;
    std::vector<unsigned> states;
    for (unsigned i = signature.numForwardResults; i < forward.getNumResults();
         ++i) {
      StringRef name = resultName(terminator, i);
      if (name.empty())
        return emitError(forward.getLoc(), "result ")
               << i << " is saved, but has no name to find it by";
      Operation *definer = terminator->getOperand(i).getDefiningOp();
      if (definer && certificate::savesRandomState(definer))
        states.push_back(i);
      resultByName.try_emplace(name, i);
    }
    llvm::StringMap<unsigned> arguments;
    for (unsigned i = 0; i < graph.getBody().getNumArguments(); ++i)
      arguments[graph.getArgName(i)] = i;
    std::vector<uint8_t> isTaken(forward.getNumResults(), 0);
    size_t nextState = 0;
    for (unsigned i = 0; i < backward.getNumArguments(); ++i) {
      auto attr = backward.getArgAttrOfType<StringAttr>(i, JointDialect::kName);
      StringRef name = attr ? attr.getValue() : StringRef();
      auto saved = resultByName.find(name);
      if (saved != resultByName.end()) {
        signature.saved.push_back({saved->second, i});
        isTaken[saved->second] = 1;
      } else if (name.starts_with("rng_state_output_") &&
                 nextState < states.size()) {
        isTaken[states[nextState]] = 1;
        signature.saved.push_back({states[nextState++], i});
      } else if (!arguments.contains(name)) {
        return emitError(backward.getLoc(), "argument ")
               << i << " ('" << name << "') is neither a value that the "
               << "forward returns nor an argument of the joint graph";
      }
    }
    for (unsigned i = signature.numForwardResults; i < forward.getNumResults();
         ++i)
      if (!isTaken[i])
        return emitError(forward.getLoc(), "saves '")
               << resultName(terminator, i)
               << "', which the backward does not take";
    return success();
  }

  /// What the text calls result `i` of the forward: where a nested graph hands
  /// an argument through, not what the value is called.
  StringRef resultName(Operation *terminator, unsigned i) {
    auto names = forward->getAttrOfType<ArrayAttr>("joint.result_names");
    if (names && names.size() == terminator->getNumOperands())
      if (auto name = dyn_cast<StringAttr>(names[i]))
        return name.getValue();
    return getValueName(terminator->getOperand(i));
  }

  static bool isForwardArgument(RoleAttr role) {
    return !role ||
           !(role.getKind() == RoleKind::Tangent ||
             role.getKind() == RoleKind::GradSeed || role.getBackward());
  }

  /// One result for each gradient of the joint graph, or one for each argument
  /// of the forward.
  LogicalResult matchGradients() {
    ArrayRef<int32_t> of = graph.getOutput().getGradientOf();
    if (backward.getNumResults() == of.size()) {
      signature.gradientOf.assign(of.begin(), of.end());
      return success();
    }
    std::vector<uint8_t> hasGradient(graph.getBody().getNumArguments(), 0);
    for (int32_t arg : of)
      hasGradient[arg] = 1;
    for (unsigned i = 0; i < hasGradient.size(); ++i)
      if (isForwardArgument(graph.getRole(i)))
        signature.gradientOf.push_back(hasGradient[i] ? static_cast<int>(i)
                                                      : -1);
    if (backward.getNumResults() != signature.gradientOf.size())
      return emitError(backward.getLoc(), "returns ")
             << backward.getNumResults() << " values; the joint graph has "
             << of.size() << " gradients and " << signature.gradientOf.size()
             << " arguments that could have one";
    return success();
  }

  GraphOp graph;
  func::FuncOp forward, backward;
  HalvesSignature signature;
};

} // namespace

FailureOr<HalvesSignature> cutback::deriveSignature(GraphOp graph,
                                                    func::FuncOp forward,
                                                    func::FuncOp backward) {
  return SignatureFinder(graph, forward, backward).run();
}
