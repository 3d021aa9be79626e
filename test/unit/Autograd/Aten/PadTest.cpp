// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VjpCheck.h"

using namespace mlir;
using namespace cutback::test;

TEST(PadVjp, BordersAddToWhereTheyWereTakenFrom) {
  static const struct {
    const char *dims;
    SmallVector<int64_t> sizes, padding;
  } kCases[] = {{"1d", {2, 4}, {3, 2}},
                {"2d", {1, 3, 4}, {2, 1, 1, 2}},
                {"3d", {1, 1, 3, 2, 3}, {1, 2, 1, 0, 0, 2}}};
  for (const auto &entry : kCases)
    for (const char *kind : {"reflection_pad", "replication_pad"})
      checkVjp([&](VjpCheck &c) {
        std::string name = std::string("aten.") + kind + entry.dims;
        c.output(
            c.b.call(name + ".default", {c.input(entry.sizes), entry.padding}));
      });
}
