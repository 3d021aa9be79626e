// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// manifest.json, read. It ends with a checksum of all that is before it, so
// that no flipped bit is taken for a number. What is read has the members that
// are written and no others, each of its kind: what lacks a list or a number,
// or has a word that this runtime does not know, is refused, whoever wrote it.
// Artifact::verify() says whether the numbers go together.

#include "ManifestTail.h"
#include "MemberReader.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/Json.h"

#include <algorithm>
#include <map>

using namespace cutback;

namespace {

constexpr const char *kFills[] = {"required", "zeros", "ones", "seed"};

class Reader : MemberReader {
public:
  explicit Reader(Artifact &artifact) : artifact(artifact) {}

  std::string run(JsonValue root) {
    readHeader(root);
    for (JsonValue one : list(root, "files"))
      readFile(one);
    for (JsonValue one : list(root, "arguments"))
      readArgument(one);
    for (JsonValue one : list(root, "results"))
      readResult(one);
    for (JsonValue one : list(root, "kernels"))
      readKernel(one);
    for (JsonValue one : list(root, "segments")) {
      only(one, {"name", "launches", "hooks"});
      ArtifactSegment &segment = artifact.segments.emplace_back();
      segment.name = text(one, "name");
      for (JsonValue launch : list(one, "launches"))
        segment.launches.push_back(readLaunch(launch));
      for (JsonValue hook : list(one, "hooks", Optional))
        segment.hooks.push_back(readHook(hook));
    }
    return problem.empty() ? artifact.verify() : problem;
  }

private:
  void readHeader(JsonValue root) {
    only(root, {"cutback_artifact", "target", "architectures", "tf32",
                "tests_accesses", "machine", "features", "arena_bytes",
                "symbols", "of", "files", "arguments", "results", "kernels",
                "segments", "checksum"});
    artifact.target = text(root, "target");
    if (artifact.target != kCpuTarget && artifact.target != "cuda" &&
        artifact.target != "cuda-host")
      refuse("is for the target '" + artifact.target + "', which there is not");
    artifact.architectures = texts(root, "architectures");
    artifact.tf32 = flag(root, "tf32");
    artifact.testsAccesses = flag(root, "tests_accesses");
    artifact.machine = text(root, "machine", Optional);
    artifact.features = texts(root, "features", Optional);
    artifact.arenaBytes = number(root, "arena_bytes");
    artifact.of = text(root, "of", Optional);
    artifact.checksum = text(root, "checksum");
    for (JsonValue one : list(root, "symbols", Optional)) {
      only(one, {"name", "value", "min", "max"});
      artifact.symbols.push_back({text(one, "name"), number(one, "value"),
                                  number(one, "min"),
                                  number(one, "max", INT64_MAX)});
    }
  }
  void readFile(JsonValue value) {
    only(value, {"name", "bytes", "checksum"});
    artifact.files.push_back({text(value, "name"), number(value, "bytes"),
                              text(value, "checksum"), nullptr});
  }
  void readKernel(JsonValue value) {
    only(value, {"name", "file", "waits", "checks", "bounds"});
    artifact.kernels.push_back({text(value, "name"), text(value, "file"),
                                flag(value, "waits"), flag(value, "checks"),
                                numbers(value, "bounds", Optional)});
    kernelNumbers.try_emplace(artifact.kernels.back().name,
                              artifact.kernels.size() - 1);
  }
  ArtifactMemory memory(JsonValue value) {
    bool isArena = bool(value.find("arena"));
    if (isArena && value.find("argument"))
      refuse("has something in the arena and in an argument");
    return {isArena ? ArtifactMemory::Arena : ArtifactMemory::Argument,
            number(value, isArena ? "arena" : "argument")};
  }
  void readArgument(JsonValue value) {
    only(value, {"name", "dtype", "sizes", "declared", "fill", "written",
                 "updated", "undecayed", "segment", "tied", "rounding"});
    ArtifactArgument argument;
    readTensor(value, argument);
    argument.declared = texts(value, "declared", Optional);
    if (std::string fill = text(value, "fill", Optional); !fill.empty()) {
      auto known = std::find(std::begin(kFills), std::end(kFills), fill);
      if (known == std::end(kFills))
        refuse("fills an argument with '" + fill + "'");
      else
        argument.fill =
            static_cast<ArtifactArgument::Fill>(known - std::begin(kFills));
    }
    argument.isWritten = flag(value, "written");
    argument.isUpdated = flag(value, "updated");
    argument.isUndecayed = flag(value, "undecayed");
    argument.segment = text(value, "segment", Optional);
    argument.tied = number(value, "tied", -1);
    argument.rounding = real(value, "rounding", 0);
    artifact.arguments.push_back(argument);
  }
  void readResult(JsonValue value) {
    only(value, {"name", "dtype", "sizes", "strides", "offset", "rounding",
                 "segment", "arena", "argument"});
    ArtifactResult result;
    readTensor(value, result);
    result.strides = numbers(value, "strides");
    result.offset = number(value, "offset", 0);
    result.rounding = real(value, "rounding", 0);
    result.segment = text(value, "segment", Optional);
    result.memory = memory(value);
    artifact.results.push_back(result);
  }
  ArtifactMatrix readMatrix(JsonValue product, const char *key,
                            Presence presence = Required) {
    ArtifactMatrix matrix;
    JsonValue value = member(product, key, presence, JsonKind::Object);
    if (!value)
      return matrix;
    only(value, {"operand", "offset", "leading", "batch_stride", "transposed"});
    matrix.operand = number(value, "operand");
    matrix.offset = number(value, "offset");
    matrix.leading = number(value, "leading");
    matrix.batchStride = number(value, "batch_stride");
    matrix.isTransposed = flag(value, "transposed");
    return matrix;
  }
  ArtifactProduct readProduct(JsonValue value) {
    only(value, {"dtype", "sizes", "a", "b", "c", "out", "bias", "alpha",
                 "beta", "workspace"});
    ArtifactProduct product;
    product.dtype = text(value, "dtype");
    auto sizes = exactly<4>(value, "sizes");
    auto workspace = exactly<2>(value, "workspace");
    product.m = sizes[0], product.n = sizes[1], product.k = sizes[2];
    product.batch = sizes[3];
    product.a = readMatrix(value, "a");
    product.b = readMatrix(value, "b");
    product.c = readMatrix(value, "c", Optional);
    product.out = readMatrix(value, "out");
    product.bias = number(value, "bias", -1);
    product.alpha = real(value, "alpha", 1);
    product.beta = real(value, "beta", 0);
    product.workspaceAt = workspace[0];
    product.workspaceBytes = workspace[1];
    return product;
  }
  ArtifactCollective readCollective(JsonValue value) {
    only(value, {"kind", "group", "dtype", "reduction", "ranks", "root",
                 "sends", "takes"});
    ArtifactCollective one;
    std::string kind = text(value, "kind");
    int known = 0;
    while (known <= ArtifactCollective::Broadcast &&
           kind != nameOf(static_cast<ArtifactCollective::Kind>(known)))
      ++known;
    if (known > ArtifactCollective::Broadcast)
      refuse("has a collective '" + kind + "'");
    else
      one.kind = static_cast<ArtifactCollective::Kind>(known);
    one.group = text(value, "group");
    one.dtype = text(value, "dtype");
    one.reduction = text(value, "reduction", Optional);
    one.ranks = number(value, "ranks", 0);
    one.root = number(value, "root", 0);
    one.sends = numbers(value, "sends", Optional);
    one.takes = numbers(value, "takes", Optional);
    return one;
  }
  ArtifactLaunch readLaunch(JsonValue value) {
    only(value, {"kernel", "grid", "block", "shared_bytes", "op", "place",
                 "operands", "flops", "product", "collective"});
    ArtifactLaunch launch;
    auto kernel = kernelNumbers.find(text(value, "kernel"));
    launch.kernel = kernel == kernelNumbers.end()
                        ? -1
                        : static_cast<int64_t>(kernel->second);
    launch.grid = exactly<3>(value, "grid");
    launch.block = exactly<3>(value, "block");
    launch.sharedBytes = number(value, "shared_bytes", 0);
    launch.flops = number(value, "flops", 0);
    launch.op = text(value, "op");
    launch.place = text(value, "place");
    for (JsonValue one : list(value, "operands")) {
      only(one, {"arena", "argument", "bytes", "written"});
      launch.operands.push_back(
          {memory(one), number(one, "bytes"), flag(one, "written")});
    }
    if (JsonValue product =
            member(value, "product", Optional, JsonKind::Object))
      launch.product = readProduct(product);
    if (JsonValue collective =
            member(value, "collective", Optional, JsonKind::Object))
      launch.collective = readCollective(collective);
    return launch;
  }
  ArtifactHook readHook(JsonValue value) {
    only(value, {"name", "dtype", "sizes", "kind", "key", "replaces", "before",
                 "arena", "argument"});
    ArtifactHook hook;
    readTensor(value, hook);
    std::string kind = text(value, "kind");
    if (auto known = hookKindNamed(kind))
      hook.kind = *known;
    else
      refuse("has a hook of the kind '" + kind + "'");
    hook.key = number(value, "key");
    hook.replaces = flag(value, "replaces");
    hook.before = number(value, "before");
    hook.memory = memory(value);
    return hook;
  }

  Artifact &artifact;
  std::map<std::string, size_t> kernelNumbers;
};

} // namespace

std::string cutback::readManifest(std::string_view text, Artifact &artifact) {
  artifact = Artifact();
  JsonDocument document;
  if (auto error = JsonDocument::parse(text, document))
    return "is no JSON: " + error->message;
  std::optional<int64_t> version =
      document.root().find("cutback_artifact").asInt();
  if (!version)
    return "is no manifest of a compiled step";
  if (*version != Artifact::kVersion)
    return "has version " + std::to_string(*version) + ", this runtime takes " +
           std::to_string(Artifact::kVersion);
  if (!hasManifestTail(text))
    return "is not as it was written: its checksum is of another text";
  return Reader(artifact).run(document.root());
}

std::string cutback::signManifest(std::string_view text) {
  size_t end = text.rfind(",\n  \"checksum\"");
  std::string signedText(text.substr(0, end));
  return signedText + manifestTail(signedText);
}
