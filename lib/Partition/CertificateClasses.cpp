// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Value numbering of the joint graph and of both halves, in one table.
//
//   1. A key is the op's name, attributes (not: names of results, plan and
//      policy), result types, and the classes of its operands.
//   2. Pure ops with equal keys are one class: looked up among the classes with
//      the same newest operand, and compared in full.
//   3. Random ops without a seed and ops with effects are classes of their
//      own in the joint graph. In a half such an op stands for the one with
//      its key and name, else for the next one with its key that no half has
//      run; effects also must come in the joint graph's order, and random ops
//      among themselves, for they draw from one generator. A random op
//      may be run again with its saved state (CertificateReplay.cpp).
//   4. A write gives its argument a new class from there on.
//   5. Regions are compared op by op; the values that they read from outside
//      count as operands.
//
// Which conduct an op has is asked once a class. Expected linear time, about
// 60 ns an op; no allocation an op.

#include "CertificateClasses.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Support/MLIR/OpAccess.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::certificate;

static uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ull + (hash >> 29);
}

static uint64_t mix(uint64_t hash, const void *pointer) {
  return mix(hash, uint64_t(reinterpret_cast<uintptr_t>(pointer)));
}

static Conduct askConduct(Operation *op,
                          const RematerializableOpInterface::Concept *how) {
  if (how) {
    RematerializableOpInterface model(op, how);
    if (model.hasOrderedEffects())
      return Conduct::Effect;
    if (model.isRecomputable())
      return Conduct::Pure;
    return model.isRandom() ? Conduct::Draw : Conduct::Once;
  }
  return isMemoryEffectFree(op) ? Conduct::Pure : Conduct::Effect;
}

ClassTable::ClassTable(GraphOp graph, bool isRewritten)
    : graph(graph), graphArgs(graph.getBody().getNumArguments()),
      jointDialect(graph->getDialect()),
      namesId(StringAttr::get(graph.getContext(), "names")),
      noAttributes(DictionaryAttr::get(graph.getContext())),
      isRewritten(isRewritten) {
  owner.assign(graphArgs, kNone);
}

llvm::ArrayRef<uint32_t> ClassTable::operandsOf(uint32_t opClass) const {
  uint32_t begin = classes[opClass].operandBegin;
  uint32_t end = opClass + 1 < classes.size()
                     ? classes[opClass + 1].operandBegin
                     : operandClasses.size();
  return llvm::ArrayRef(operandClasses).slice(begin, end - begin);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// A kind with an attribute `names` that counts is compared attribute by
/// attribute, without it; any other kind by its properties as a whole. The half
/// that a write stands in follows from where it is, so `side` does not count.
const ClassTable::Kind &ClassTable::kindOf(Operation *op) {
  OperationName name = op->getName();
  RecentKind &recent =
      recentKinds[reinterpret_cast<uintptr_t>(name.getAsOpaquePointer()) / 64 %
                  std::size(recentKinds)];
  if (name.getAsOpaquePointer() == recent.name)
    return kinds[recent.kind];
  auto [it, isNew] =
      kindIndex.try_emplace(name.getAsOpaquePointer(), kinds.size());
  recent = {name.getAsOpaquePointer(), it->second};
  if (!isNew)
    return kinds[it->second];
  Kind &kind = kinds.emplace_back();
  kind.model = conceptOf<RematerializableOpInterface>(op);
  if (!name.isRegistered() || name.hasTrait<NamesDoNotCount>() ||
      !llvm::is_contained(name.getAttributeNames(), namesId))
    return kind;
  kind.wholeProperties = false;
  for (StringAttr attribute : name.getAttributeNames())
    if (attribute != namesId &&
        !(isa<WriteOp>(op) && attribute.getValue() == "side"))
      kind.attributes.push_back(attribute);
  return kind;
}

bool ClassTable::isIgnored(NamedAttribute attribute) const {
  StringAttr name = attribute.getName();
  return name == namesId || name.getReferencedDialect() == jointDialect;
}

static Attribute inherent(Operation *op, StringAttr name) {
  return op->getName()
      .getInherentAttr(op, name.getValue())
      .value_or(Attribute());
}

uint64_t ClassTable::hashAttributes(Operation *op) {
  uint64_t hash = mix(0, op->getName().getAsOpaquePointer());
  const Kind &kind = kindOf(op);
  if (kind.wholeProperties)
    hash = mix(hash, uint64_t(op->hashProperties()));
  for (StringAttr name : kind.attributes)
    hash = mix(hash, inherent(op, name).getAsOpaquePointer());
  DictionaryAttr discardable = op->getRawDictionaryAttrs();
  if (discardable == noAttributes)
    return hash;
  for (NamedAttribute attribute : discardable)
    if (!isIgnored(attribute))
      hash = mix(mix(hash, attribute.getName().getAsOpaquePointer()),
                 attribute.getValue().getAsOpaquePointer());
  return hash;
}

bool ClassTable::equalAttributes(Operation *a, Operation *b) {
  const Kind &kind = kindOf(a);
  if (kind.wholeProperties &&
      !a->getName().compareOpProperties(a->getPropertiesStorage(),
                                        b->getPropertiesStorage()))
    return false;
  for (StringAttr name : kind.attributes)
    if (inherent(a, name) != inherent(b, name))
      return false;
  DictionaryAttr left = a->getRawDictionaryAttrs();
  DictionaryAttr right = b->getRawDictionaryAttrs();
  if (left == right)
    return true;
  auto i = left.begin(), j = right.begin();
  while (true) {
    while (i != left.end() && isIgnored(*i))
      ++i;
    while (j != right.end() && isIgnored(*j))
      ++j;
    if (i == left.end() || j == right.end())
      return i == left.end() && j == right.end();
    if (*i++ != *j++)
      return false;
  }
}

/// Ops of two regions in step, whatever their results are called. `same` says
/// whether two values correspond, `mark` that they do.
template <typename Same, typename Mark>
bool ClassTable::equalOps(Region &left, Region &right, Same same, Mark mark) {
  auto markAll = [&](auto l, auto r) {
    if (!llvm::equal(TypeRange(l), TypeRange(r)))
      return false;
    for (auto [a, b] : llvm::zip(l, r))
      mark(a, b);
    return true;
  };
  if (!llvm::hasSingleElement(left) || !llvm::hasSingleElement(right))
    return left.empty() && right.empty();
  Block &l = left.front(), &r = right.front();
  if (!markAll(l.getArguments(), r.getArguments()))
    return false;
  auto a = l.begin(), b = r.begin();
  for (; a != l.end() && b != r.end(); ++a, ++b) {
    if (a->getName() != b->getName() ||
        a->getNumOperands() != b->getNumOperands() ||
        a->getNumRegions() != b->getNumRegions() || !equalAttributes(&*a, &*b))
      return false;
    for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands()))
      if (!same(x, y))
        return false;
    for (auto [x, y] : llvm::zip(a->getRegions(), b->getRegions()))
      if (!equalOps(x, y, same, mark))
        return false;
    if (!markAll(a->getResults(), b->getResults()))
      return false;
  }
  return a == l.end() && b == r.end();
}

