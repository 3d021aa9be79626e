// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When functions of the user run on a gradient. No types of MLIR, for the
// engine, the compiler and the runtime.
#ifndef CUTBACK_SUPPORT_HOOKKIND_H
#define CUTBACK_SUPPORT_HOOKKIND_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cutback {

/// In the order in which they run at a node.
enum class HookKind : uint8_t {
  TensorPre,     ///< the gradient of a tensor is complete
  RetainsGrad,   ///< the same, behind all others; it only sees it
  NodePre,       ///< a node is to run, on what arrived at it
  NodePost,      ///< a node has run, on what it gives
  PostAccumulate ///< the gradient of an argument is a result
};

/// As in a manifest and in `joint.hook`.
inline constexpr std::array<const char *, 5> kHookKinds = {
    "tensor_pre", "retains_grad", "node_pre", "node_post", "post_accumulate"};

inline const char *nameOf(HookKind kind) {
  return kHookKinds[static_cast<size_t>(kind)];
}

inline std::optional<HookKind> hookKindNamed(std::string_view name) {
  for (size_t kind = 0; kind < kHookKinds.size(); ++kind)
    if (kHookKinds[kind] == name)
      return static_cast<HookKind>(kind);
  return std::nullopt;
}

} // namespace cutback

#endif // CUTBACK_SUPPORT_HOOKKIND_H
