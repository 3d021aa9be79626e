// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank plans alone, from files that should be the same. Two ranks with
// another schedule would wait for each other, two with other weights would
// compute a gradient of no model, so nothing runs before rank 0 has compared
// what each is about to run.
//
// A rank that cannot begin says so here: the others do not wait for it. Fields
// go as lines, so their names and checksums have none in them.

#include "cutback/Runtime/Pipeline/Agreement.h"

#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Support/Checksum.h"
#include "cutback/Support/ExitCode.h"

#include <algorithm>
#include <cstdlib>

using namespace cutback;
using namespace cutback::pipeline;

/// At the begin of the line of a field that members of a group have apart.
static constexpr char kOfMember = '\t';

static std::vector<std::string> linesOf(const std::string &text,
                                        bool hasMembers) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    if (text[at] != kOfMember)
      lines.push_back(text.substr(at, end - at));
    else if (hasMembers)
      lines.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return lines;
}

/// A rank's error ("code", what, next), or "0" and its fields.
static std::string encode(int code, const StepError &error,
                          const Fields &fields, const Fields &ofMembers) {
  std::string text = std::to_string(code) + "\n";
  if (code)
    return text + error.what + '\0' + error.next;
  for (const auto &[name, checksum] : fields)
    text += name + "=" + checksum + "\n";
  for (const auto &[name, checksum] : ofMembers)
    text += kOfMember + name + "=" + checksum + "\n";
  return text;
}

/// The code of a text.
static int codeOf(const std::string &text) {
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
}

/// What rank 0 finds in the texts of all.
static Verdict judge(const std::vector<std::string> &all, size_t width) {
  for (size_t rank = 0; rank < all.size(); ++rank) {
    size_t end = all[rank].find('\n');
    int code = codeOf(all[rank]);
    if (code == 0)
      continue;
    size_t middle = all[rank].find('\0', end);
    return {code,
            {"rank " + std::to_string(rank) + ": " +
                 all[rank].substr(end + 1, middle - end - 1),
             all[rank].substr(middle + 1)}};
  }
  for (size_t rank = 1; rank < all.size(); ++rank) {
    bool isSameMember = width == 1 || rank >= width;
    size_t with = isSameMember ? rank % width : 0;
    std::vector<std::string> first = linesOf(all[with], isSameMember);
    std::vector<std::string> other = linesOf(all[rank], isSameMember);
    auto [here, there] =
        std::mismatch(first.begin(), first.end(), other.begin(), other.end());
    if (here == first.end() && there == other.end())
      continue;
    std::string name = here == first.end() ? *there : *here;
    return {NoPlan,
            {"rank " + std::to_string(rank) + " has another " +
                 name.substr(0, name.find('=')) + " than rank " +
                 std::to_string(with),
             "start all ranks with the same folder, options and files"}};
  }
  return {};
}

Verdict pipeline::agree(Waiter &waiter, int code, const StepError &error,
                        const Fields &fields, const Fields &ofMembers,
                        int width) {
  std::vector<std::string> all;
  std::string wrong =
      gather(waiter, 0, encode(code, error, fields, ofMembers), all);
  std::string text;
  int64_t length = 0;
  if (wrong.empty() && waiter.transport.rank() == 0) {
    Verdict verdict = judge(all, width);
    text = encode(verdict.code, verdict.why, {}, {});
    length = static_cast<int64_t>(text.size());
  }
  if (wrong.empty())
    wrong =
        broadcast(waiter, 0, reinterpret_cast<char *>(&length), sizeof length);
  text.resize(length);
  if (wrong.empty())
    wrong = broadcast(waiter, 0, text.data(), length);
  if (!wrong.empty())
    return {NoPlan,
            {"rank " + std::to_string(waiter.transport.rank()) + " " + wrong +
                 ", where ranks compare what they have",
             "see what the other ranks say"}};
  size_t end = text.find('\n'), middle = text.find('\0');
  if (middle == std::string::npos)
    return {};
  return {codeOf(text),
          {text.substr(end + 1, middle - end - 1), text.substr(middle + 1)}};
}

std::string pipeline::sampleOf(const TensorFiles &files) {
  std::string text;
  for (const auto &[name, tensor] : files.all()) {
    text += name + " " + tensor.entry.dtype;
    for (int64_t size : tensor.entry.sizes)
      text += " " + std::to_string(size);
    uint64_t bytes = std::min<uint64_t>(tensor.entry.bytes, 4096);
    text += " " + checksumOf({tensor.bytes, bytes}) + "\n";
  }
  return checksumOf(text);
}
