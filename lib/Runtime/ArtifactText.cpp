// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// manifest.json, written: an object with one entry of a list a line, so that
// two manifests can be compared by lines. The same artifact gives the same
// bytes. Members that have their usual value are left out. The last line is the
// checksum of all that is before it, so whoever edits the text by hand has to
// sign it anew (signManifest).

#include "ManifestTail.h"
#include "MemberText.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/Json.h"

using namespace cutback;

namespace {

/// "\"arena\": 64".
std::string memoryText(const ArtifactMemory &memory) {
  const char *kind =
      memory.kind == ArtifactMemory::Arena ? "arena" : "argument";
  return std::string("\"") + kind + "\": " + std::to_string(memory.at);
}

constexpr const char *kFills[] = {"required", "zeros", "ones", "seed"};

std::string argumentText(const ArtifactArgument &argument) {
  std::string text = "{" + MemberText::tensor(argument);
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
  if (argument.isUndecayed)
    text += ", \"undecayed\": true";
  if (!argument.segment.empty())
    text += ", \"segment\": " + quoteJson(argument.segment);
  if (argument.tied >= 0)
    text += ", \"tied\": " + std::to_string(argument.tied);
  if (argument.rounding != 0)
    text += ", \"rounding\": " + MemberText::real(argument.rounding);
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
  std::string text = "{" + MemberText::tensor(result) +
                     ", \"strides\": " + MemberText::numbers(result.strides);
  if (result.offset)
    text += ", \"offset\": " + std::to_string(result.offset);
  if (result.rounding != 0)
    text += ", \"rounding\": " + MemberText::real(result.rounding);
  if (!result.segment.empty())
    text += ", \"segment\": " + quoteJson(result.segment);
  return text + ", " + memoryText(result.memory) + "}";
}

std::string kernelText(const ArtifactKernel &kernel) {
  return "{\"name\": " + quoteJson(kernel.name) +
         ", \"file\": " + quoteJson(kernel.file) +
         (kernel.waits ? ", \"waits\": true" : "") +
         (kernel.checks ? ", \"checks\": true" : "") +
         (kernel.bounds.empty()
              ? ""
              : ", \"bounds\": " + MemberText::numbers(kernel.bounds)) +
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
         MemberText::numbers(std::array<int64_t, 4>{product.m, product.n,
                                                    product.k, product.batch}) +
         matrixText("a", product.a) + matrixText("b", product.b) +
         matrixText("c", product.c) + matrixText("out", product.out) +
         (product.bias < 0 ? ""
                           : ", \"bias\": " + std::to_string(product.bias)) +
         ", \"alpha\": " + MemberText::real(product.alpha) +
         ", \"beta\": " + MemberText::real(product.beta) + ", \"workspace\": " +
         MemberText::numbers(std::array<int64_t, 2>{product.workspaceAt,
                                                    product.workspaceBytes}) +
         "}";
}

std::string collectiveText(const ArtifactCollective &one) {
  std::string text = "{\"kind\": " + quoteJson(std::string(nameOf(one.kind))) +
                     ", \"group\": " + quoteJson(one.group) +
                     ", \"dtype\": " + quoteJson(one.dtype);
  if (!one.reduction.empty())
    text += ", \"reduction\": " + quoteJson(one.reduction);
  if (one.ranks)
    text += ", \"ranks\": " + std::to_string(one.ranks);
  if (one.root)
    text += ", \"root\": " + std::to_string(one.root);
  if (!one.sends.empty())
    text += ", \"sends\": " + MemberText::numbers(one.sends) +
            ", \"takes\": " + MemberText::numbers(one.takes);
  return text + "}";
}

std::string launchText(const Artifact &artifact, const ArtifactLaunch &launch) {
  std::string text =
      "{\"kernel\": " + quoteJson(artifact.kernels[launch.kernel].name) +
      ", \"grid\": " + MemberText::numbers(launch.grid) +
      ", \"block\": " + MemberText::numbers(launch.block);
  if (launch.sharedBytes)
    text += ", \"shared_bytes\": " + std::to_string(launch.sharedBytes);
  text += ", \"op\": " + quoteJson(launch.op) +
          ", \"place\": " + quoteJson(launch.place) + ",\n     \"operands\": [";
  for (const ArtifactOperand &operand : launch.operands)
    text += (&operand == launch.operands.data() ? "{" : ", {") +
            memoryText(operand.memory) +
            ", \"bytes\": " + std::to_string(operand.bytes) +
            (operand.isWritten ? ", \"written\": true}" : "}");
  text += "]";
  if (launch.flops)
    text += ", \"flops\": " + std::to_string(launch.flops);
  if (launch.product)
    text += ",\n     \"product\": " + productText(*launch.product);
  if (launch.collective)
    text += ",\n     \"collective\": " + collectiveText(*launch.collective);
  return text + "}";
}

std::string hookText(const ArtifactHook &hook) {
  return "{" + MemberText::tensor(hook) +
         ", \"kind\": " + quoteJson(std::string(nameOf(hook.kind))) +
         ", \"key\": " + std::to_string(hook.key) +
         (hook.replaces ? ", \"replaces\": true" : "") +
         ", \"before\": " + std::to_string(hook.before) + ", " +
         memoryText(hook.memory) + "}";
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

} // namespace

std::string cutback::writeManifest(const Artifact &artifact) {
  auto segment = [&](const ArtifactSegment &one) {
    return segmentText(artifact, one);
  };
  auto file = [](const ArtifactFile &one) {
    return "{\"name\": " + quoteJson(one.name) +
           ", \"bytes\": " + std::to_string(one.bytes) +
           ", \"checksum\": " + quoteJson(one.checksum) + "}";
  };
  std::string text =
      "{\n  \"cutback_artifact\": " + std::to_string(Artifact::kVersion) +
      ",\n  \"target\": " + quoteJson(artifact.target) +
      ",\n  \"architectures\": " +
      MemberText::list(artifact.architectures, quoteJson) +
      (artifact.tf32 ? ",\n  \"tf32\": true" : "") +
      (artifact.testsAccesses ? ",\n  \"tests_accesses\": true" : "") +
      (artifact.machine.empty()
           ? ""
           : ",\n  \"machine\": " + quoteJson(artifact.machine) +
                 ",\n  \"features\": " +
                 MemberText::list(artifact.features, quoteJson)) +
      ",\n  \"arena_bytes\": " + std::to_string(artifact.arenaBytes) +
      (artifact.symbols.empty()
           ? ""
           : ",\n  \"symbols\": " +
                 MemberText::list(artifact.symbols, symbolText)) +
      (artifact.of.empty() ? "" : ",\n  \"of\": " + quoteJson(artifact.of)) +
      ",\n  \"files\": " + MemberText::list(artifact.files, file) +
      ",\n  \"arguments\": " +
      MemberText::list(artifact.arguments, argumentText) +
      ",\n  \"results\": " + MemberText::list(artifact.results, resultText) +
      ",\n  \"kernels\": " + MemberText::list(artifact.kernels, kernelText) +
      ",\n  \"segments\": " + MemberText::list(artifact.segments, segment);
  return text + manifestTail(text);
}
