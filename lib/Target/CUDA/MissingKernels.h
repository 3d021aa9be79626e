// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that have no kernel, told once for each op and reason.
#ifndef CUTBACK_LIB_TARGET_CUDA_MISSINGKERNELS_H
#define CUTBACK_LIB_TARGET_CUDA_MISSINGKERNELS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace cutback::cuda {

class MissingKernels {
public:
  /// `problem` goes on behind the op's name: "has no kernel yet".
  void add(mlir::Operation *op, const std::string &problem);
  /// An error at the first call of each, with its types and how many there are.
  void report() const;

private:
  struct Calls {
    mlir::Operation *first;
    std::string problem;
    int64_t count;
  };
  std::vector<Calls> calls;        ///< in the order of the first ones
  llvm::StringMap<size_t> numbers; ///< by op and reason
};

/// Of a call that has a kernel, but no function for a CPU: why.
std::string noMachineCodeText(mlir::Operation *op);

/// The module that an op belongs to, and its line: "blocks.0.fc, m.py:9".
std::string whereText(mlir::Location location);
/// The same of a launch, and of the backward the key of its forward op:
/// "blocks.0.fc, m.py:9, backward of mm_2 (7, region 0.1)".
std::string launchText(mlir::Location location);

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_MISSINGKERNELS_H
