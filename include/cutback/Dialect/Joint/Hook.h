// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Op `joint.hook`: functions of the user on a gradient.
#ifndef CUTBACK_DIALECT_JOINT_HOOK_H
#define CUTBACK_DIALECT_JOINT_HOOK_H

#include "cutback/Dialect/Joint/Joint.h"

#include "cutback/Dialect/Joint/HookEnums.h.inc"

#define GET_OP_CLASSES
#include "cutback/Dialect/Joint/HookOps.h.inc"

#endif // CUTBACK_DIALECT_JOINT_HOOK_H