/// Values from inside correspond by position; values from outside when their
/// classes are equal.
bool ClassTable::equalRegions(Operation *a, ArrayRef<uint32_t> aOperands,
                              const Key &key) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(a->getRegions(), captured);
  llvm::DenseMap<Value, uint32_t> classesOfA, classesOfB;
  for (auto [i, value] : llvm::enumerate(captured))
    classesOfA[value] = aOperands[a->getNumOperands() + i];
  for (auto [i, value] : llvm::enumerate(key.captured))
    classesOfB[value] = key.operands[key.op->getNumOperands() + i];
  llvm::DenseMap<Value, Value> inside;
  auto same = [&](Value l, Value r) {
    auto known = inside.find(l);
    if (known != inside.end())
      return known->second == r;
    auto i = classesOfA.find(l), j = classesOfB.find(r);
    return i != classesOfA.end() && j != classesOfB.end() &&
           i->second == j->second;
  };
  auto mark = [&](Value l, Value r) { inside[l] = r; };
  for (auto [l, r] : llvm::zip(a->getRegions(), key.op->getRegions()))
    if (!equalOps(l, r, same, mark))
      return false;
  return true;
}

ClassTable::Key ClassTable::keyOf(Operation *op) {
  scratch.clear();
  capturedScratch.clear();
  for (Value operand : op->getOperands())
    scratch.push_back(classOf(operand));
  if (op->getNumRegions()) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured) {
      capturedScratch.push_back(value);
      scratch.push_back(classOf(value));
    }
  }
  Key key{op, scratch, capturedScratch};
  uint64_t hash = mix(0, op->getName().getAsOpaquePointer());
  for (uint32_t operand : scratch) {
    hash = mix(hash, uint64_t(operand));
    // A foreign value has no class.
    if (operand != kNone && (key.newest == kNone || operand > key.newest))
      key.newest = operand;
  }
  key.tag = static_cast<uint32_t>(hash >> 32);
  return key;
}

uint64_t ClassTable::hashOf(const Key &key) {
  return mix(hashAttributes(key.op), uint64_t(key.tag));
}

/// Of text of others, one side may know a size that the other does not: the
/// import takes the size of a parameter for that of its gradient.
bool ClassTable::sameTypes(Operation *a, Operation *b) const {
  if (a->getResultTypes() == b->getResultTypes())
    return true;
  return isRewritten && a->getNumResults() == b->getNumResults() &&
         llvm::all_of(llvm::zip(a->getResultTypes(), b->getResultTypes()),
                      [](auto types) {
                        auto [x, y] = types;
                        return getElementTypeOrSelf(x) ==
                                   getElementTypeOrSelf(y) &&
                               succeeded(verifyCompatibleShape(x, y));
                      });
}

