// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the results and arguments of two halves map to a joint graph: as the
// `joint.partition` between them says, or, for halves that came as text, by
// their places. Saved sizes and saved tensors are handed over in order, the
// first result of a kind to its first argument. PyTorch keeps the names of
// values: a backward's argument is called as the value that the forward
// returns for it, a tangent as in the joint graph. So names say which
// arguments are saved values, and must agree with the places. Only states of
// the random generator have a name of their own in the backward. Linear in the
// lists.

#include "cutback/Partition/Certificate.h"

#include "CertificateClasses.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "llvm/ADT/StringSet.h"

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
    if (failed(listResults()) || failed(listArguments()))
      return failure();
    if (failed(pair(resultSizes, argumentSizes)) ||
        failed(pair(resultTensors, argumentTensors)))
      return failure();
    llvm::sort(signature.saved, [](const auto &a, const auto &b) {
      return a.backwardArgument < b.backwardArgument;
    });
    return success();
  }

  /// What the forward returns behind its own results: sizes and tensors, the
  /// one kind behind the other.
  LogicalResult listResults() {
    Operation *terminator = forward.getBody().front().getTerminator();
    unsigned first = signature.numForwardResults;
    for (unsigned i = first; i < forward.getNumResults(); ++i) {
      StringRef name = resultName(terminator, i);
      if (name.empty())
        return emitError(forward.getLoc(), "result ")
               << i << " is saved, but has no name to find it by";
      (isSize(forward.getResultTypes()[i]) ? resultSizes : resultTensors)
          .push_back(i);
      resultNames.insert(name);
      numStates += isState(terminator, i);
    }
    if (!isRun(resultSizes) || !isRun(resultTensors))
      return emitError(forward.getLoc(),
                       "returns saved sizes between saved tensors");
    return success();
  }

  /// What the backward takes: saved sizes, saved tensors, then arguments of
  /// the joint graph.
  LogicalResult listArguments() {
    llvm::StringSet<> known, taken;
    for (unsigned i = 0; i < graph.getBody().getNumArguments(); ++i)
      known.insert(graph.getArgName(i));
    std::optional<unsigned> late; // saved, and behind what comes later
    unsigned numSaved = 0;
    for (unsigned i = 0; i < backward.getNumArguments(); ++i) {
      StringRef name = argumentName(i);
      taken.insert(name);
      if (resultNames.contains(name) || isState(name)) {
        bool size = isSize(backward.getArgumentTypes()[i]);
        if (!late && (i != numSaved || (size && !argumentTensors.empty())))
          late = i;
        ++numSaved;
        (size ? argumentSizes : argumentTensors).push_back(i);
      } else if (!known.contains(name)) {
        return emitError(backward.getLoc(), "argument ")
               << i << " ('" << name << "') is neither a value that the "
               << "forward returns nor an argument of the joint graph";
      }
    }
    Operation *terminator = forward.getBody().front().getTerminator();
    for (ArrayRef<unsigned> results : {resultSizes, resultTensors})
      for (unsigned i : results)
        if (!taken.contains(resultName(terminator, i)) &&
            !isState(terminator, i))
          return emitError(forward.getLoc(), "saves '")
                 << resultName(terminator, i)
                 << "', which the backward does not take";
    if (!late)
      return success();
    return emitError(backward.getLoc(), "argument ")
           << *late << " ('" << argumentName(*late)
           << "') is out of order: saved sizes come first, then saved tensors, "
              "then all others";
  }

  /// A step hands saved values over by place: the first to the first.
  LogicalResult pair(ArrayRef<unsigned> results, ArrayRef<unsigned> arguments) {
    Operation *terminator = forward.getBody().front().getTerminator();
    if (results.size() != arguments.size())
      return emitError(backward.getLoc(), "takes ")
             << argumentSizes.size() << " saved sizes and "
             << argumentTensors.size() << " saved tensors, the forward returns "
             << resultSizes.size() << " and " << resultTensors.size();
    for (auto [result, argument] : llvm::zip(results, arguments)) {
      StringRef name = resultName(terminator, result);
      if (name != argumentName(argument) &&
          !(isState(argumentName(argument)) && isState(terminator, result))) {
        auto diag = emitError(backward.getLoc(), "argument ")
                    << argument << " is called '" << argumentName(argument)
                    << "', but gets '" << name << "', result " << result
                    << " of the forward";
        diag.attachNote(forward.getLoc())
            << "saved values are handed over by their places";
        return diag;
      }
      signature.saved.push_back({result, argument});
    }
    return success();
  }

  static bool isSize(Type type) { return !isa<ShapedType>(type); }
  static bool isRun(ArrayRef<unsigned> places) {
    return places.empty() ||
           places.back() - places.front() + 1 == places.size();
  }
  /// PyTorch names a saved state of a generator anew in the backward.
  bool isState(StringRef name) const {
    return numStates > 0 && name.starts_with("rng_state_output_");
  }
  static bool isState(Operation *terminator, unsigned result) {
    Operation *definer = terminator->getOperand(result).getDefiningOp();
    return definer && certificate::savesRandomState(definer);
  }
  StringRef argumentName(unsigned i) {
    auto name = backward.getArgAttrOfType<StringAttr>(i, JointDialect::kName);
    return name ? name.getValue() : StringRef();
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
  /// What is saved, by kind: numbers of results and of arguments.
  SmallVector<unsigned> resultSizes, resultTensors, argumentSizes,
      argumentTensors;
  llvm::StringSet<> resultNames;
  unsigned numStates = 0;
};

} // namespace

FailureOr<HalvesSignature> cutback::deriveSignature(GraphOp graph,
                                                    func::FuncOp forward,
                                                    func::FuncOp backward) {
  return SignatureFinder(graph, forward, backward).run();
}
