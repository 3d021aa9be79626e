// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel for all sizes, from kernels for some, and back.
#ifndef CUTBACK_LIB_LOWERING_SYMBOLICBODY_H
#define CUTBACK_LIB_LOWERING_SYMBOLICBODY_H

#include "SizeNumbers.h"
#include "cutback/Dialect/Kernel/Kernel.h"

#include "mlir/IR/OwningOpRef.h"

namespace cutback {

struct SymbolicBody {
  mlir::OwningOpRef<kernel::FuncOp> function; ///< named as the first one
  std::vector<std::string> sizes; ///< expressions of its sizes, in their order
};

/// The kernel that `bodies` are, one in each point of `numbers`. Nothing, and
/// `problem` says why, where they are not one, or a number of them is no
/// expression. Linear.
std::optional<SymbolicBody>
generalizeBody(const std::array<kernel::FuncOp, kSizePoints> &bodies,
               const SizeNumbers &numbers, std::string &problem);

/// `function` for these sizes; `memories` are the types of its memory. Linear.
mlir::OwningOpRef<kernel::FuncOp> instantiateBody(kernel::FuncOp function,
                                                  llvm::ArrayRef<int64_t> sizes,
                                                  mlir::TypeRange memories);

} // namespace cutback

#endif // CUTBACK_LIB_LOWERING_SYMBOLICBODY_H
