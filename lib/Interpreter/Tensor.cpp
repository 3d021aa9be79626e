// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storages, strided views of them, and elements by number.
//
// Copies between equal types move bits, so that NaNs keep theirs; other copies
// go through the domain of the source (integer, double, complex) in blocks.
// Nothing here checks bounds: whoever makes a view keeps it inside.

#include "cutback/Interpreter/Tensor.h"

#include "Elements.h"

#include "cutback/Support/Heap.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/bit.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

int64_t interpreter::itemSize(DType type) {
  switch (type) {
  case DType::C128:
    return 16;
  case DType::F64:
  case DType::I64:
  case DType::U64:
  case DType::C64:
    return 8;
  case DType::F32:
  case DType::I32:
  case DType::U32:
  case DType::C32:
    return 4;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return 2;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    break;
  }
  return 1;
}

bool interpreter::isFloating(DType type) { return type <= DType::F8E5M2; }
bool interpreter::isComplex(DType type) { return type >= DType::C32; }
bool interpreter::isIntegral(DType type) {
  return !isFloating(type) && !isComplex(type);
}

std::optional<DType> interpreter::dtypeOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    if (complex.getElementType().isF64())
      return DType::C128;
    if (complex.getElementType().isF16())
      return DType::C32;
    return complex.getElementType().isF32() ? std::optional(DType::C64)
                                            : std::nullopt;
  }
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 64:
      return isUnsigned ? DType::U64 : DType::I64;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 1:
      return DType::Bool;
    default:
      return std::nullopt;
    }
  }
  if (element.isF64())
    return DType::F64;
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  if (isa<Float8E4M3FNType>(element))
    return DType::F8E4M3FN;
  if (isa<Float8E5M2Type>(element))
    return DType::F8E5M2;
  return std::nullopt;
}

Type interpreter::typeOf(DType type, MLIRContext *context) {
  Builder builder(context);
  switch (type) {
  case DType::F64:
    return builder.getF64Type();
  case DType::F32:
    return builder.getF32Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::I64:
    return builder.getI64Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::I16:
    return builder.getI16Type();
  case DType::I8:
    return builder.getI8Type();
  case DType::U64:
  case DType::U32:
  case DType::U16:
  case DType::U8:
    return builder.getIntegerType(static_cast<unsigned>(8 * itemSize(type)),
                                  /*isSigned=*/false);
  case DType::Bool:
    return builder.getI1Type();
  case DType::C32:
    return ComplexType::get(builder.getF16Type());
  case DType::C64:
    return ComplexType::get(builder.getF32Type());
  case DType::C128:
    break;
  }
  return ComplexType::get(builder.getF64Type());
}

StringRef interpreter::nameOf(DType type) {
  static constexpr StringLiteral names[] = {
      "f64",  "f32", "f16", "bf16",         "f8E4M3FN",     "f8E5M2",
      "i64",  "i32", "i16", "i8",           "ui64",         "ui32",
      "ui16", "ui8", "i1",  "complex<f16>", "complex<f32>", "complex<f64>"};
  return names[static_cast<unsigned>(type)];
}

std::string interpreter::textOf(DType type, ArrayRef<int64_t> sizes) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + nameOf(type).str() + ">";
}

//===----------------------------------------------------------------------===//
// Storages and views
//===----------------------------------------------------------------------===//

std::shared_ptr<Storage> Storage::allocate(int64_t bytes) {
  auto storage = std::make_shared<Storage>();
  storage->data = static_cast<char *>(allocateBytes(bytes, 64));
  if (!storage->data)
    llvm::report_bad_alloc_error("no memory for a tensor");
  std::memset(storage->data, 0, bytes);
  storage->bytes = bytes;
  storage->owner = std::shared_ptr<void>(storage->data, std::free);
  return storage;
}

