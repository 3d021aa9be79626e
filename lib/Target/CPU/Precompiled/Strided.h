// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls over elements of strided tensors: the operands as a description names
// them, elements in the type that they are held in (that of sums), whole lines
// of them, and walks over indices.
//
// As in the text for a device, an element is rounded once, where it is stored.
#ifndef CUTBACK_LIB_TARGET_CPU_PRECOMPILED_STRIDED_H
#define CUTBACK_LIB_TARGET_CPU_PRECOMPILED_STRIDED_H

#include "Mark.h"
#include "Share.h"

#include "cutback_reduce.cuh"

#include "cutback/Target/CPU/StridedCalls.h"

namespace {

namespace precompiled = cutback::precompiled;

/// An operand. Nothing where the call has none.
class Strided {
public:
  Strided() = default;
  Strided(const precompiled::StridedTensor &of, void **operands)
      : of(&of),
        memory(of.operand < 0 ? nullptr
                              : static_cast<char *>(operands[of.operand])) {}

  explicit operator bool() const { return of && of->operand >= 0; }
  int64_t type() const { return of->type; }
  int rank() const { return int(of->rank); }
  const int64_t *sizes() const { return of->sizes; }
  int64_t size(int dim) const { return of->sizes[dim]; }
  int64_t stride(int dim) const { return of->strides[dim]; }
  int64_t begin() const { return of->at; }
  int64_t count(int dims) const {
    int64_t all = 1;
    for (int dim = 0; dim < dims; ++dim)
      all *= size(dim);
    return all;
  }
  int64_t count() const { return count(rank()); }
  /// Where the element with these indices, of dimensions from `first` on, is.
  int64_t offset(const int64_t *index, int dims, int first = 0) const {
    int64_t at = 0;
    for (int dim = 0; dim < dims; ++dim)
      at += index[dim] * stride(first + dim);
    return at;
  }
  /// Where the element is that broadcasts to this one of a result of `dims`
  /// dimensions.
  int64_t place(const int64_t *index, int dims) const {
    return begin() + offset(index + dims - rank(), rank());
  }
  /// How far number `number` of these dimensions is from the first one.
  int64_t offsetOf(int64_t number, int first, int dims) const {
    int64_t at = 0;
    for (int dim = first + dims; dim-- > first;) {
      at += number % size(dim) * stride(dim);
      number /= size(dim);
    }
    return at;
  }
  int64_t offsetOf(int64_t number) const {
    return begin() + offsetOf(number, 0, rank());
  }
  template <typename E> E *elements() const {
    return reinterpret_cast<E *>(memory);
  }

  template <typename H> H get(int64_t at) const;
  template <typename H> void set(int64_t at, H x) const;
  void copy(int64_t at, const Strided &from, int64_t fromAt) const;
  int64_t bytes() const;

private:
  const precompiled::StridedTensor *of = nullptr;
  char *memory = nullptr;
};

/// Calls `run` with a pointer to elements of the type.
template <typename Run>
inline void withType(int64_t type, char *memory, Run run) {
  switch (type) {
  case precompiled::F32:
    return run(reinterpret_cast<float *>(memory));
  case precompiled::F64:
    return run(reinterpret_cast<double *>(memory));
  case precompiled::BF16:
    return run(reinterpret_cast<bf16 *>(memory));
  case precompiled::F16:
    return run(reinterpret_cast<f16 *>(memory));
  case precompiled::Bool:
    return run(reinterpret_cast<bool *>(memory));
  case precompiled::I8:
    return run(reinterpret_cast<signed char *>(memory));
  case precompiled::U8:
    return run(reinterpret_cast<unsigned char *>(memory));
  case precompiled::I16:
    return run(reinterpret_cast<short *>(memory));
  case precompiled::U16:
    return run(reinterpret_cast<unsigned short *>(memory));
  case precompiled::I32:
    return run(reinterpret_cast<int *>(memory));
  case precompiled::U32:
    return run(reinterpret_cast<unsigned *>(memory));
  case precompiled::I64:
    return run(reinterpret_cast<long long *>(memory));
  default:
    return run(reinterpret_cast<unsigned long long *>(memory));
  }
}

/// Calls `run` with a number of the type that such elements are held in.
template <typename Run> inline void withHeld(int64_t type, Run run) {
  switch (type) {
  case precompiled::F32:
  case precompiled::BF16:
  case precompiled::F16:
    return run(0.0f);
  case precompiled::F64:
    return run(0.0);
  case precompiled::U64:
    return run(0ull);
  default:
    return run(0ll);
  }
}
/// The same of floats alone.
template <typename Run> inline void withSum(int64_t type, Run run) {
  if (type == precompiled::F64)
    run(0.0);
  else
    run(0.0f);
}

/// Calls `run` with a pointer to elements that are held as floats of type T.
template <typename T, typename Run>
inline void withFloats(const Strided &of, Run run) {
  if constexpr (std::is_same_v<T, double>)
    return run(of.elements<double>());
  else if (of.type() == precompiled::BF16)
    return run(of.elements<bf16>());
  else if (of.type() == precompiled::F16)
    return run(of.elements<f16>());
  else
    return run(of.elements<float>());
}

/// The type that numbers of type E are held in.
template <typename E>
using HeldOf = std::conditional_t<std::is_floating_point_v<E> ||
                                      std::is_same_v<E, unsigned long long>,
                                  E, long long>;

template <typename H, typename E> inline H heldAs(E x) {
  if constexpr (std::is_same_v<E, bf16> || std::is_same_v<E, f16>)
    return H(toFloat(x));
  else
    return H(x);
}
template <typename E, typename H> inline E storedAs(H x) {
  if constexpr (std::is_same_v<E, bf16> || std::is_same_v<E, f16>)
    return to<E>(std::conditional_t<std::is_same_v<H, double>, H, float>(x));
  else
    return E(x);
}

template <typename H> inline H Strided::get(int64_t at) const {
  H x{};
  withType(type(), memory,
           [&](const auto *elements) { x = heldAs<H>(elements[at]); });
  return x;
}
template <typename H> inline void Strided::set(int64_t at, H x) const {
  withType(type(), memory, [&](auto *elements) {
    elements[at] = storedAs<std::remove_reference_t<decltype(*elements)>>(x);
  });
}
inline int64_t Strided::bytes() const {
  int64_t bytes = 0;
  withType(type(), memory, [&](auto *elements) { bytes = sizeof(*elements); });
  return bytes;
}
/// As it is: of elements of the same size.
inline void Strided::copy(int64_t at, const Strided &from,
                          int64_t fromAt) const {
  switch (bytes()) {
  case 1:
    memory[at] = from.memory[fromAt];
    return;
  case 2:
    elements<short>()[at] = from.elements<short>()[fromAt];
    return;
  case 4:
    elements<int>()[at] = from.elements<int>()[fromAt];
    return;
  default:
    elements<long long>()[at] = from.elements<long long>()[fromAt];
  }
}

/// `count` elements, so far apart.
template <typename H>
inline void readLine(const Strided &from, int64_t at, int64_t apart, int count,
                     H *to) {
  withType(from.type(), from.elements<char>(), [&](const auto *elements) {
    elements += at;
    if (apart == 1)
      for (int i = 0; i < count; ++i)
        to[i] = heldAs<H>(elements[i]);
    else
      for (int i = 0; i < count; ++i)
        to[i] = heldAs<H>(elements[i * apart]);
  });
}
template <typename H>
inline void writeLine(const Strided &to, int64_t at, int64_t apart, int count,
                      const H *from) {
  withType(to.type(), to.elements<char>(), [&](auto *elements) {
    using E = std::remove_reference_t<decltype(*elements)>;
    elements += at;
    if (apart == 1)
      for (int i = 0; i < count; ++i)
        elements[i] = storedAs<E>(from[i]);
    else
      for (int i = 0; i < count; ++i)
        elements[i * apart] = storedAs<E>(from[i]);
  });
}

/// One index a dimension, the last one moving fastest.
struct Walk {
  const int64_t *sizes;
  int dims;
  int64_t index[precompiled::kMostDims];

