// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument lies where the caller has it, a result of a launch at its offset
// in the arena, and what a segment gets from an earlier one where it was made,
// unless a segment between them writes over it: that one's place is told by who
// copies it.

#include "StepPlaces.h"

#include "cutback/Autograd/Differentiate.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Dialect/Joint/Loss.h"
#include "cutback/Interpreter/Rounding.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Support/MLIR/TensorBytes.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

int64_t cuda::itemBytes(Value tensor) {
  return elementBytes(
      cast<RankedTensorType>(tensor.getType()).getElementType());
}
int64_t cuda::numElements(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

std::string cuda::dtypeText(Type element) {
  return interpreter::nameOf(*interpreter::dtypeOf(element)).str();
}

/// By argument: whether an update in the backward writes it.
static llvm::SmallDenseSet<unsigned> findUpdated(joint::GraphOp graph) {
  llvm::SmallDenseSet<unsigned> updated;
  if (joint::hasInsideUpdate(graph))
    for (auto write : graph.getBlock().getOps<joint::WriteOp>())
      if (auto to = dyn_cast<BlockArgument>(write.getDestination());
          to && write.getSide() == joint::Side::Backward)
        updated.insert(to.getArgNumber());
  return updated;
}

LogicalResult StepPlaces::addArguments() {
  FailureOr<std::vector<unsigned>> tied = findTied(graph);
  if (failed(tied))
    return failure();
  interpreter::StepNames names = interpreter::nameStep(graph);
  auto needed = static_cast<unsigned>(joint::findNeededTangent(graph));
  llvm::StringMap<double> rounding = interpreter::getRounding(graph, names);
  llvm::SmallDenseSet<unsigned> updated = findUpdated(graph);
  llvm::StringMap<Type> types; // with known sizes
  for (func::FuncOp function : segments.functions)
    for (BlockArgument argument : function.getArguments())
      types.try_emplace(joint::getValueName(argument), argument.getType());
  for (unsigned i = 0; i < names.arguments.size(); ++i) {
    StringRef name = graph.getArgName(i);
    auto found = types.find(name);
    Type type =
        found == types.end() ? graph.getArgumentTypes()[i] : found->second;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      continue;
    ArtifactArgument argument;
    argument.name = names.arguments[i];
    argument.dtype = dtypeText(tensor.getElementType());
    argument.sizes = tensor.getShape().vec();
    joint::RoleAttr role = graph.getRole(i);
    if (role.getKind() == joint::RoleKind::RngSeed)
      argument.fill = ArtifactArgument::Seed;
    else if (joint::isLossSeed(graph, i))
      argument.fill = ArtifactArgument::Ones;
    else if (argument.name.empty() ||
             (role.getKind() == joint::RoleKind::Tangent && i != needed))
      argument.fill = ArtifactArgument::Zeros;
    argument.isUpdated = updated.contains(i);
    // States begin with zeros; no update is by the rate 0, the first of number
    // 0.
    if (argument.isUpdated &&
        StringRef(argument.name).starts_with(joint::kOptimizerPrefix))
      argument.fill = ArtifactArgument::Zeros;
    for (const auto &[written, number] : names.written)
      if (number == i && !argument.isUpdated) {
        argument.isWritten = true;
        argument.rounding = rounding.lookup(written);
      }
    if (auto other = argumentNumber.find(graph.getArgName((*tied)[i]));
        (*tied)[i] != i && other != argumentNumber.end())
      argument.tied = other->second;
    argumentNumber[name] = artifact.arguments.size();
    artifact.arguments.push_back(argument);
  }
  if (auto undecayed = graph->getAttrOfType<ArrayAttr>(joint::kInsideUpdate))
    markUndecayed(undecayed);
  addSegmentArguments();
  return success();
}

void StepPlaces::markUndecayed(ArrayAttr names) {
  for (StringRef name : names.getAsValueRange<StringAttr>())
    if (auto found = argumentNumber.find(name); found != argumentNumber.end())
      artifact.arguments[found->second].isUndecayed = true;
}

/// Those that the graph does not have: a segment's own.
void StepPlaces::addSegmentArguments() {
  for (size_t i = 0; i < segments.functions.size(); ++i)
    for (BlockArgument taken : segments.functions[i].getArguments()) {
      StringRef name = joint::getValueName(taken);
      auto tensor = dyn_cast<RankedTensorType>(taken.getType());
      if (!tensor || segments.handed.contains(taken) ||
          argumentNumber.contains(name))
        continue;
      ArtifactArgument argument;
      argument.name = name.str();
      argument.dtype = dtypeText(tensor.getElementType());
      argument.sizes = tensor.getShape().vec();
      argument.fill = ArtifactArgument::Zeros;
      argument.segment = artifact.segments[i].name;
      argumentNumber[name] = artifact.arguments.size();
      artifact.arguments.push_back(argument);
    }
}

void StepPlaces::find(ModuleOp module) {
  module->walk([&](kernel::LaunchOp launch) {
    for (auto [result, at] :
         llvm::zip_equal(launch.getResults(), launch.getAt()))
      if (at >= 0)
        places[kernel::insideOf(result)] = {ArtifactMemory::Arena, at};
  });
  for (size_t i = 0; i < segments.functions.size(); ++i)
    findWritten(i);
}

std::optional<ArtifactMemory> StepPlaces::placeOf(Value root) const {
  if (numElements(root) == 0)
    return ArtifactMemory{ArtifactMemory::Arena, 0};
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    if (auto found = taken.find(argument); found != taken.end())
      return found->second;
    auto found = argumentNumber.find(joint::getValueName(argument));
    if (found != argumentNumber.end())
      return ArtifactMemory{ArtifactMemory::Argument, found->second};
  }
  if (auto found = places.find(root); found != places.end())
    return found->second;
  emitError(root.getLoc()) << "'" << joint::getValueName(root)
                           << "' has no place in memory";
  return std::nullopt;
}

