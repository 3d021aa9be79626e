// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What this machine reaches in products: the peer of those of a step.
#ifndef CUTBACK_TARGET_CPU_PRODUCTRATE_H
#define CUTBACK_TARGET_CPU_PRODUCTRATE_H

#include <string>

namespace cutback {

/// FLOPs a second of the product of two matrices of 1024 x 1024 f32, by
/// `threads` threads and the functions that a step's calls have: the fastest of
/// five, after one that nobody measures. 0, with why in `error`, where it
/// cannot be linked or loaded.
double measureProductRate(unsigned threads, std::string &error);

} // namespace cutback

#endif // CUTBACK_TARGET_CPU_PRODUCTRATE_H
