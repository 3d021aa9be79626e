// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the certificate says when it refuses. Two values of different classes
// are walked down together: as long as both are results of the same call, the
// first operand whose classes differ is followed. Where the calls themselves
// differ, or one side is an argument, is the difference to report: the deepest
// one on the first path, not the result that it spoils. Linear in the depth.

#include "CertificateClasses.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::certificate;

std::string cutback::certificate::describe(Value value) {
  StringRef name = getValueName(value);
  if (auto arg = dyn_cast<BlockArgument>(value))
    return name.empty() ? "argument " + std::to_string(arg.getArgNumber())
                        : ("argument '" + name + "'").str();
  auto result = cast<OpResult>(value);
  StringRef op = result.getOwner()->getName().getStringRef();
  std::string text = name.empty() ? ("'" + op + "'").str()
                                  : ("'" + name + "' (" + op + ")").str();
  if (name.empty() && result.getOwner()->getNumResults() > 1)
    text = "result " + std::to_string(result.getResultNumber()) + " of " + text;
  return text;
}

std::string cutback::certificate::describe(Operation *op) {
  return op->getNumResults() ? describe(op->getResult(0))
                             : ("'" + op->getName().getStringRef() + "'").str();
}

bool ClassTable::sameCall(uint32_t a, uint32_t b) {
  Operation *left = classes[a].op, *right = classes[b].op;
  return left->getName() == right->getName() &&
         operandsOf(a).size() == operandsOf(b).size() &&
         left->getNumRegions() == 0 && right->getNumRegions() == 0 &&
         left->getResultTypes() == right->getResultTypes() &&
         equalAttributes(left, right);
}

bool ClassTable::differOnlyBelow(uint32_t found, uint32_t wanted) {
  if (found == kNone)
    return false;
  uint32_t f = owner[found], w = owner[wanted];
  return f != kNone && w != kNone && f != w && sameCall(f, w) &&
         found - classes[f].firstValue == wanted - classes[w].firstValue;
}

/// `found` is the argument `wanted`, or an earlier state of it, after a write.
bool ClassTable::isAfterWrite(uint32_t found, uint32_t wanted) const {
  while (found != wanted) {
    uint32_t opClass = owner[found];
    if (opClass == kNone || !isa<WriteOp>(classes[opClass].op))
      return false;
    found = operandsOf(opClass).front();
  }
  return true;
}

std::string ClassTable::nameOf(uint32_t valueClass) {
  uint32_t opClass = owner[valueClass];
  if (opClass == kNone)
    return describe(graph.getBody().getArgument(valueClass));
  const OpClass &entry = classes[opClass];
  return describe(entry.op->getResult(valueClass - entry.firstValue));
}

/// The first argument of a call that differs between `a` and `b`, as text; or
/// what else can differ.
static std::string attributeDifference(Operation *a, Operation *b) {
  auto left = dyn_cast<FrameworkCallOpInterface>(a);
  auto right = dyn_cast<FrameworkCallOpInterface>(b);
  if (left && right && left.getCallArgs().size() == right.getCallArgs().size())
    for (auto [i, l] : llvm::enumerate(left.getCallArgs())) {
      Attribute r = right.getCallArgs()[i];
      if (l == r)
        continue;
      std::string text;
      llvm::raw_string_ostream os(text);
      os << "argument " << i << " is " << l << " instead of " << r;
      return text;
    }
  return a->getResultTypes() == b->getResultTypes()
             ? "other attributes or regions"
             : "other result types";
}

Difference ClassTable::explain(uint32_t found, uint32_t wanted,
                               Difference start) {
  while (differOnlyBelow(found, wanted)) {
    uint32_t f = owner[found], w = owner[wanted];
    ArrayRef<uint32_t> left = operandsOf(f), right = operandsOf(w);
    size_t i = 0;
    while (i < left.size() && left[i] == right[i])
      ++i;
    if (i == left.size())
      break;
    start.at = classes[f].op->getLoc();
    start.jointOp = classes[w].op;
    start.text = "operand " + std::to_string(i) + " of " + nameOf(found);
    found = left[i];
    wanted = right[i];
  }
  if (found == kNone) {
    start.text += " is read before anything makes it";
    return start;
  }
  uint32_t f = owner[found], w = owner[wanted];
  bool areCalls = f != kNone && w != kNone && f != w;
  if (isAfterWrite(found, wanted))
    start.text += " reads " + nameOf(wanted) + " after its write";
  else if (areCalls && sameCall(f, w) && operandsOf(f) == operandsOf(w))
    start.text += " is another run of " + nameOf(wanted);
  else if (areCalls && operandsOf(f) == operandsOf(w) &&
           classes[f].op->getName() == classes[w].op->getName())
    start.text += " is " + nameOf(found) + ", in the joint graph " +
                  nameOf(wanted) + ": " +
                  attributeDifference(classes[f].op, classes[w].op);
  else
    start.text +=
        " is " + nameOf(found) + ", in the joint graph " + nameOf(wanted);
  if (!start.jointOp && w != kNone)
    start.jointOp = classes[w].op;
  return start;
}

//===----------------------------------------------------------------------===//
// Ops that a half should not run
//===----------------------------------------------------------------------===//

LogicalResult ClassTable::reportUsedUp(Operation *op, uint32_t opClass) {
  const OpClass &entry = classes[opClass];
  InFlightDiagnostic diag =
      emitError(op->getLoc())
      << describe(op) << " runs twice: "
      << (entry.conduct == Conduct::Draw
              ? "its random numbers would differ from those of the first run"
              : "it may run only as often as in the joint graph");
  diag.attachNote(entry.op->getLoc()) << "save its result instead";
  return diag;
}

uint32_t ClassTable::unusedEffectLike(Operation *op) const {
  for (const Instance &instance : instances) {
    const OpClass &entry = classes[instance.opClass];
    if (entry.conduct == Conduct::Effect && instance.left > 0 &&
        entry.op->getName() == op->getName())
      return instance.opClass;
  }
  return kNone;
}

LogicalResult ClassTable::reportForeignEffect(const Key &key) {
  InFlightDiagnostic diag =
      emitError(key.op->getLoc())
      << describe(key.op)
      << " has an effect that the joint graph does not have";
  uint32_t like = unusedEffectLike(key.op);
  if (like == kNone)
    return diag;
  Operation *other = classes[like].op;
  ArrayRef<uint32_t> left = key.operands, right = operandsOf(like);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i] == right[i])
      continue;
    Difference first =
        explain(left[i], right[i],
                {key.op->getLoc(), other,
                 "operand " + std::to_string(i) + " of " + describe(key.op)});
    diag.attachNote(first.jointOp->getLoc()) << first.text;
    return diag;
  }
  diag.attachNote(other->getLoc())
      << "the joint graph has this one, with other attributes";
  return diag;
}
