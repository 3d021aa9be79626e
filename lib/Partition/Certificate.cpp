// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The certificate (20-partition §6): do two halves compute what the joint
// graph does?
//
//   1. The lists: numbers of results and arguments, the saved values on both
//      sides, names against names.
//   2. Classes of the joint graph; then of the forward, whose arguments are
//      found by name; then of the backward, whose saved arguments have the
//      classes of what the forward returns for them (CertificateClasses).
//   3. Forward results and gradients must have the joint graph's classes;
//      every effect must have run. Where a class differs, both expressions
//      are walked down together to the first difference, which is the message.
//   4. What is saved must still be there: not a view of an argument that the
//      forward writes after it.
//
// Nothing here is shared with the partitioner or with GraphView. A difference
// of the attributes that only describe (names, policy, plan) is none. Expected
// linear time.

#include "cutback/Partition/Certificate.h"

#include "CertificateClasses.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::certificate;

namespace {

class Verifier {
public:
  Verifier(GraphOp graph, func::FuncOp forward, func::FuncOp backward,
           const HalvesSignature &signature)
      : graph(graph), forward(forward), backward(backward),
        signature(signature), table(graph, signature.isRewritten) {}

  LogicalResult run(CertificateStats *stats) {
    if (failed(checkBodies()) || failed(checkLists()))
      return failure();
    indexArguments();
    table.numberJoint();
    OutputOp output = graph.getOutput();
    for (Value value : output.getOperands())
      expected.push_back(table.classOf(value));
    uint64_t numClasses = table.numValues();
    if (failed(checkForward()) || failed(checkBackward()) ||
        failed(checkEffects()))
      return failure();
    if (stats) {
      stats->classes = numClasses;
      stats->recomputedOps = table.countRecomputed();
      stats->rounded = table.countRounded();
      for (const HalvesSignature::Saved &saved : signature.saved)
        stats->saved.push_back(valueOf(returned[saved.forwardResult]));
    }
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Lists
  //===--------------------------------------------------------------------===//

  LogicalResult checkBodies() {
    for (func::FuncOp half : {forward, backward})
      if (!half.getBody().hasOneBlock() ||
          !isa<func::ReturnOp>(half.getBody().front().getTerminator()))
        return emitError(half.getLoc(),
                         "a half must have one block that ends with "
                         "func.return");
    return success();
  }

  LogicalResult checkLists() {
    unsigned numForward = graph.getNumForwardResults();
    unsigned numReturned = forward.getNumResults();
    if (signature.numForwardResults != numForward ||
        numReturned != numForward + signature.saved.size())
      return emitError(forward.getLoc(), "returns ")
             << numReturned << " values, but the joint graph has " << numForward
             << " forward results and " << signature.saved.size()
             << " values are saved";
    std::vector<uint8_t> isTaken(numReturned, 0);
    savedResultOf.assign(backward.getNumArguments(), kNone);
    for (const HalvesSignature::Saved &saved : signature.saved) {
      if (saved.forwardResult < numForward ||
          saved.forwardResult >= numReturned ||
          saved.backwardArgument >= backward.getNumArguments() ||
          isTaken[saved.forwardResult] ||
          savedResultOf[saved.backwardArgument] != kNone)
        return emitError(backward.getLoc(),
                         "the saved lists do not agree: forward "
                         "result ")
               << saved.forwardResult << " and backward argument "
               << saved.backwardArgument << " are no pair";
      isTaken[saved.forwardResult] = 1;
      savedResultOf[saved.backwardArgument] = saved.forwardResult;
    }
    return checkGradientList();
  }

  LogicalResult checkGradientList() {
    if (signature.gradientOf.size() != backward.getNumResults())
      return emitError(backward.getLoc(), "returns ")
             << backward.getNumResults() << " values, but "
             << signature.gradientOf.size() << " are accounted for";
    ArrayRef<int32_t> of = graph.getOutput().getGradientOf();
    gradientIndex.assign(table.numArgs(), kNone);
    for (auto [i, arg] : llvm::enumerate(of))
      gradientIndex[arg] = i;
    std::vector<uint32_t> times(table.numArgs(), 0);
    for (auto [i, arg] : llvm::enumerate(signature.gradientOf)) {
      if (arg < 0)
        continue;
      if (arg >= static_cast<int>(table.numArgs()) ||
          gradientIndex[arg] == kNone)
        return emitError(backward.getLoc(), "result ")
               << i << " is said to be the gradient of argument " << arg
               << ", which has none in the joint graph";
      ++times[arg];
    }
    for (int32_t arg : of)
      if (times[arg] != 1) {
        auto diag = emitError(backward.getLoc(), "returns the gradient of '")
                    << graph.getArgName(arg) << "' " << times[arg]
                    << " times, not once";
        diag.attachNote(graph.getLoc()) << "the joint graph computes it";
        return diag;
      }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  void indexArguments() {
    for (unsigned i = 0; i < table.numArgs(); ++i)
      if (auto name =
              graph.getArgAttrOfType<StringAttr>(i, JointDialect::kName))
        argumentByName[name] = i;
  }

  static bool isBackwardRole(RoleAttr role) {
    if (!role)
      return false;
    bool isSeed = role.getKind() == RoleKind::RngSeed ||
                  role.getKind() == RoleKind::RngOffset;
    return role.getKind() == RoleKind::Tangent ||
           role.getKind() == RoleKind::GradSeed ||
           (isSeed && role.getBackward());
  }

  /// The joint graph's argument that argument `i` of a half is, by name; where
  /// neither has a name, by its place.
  FailureOr<uint32_t> findArgument(func::FuncOp half, unsigned i,
                                   uint32_t place) {
    uint32_t arg = kNone;
    auto name = half.getArgAttrOfType<StringAttr>(i, JointDialect::kName);
    if (name) {
      auto it = argumentByName.find(name);
      if (it != argumentByName.end())
        arg = it->second;
    } else if (place < table.numArgs() && graph.getArgName(place).empty()) {
      arg = place;
    }
    if (arg == kNone)
      return emitError(half.getLoc(), "argument ")
             << i << " ('" << (name ? name.getValue() : StringRef())
             << "') is no argument of the joint graph";
    if (half.getArgument(i).getType() !=
        graph.getBody().getArgument(arg).getType())
      return emitError(half.getLoc(), "argument ")
             << i << " has type " << half.getArgument(i).getType()
             << ", in the joint graph it has type "
             << graph.getBody().getArgument(arg).getType();
    return arg;
  }

  /// A step passes arguments by place: those of the joint graph in its order.
  LogicalResult checkOrder(func::FuncOp half, ArrayRef<uint32_t> args) {
    for (size_t i = 1; i < args.size(); ++i) {
      if (args[i - 1] < args[i])
        continue;
      auto diag = emitError(half.getLoc(), "takes '")
                  << graph.getArgName(args[i]) << "' after '"
                  << graph.getArgName(args[i - 1])
                  << "', in the joint graph it comes "
                  << (args[i] == args[i - 1] ? "once" : "before it");
      diag.attachNote(graph.getLoc()) << "arguments are passed by their places";
      return diag;
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Halves
  //===--------------------------------------------------------------------===//

  LogicalResult checkForward() {
    std::vector<uint32_t> args;
    uint32_t place = 0;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i, ++place) {
      while (place < table.numArgs() && isBackwardRole(graph.getRole(place)))
        ++place;
      FailureOr<uint32_t> arg = findArgument(forward, i, place);
      if (failed(arg))
        return failure();
      if (isBackwardRole(graph.getRole(*arg)))
        return emitError(forward.getLoc(), "argument ")
               << i << " is '" << graph.getArgName(*arg)
               << "', which only the backward may take";
      args.push_back(*arg);
    }
    if (failed(checkOrder(forward, args)))
      return failure();
    forwardArgs = args;
    Block &block = forward.getBody().front();
    if (failed(table.numberHalf(block, Body::Forward, args)))
      return failure();
    Operation *terminator = block.getTerminator();
    for (Value value : terminator->getOperands())
      returned.push_back(table.classOf(value));
    for (unsigned i = 0; i < graph.getNumForwardResults(); ++i)
      if (returned[i] != expected[i])
        return explain("forward result " + std::to_string(i),
                       terminator->getOperand(i), returned[i], expected[i]);
    atEndOfForward.assign(table.numArgs(), kNone);
    for (auto [arg, valueClass] : llvm::zip(forwardArgs, args)) {
      atEndOfForward[arg] = valueClass;
      wroteArguments |= valueClass != arg;
    }
    return checkSavedStorages(terminator);
  }

  /// What shares the storage of an argument (a view, or the result of an
  /// earlier write) shows the new contents after the forward's last write.
  LogicalResult checkSavedStorages(Operation *terminator) {
    if (!wroteArguments)
      return success();
    llvm::DenseMap<uint32_t, uint32_t> bases;
    for (const HalvesSignature::Saved &saved : signature.saved) {
      uint32_t base = baseOf(returned[saved.forwardResult], bases);
      uint32_t arg = base;
      while (isWrite(arg))
        arg = table.operandsOf(table.ownerOf(arg)).front();
      if (table.ownerOf(arg) != kNone || atEndOfForward[arg] == base)
        continue;
      Value value = terminator->getOperand(saved.forwardResult);
      auto diag = emitError(value.getLoc())
                  << "saves " << describe(value)
                  << ", which shares the storage of "
                  << describe(graph.getBody().getArgument(arg))
                  << " that is written before the backward reads it";
      diag.attachNote(forward.getLoc())
          << "save a copy, or the values it is computed from";
      return diag;
    }
    return success();
  }

  /// The first value of the joint graph with this class, or null.
  Value valueOf(uint32_t valueClass) {
    if (valueClass < table.numArgs())
      return graph.getBody().getArgument(valueClass);
    const OpClass &entry = table.get(table.ownerOf(valueClass));
    if (!(entry.bodies & 1u << static_cast<unsigned>(Body::Joint)))
      return {};
    return entry.op->getResult(valueClass - entry.firstValue);
  }

  bool isWrite(uint32_t valueClass) {
    uint32_t opClass = table.ownerOf(valueClass);
    return opClass != kNone && isa<WriteOp>(table.get(opClass).op);
  }

  /// The class whose storage a class lies in: an argument, the result of a
  /// write, or a value that some op allocates. Classes of operands tell which
  /// state of an argument a view was made from.
  uint32_t baseOf(uint32_t valueClass,
                  llvm::DenseMap<uint32_t, uint32_t> &bases) {
    SmallVector<uint32_t, 8> way;
    while (true) {
      uint32_t opClass = table.ownerOf(valueClass);
      if (opClass == kNone || isWrite(valueClass))
        break;
      if (auto known = bases.find(valueClass); known != bases.end()) {
        valueClass = known->second;
        break;
      }
      const OpClass &entry = table.get(opClass);
      auto model = dyn_cast<RematerializableOpInterface>(entry.op);
      int64_t operand =
          model ? model.getAliasedOperand(valueClass - entry.firstValue) : -1;
      if (operand < 0)
        break;
      way.push_back(valueClass);
      valueClass = table.operandsOf(opClass)[operand];
    }
    for (uint32_t passed : way)
      bases[passed] = valueClass;
    return valueClass;
  }

  LogicalResult checkBackward() {
    std::vector<uint32_t> args, unsaved;
    for (unsigned i = 0; i < backward.getNumArguments(); ++i) {
      bool isSaved = savedResultOf[i] != kNone;
      FailureOr<uint32_t> valueClass =
          isSaved ? classOfSaved(i) : classOfUnsaved(i);
      if (failed(valueClass))
        return failure();
      args.push_back(*valueClass);
      if (!isSaved)
        unsaved.push_back(*valueClass);
    }
    if (failed(checkOrder(backward, unsaved)))
      return failure();
    Block &block = backward.getBody().front();
    if (failed(table.numberHalf(block, Body::Backward, args)))
      return failure();
    Operation *terminator = block.getTerminator();
    unsigned numForward = graph.getNumForwardResults();
    for (auto [i, arg] : llvm::enumerate(signature.gradientOf)) {
      if (arg < 0)
        continue;
      Value value = terminator->getOperand(i);
      uint32_t wanted = expected[numForward + gradientIndex[arg]];
      uint32_t found = table.classOf(value);
      if (found != wanted)
        return explain(
            ("the gradient of '" + graph.getArgName(arg) + "'").str(), value,
            found, wanted);
    }
    return success();
  }

  FailureOr<uint32_t> classOfSaved(unsigned i) {
    unsigned result = savedResultOf[i];
    if (backward.getArgument(i).getType() != forward.getResultTypes()[result])
      return emitError(backward.getLoc(), "argument ")
             << i << " has type " << backward.getArgument(i).getType()
             << ", the saved value has type "
             << forward.getResultTypes()[result];
    return returned[result];
  }

  /// Tangents and seeds; and what outlives the step and is as it was.
  FailureOr<uint32_t> classOfUnsaved(unsigned i) {
    FailureOr<uint32_t> arg = findArgument(backward, i, kNone);
    if (failed(arg))
      return failure();
    RoleAttr role = graph.getRole(*arg);
    bool isSeed = role && (role.getKind() == RoleKind::RngSeed ||
                           role.getKind() == RoleKind::RngOffset);
    bool outlives = role && (role.getKind() == RoleKind::Param ||
                             role.getKind() == RoleKind::Buffer ||
                             role.getKind() == RoleKind::Constant);
    if (!isBackwardRole(role) && !isSeed && !outlives)
      return emitError(backward.getLoc(), "argument ")
             << i << " is '" << graph.getArgName(*arg)
             << "', which is neither saved nor there after the forward";
    if (atEndOfForward[*arg] != kNone && atEndOfForward[*arg] != *arg)
      return emitError(backward.getLoc(), "argument ")
             << i << " is '" << graph.getArgName(*arg)
             << "', which the forward has written";
    return *arg;
  }

  LogicalResult checkEffects() {
    uint32_t missing = table.firstMissingEffect();
    if (missing == kNone)
      return success();
    Operation *op = table.get(missing).op;
    auto diag = emitError(op->getLoc())
                << describeEffect(op) << " runs in neither half";
    diag.attachNote(forward.getLoc()) << "the forward";
    return diag;
  }

  static std::string describeEffect(Operation *op) {
    if (auto write = dyn_cast<WriteOp>(op))
      return "the write to " + describe(write.getDestination());
    return ("the effect of '" + op->getName().getStringRef() + "'").str();
  }

  //===--------------------------------------------------------------------===//
  // The first difference
  //===--------------------------------------------------------------------===//

  LogicalResult explain(const std::string &what, Value value, uint32_t found,
                        uint32_t wanted) {
    Location at = value.getDefiningOp() ? value.getLoc() : graph.getLoc();
    Difference first = table.explain(found, wanted, {at, nullptr, "it"});
    auto diag = emitError(first.at)
                << what
                << " is not what the joint graph computes: " << first.text;
    diag.attachNote(first.jointOp ? first.jointOp->getLoc() : graph.getLoc())
        << "the joint graph's op";
    return diag;
  }

  GraphOp graph;
  func::FuncOp forward, backward;
  const HalvesSignature &signature;
  ClassTable table;
  llvm::DenseMap<StringAttr, uint32_t> argumentByName;
  std::vector<uint32_t> expected; ///< classes of the joint graph's results
  std::vector<uint32_t> returned; ///< classes of the forward's results
  /// By backward argument: the forward result that it is, or kNone.
  std::vector<uint32_t> savedResultOf;
  std::vector<uint32_t> gradientIndex;  ///< by joint argument, or kNone
  std::vector<uint32_t> forwardArgs;    ///< joint argument by forward argument
  std::vector<uint32_t> atEndOfForward; ///< class by joint argument, or kNone
  bool wroteArguments = false;
};

} // namespace

LogicalResult cutback::verifyHalves(GraphOp graph, func::FuncOp forward,
                                    func::FuncOp backward,
                                    const HalvesSignature &signature,
                                    CertificateStats *stats) {
  return Verifier(graph, forward, backward, signature).run(stats);
}
