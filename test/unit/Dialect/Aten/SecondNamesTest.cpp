// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two names of one op have the same parameters and results.

#include "cutback/Dialect/Aten/SecondNames.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback::aten;

namespace {

TEST(SecondNames, HaveTheSameParameters) {
  MLIRContext context;
  const SchemaTable &table = SchemaTable::get(&context);
  llvm::StringSet<> names;
  for (const SecondName &entry : getSecondNames()) {
    const Schema *second = table.lookup(entry.name);
    const Schema *first = table.lookup(entry.meant);
    ASSERT_TRUE(second && first) << entry.name;
    ASSERT_EQ(second->params.size(), first->params.size()) << entry.name;
    for (size_t i = 0; i < first->params.size(); ++i)
      EXPECT_EQ(second->params[i].name, first->params[i].name) << entry.name;
    EXPECT_EQ(second->results.size(), first->results.size()) << entry.name;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
  for (const SecondName &entry : getSecondNames())
    EXPECT_FALSE(names.contains(entry.meant)) << entry.name;
}

} // namespace
