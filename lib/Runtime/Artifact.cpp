// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an artifact can be run. Nothing in a file is believed: each number
// is checked against what it counts, and each operand against the arena or the
// argument that it lies in, before anything runs; products are out of range
// rather than wrap.

#include "cutback/Runtime/Artifact.h"

#include <algorithm>
#include <cctype>
#include <set>

using namespace cutback;

/// Bytes of one thing at most (256 TiB): sums of a thousand of them are in
/// range.
static constexpr int64_t kMost = int64_t(1) << 48;
static constexpr size_t kMostOperands = 16384, kMostAxes = 64;

int64_t cutback::bytesOfType(std::string_view dtype) {
  if (dtype == "complex<f64>")
    return 16;
  if (dtype == "f64" || dtype == "i64" || dtype == "ui64" ||
      dtype == "complex<f32>")
    return 8;
  if (dtype == "f32" || dtype == "i32" || dtype == "ui32" ||
      dtype == "complex<f16>")
    return 4;
  if (dtype == "f16" || dtype == "bf16" || dtype == "i16" || dtype == "ui16")
    return 2;
  return dtype == "i8" || dtype == "ui8" || dtype == "i1" ? 1 : 0;
}

int64_t cutback::bytesOf(const ArtifactTensor &tensor) {
  int64_t bytes = bytesOfType(tensor.dtype);
  bool isKnown = bytes > 0 && tensor.sizes.size() <= kMostAxes;
  for (int64_t size : tensor.sizes)
    isKnown &= size >= 0 && size <= kMost &&
               !__builtin_mul_overflow(bytes, size, &bytes) && bytes <= kMost;
  return isKnown ? bytes : -1;
}

int64_t cutback::bytesOf(const ArtifactLaunch &launch) {
  int64_t bytes = 0;
  for (const ArtifactOperand &operand : launch.operands)
    bytes += operand.bytes;
  return bytes;
}

int64_t cutback::spanOf(const ArtifactResult &result) {
  int64_t last = result.offset, item = bytesOfType(result.dtype);
  bool isKnown = true;
  for (size_t i = 0; i < result.sizes.size(); ++i) {
    if (result.sizes[i] == 0)
      return 0;
    int64_t step = 0;
    isKnown &= !__builtin_mul_overflow(result.sizes[i] - 1, result.strides[i],
                                       &step) &&
               !__builtin_add_overflow(last, step, &last);
  }
  isKnown &= !__builtin_add_overflow(last, int64_t(1), &last) &&
             !__builtin_mul_overflow(last, item, &last);
  return isKnown ? last : -1;
}

const ArtifactFile *Artifact::findFile(std::string_view name) const {
  for (const ArtifactFile &file : files)
    if (file.name == name)
      return &file;
  return nullptr;
}

bool Artifact::hasProducts() const {
  for (const ArtifactSegment &segment : segments)
    for (const ArtifactLaunch &launch : segment.launches)
      if (launch.product)
        return true;
  return false;
}

bool Artifact::hasHooks() const {
  return std::any_of(
      segments.begin(), segments.end(),
      [](const ArtifactSegment &segment) { return !segment.hooks.empty(); });
}

std::vector<size_t> Artifact::stepSegments() const {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < segments.size(); ++i)
    if (!isOptimizerSegment(segments[i].name))
      numbers.push_back(i);
  return numbers;
}

bool Artifact::mayTake(std::string_view segment,
                       const ArtifactArgument &argument) const {
  if (argument.segment.empty() || argument.segment == segment)
    return true;
  bool isThere = false;
  for (const ArtifactSegment &one : segments) {
    if (one.name == segment)
      return isThere;
    isThere |= one.name == argument.segment;
  }
  return false;
}

/// Its name is a part of a folder's.
static bool isSize(const ArtifactSymbol &symbol) {
  return !symbol.name.empty() &&
         std::all_of(symbol.name.begin(), symbol.name.end(),
                     [](unsigned char c) { return std::isalnum(c); }) &&
         symbol.value >= symbol.min && symbol.value <= symbol.max;
}

/// Whether a matrix of `rows` times `columns` lies in its operand.
static bool holdsMatrix(const ArtifactLaunch &launch,
                        const ArtifactProduct &product,
                        const ArtifactMatrix &matrix, int64_t rows,
                        int64_t columns) {
  constexpr int64_t most = int64_t(1) << 31;
  if (matrix.isTransposed)
    std::swap(rows, columns);
  if (matrix.operand < 0 ||
      matrix.operand >= static_cast<int64_t>(launch.operands.size()) ||
      matrix.offset < 0 || matrix.offset > most || matrix.batchStride < 0 ||
      matrix.batchStride > most || matrix.leading < columns ||
      matrix.leading > most)
    return false;
  // Factors are at most 2^31: no product of two is out of range.
  int64_t item = bytesOfType(product.dtype);
  int64_t held = launch.operands[matrix.operand].bytes / item - matrix.offset;
  return (rows - 1) * matrix.leading + columns <= held &&
         (product.batch - 1) * matrix.batchStride <=
             held - (rows - 1) * matrix.leading - columns;
}