/// Strides of a contiguous tensor.
static SmallVector<int64_t, 5> rowMajor(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t, 5> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

Tensor Tensor::zeros(DType type, ArrayRef<int64_t> sizes) {
  return on(Storage::allocate(product(sizes) * itemSize(type)), 0, type, sizes);
}

Tensor Tensor::on(std::shared_ptr<Storage> storage, int64_t byteOffset,
                  DType type, ArrayRef<int64_t> sizes) {
  Tensor tensor;
  tensor.type = type;
  tensor.sizes.assign(sizes.begin(), sizes.end());
  tensor.strides = rowMajor(sizes);
  if (byteOffset % itemSize(type) == 0) {
    tensor.offset = byteOffset / itemSize(type);
    tensor.storage = std::move(storage);
    return tensor;
  }
  // Offsets count elements: a storage that begins here.
  auto rest = std::make_shared<Storage>();
  rest->data = storage->data + byteOffset;
  rest->bytes = storage->bytes - byteOffset;
  rest->writable = storage->writable;
  rest->owner = std::move(storage);
  tensor.storage = std::move(rest);
  return tensor;
}

int64_t Tensor::numel() const { return product(sizes); }

bool Tensor::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0)
      return true;
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    expected *= sizes[i];
  }
  return true;
}

Tensor Tensor::contiguous() const {
  if (isContiguous()) {
    Tensor same = *this;
    same.strides = rowMajor(sizes);
    return same;
  }
  return copyOf(*this);
}

char *Tensor::data() const {
  return storage ? storage->data + offset * itemSize(type) : nullptr;
}

Tensor Tensor::expand(ArrayRef<int64_t> to) const {
  Tensor view = *this;
  view.sizes.assign(to.begin(), to.end());
  view.strides.assign(to.size(), 0);
  // From the last dimension on.
  for (size_t k = 1; k <= std::min(sizes.size(), to.size()); ++k)
    if (sizes[sizes.size() - k] == to[to.size() - k])
      view.strides[to.size() - k] = strides[sizes.size() - k];
  return view;
}

static constexpr int64_t kChunk = 1024;

/// Moves bytes where both tensors have the same type.
static void copySameType(const Tensor &from, const Tensor &to) {
  if (from.isContiguous() && to.isContiguous()) {
    if (int64_t bytes = from.numel() * itemSize(from.type))
      std::memmove(to.data(), from.data(), bytes);
    return;
  }
  // Bits as integers, so that NaNs keep theirs.
  static constexpr DType bits[] = {DType::U8, DType::I16, DType::I32,
                                   DType::I64};
  Tensor source = from, target = to;
  if (itemSize(from.type) == 16) {
    for (Tensor *tensor : {&source, &target}) {
      for (int64_t &stride : tensor->strides)
        stride *= 2;
      tensor->offset *= 2;
      tensor->sizes.push_back(2);
      tensor->strides.push_back(1);
      tensor->type = DType::I64;
    }
  } else {
    source.type = target.type = bits[llvm::Log2_64(itemSize(from.type))];
  }
  ElementCursor reader(source), writer(target);
  int64_t buffer[kChunk];
  for (int64_t i = 0, n = source.numel(); i < n; i += kChunk) {
    reader.read(buffer, std::min(kChunk, n - i));
    writer.write(buffer, std::min(kChunk, n - i));
  }
}

template <typename V>
static void convertElements(const Tensor &from, const Tensor &to) {
  ElementCursor reader(from), writer(to);
  std::vector<V> buffer(kChunk);
  for (int64_t i = 0, n = from.numel(); i < n; i += kChunk) {
    reader.read(buffer.data(), std::min(kChunk, n - i));
    writer.write(buffer.data(), std::min(kChunk, n - i));
  }
}

Tensor interpreter::copyOf(const Tensor &tensor) {
  Tensor copy = Tensor::zeros(tensor.type, tensor.sizes);
  copyElements(tensor, copy);
  return copy;
}

