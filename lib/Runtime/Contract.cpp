// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code has sizes in it: how many operands a kernel takes, how far it
// reaches into each, how many threads share a row. A manifest that says
// something else is in order by itself, and its launches would read what is
// not theirs. So whoever compiles writes down beside the code what it is made
// for, in a file of its own with a checksum of its own, and whoever runs asks
// whether the launches of the manifest are that.
//
// A kernel is launched several times, with operands of several sizes: what it
// reaches is in the smallest. Two operands share memory in a launch only if
// they did when it was compiled, for a kernel that reads an index twice has
// checked it once.

#include "cutback/Runtime/Contract.h"

#include <algorithm>
#include <set>

using namespace cutback;

namespace {

/// What all launches of a kernel have in common.
struct Launched {
  const ArtifactLaunch *first = nullptr;
  std::vector<int64_t> leastBytes;
  std::set<std::pair<size_t, size_t>>
      shared; ///< operands; the first is written
  bool isUniform = true;
};

} // namespace

/// Whether bytes of one are bytes of the other.
static bool shareMemory(const ArtifactOperand &a, const ArtifactOperand &b) {
  if (a.memory.kind != b.memory.kind)
    return false;
  if (a.memory.kind != ArtifactMemory::Arena)
    return a.memory.at == b.memory.at;
  return a.memory.at < b.memory.at + b.bytes &&
         b.memory.at < a.memory.at + a.bytes;
}

/// Whether two launches of a kernel differ in no more than memory and bytes.
static bool areAlike(const ArtifactLaunch &a, const ArtifactLaunch &b) {
  return a.grid == b.grid && a.block == b.block &&
         a.sharedBytes == b.sharedBytes &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(),
                    b.operands.end(),
                    [](const ArtifactOperand &x, const ArtifactOperand &y) {
                      return x.isWritten == y.isWritten;
                    });
}

static void addLaunch(const ArtifactLaunch &launch, Launched &to) {
  if (!to.first) {
    to.first = &launch;
    for (const ArtifactOperand &operand : launch.operands)
      to.leastBytes.push_back(operand.bytes);
  }
  to.isUniform &= areAlike(*to.first, launch);
  if (!to.isUniform)
    return;
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const ArtifactOperand &operand = launch.operands[i];
    to.leastBytes[i] = std::min(to.leastBytes[i], operand.bytes);
    for (size_t j = 0; j < launch.operands.size() && operand.isWritten; ++j)
      if (i != j && shareMemory(operand, launch.operands[j]))
        to.shared.insert({i, j});
  }
}

template <typename List> static std::string numbers(const List &list) {
  std::string text;
  for (int64_t number : list)
    text += " " + std::to_string(number);
  return text;
}

static std::string kernelLine(const ArtifactKernel &kernel,
                              const Launched &launched) {
  std::string text = "kernel " + kernel.name + " of " + kernel.file +
                     (kernel.waits ? ", waits" : "") +
                     (kernel.checks ? ", checks" : "");
  if (!launched.first)
    return text + ", is not launched\n";
  if (!launched.isUniform)
    return text + ", is launched in several ways\n";
  const ArtifactLaunch &launch = *launched.first;
  text += ", grid" + numbers(launch.grid) + ", block" + numbers(launch.block) +
          ", shared " + std::to_string(launch.sharedBytes) + ", operands";
  for (size_t i = 0; i < launch.operands.size(); ++i)
    text += " " + std::to_string(launched.leastBytes[i]) +
            (launch.operands[i].isWritten ? "w" : "");
  for (auto [i, j] : launched.shared)
    text += ", " + std::to_string(i) + " over " + std::to_string(j);
  return text + "\n";
}

std::string cutback::contractOf(const Artifact &artifact) {
  std::vector<Launched> launched(artifact.kernels.size());
  for (const ArtifactSegment &segment : artifact.segments)
    for (const ArtifactLaunch &launch : segment.launches)
      addLaunch(launch, launched[launch.kernel]);
  std::string text = "arena " + std::to_string(artifact.arenaBytes) + "\n";
  for (const ArtifactArgument &argument : artifact.arguments)
    text += "argument " + argument.name + " " + argument.dtype +
            numbers(argument.sizes) + "\n";
  for (size_t i = 0; i < launched.size(); ++i)
    text += kernelLine(artifact.kernels[i], launched[i]);
  return text;
}

std::string cutback::findBreach(const Artifact &artifact,
                                std::string_view contract) {
  std::string own = contractOf(artifact);
  if (own == contract)
    return "";
  size_t at =
      std::mismatch(own.begin(), own.end(), contract.begin(), contract.end())
          .first -
      own.begin();
  auto lineAt = [at](std::string_view text) {
    size_t begin = at ? text.rfind('\n', at - 1) + 1 : 0;
    return std::string(text.substr(begin, text.find('\n', begin) - begin));
  };
  return "has '" + lineAt(own) + "', and its code was compiled for '" +
         lineAt(contract) + "'";
}
