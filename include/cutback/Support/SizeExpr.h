// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Size expressions as PyTorch prints them: "s34", "2*s0 + 1", "(s0//8)",
// "s13**2", "Max(1, s0)", "FloorDiv(s0, 2)", and the sympy constructor form
// ("Mul(Integer(2), Symbol('s0', positive=True, integer=True))").
#ifndef CUTBACK_SUPPORT_SIZEEXPR_H
#define CUTBACK_SUPPORT_SIZEEXPR_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// The value of `text` with symbols looked up by `lookup`. Nothing if a symbol
/// has no value, the text is not such an expression, a division is by zero, or
/// a step overflows 64 bits. Nesting is limited to 64 levels.
std::optional<int64_t> evaluateSizeExpr(
    std::string_view text,
    const std::function<std::optional<int64_t>(std::string_view)> &lookup);

/// The symbols in `text`, each once, in order of appearance.
std::vector<std::string> sizeExprSymbols(std::string_view text);

} // namespace cutback

#endif // CUTBACK_SUPPORT_SIZEEXPR_H
