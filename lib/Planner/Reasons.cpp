// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reasons as phrases, one list for text, JSON, page and remarks. PyTorch's bans
// have names of their own (describeBanReason), which are compared with what
// PyTorch records; here is what each means to somebody who has not read its
// partitioner.

#include "cutback/Planner/Reasons.h"

using llvm::StringRef;

namespace cutback {

StringRef reasonOfArgument(joint::RoleKind role) {
  switch (role) {
  case joint::RoleKind::Param:
    return "a parameter: in memory anyway";
  case joint::RoleKind::Buffer:
    return "a buffer: in memory anyway";
  case joint::RoleKind::RngSeed:
  case joint::RoleKind::RngOffset:
    return "a random seed: in memory anyway";
  default:
    return "an input: in memory anyway";
  }
}

StringRef reasonOfBan(BanReason ban) {
  switch (ban) {
  case BanReason::None:
    return reasons::kTorchCheaper;
  case BanReason::Input:
    return "an input: in memory anyway";
  case BanReason::MustSave:
    return reasons::kPolicy;
  case BanReason::NotInAllowList:
    return "op PyTorch never reruns: it is not among those taken for cheap";
  case BanReason::RandomOp:
    return "random: a second run gives other numbers";
  case BanReason::ComputeIntensive:
    return "expensive to recompute: by PyTorch's list of such ops";
  case BanReason::NonBuiltin:
    return "an op of your own: PyTorch does not rerun it";
  case BanReason::MaterializedBackward:
    return "read by an unfused op: PyTorch keeps what the backward does not "
           "fuse";
  case BanReason::TooFar:
    return "used far away: PyTorch recomputes near the backward only";
  case BanReason::Reduction:
    return "small beside its inputs: PyTorch keeps such results";
  case BanReason::UsedFarApart:
    return "used far apart: PyTorch keeps what has distant uses";
  case BanReason::LongFusibleChain:
    return "in a long fused chain: PyTorch keeps a value of each";
  }
  return "";
}

StringRef labelOfReason(StringRef reason) { return reason.split(':').first; }

std::string phraseOfReason(StringRef reason) {
  auto [label, meaning] = reason.split(": ");
  return (meaning.empty() ? label : label + " (" + meaning + ")").str();
}

} // namespace cutback