/// Whether a library may be given the product of `launch`.
static bool isSound(const ArtifactLaunch &launch, int64_t arenaBytes) {
  const ArtifactProduct &p = *launch.product;
  constexpr int64_t most = INT32_MAX;
  bool isFloat = p.dtype == "f32" || p.dtype == "f64" || p.dtype == "bf16" ||
                 p.dtype == "f16";
  if (!isFloat || p.m < 1 || p.m > most || p.n < 1 || p.n > most || p.k < 1 ||
      p.k > most || p.batch < 1 || p.batch > most)
    return false;
  auto numOperands = static_cast<int64_t>(launch.operands.size());
  bool hasBias = p.bias < 0 ||
                 (p.bias < numOperands &&
                  launch.operands[p.bias].bytes >= p.n * bytesOfType(p.dtype));
  return hasBias && holdsMatrix(launch, p, p.a, p.m, p.k) &&
         holdsMatrix(launch, p, p.b, p.k, p.n) &&
         (p.c.operand < 0 ||
          (holdsMatrix(launch, p, p.c, p.m, p.n) && !p.c.isTransposed)) &&
         holdsMatrix(launch, p, p.out, p.m, p.n) && !p.out.isTransposed &&
         launch.operands[p.out.operand].isWritten && p.workspaceAt >= 0 &&
         p.workspaceAt % 256 == 0 && p.workspaceBytes >= 0 &&
         p.workspaceAt <= arenaBytes &&
         p.workspaceBytes <= arenaBytes - p.workspaceAt;
}

/// Whether `bytes` from its start lie in `memory`, for `segment`.
static bool holds(const Artifact &artifact, const ArtifactMemory &memory,
                  int64_t bytes, const std::string &segment) {
  if (bytes < 0 || memory.at < 0)
    return false;
  if (memory.kind == ArtifactMemory::Arena)
    return memory.at % 16 == 0 && memory.at <= artifact.arenaBytes &&
           bytes <= artifact.arenaBytes - memory.at;
  if (memory.at >= static_cast<int64_t>(artifact.arguments.size()))
    return false;
  // One of a later segment may have no memory.
  const ArtifactArgument &argument = artifact.arguments[memory.at];
  return bytes <= bytesOf(argument) && artifact.mayTake(segment, argument);
}

const char *cutback::nameOf(ArtifactCollective::Kind kind) {
  static constexpr const char *kNames[] = {
      "all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor",
      "all_to_all_single", "broadcast"};
  return kNames[kind];
}

/// The parts of a list are all of an operand.
static bool areParts(const std::vector<int64_t> &parts, int64_t bytes) {
  for (int64_t part : parts) {
    if (part < 0 || part > bytes)
      return false;
    bytes -= part;
  }
  return parts.empty() || bytes == 0;
}

/// Whether a collective goes with its operands. Who has the group looks at what
/// depends on it.
static bool isSound(const ArtifactLaunch &launch,
                    const ArtifactCollective &one) {
  if (launch.operands.size() != 2 || launch.operands[0].isWritten ||
      !launch.operands[1].isWritten)
    return false;
  int64_t from = launch.operands[0].bytes, to = launch.operands[1].bytes;
  int64_t item = bytesOfType(one.dtype), ranks = one.ranks;
  bool reduces = one.kind == ArtifactCollective::AllReduce ||
                 one.kind == ArtifactCollective::ReduceScatter;
  bool isKnown = one.reduction == "sum" || one.reduction == "avg" ||
                 one.reduction == "max";
  if (item <= 0 || from % item != 0 || to % item != 0 || ranks < 0 ||
      one.root < 0 || (reduces ? !isKnown : !one.reduction.empty()) ||
      one.sends.size() != one.takes.size())
    return false;
  switch (one.kind) {
  case ArtifactCollective::AllReduce:
  case ArtifactCollective::Broadcast:
    return from == to;
  case ArtifactCollective::AllGather:
    return ranks > 0 && to / ranks == from && to % ranks == 0;
  case ArtifactCollective::ReduceScatter:
    return ranks > 0 && from / ranks == to && from % ranks == 0;
  case ArtifactCollective::AllToAll:
    return areParts(one.sends, from) && areParts(one.takes, to);
  }
  return false;
}

