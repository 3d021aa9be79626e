// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch of a step that is a collective: its ranks run the same phases in the
// same order, so the n-th one of each rank is the same. What a rank gives and
// what it gets may share memory, so a result is made elsewhere and copied.
//
// A result is there when the launch ends: `wait_tensor` has nothing to wait
// for.

#include "cutback/Runtime/Pipeline/GroupCollectives.h"

#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Runtime/Pipeline/Sums.h"

#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

std::string GroupCollectives::check(const ArtifactCollective &what) const {
  int64_t size = waiter.transport.size();
  if (what.group != name)
    return std::string(nameOf(what.kind)) + " is for the group '" + what.group +
           "', and --group is '" + name + "'";
  auto parts = static_cast<int64_t>(what.sends.size());
  int64_t wanted = what.ranks ? what.ranks : parts;
  if (wanted && wanted != size)
    return std::string(nameOf(what.kind)) + " is for " +
           std::to_string(wanted) + " ranks of the group '" + what.group +
           "', which has " + std::to_string(size);
  if (what.root >= size)
    return std::string(nameOf(what.kind)) + " is from rank " +
           std::to_string(what.root) + " of the group '" + what.group +
           "', which has " + std::to_string(size);
  return "";
}

std::string GroupCollectives::run(const ArtifactCollective &what,
                                  const char *from, int64_t fromBytes, char *to,
                                  int64_t toBytes) {
  int size = waiter.transport.size();
  std::string made(toBytes, '\0');
  std::string error;
  Reduction reduction =
      what.reduction == "max" ? Reduction::Max : Reduction::Sum;
  switch (what.kind) {
  case ArtifactCollective::AllReduce:
    made.assign(from, toBytes);
    error = allReduce(waiter, reduction, what.dtype, made.data(), toBytes);
    break;
  case ArtifactCollective::AllGather:
    error = allGather(waiter, from, fromBytes, made.data());
    break;
  case ArtifactCollective::ReduceScatter:
    error = reduceScatter(waiter, reduction, what.dtype, from, toBytes,
                          made.data());
    break;
  case ArtifactCollective::AllToAll: {
    std::vector<int64_t> sends = what.sends, takes = what.takes;
    if (sends.empty()) {
      sends.assign(size, fromBytes / size);
      takes.assign(size, toBytes / size);
    }
    error = allToAll(waiter, from, sends, made.data(), takes);
    break;
  }
  case ArtifactCollective::Broadcast:
    made.assign(from, toBytes);
    error =
        broadcast(waiter, static_cast<int>(what.root), made.data(), toBytes);
    break;
  }
  isStopped |= !error.empty();
  if (what.reduction == "avg")
    divide(what.dtype, made.data(), size, toBytes);
  if (error.empty() && toBytes)
    std::memcpy(to, made.data(), toBytes);
  return error;
}
