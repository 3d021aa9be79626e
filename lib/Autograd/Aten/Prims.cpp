// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of ops of namespace prims and of dropout.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

VjpTable autograd::primsVjps() { return {}; }
