// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch gives many ops a second name, mostly NumPy's or that of
// torch.special.
//
// Decomposition replaces the second name by the first, argument by argument.
// The table is made from what the ODS files say:
// `SecondName<"aten.sub.Tensor">`.

#include "cutback/Dialect/Aten/SecondNames.h"

using namespace cutback::aten;

llvm::ArrayRef<SecondName> cutback::aten::getSecondNames() {
  static constexpr SecondName names[] = {
#define ATEN_PAIR(name, meant) {name, meant},
#include "cutback/Dialect/Aten/AtenSecondNames.inc"
  };
  return names;
}