bool StepPlaces::isOverwritten(const ArtifactMemory &memory, size_t from,
                               size_t to) const {
  if (memory.kind != ArtifactMemory::Argument)
    return false;
  for (size_t i = from + 1; i <= to; ++i)
    if (writtenIn.contains({i, memory.at}))
      return true;
  return false;
}
void StepPlaces::findWritten(size_t segment) {
  bool isUpdate = isOptimizerSegment(artifact.segments[segment].name);
  segments.functions[segment].walk([&](joint::WriteOp write) {
    Value root = kernel::locate(write->getOperand(0)).root;
    auto found = argumentNumber.find(joint::getValueName(root));
    if (found == argumentNumber.end())
      return;
    writtenIn.insert({segment, found->second});
    if (isUpdate)
      artifact.arguments[found->second].isUpdated = true;
  });
  kernel::SegmentOp op = segments.ops[segment];
  if (auto undecayed = op->getAttrOfType<ArrayAttr>(kUndecayed))
    markUndecayed(undecayed);
}

int64_t StepPlaces::seedNumber() {
  if (!seed) {
    seed = static_cast<int64_t>(artifact.arguments.size());
    ArtifactArgument argument;
    argument.name = "rng_seed";
    argument.dtype = "i64";
    argument.fill = ArtifactArgument::Seed;
    artifact.arguments.push_back(argument);
  }
  return *seed;
}

bool cuda::findElements(Value value, ArtifactMemory &memory) {
  const Layout layout = kernel::locate(value).layout;
  if (memory.kind == ArtifactMemory::Arena)
    memory.at += layout.offset * itemBytes(value);
  return layout.isContiguous() &&
         (memory.kind == ArtifactMemory::Arena ? memory.at % 16 == 0
                                               : layout.offset == 0);
}

Value cuda::writtenRoot(Value result) {
  auto write = result.getDefiningOp<joint::WriteOp>();
  return write ? kernel::locate(write.getDestination()).root : result;
}

bool cuda::overlaps(const ArtifactLaunch &launch) {
  for (const ArtifactOperand &a : launch.operands)
    for (const ArtifactOperand &b : launch.operands)
      if (&a != &b && a.isWritten && a.memory.kind == b.memory.kind &&
          (a.memory.kind == ArtifactMemory::Arena
               ? a.memory.at < b.memory.at + b.bytes &&
                     b.memory.at < a.memory.at + a.bytes
               : a.memory.at == b.memory.at))
        return true;
  return false;
}