  Walk(const int64_t *sizes, int dims, int64_t number)
      : sizes(sizes), dims(dims) {
    for (int dim = dims; dim-- > 0; number /= sizes[dim])
      index[dim] = number % sizes[dim];
  }
  void next() {
    for (int dim = dims; dim-- > 0;) {
      if (++index[dim] < sizes[dim])
        return;
      index[dim] = 0;
    }
  }
};

/// What a function was told, and which part of it runs.
class Call {
public:
  Call(const precompiled::StridedCall *told, void **operands, int64_t *cells)
      : told(told), operands(operands), cells(cells) {}
  ~Call() { mark.tell(cells); }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Strided tensor(int number) const { return {tensors()[number], operands}; }
  const precompiled::StridedTensor *tensors() const {
    return reinterpret_cast<const precompiled::StridedTensor *>(told + 1);
  }
  template <typename Numbers> const Numbers &numbers() const {
    return *reinterpret_cast<const Numbers *>(tensors() + told->numTensors);
  }
  bool isFirst() const { return cells[2] == 0; }
  /// This part's of `count`: neighbors.
  std::pair<int64_t, int64_t> share(int64_t count) const {
    return {count * cells[2] / cells[3], count * (cells[2] + 1) / cells[3]};
  }
  /// Calls `use(number, index)` for this part of the elements of `sizes`.
  template <typename Use>
  void forEach(const int64_t *sizes, int dims, Use use) const {
    int64_t all = 1;
    for (int dim = 0; dim < dims; ++dim)
      all *= sizes[dim];
    const auto [first, last] = share(all);
    if (first == last)
      return;
    Walk walk(sizes, dims, first);
    for (int64_t number = first; number < last; ++number, walk.next())
      use(number, walk.index);
  }

private:
  Mark mark;

public:
  int &problem = mark.words[0]; ///< the greatest mark

private:
  const precompiled::StridedCall *told;
  void **operands;
  int64_t *cells;
};

/// Memory for `count` numbers while it is there; a mark where there is none.
template <typename T> class Numbers {
public:
  Numbers(int64_t count, int &problem)
      : scratch(cutback_host::takeScratch(size_t(count) * sizeof(T))) {
    if (!scratch)
      problem = std::max(problem, cutback_host::kNoMemory);
  }
  explicit operator bool() const { return bool(scratch); }
  T *data() const { return cutback_host::numbersOf<T>(scratch); }

private:
  cutback_host::OwnScratch scratch;
};

/// A function that calls name: `body` is given a Call.
#define CUTBACK_STRIDED_CALL(name)                                             \
  static void name##Call(Call &call);                                          \
  extern "C" void cutback_##name(void **operands, int64_t *cells,              \
                                 const precompiled::StridedCall *told) {       \
    Call call(told, operands, cells);                                          \
    name##Call(call);                                                          \
  }                                                                            \
  static void name##Call(Call &call)

} // namespace

#endif // CUTBACK_LIB_TARGET_CPU_PRECOMPILED_STRIDED_H