void interpreter::copyElements(const Tensor &from, const Tensor &to) {
  if (from.type == to.type)
    return copySameType(from, to);
  // The upper half of these is negative as int64_t.
  if (from.type == DType::U64 && !isIntegral(to.type))
    return convertElements<double>(from, to);
  switch (domainOf(from.type)) {
  case Domain::Integer:
    return convertElements<int64_t>(from, to);
  case Domain::Real:
    return convertElements<double>(from, to);
  case Domain::Complex:
    return convertElements<Complex>(from, to);
  }
}

/// First and last byte of the elements, the last excluded.
static std::pair<const char *, const char *> extent(const Tensor &tensor) {
  int64_t first = 0, last = 0;
  for (auto [size, stride] : llvm::zip_equal(tensor.sizes, tensor.strides))
    (stride < 0 ? first : last) += (size - 1) * stride;
  int64_t bytes = itemSize(tensor.type);
  return {tensor.data() + first * bytes, tensor.data() + (last + 1) * bytes};
}

bool interpreter::sharesBytes(const Tensor &a, const Tensor &b) {
  if (a.numel() == 0 || b.numel() == 0)
    return false;
  auto [aBegin, aEnd] = extent(a);
  auto [bBegin, bEnd] = extent(b);
  return std::less<>()(aBegin, bEnd) && std::less<>()(bBegin, aEnd);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

double Tensor::getDouble(int64_t i) const {
  double value;
  loadElements(type, data() + i * itemSize(type), 1, 1, &value);
  return value;
}

int64_t Tensor::getInt(int64_t i) const {
  int64_t value;
  loadElements(type, data() + i * itemSize(type), 1, 1, &value);
  return value;
}

std::complex<double> Tensor::getComplex(int64_t i) const {
  Complex value;
  loadElements(type, data() + i * itemSize(type), 1, 1, &value);
  return value;
}

void Tensor::set(int64_t i, double value) const {
  storeElements(type, data() + i * itemSize(type), 1, 1, &value);
}

void Tensor::setInt(int64_t i, int64_t value) const {
  storeElements(type, data() + i * itemSize(type), 1, 1, &value);
}

void Tensor::setComplex(int64_t i, std::complex<double> value) const {
  storeElements(type, data() + i * itemSize(type), 1, 1, &value);
}

template <typename V> static std::vector<V> readAll(const Tensor &tensor) {
  std::vector<V> values(tensor.numel());
  ElementCursor(tensor).read(values.data(), tensor.numel());
  return values;
}

std::vector<double> Tensor::doubles() const { return readAll<double>(*this); }
std::vector<int64_t> Tensor::ints() const { return readAll<int64_t>(*this); }
std::vector<std::complex<double>> Tensor::complexes() const {
  return readAll<Complex>(*this);
}

void Tensor::assign(ArrayRef<double> values) const {
  ElementCursor(*this).write(values.data(), values.size());
}
void Tensor::assign(ArrayRef<int64_t> values) const {
  ElementCursor(*this).write(values.data(), values.size());
}
void Tensor::assign(ArrayRef<std::complex<double>> values) const {
  ElementCursor(*this).write(values.data(), values.size());
}

static bool equalTensors(const Tensor &a, const Tensor &b) {
  if (a.type != b.type || a.sizes != b.sizes)
    return false;
  Tensor x = a.contiguous(), y = b.contiguous();
  int64_t bytes = x.numel() * itemSize(x.type);
  return bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0;
}

bool interpreter::equalBits(const RuntimeValue &a, const RuntimeValue &b) {
  if (a.index() != b.index())
    return false;
  if (const auto *tensor = std::get_if<Tensor>(&a))
    return equalTensors(*tensor, std::get<Tensor>(b));
  if (const auto *number = std::get_if<double>(&a))
    return llvm::bit_cast<uint64_t>(*number) ==
           llvm::bit_cast<uint64_t>(std::get<double>(b));
  if (const auto *integer = std::get_if<int64_t>(&a))
    return *integer == std::get<int64_t>(b);
  return std::holds_alternative<std::monostate>(a) ||
         std::get<bool>(a) == std::get<bool>(b);
}
