// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second name of an op says all that the first one needs to know.

#include "cutback/Dialect/Aten/SecondNames.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback::aten;

namespace {

/// What the first op must be told, the second one has under the same name, and
/// gives as many results. An op is the second name of one, which is a second
/// name of none.
TEST(SecondNames, SayAllThatTheFirstNeeds) {
  MLIRContext context;
  const SchemaTable &table = SchemaTable::get(&context);
  llvm::StringSet<> names;
  for (const SecondName &entry : getSecondNames()) {
    const Schema *second = table.lookup(entry.name);
    const Schema *first = table.lookup(entry.meant);
    ASSERT_TRUE(second && first) << entry.name;
    for (const SchemaParam &param : first->params)
      if (!param.defaultValue && !param.isOptional)
        EXPECT_GE(second->find(param.name), 0)
            << entry.name << " lacks " << param.name.str();
    EXPECT_EQ(second->results.size(), first->results.size()) << entry.name;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
  for (const SecondName &entry : getSecondNames())
    EXPECT_FALSE(names.contains(entry.meant)) << entry.name;
  EXPECT_GT(names.size(), 100u);
}

} // namespace