bool ClassTable::matches(uint32_t opClass, const Key &key) {
  Operation *op = classes[opClass].op;
  if (op->getName() != key.op->getName() ||
      operandsOf(opClass) != key.operands || !sameTypes(op, key.op) ||
      op->getNumRegions() != key.op->getNumRegions() ||
      !equalAttributes(op, key.op))
    return false;
  return !op->getNumRegions() || equalRegions(op, operandsOf(opClass), key);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

uint32_t ClassTable::find(const Key &key) {
  return listed.find(
      key.newest, key.tag,
      [&](uint32_t opClass) { return matches(opClass, key); },
      [&] { return hashOf(key); });
}

/// Appends a class; `isListed`: the key finds it from now on.
uint32_t ClassTable::add(const Key &key, Conduct conduct, bool isListed) {
  uint32_t opClass = classes.size();
  OpClass &added = classes.emplace_back();
  added.op = key.op;
  added.operandBegin = operandClasses.size();
  added.firstValue = owner.size();
  added.conduct = conduct;
  for (uint32_t operand : key.operands)
    operandClasses.push_back(operand);
  for (unsigned i = 0, e = key.op->getNumResults(); i < e; ++i)
    owner.push_back(opClass);
  if (isListed)
    listed.insert(key.newest, key.tag, opClass, [&] { return hashOf(key); });
  return opClass;
}

uint32_t ClassTable::addInstance(uint32_t opClass, uint32_t head) {
  uint32_t index = instances.size();
  classes[opClass].instance = index;
  Instance &added = instances.emplace_back();
  added.opClass = opClass;
  added.left = 1;
  if (head == kNone) {
    added.cursor = added.tail = index;
  } else {
    instances[instances[head].tail].next = index;
    instances[head].tail = index;
  }
  return index;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The op behind `op`; begins to fetch it, for it is seldom in the cache.
static Operation *nextOf(Operation *op) {
  Operation *next = op->getNextNode();
  prefetchOp(next);
  return next;
}

void ClassTable::define(Operation *op, uint32_t opClass) {
  OpClass &entry = classes[opClass];
  guess = opClass + 1;
  constexpr uint8_t forward = 1u << static_cast<unsigned>(Body::Forward);
  numRecomputed += body == Body::Backward && (entry.bodies & forward) != 0;
  entry.bodies |= 1u << static_cast<unsigned>(body);
  if (op->getNumResults())
    definitions.insert(op,
                       isRewritten ? rewritten(op, opClass) : entry.firstValue);
  if (entry.conduct != Conduct::Effect)
    return;
  if (auto write = dyn_cast<WriteOp>(op))
    if (auto arg = dyn_cast<BlockArgument>(write.getDestination()))
      argClasses[arg.getArgNumber()] = entry.firstValue;
}

static Attribute firstName(Operation *op) {
  return op->getNumResults() ? joint::getResultName(op->getResult(0))
                             : StringAttr();
}

void ClassTable::numberJoint() {
  block = &graph.getBlock();
  definitions.reset();
  listed.reset();
  argClasses.resize(graphArgs);
  for (uint32_t arg = 0; arg < graphArgs; ++arg)
    argClasses[arg] = arg;
  Operation *terminator = &block->back();
  for (Operation *op = &block->front(); op != terminator;) {
    Operation *next = nextOf(op);
    numberJointOp(op);
    op = next;
  }
  jointArgClasses = argClasses;
}

void ClassTable::numberJointOp(Operation *op) {
  Key key = keyOf(op);
  uint32_t opClass = find(key);
  if (opClass != kNone && classes[opClass].conduct == Conduct::Pure)
    return define(op, opClass);
  if (opClass != kNone && classes[opClass].conduct == Conduct::Once) {
    ++instances[classes[opClass].instance].left;
    return define(op, opClass);
  }
  uint32_t head = opClass == kNone ? kNone : classes[opClass].instance;
  Conduct conduct = opClass == kNone ? askConduct(op, kindOf(op).model)
                                     : classes[opClass].conduct;
  // A copy of a numbered draw is the same draw.
  Attribute draw =
      conduct == Conduct::Draw ? op->getDiscardableAttr(kReplay) : Attribute();
  if (auto drawn = drawInJoint.find(draw);
      draw && drawn != drawInJoint.end() && matches(drawn->second, key))
    return define(op, drawn->second);
  opClass = add(key, conduct, /*isListed=*/head == kNone);
  if (conduct != Conduct::Pure) {
    uint32_t index = addInstance(opClass, head);
    instances[index].sequence = nextSequence++;
    if (draw)
      drawInJoint.try_emplace(draw, opClass);
    if (Attribute name = firstName(op); name && conduct != Conduct::Once)
      instanceByName.try_emplace(name, index);
  }
  define(op, opClass);
}

LogicalResult ClassTable::numberHalf(Block &half, Body which,
                                     std::vector<uint32_t> &arguments) {
  block = &half;
  definitions.reset();
  body = which;
  lastSequence = 0;
  lastDraw = kNone;
  hadEffect = false;
  argClasses = arguments;
  Operation *terminator = &half.back();
  for (Operation *op = &half.front(); op != terminator;) {
    Operation *next = nextOf(op);
    auto opaque = dyn_cast<OpaqueOp>(op);
    if (opaque && noteMark(opaque)) {
      op = next;
      continue;
    }
    FailureOr<uint32_t> opClass = matchHalfOp(op);
    if (failed(opClass))
      return failure();
    define(op, *opClass);
    if (savingMark || replayedState != kNone)
      leaveMark(*opClass);
    op = next;
  }
  arguments = argClasses;
  return success();
}

/// Halves run mostly in the joint graph's order, so the class behind the last
/// one is tried before the table.
FailureOr<uint32_t> ClassTable::matchHalfOp(Operation *op) {
  Key key = keyOf(op);
  if (guess < classes.size() && classes[guess].conduct == Conduct::Pure &&
      matches(guess, key))
    return guess;
  uint32_t opClass = find(key);
  if (opClass == kNone)
    return addForeign(key);
  const OpClass &entry = classes[opClass];
  if (entry.conduct == Conduct::Pure)
    return opClass;
  if (entry.conduct == Conduct::Once) {
    if (--instances[entry.instance].left < 0)
      return reportUsedUp(op, opClass);
    return opClass;
  }
  if (entry.conduct == Conduct::Draw) {
    if (replayedState != kNone)
      return replay(key);
    if (Attribute number = key.op->getDiscardableAttr(kReplay))
      return drawNumbered(key, number, entry.instance);
  }
  return takeInstance(key, entry.instance);
}

/// An op that the joint graph does not have. That is an error for effects; any
/// other op does harm only where a result depends on it.
FailureOr<uint32_t> ClassTable::addForeign(const Key &key) {
  Conduct conduct = askConduct(key.op, kindOf(key.op).model);
  if (conduct == Conduct::Effect)
    return reportForeignEffect(key);
  uint32_t opClass = add(key, conduct, /*isListed=*/true);
  if (conduct != Conduct::Pure) {
    uint32_t index = addInstance(opClass, kNone);
    instances[index].left = 0;
    instances[index].cursor = kNone;
  }
  return opClass;
}

/// The instance with the op's name, else the first one that is left; of
/// effects, none before the last one of this half if that can be avoided.
uint32_t ClassTable::pickInstance(const Key &key, uint32_t head) {
  bool isEffect = classes[instances[head].opClass].conduct == Conduct::Effect;
  auto fits = [&](uint32_t i) {
    return instances[i].left > 0 &&
           (!isEffect || !hadEffect || instances[i].sequence > lastSequence);
  };
  // The name may belong to an op with another key.
  if (Attribute name = firstName(key.op))
    if (auto named = instanceByName.find(name);
        named != instanceByName.end() && fits(named->second) &&
        matches(instances[named->second].opClass, key))
      return named->second;
  uint32_t &cursor = instances[head].cursor;
  while (cursor != kNone && instances[cursor].left <= 0)
    cursor = instances[cursor].next;
  for (uint32_t i = cursor; i != kNone; i = instances[i].next)
    if (fits(i))
      return i;
  return cursor;
}

FailureOr<uint32_t> ClassTable::takeInstance(const Key &key, uint32_t head) {
  Operation *op = key.op;
  uint32_t index = pickInstance(key, head);
  if (index == kNone)
    return reportUsedUp(op, instances[head].opClass);
  Instance &taken = instances[index];
  const OpClass &entry = classes[taken.opClass];
  if (entry.conduct == Conduct::Draw && failed(takeDraw(op, index)))
    return failure();
  if (entry.conduct == Conduct::Effect) {
    if (hadEffect && taken.sequence < lastSequence) {
      auto diag = emitError(op->getLoc(),
                            "this effect comes later than in the joint graph: "
                            "another one that follows it there precedes it "
                            "here");
      diag.attachNote(entry.op->getLoc()) << "the effect in the joint graph";
      return diag;
    }
    hadEffect = true;
    lastSequence = taken.sequence;
  }
  --taken.left;
  return taken.opClass;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

uint32_t ClassTable::firstMissingEffect() const {
  for (const Instance &instance : instances)
    if (classes[instance.opClass].conduct == Conduct::Effect &&
        instance.left > 0)
      return instance.opClass;
  return kNone;
}
