// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic sizes of exported programs.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_SYMBOLTEXT_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_SYMBOLTEXT_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace cutback::pt2 {

/// `text` as PyTorch prints expressions ("64*s13", "s0//2", "Max(1, s0)").
/// Takes sympy's constructor form, "Mul(Integer(64), Symbol('s13',
/// positive=True, integer=True))", and text that is printed already, which
/// stays as it is. Nothing if it is a constructor form that does not read.
std::optional<std::string> plainSizeText(llvm::StringRef text);

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_SYMBOLTEXT_H
