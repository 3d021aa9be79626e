// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dialect `joint`: ops, attributes, interfaces.
#ifndef CUTBACK_DIALECT_JOINT_JOINT_H
#define CUTBACK_DIALECT_JOINT_JOINT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "cutback/Dialect/Joint/JointDialect.h.inc"
#include "cutback/Dialect/Joint/JointEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cutback/Dialect/Joint/JointAttrs.h.inc"

namespace cutback::joint {
/// Checkpoint regions inside of each other; what is deeper is refused.
inline constexpr size_t kMaxRegionDepth = 16;

/// "3", or "3.0" for region 0 inside of region 3.
std::string regionText(llvm::ArrayRef<int64_t> region);

class ElementBuilder;
class VjpContext;
struct IterationSpace;

/// Of ops whose properties compare and hash without their `names`: two calls
/// are the same whatever their results are called.
template <typename Op>
// mlir::Op makes it. NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility)
class NamesDoNotCount : public mlir::OpTrait::TraitBase<Op, NamesDoNotCount> {};
} // namespace cutback::joint

#include "cutback/Dialect/Joint/JointInterfaces.h.inc"

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/JointOps.h.inc"

#endif // CUTBACK_DIALECT_JOINT_JOINT_H
