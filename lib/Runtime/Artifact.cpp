// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// manifest.json, written and read. Nothing in a file is believed: each number
// is checked against what it counts, and each operand against the arena or the
// argument that it lies in, before anything runs. The same artifact gives the
// same bytes.

#include "cutback/Runtime/Artifact.h"

#include "cutback/Support/Json.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

using namespace cutback;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// JSON text with one entry of a list a line.
class Writer {
public:
  template <typename List> static std::string numbers(const List &list) {
    std::string out = "[";
    for (int64_t number : list)
      out += (out.size() == 1 ? "" : ", ") + std::to_string(number);
    return out + "]";
  }
  static std::string real(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  static std::string memory(const ArtifactMemory &memory) {
    const char *kind =
        memory.kind == ArtifactMemory::Arena ? "arena" : "argument";
    return std::string("\"") + kind + "\": " + std::to_string(memory.at);
  }
  static std::string tensor(const ArtifactTensor &tensor) {
    return "\"name\": " + quoteJson(tensor.name) +
           ", \"dtype\": " + quoteJson(tensor.dtype) +
           ", \"sizes\": " + numbers(tensor.sizes);
  }
};

constexpr const char *kFills[] = {"required", "zeros", "ones", "seed"};

std::string argumentText(const ArtifactArgument &argument) {
  std::string text = "{" + Writer::tensor(argument);
  for (const std::string &size : argument.declared)
    text += (&size == &argument.declared.front() ? ", \"declared\": [" : ", ") +
            quoteJson(size);
  if (!argument.declared.empty())
    text += "]";
  if (argument.fill != ArtifactArgument::Required)
    text += std::string(", \"fill\": \"") + kFills[argument.fill] + "\"";
  if (argument.isWritten)
    text += ", \"written\": true";
  if (argument.isUpdated)
    text += ", \"updated\": true";
  if (!argument.segment.empty())
    text += ", \"segment\": " + quoteJson(argument.segment);
  if (argument.tied >= 0)
    text += ", \"tied\": " + std::to_string(argument.tied);
  if (argument.rounding != 0)
    text += ", \"rounding\": " + Writer::real(argument.rounding);
  return text + "}";
}

std::string symbolText(const ArtifactSymbol &symbol) {
  std::string text = "{\"name\": " + quoteJson(symbol.name) +
                     ", \"value\": " + std::to_string(symbol.value) +
                     ", \"min\": " + std::to_string(symbol.min);
  if (symbol.max != INT64_MAX)
    text += ", \"max\": " + std::to_string(symbol.max);
  return text + "}";
}

std::string resultText(const ArtifactResult &result) {
  std::string text = "{" + Writer::tensor(result) +
                     ", \"strides\": " + Writer::numbers(result.strides);
  if (result.offset)
    text += ", \"offset\": " + std::to_string(result.offset);
  if (result.rounding != 0)
    text += ", \"rounding\": " + Writer::real(result.rounding);
  if (!result.segment.empty())
    text += ", \"segment\": " + quoteJson(result.segment);
  return text + ", " + Writer::memory(result.memory) + "}";
}

std::string kernelText(const ArtifactKernel &kernel) {
  return "{\"name\": " + quoteJson(kernel.name) +
         ", \"file\": " + quoteJson(kernel.file) +
         (kernel.waits ? ", \"waits\": true" : "") +
         (kernel.checks ? ", \"checks\": true" : "") +
         (kernel.bounds.empty()
              ? ""
              : ", \"bounds\": " + Writer::numbers(kernel.bounds)) +
         "}";
}

std::string matrixText(const char *name, const ArtifactMatrix &matrix) {
  if (matrix.operand < 0)
    return "";
  return std::string(", \"") + name +
         "\": {\"operand\": " + std::to_string(matrix.operand) +
         ", \"offset\": " + std::to_string(matrix.offset) +
         ", \"leading\": " + std::to_string(matrix.leading) +
         ", \"batch_stride\": " + std::to_string(matrix.batchStride) +
         (matrix.isTransposed ? ", \"transposed\": true}" : "}");
}

std::string productText(const ArtifactProduct &product) {
  return "{\"dtype\": " + quoteJson(product.dtype) + ", \"sizes\": " +
         Writer::numbers(std::array<int64_t, 4>{product.m, product.n, product.k,
                                                product.batch}) +
         matrixText("a", product.a) + matrixText("b", product.b) +
         matrixText("c", product.c) + matrixText("out", product.out) +
         (product.bias < 0 ? ""
                           : ", \"bias\": " + std::to_string(product.bias)) +
         ", \"alpha\": " + Writer::real(product.alpha) +
         ", \"beta\": " + Writer::real(product.beta) + ", \"workspace\": " +
         Writer::numbers(std::array<int64_t, 2>{product.workspaceAt,
                                                product.workspaceBytes}) +
         "}";
}

std::string launchText(const Artifact &artifact, const ArtifactLaunch &launch) {
  std::string text =
      "{\"kernel\": " + quoteJson(artifact.kernels[launch.kernel].name) +
      ", \"grid\": " + Writer::numbers(launch.grid) +
      ", \"block\": " + Writer::numbers(launch.block);
  if (launch.sharedBytes)
    text += ", \"shared_bytes\": " + std::to_string(launch.sharedBytes);
  text += ", \"op\": " + quoteJson(launch.op) +
          ", \"place\": " + quoteJson(launch.place) + ",\n     \"operands\": [";
  for (const ArtifactOperand &operand : launch.operands)
    text += (&operand == launch.operands.data() ? "{" : ", {") +
            Writer::memory(operand.memory) +
            ", \"bytes\": " + std::to_string(operand.bytes) +
            (operand.isWritten ? ", \"written\": true}" : "}");
  text += "]";
  if (launch.flops)
    text += ", \"flops\": " + std::to_string(launch.flops);
  if (launch.product)
    text += ",\n     \"product\": " + productText(*launch.product);
  return text + "}";
}

std::string hookText(const ArtifactHook &hook) {
  return "{" + Writer::tensor(hook) +
         ", \"kind\": " + quoteJson(std::string(nameOf(hook.kind))) +
         ", \"key\": " + std::to_string(hook.key) +
         (hook.replaces ? ", \"replaces\": true" : "") +
         ", \"before\": " + std::to_string(hook.before) + ", " +
         Writer::memory(hook.memory) + "}";
}

std::string segmentText(const Artifact &artifact,
                        const ArtifactSegment &segment) {
  std::string text =
      "{\"name\": " + quoteJson(segment.name) + ", \"launches\": [";
  for (const ArtifactLaunch &launch : segment.launches)
    text += (&launch == segment.launches.data() ? "\n    " : ",\n    ") +
            launchText(artifact, launch);
  for (const ArtifactHook &hook : segment.hooks)
    text += (&hook == segment.hooks.data() ? "],\n   \"hooks\": [\n    "
                                           : ",\n    ") +
            hookText(hook);
  return text + "]}";
}

template <typename List, typename Fn>
std::string listText(const List &list, Fn text) {
  std::string out = "[";
  for (const auto &entry : list)
    out += (&entry == &list.front() ? "\n    " : ",\n    ") + text(entry);
  return out + (list.empty() ? "]" : "\n  ]");
}

} // namespace

