// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the graph as identifiers of CUDA C++.
#ifndef CUTBACK_LIB_TARGET_CUDA_IDENTIFIERS_H
#define CUTBACK_LIB_TARGET_CUDA_IDENTIFIERS_H

#include "llvm/ADT/StringSet.h"

#include <string>

namespace cutback::cuda {

/// `name` as an identifier that is not in `used`, where it is put.
std::string identifier(llvm::StringRef name, llvm::StringSet<> &used);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_IDENTIFIERS_H
