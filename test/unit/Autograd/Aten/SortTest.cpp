// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(SortVjp, ValuesGoBackToTheirPlaces) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 4});
    c.output(c.b.callMany("aten.sort.default", {x, 0, true})[0]);
    c.output(c.b.callMany("aten.sort.stable", {x}, {{"stable", true}})[0]);
    c.output(c.b.callMany("aten.topk.default", {x, 2})[0]);
    c.output(c.b.callMany("aten.topk.default", {x, 2, 0, false})[0]);
  });
}

TEST(SortVjp, RunningExtremaAddUp) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 5});
    c.output(c.b.callMany("aten.cummax.default", {x, 1})[0]);
    c.output(c.b.callMany("aten.cummin.default", {x, 0})[0]);
  });
}

TEST(SortVjp, TheValuesAreNotRead) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.b.call("aten.mul.Tensor", {c.input({4}), 2.0});
    c.output(c.b.callMany("aten.topk.default", {x, 2})[0]);
  });
  size_t backward = text.find("aten.full");
  ASSERT_NE(backward, std::string::npos) << text;
  EXPECT_NE(text.find("aten.scatter.src(%full, -1, %1#1, "), std::string::npos)
      << text;
}
