// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts that PyTorch makes implicitly inside of `torch.autocast`.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_AUTOCAST_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_AUTOCAST_H

#include "cutback/Dialect/Aten/Schema.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <string>
#include <vector>

namespace cutback::pt2 {

enum class CastPolicy : uint8_t {
  None,
  Lower,        ///< to the region's type
  Float32,      ///< to f32
  FirstFloat32, ///< the first operand to f32, if no `dtype` is given
  Widest,       ///< to f32 if an operand has it, else to the region's type
  Result        ///< to what the result is declared as
};

/// What autocast on `device` ("cpu"; all others have CUDA's rules) does to
/// `op` ("linear", "pow.Tensor_Scalar").
CastPolicy castPolicyOf(llvm::StringRef device, llvm::StringRef op);

/// One `wrap_with_autocast`.
struct AutocastRegion {
  std::string device;
  mlir::Type dtype;
  bool isEnabled = true, hasCache = true;
};

/// The regions around an op, and what was cast in them.
class Autocast {
public:
  void enter(AutocastRegion region) { regions.push_back(std::move(region)); }
  void leave();
  bool isActive() const { return !regions.empty(); }

  /// An operand of a call: a tensor on a device; others have no device.
  struct Operand {
    mlir::Value value;
    llvm::StringRef device;
    bool isLeaf = false; ///< an argument that wants a gradient
  };
  /// The element type that operand i of a call is cast to, null where it stays.
  /// `declared` is the type of the call's first result, or null.
  llvm::SmallVector<mlir::Type> casts(const aten::Schema &schema,
                                      mlir::ArrayAttr args,
                                      llvm::ArrayRef<Operand> operands,
                                      mlir::Type declared) const;

  /// True if the cast of `operand` is kept for later ops of the region.
  bool isKept(const Operand &operand, mlir::Type to) const;
  /// The cast that is kept, or null; settable.
  mlir::Value &kept(mlir::Value value, bool withGradient) {
    return cache[withGradient][value];
  }

private:
  /// The innermost region for `device` that says something, or null.
  const AutocastRegion *regionFor(llvm::StringRef device) const;

  std::vector<AutocastRegion> regions;
  llvm::DenseMap<mlir::Value, mlir::Value> cache[2];
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_AUTOCAST_H