static std::string verifyLaunch(const Artifact &artifact,
                                const ArtifactLaunch &launch,
                                const std::string &segment) {
  if (launch.kernel < 0 ||
      launch.kernel >= static_cast<int64_t>(artifact.kernels.size()))
    return "launches a kernel that it does not have";
  const std::string &name = artifact.kernels[launch.kernel].name;
  int64_t threads = 1;
  for (int64_t size : launch.block)
    threads = size >= 1 && size <= 1024 && threads <= 1024 ? threads * size : 0;
  if (threads < 1 || threads > 1024 || launch.sharedBytes < 0 ||
      launch.sharedBytes > 48 * 1024 || launch.grid[0] < 1 ||
      launch.grid[0] > INT32_MAX || launch.grid[1] < 1 ||
      launch.grid[1] > 65535 || launch.grid[2] < 1 || launch.grid[2] > 65535)
    return "launches '" + name + "' with a grid or block that no device takes";
  if (launch.operands.size() > kMostOperands)
    return "launches '" + name + "' with too many operands";
  for (const ArtifactOperand &operand : launch.operands)
    if (!holds(artifact, operand.memory, operand.bytes, segment))
      return "launches '" + name + "' on memory outside of arena and arguments";
  bool isOfGroup = artifact.kernels[launch.kernel].file == kGroupFile;
  // A step that is not finished has no target yet.
  bool isElsewhere = !artifact.target.empty() && artifact.target != kCpuTarget;
  if (isOfGroup != launch.collective.has_value() ||
      (isOfGroup && (isElsewhere || !isSound(launch, *launch.collective))))
    return "has a collective '" + name + "' that does not go with its operands";
  if (launch.product && !isSound(launch, artifact.arenaBytes))
    return "has a product in place of '" + name +
           "' that is outside of its operands or of the arena";
  return "";
}

std::pair<const ArtifactHook *, const ArtifactHook *>
ArtifactSegment::hooksBefore(size_t launch) const {
  const ArtifactHook *begin = hooks.data(), *end = begin + hooks.size();
  auto bound = [&](int64_t place) {
    return std::lower_bound(
        begin, end, place,
        [](const ArtifactHook &hook, int64_t at) { return hook.before < at; });
  };
  auto place = static_cast<int64_t>(launch);
  return {bound(place), bound(place + 1)};
}

/// Hooks in the order of their launches, each on memory that there is.
static std::string verifyHooks(const Artifact &artifact,
                               const ArtifactSegment &segment) {
  int64_t at = 0;
  for (const ArtifactHook &hook : segment.hooks) {
    if (hook.before < at ||
        hook.before > static_cast<int64_t>(segment.launches.size()))
      return "has a hook '" + hook.name + "' at no place between its launches";
    at = hook.before;
    if (!holds(artifact, hook.memory, bytesOf(hook), segment.name))
      return "has a hook '" + hook.name +
             "' on memory outside of arena and arguments";
  }
  return "";
}

/// Whether a name may be a part of a path.
static bool isPlain(const std::string &name) {
  return !name.empty() && name[0] != '.' &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

/// Names that are parts of paths or found by.
static std::string verifyNames(const Artifact &artifact) {
  if (artifact.arenaBytes < 0 || artifact.arenaBytes > kMost)
    return "has an arena of " + std::to_string(artifact.arenaBytes) + " bytes";
  for (const std::string &architecture : artifact.architectures)
    if (architecture.substr(0, 3) != "sm_")
      return "has code for '" + architecture + "', which is no device";
  std::set<std::string> names;
  for (const ArtifactFile &file : artifact.files)
    if (!isPlain(file.name) || file.bytes < 0 ||
        !names.insert(file.name).second)
      return "has a file '" + file.name + "' that is none of its folder";
  names.clear();
  for (const ArtifactSegment &segment : artifact.segments)
    if (!isPlain(segment.name) || !names.insert(segment.name).second)
      return "has a segment '" + segment.name + "' that cannot be one";
  names.clear();
  for (const ArtifactKernel &kernel : artifact.kernels)
    if (kernel.name.empty() || !names.insert(kernel.name).second)
      return "has a kernel '" + kernel.name + "' twice";
  return artifact.segments.empty() ? "has no segments" : "";
}

std::string Artifact::verify() const {
  if (std::string problem = verifyNames(*this); !problem.empty())
    return problem;
  for (const ArtifactSymbol &symbol : symbols)
    if (!isSize(symbol))
      return "has a size '" + symbol.name + "' that is no size";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArtifactArgument &argument = arguments[i];
    if (bytesOf(argument) < 0)
      return "has an argument '" + argument.name + "' of unknown size";
    if (!argument.declared.empty() &&
        argument.declared.size() != argument.sizes.size())
      return "has an argument '" + argument.name +
             "' with other sizes than it declares";
    if (argument.tied >= static_cast<int64_t>(i) ||
        (argument.tied >= 0 &&
         bytesOf(argument) != bytesOf(arguments[argument.tied])))
      return "has an argument '" + argument.name +
             "' tied to one that it cannot be";
  }
  for (const ArtifactResult &result : results) {
    if (bytesOf(result) < 0 || result.sizes.size() != result.strides.size())
      return "has a result '" + result.name + "' of unknown size";
    int64_t span = spanOf(result);
    // Backwards an element may lie in front of the first one.
    bool goesBack = std::any_of(result.strides.begin(), result.strides.end(),
                                [](int64_t stride) { return stride < 0; });
    if (bytesOf(result) && (result.offset < 0 || goesBack || span <= 0 ||
                            !holds(*this, result.memory, span, result.segment)))
      return "has a result '" + result.name + "' outside of memory";
  }
  for (const ArtifactSegment &segment : segments) {
    for (const ArtifactLaunch &launch : segment.launches)
      if (std::string problem = verifyLaunch(*this, launch, segment.name);
          !problem.empty())
        return problem;
    if (std::string problem = verifyHooks(*this, segment); !problem.empty())
      return problem;
  }
  return "";
}
