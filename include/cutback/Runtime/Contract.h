// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the code of a compiled step takes for granted of its manifest.
#ifndef CUTBACK_RUNTIME_CONTRACT_H
#define CUTBACK_RUNTIME_CONTRACT_H

#include "cutback/Runtime/Artifact.h"

namespace cutback {

/// Beside the code of a step: the contract that it was compiled under.
inline constexpr const char *kContractFile = "contract.txt";

/// A line for the arena, for each argument and for each kernel: its shape, its
/// flags, and of each operand the least bytes that a launch gives it, whether
/// it is written, and with which others it may share memory. Linear in the
/// operands, quadratic in those of a launch that are written.
std::string contractOf(const Artifact &artifact);

/// What `artifact`, which verify() accepts, breaks of `contract`; empty if
/// nothing.
std::string findBreach(const Artifact &artifact, std::string_view contract);

} // namespace cutback

#endif // CUTBACK_RUNTIME_CONTRACT_H
