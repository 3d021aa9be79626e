// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of whole tables of rules: one program for each name, and a check that
// no rule of the table is left out.
#ifndef CUTBACK_TEST_UNIT_AUTOGRAD_ATEN_VJPCASES_H
#define CUTBACK_TEST_UNIT_AUTOGRAD_ATEN_VJPCASES_H

#include "VjpCheck.h"

#include "cutback/Interpreter/Kernel.h"

namespace cutback::test {

/// Builds the program that checks the op called `name`.
using VjpCaseFn = void (*)(VjpCheck &c, const char *name);

struct VjpCase {
  const char *name;
  VjpCaseFn build;
  VjpCheckOptions options = {};
};

/// False for an op that the interpreter cannot run: its rule is not checked.
bool canRun(llvm::StringRef name);

inline void checkCases(llvm::ArrayRef<VjpCase> cases) {
  for (const VjpCase &entry : cases) {
    SCOPED_TRACE(entry.name);
    if (!canRun(entry.name)) {
      GTEST_LOG_(WARNING) << entry.name << " has no kernel";
      continue;
    }
    checkVjp([&](VjpCheck &c) { entry.build(c, entry.name); }, entry.options);
    if (testing::Test::HasFailure())
      return;
  }
}

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_AUTOGRAD_ATEN_VJPCASES_H
