// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VJPs of activation functions.

#include "Common.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::autograd;

VjpTable autograd::activationVjps() { return {}; }