std::string cutback::checksumOf(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : bytes)
    hash = (hash ^ c) * 0x100000001b3u;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

std::string cutback::writeManifest(const Artifact &artifact) {
  auto segment = [&](const ArtifactSegment &one) {
    return segmentText(artifact, one);
  };
  auto file = [](const std::pair<std::string, std::string> &one) {
    return "{\"name\": " + quoteJson(one.first) +
           ", \"checksum\": " + quoteJson(one.second) + "}";
  };
  return "{\n  \"cutback_artifact\": " + std::to_string(Artifact::kVersion) +
         ",\n  \"target\": " + quoteJson(artifact.target) +
         ",\n  \"architectures\": " +
         listText(artifact.architectures, quoteJson) +
         (artifact.tf32 ? ",\n  \"tf32\": true" : "") +
         (artifact.testsAccesses ? ",\n  \"tests_accesses\": true" : "") +
         (artifact.machine.empty()
              ? ""
              : ",\n  \"machine\": " + quoteJson(artifact.machine) +
                    ",\n  \"features\": " +
                    listText(artifact.features, quoteJson)) +
         ",\n  \"arena_bytes\": " + std::to_string(artifact.arenaBytes) +
         (artifact.symbols.empty()
              ? ""
              : ",\n  \"symbols\": " + listText(artifact.symbols, symbolText)) +
         (artifact.of.empty() ? "" : ",\n  \"of\": " + quoteJson(artifact.of)) +
         ",\n  \"files\": " + listText(artifact.files, file) +
         ",\n  \"arguments\": " + listText(artifact.arguments, argumentText) +
         ",\n  \"results\": " + listText(artifact.results, resultText) +
         ",\n  \"kernels\": " + listText(artifact.kernels, kernelText) +
         ",\n  \"segments\": " + listText(artifact.segments, segment) + "\n}\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

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

namespace {

/// -1 if it is more than 2^62.
int64_t elementsOf(const std::vector<int64_t> &sizes) {
  int64_t all = 1;
  for (int64_t size : sizes) {
    if (size < 0 || (size > 0 && all > (int64_t(1) << 62) / size))
      return -1;
    all *= size;
  }
  return all;
}

class Reader {
public:
  explicit Reader(Artifact &artifact) : artifact(artifact) {}

  std::string run(JsonValue root) {
    std::optional<int64_t> version = root.find("cutback_artifact").asInt();
    if (!version)
      return "is no manifest of a compiled step";
    if (*version != Artifact::kVersion)
      return "has version " + std::to_string(*version) +
             ", this runtime takes " + std::to_string(Artifact::kVersion);
    artifact.target = root.find("target").decoded();
    for (JsonValue one : root.find("architectures").children())
      artifact.architectures.push_back(one.decoded());
    artifact.tf32 = root.find("tf32").kind() == JsonKind::True;
    artifact.testsAccesses =
        root.find("tests_accesses").kind() == JsonKind::True;
    artifact.machine = root.find("machine").decoded();
    for (JsonValue one : root.find("features").children())
      artifact.features.push_back(one.decoded());
    artifact.arenaBytes = number(root.find("arena_bytes"));
    for (JsonValue one : root.find("symbols").children())
      artifact.symbols.push_back({one.find("name").decoded(),
                                  number(one.find("value")),
                                  number(one.find("min")),
                                  one.find("max").asInt().value_or(INT64_MAX)});
    artifact.of = root.find("of").decoded();
    for (JsonValue one : root.find("files").children())
      artifact.files.emplace_back(one.find("name").decoded(),
                                  one.find("checksum").decoded());
    for (JsonValue one : root.find("arguments").children())
      readArgument(one);
    for (JsonValue one : root.find("results").children())
      readResult(one);
    for (JsonValue one : root.find("kernels").children())
      artifact.kernels.push_back({one.find("name").decoded(),
                                  one.find("file").decoded(),
                                  one.find("waits").kind() == JsonKind::True,
                                  one.find("checks").kind() == JsonKind::True,
                                  numbers(one.find("bounds"))});
    for (JsonValue one : root.find("segments").children()) {
      ArtifactSegment &segment = artifact.segments.emplace_back();
      segment.name = one.find("name").decoded();
      for (JsonValue launch : one.find("launches").children())
        segment.launches.push_back(readLaunch(launch));
      for (JsonValue hook : one.find("hooks").children())
        segment.hooks.push_back(readHook(hook));
    }
    return isRight ? artifact.verify() : "lacks a number";
  }

private:
  int64_t number(JsonValue value) {
    std::optional<int64_t> number = value.asInt();
    isRight &= number.has_value();
    return number.value_or(0);
  }
  std::vector<int64_t> numbers(JsonValue list) {
    std::vector<int64_t> all;
    for (JsonValue one : list.children())
      all.push_back(number(one));
    return all;
  }
  std::array<int64_t, 3> three(JsonValue list) {
    std::vector<int64_t> all = numbers(list);
    isRight &= all.size() == 3;
    all.resize(3);
    return {all[0], all[1], all[2]};
  }
  ArtifactMemory memory(JsonValue value) {
    JsonValue arena = value.find("arena");
    return {arena ? ArtifactMemory::Arena : ArtifactMemory::Argument,
            number(arena ? arena : value.find("argument"))};
  }
  void readTensor(JsonValue value, ArtifactTensor &tensor) {
    tensor.name = value.find("name").decoded();
    tensor.dtype = value.find("dtype").decoded();
    tensor.sizes = numbers(value.find("sizes"));
  }
  void readArgument(JsonValue value) {
    ArtifactArgument argument;
    readTensor(value, argument);
    for (JsonValue size : value.find("declared").children())
      argument.declared.push_back(size.decoded());
    for (int fill = 0; fill < 4; ++fill)
      if (value.find("fill").decoded() == kFills[fill])
        argument.fill = static_cast<ArtifactArgument::Fill>(fill);
    argument.isWritten = value.find("written").kind() == JsonKind::True;
    argument.isUpdated = value.find("updated").kind() == JsonKind::True;
    argument.segment = value.find("segment").decoded();
    argument.tied = value.find("tied").asInt().value_or(-1);
    argument.rounding = value.find("rounding").asDouble().value_or(0);
    artifact.arguments.push_back(argument);
  }
  void readResult(JsonValue value) {
    ArtifactResult result;
    readTensor(value, result);
    result.strides = numbers(value.find("strides"));
    result.offset = value.find("offset").asInt().value_or(0);
    result.rounding = value.find("rounding").asDouble().value_or(0);
    result.segment = value.find("segment").decoded();
    result.memory = memory(value);
    artifact.results.push_back(result);
  }
  ArtifactMatrix readMatrix(JsonValue value) {
    ArtifactMatrix matrix;
    if (!value)
      return matrix;
    matrix.operand = number(value.find("operand"));
    matrix.offset = number(value.find("offset"));
    matrix.leading = number(value.find("leading"));
    matrix.batchStride = number(value.find("batch_stride"));
    matrix.isTransposed = value.find("transposed").kind() == JsonKind::True;
    return matrix;
  }
  ArtifactProduct readProduct(JsonValue value) {
    ArtifactProduct product;
    product.dtype = value.find("dtype").decoded();
    std::vector<int64_t> sizes = numbers(value.find("sizes"));
    std::vector<int64_t> workspace = numbers(value.find("workspace"));
    isRight &= sizes.size() == 4 && workspace.size() == 2;
    sizes.resize(4);
    workspace.resize(2);
    product.m = sizes[0], product.n = sizes[1], product.k = sizes[2];
    product.batch = sizes[3];
    product.a = readMatrix(value.find("a"));
    product.b = readMatrix(value.find("b"));
    product.c = readMatrix(value.find("c"));
    product.out = readMatrix(value.find("out"));
    product.bias = value.find("bias").asInt().value_or(-1);
    product.alpha = value.find("alpha").asDouble().value_or(1);
    product.beta = value.find("beta").asDouble().value_or(0);
    product.workspaceAt = workspace[0];
    product.workspaceBytes = workspace[1];
    return product;
  }
  ArtifactLaunch readLaunch(JsonValue value) {
    ArtifactLaunch launch;
    std::string kernel = value.find("kernel").decoded();
    launch.kernel = -1;
    for (size_t i = 0; i < artifact.kernels.size(); ++i)
      if (artifact.kernels[i].name == kernel)
        launch.kernel = static_cast<int64_t>(i);
    launch.grid = three(value.find("grid"));
    launch.block = three(value.find("block"));
    launch.sharedBytes = value.find("shared_bytes").asInt().value_or(0);
    launch.flops = value.find("flops").asInt().value_or(0);
    launch.op = value.find("op").decoded();
    launch.place = value.find("place").decoded();
    for (JsonValue one : value.find("operands").children())
      launch.operands.push_back({memory(one), number(one.find("bytes")),
                                 one.find("written").kind() == JsonKind::True});
    if (JsonValue product = value.find("product"))
      launch.product = readProduct(product);
    return launch;
  }

  ArtifactHook readHook(JsonValue value) {
    ArtifactHook hook;
    readTensor(value, hook);
    std::optional<HookKind> kind = hookKindNamed(value.find("kind").decoded());
    isRight &= kind.has_value();
    hook.kind = kind.value_or(hook.kind);
    hook.key = number(value.find("key"));
    hook.replaces = value.find("replaces").kind() == JsonKind::True;
    hook.before = number(value.find("before"));
    hook.memory = memory(value);
    return hook;
  }

  Artifact &artifact;
  bool isRight = true;
};

} // namespace

std::string cutback::readManifest(std::string_view text, Artifact &artifact) {
  JsonDocument document;
  if (auto error = JsonDocument::parse(text, document))
    return "is no JSON: " + error->message;
  return Reader(artifact).run(document.root());
}

int64_t cutback::bytesOf(const ArtifactTensor &tensor) {
  int64_t item = bytesOfType(tensor.dtype);
  int64_t count = elementsOf(tensor.sizes);
  return item == 0 || count < 0 ? -1 : count * item;
}

int64_t cutback::bytesOf(const ArtifactLaunch &launch) {
  int64_t bytes = 0;
  for (const ArtifactOperand &operand : launch.operands)
    bytes += operand.bytes;
  return bytes;
}

int64_t cutback::spanOf(const ArtifactResult &result) {
  int64_t last = result.offset;
  for (size_t i = 0; i < result.sizes.size(); ++i) {
    if (result.sizes[i] == 0)
      return 0;
    last += (result.sizes[i] - 1) * result.strides[i];
  }
  return (last + 1) * bytesOfType(result.dtype);
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
    if (segments[i].name != kUpdateSegment)
      numbers.push_back(i);
  return numbers;
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

/// Whether `bytes` from its start lie in `memory`.
static bool holds(const Artifact &artifact, const ArtifactMemory &memory,
                  int64_t bytes) {
  if (bytes < 0 || memory.at < 0)
    return false;
  if (memory.kind == ArtifactMemory::Arena)
    return memory.at % 16 == 0 && memory.at <= artifact.arenaBytes &&
           bytes <= artifact.arenaBytes - memory.at;
  return memory.at < static_cast<int64_t>(artifact.arguments.size()) &&
         bytes <= bytesOf(artifact.arguments[memory.at]);
}

static std::string verifyLaunch(const Artifact &artifact,
                                const ArtifactLaunch &launch) {
  if (launch.kernel < 0 ||
      launch.kernel >= static_cast<int64_t>(artifact.kernels.size()))
    return "launches a kernel that it does not have";
  const std::string &name = artifact.kernels[launch.kernel].name;
  int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads < 1 || threads > 1024 || launch.sharedBytes < 0 ||
      launch.sharedBytes > 48 * 1024 || launch.grid[0] < 1 ||
      launch.grid[0] > INT32_MAX || launch.grid[1] < 1 ||
      launch.grid[1] > 65535 || launch.grid[2] < 1 || launch.grid[2] > 65535)
    return "launches '" + name + "' with a grid or block that no device takes";
  for (const ArtifactOperand &operand : launch.operands)
    if (!holds(artifact, operand.memory, operand.bytes))
      return "launches '" + name + "' on memory outside of arena and arguments";
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
    if (!holds(artifact, hook.memory, bytesOf(hook)))
      return "has a hook '" + hook.name +
             "' on memory outside of arena and arguments";
  }
  return "";
}

std::string Artifact::verify() const {
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
                            !holds(*this, result.memory, span)))
      return "has a result '" + result.name + "' outside of memory";
  }
  for (const ArtifactSegment &segment : segments) {
    for (const ArtifactLaunch &launch : segment.launches)
      if (std::string problem = verifyLaunch(*this, launch); !problem.empty())
        return problem;
    if (std::string problem = verifyHooks(*this, segment); !problem.empty())
      return problem;
  }
  return "";
}
