// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors as the interpreter sees them: a strided view of a storage.
#ifndef CUTBACK_INTERPRETER_TENSOR_H
#define CUTBACK_INTERPRETER_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cutback::interpreter {

enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool,
  C32,
  C64,
  C128
};

/// Bytes of one element.
int64_t itemSize(DType type);
bool isFloating(DType type); ///< not complex
bool isIntegral(DType type); ///< bool too
bool isComplex(DType type);
std::optional<DType> dtypeOf(mlir::Type element);
mlir::Type typeOf(DType type, mlir::MLIRContext *context);
llvm::StringRef nameOf(DType type); ///< "f32"
/// "tensor<2x3xf32>"
std::string textOf(DType type, llvm::ArrayRef<int64_t> sizes);

/// Bytes that tensors share; owned, or a piece of an arena or a mapped file.
struct Storage {
  char *data = nullptr;
  int64_t bytes = 0;
  bool writable = true;
  std::shared_ptr<void> owner; ///< keeps `data` alive; may be null

  static std::shared_ptr<Storage> allocate(int64_t bytes);
};

/// A strided view of a storage. Sizes, strides and offset count elements.
class Tensor {
public:
  Tensor() = default;
  /// A new contiguous tensor; its elements are zero.
  static Tensor zeros(DType type, llvm::ArrayRef<int64_t> sizes);
  /// A contiguous tensor on existing bytes, from byte `byteOffset`.
  static Tensor on(std::shared_ptr<Storage> storage, int64_t byteOffset,
                   DType type, llvm::ArrayRef<int64_t> sizes);

  DType type = DType::F32;
  llvm::SmallVector<int64_t, 5> sizes, strides;
  int64_t offset = 0;
  std::shared_ptr<Storage> storage;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t numel() const;
  bool isContiguous() const;
  /// The same elements, row-major; itself if it is contiguous already.
  Tensor contiguous() const;
  /// The address of the element at `offset` (contiguous tensors: the first).
  char *data() const;

  /// Element number `i` in row-major order of a CONTIGUOUS tensor.
  double getDouble(int64_t i) const;
  int64_t getInt(int64_t i) const; ///< integers exactly; floats truncate
  std::complex<double> getComplex(int64_t i) const;
  /// Rounded to the element type (to nearest, ties to even); integers from
  /// floats truncate.
  void set(int64_t i, double value) const;
  void setInt(int64_t i, int64_t value) const;
  void setComplex(int64_t i, std::complex<double> value) const;

  /// All elements in row-major order, of any strides. Faster than one by one.
  std::vector<double> doubles() const;
  std::vector<int64_t> ints() const;
  std::vector<std::complex<double>> complexes() const;
  /// Sets all elements in row-major order, of any strides, rounded as by set().
  void assign(llvm::ArrayRef<double> values) const;
  void assign(llvm::ArrayRef<int64_t> values) const;
  void assign(llvm::ArrayRef<std::complex<double>> values) const;

  /// A view with sizes `to`, to which the sizes must broadcast: stride 0 where
  /// an element stands for many.
  Tensor expand(llvm::ArrayRef<int64_t> to) const;
};

/// Copies all elements in row-major order, converted as by set(); any strides.
/// Both have the same number of elements and share no bytes.
void copyElements(const Tensor &from, const Tensor &to);
/// A contiguous tensor of its own with the same elements.
Tensor copyOf(const Tensor &tensor);
/// True if some byte may belong to both.
bool sharesBytes(const Tensor &a, const Tensor &b);

/// What an SSA value holds at run time: nothing (an undefined result), a
/// tensor, a size or integer, a float, a truth value.
using RuntimeValue =
    std::variant<std::monostate, Tensor, int64_t, double, bool>;

/// True if both hold the same type, sizes and bits (NaNs by their bits).
bool equalBits(const RuntimeValue &a, const RuntimeValue &b);

} // namespace cutback::interpreter

#endif // CUTBACK_INTERPRETER_TENSOR_H
