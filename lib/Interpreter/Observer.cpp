// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An observer that looks at nothing: each one overrides what it needs. The
// interpreter calls them in the order of InterpreterOptions::observers, so one
// that changes a result (a fault that a test puts in) stands in front of those
// that check it. Between ops they cost a call each; a copy of what launches
// read is made only where one of them asks for it.

#include "cutback/Interpreter/Observer.h"

using namespace mlir;
using namespace cutback::interpreter;

OpObserver::~OpObserver() = default;

LogicalResult OpObserver::starts(Operation *, ArrayRef<RuntimeValue>) {
  return success();
}

void OpObserver::begins(Operation *) {}

LogicalResult OpObserver::ran(Operation *, MutableArrayRef<RuntimeValue>) {
  return success();
}

LogicalResult OpObserver::ends(Operation *, ArrayRef<RuntimeValue>) {
  return success();
}

bool OpObserver::wantsOpsOf(Operation *, ArrayRef<RuntimeValue>) {
  return false;
}
