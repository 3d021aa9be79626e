// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cuBLASLt without a GPU: naive products in memory that the stand-in driver
// allocated, on its streams. Arguments are checked as the real library does,
// and more strictly: descriptors must be there, matrices as aligned as the
// heuristic was told, pointers not null, an algorithm must have been made for
// this product, and the workspace must be as large as the algorithm needs.
//
// An algorithm is a number, the product that it is for, and the order of its
// sums: forwards or backwards, by turns. So two algorithms have other bits, and
// that a record is used can be seen.
//
// Environment: CUTBACK_STAND_IN_FAIL as of the driver; _LT_VERSION; with
// _LT_NONE the heuristic finds nothing for products of these columns ("64").

#include "StandIn.h"

#include "cutback/Runtime/Cuda/ProductCalls.h"

#include <cstring>
#include <dlfcn.h>
#include <set>

using namespace cutback::cuda;

namespace {

constexpr uint64_t kMagic = 0x416c676f72697468;
constexpr int kInvalid = 7, kUnsupported = 15; // CUBLAS_STATUS_...

struct Matrix {
  int type;
  int64_t rows, columns, leading, batch = 1, stride = 0;

  double at(const void *memory, int64_t number, int64_t i, int64_t j) const;
  void set(void *memory, int64_t number, int64_t i, int64_t j, double to) const;
};
struct Product {
  int compute, transposeA = 0, transposeB = 0, epilogue = 1;
  const void *bias = nullptr;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t alignment = 0;
};

std::set<void *> &handles() {
  static std::set<void *> all;
  return all;
}
template <typename T> Handle make(T *object) {
  handles().insert(object);
  return reinterpret_cast<Handle>(object);
}
template <typename T> T &get(Handle handle) {
  if (!handles().count(handle))
    refuse("something of cuBLASLt is used that is not there");
  return *reinterpret_cast<T *>(handle);
}
template <typename T> int release(Handle handle) {
  if (!handles().erase(handle))
    refuse("something of cuBLASLt is released that is not there");
  delete reinterpret_cast<T *>(handle);
  return 0;
}

int64_t itemBytes(int type) {
  return type == kReal64 ? 8 : type == kReal32 ? 4 : 2;
}

double readItem(int type, const char *at) {
  if (type == kReal64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (type == kReal16) {
    _Float16 value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  uint32_t bits = 0;
  float value;
  std::memcpy(type == kRealB16 ? reinterpret_cast<char *>(&bits) + 2
                               : reinterpret_cast<char *>(&bits),
              at, type == kRealB16 ? 2 : 4);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename T> void store(char *at, T value) {
  std::memcpy(at, &value, sizeof value);
}

void writeItem(int type, char *at, double value) {
  if (type == kReal64)
    return store(at, value);
  auto single = static_cast<float>(value);
  if (type == kReal32)
    return store(at, single);
  if (type == kReal16)
    return store(at, static_cast<_Float16>(single));
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  bits += 0x7FFF + (bits >> 16 & 1); // to nearest, ties to even
  store(at, static_cast<uint16_t>(bits >> 16));
}

double Matrix::at(const void *memory, int64_t number, int64_t i,
                  int64_t j) const {
  return readItem(type,
                  static_cast<const char *>(memory) +
                      (number * stride + j * leading + i) * itemBytes(type));
}
void Matrix::set(void *memory, int64_t number, int64_t i, int64_t j,
                 double to) const {
  writeItem(type,
            static_cast<char *>(memory) +
                (number * stride + j * leading + i) * itemBytes(type),
            to);
}

/// What an algorithm is for.
uint64_t fingerprint(const Product &product, const Matrix &a, const Matrix &b,
                     const Matrix &out) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t value :
       {int64_t(product.compute), int64_t(product.transposeA),
        int64_t(product.transposeB), int64_t(product.epilogue), int64_t(a.type),
        a.rows, a.columns, a.leading, a.batch, b.rows, b.columns, b.leading,
        out.rows, out.columns, out.leading})
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3u;
  return hash;
}

/// Whether the sizes of all matrices are those of one product.
bool agrees(const Product &product, const Matrix &a, const Matrix &b,
            const Matrix &c, const Matrix &out) {
  int64_t rows = product.transposeA ? a.columns : a.rows;
  int64_t steps = product.transposeA ? a.rows : a.columns;
  int64_t columns = product.transposeB ? b.rows : b.columns;
  return rows == out.rows && columns == out.columns &&
         steps == (product.transposeB ? b.columns : b.rows) &&
         c.rows == out.rows && c.columns == out.columns &&
         a.batch == out.batch && b.batch == out.batch && c.batch == out.batch &&
         a.leading >= a.rows && b.leading >= b.rows && out.leading >= out.rows;
}

struct Call {
  Product product;
  Matrix a, b, c, out;
  double alpha, beta;
  const void *atA, *atB, *atC;
  void *atOut;
  bool isBackwards;

  /// Of tf32, which has 10 bits of mantissa: cut off.
  double factor(double value) const {
    if (product.compute != kTf32)
      return value;
    auto single = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    bits &= ~uint32_t(0x1FFF);
    std::memcpy(&single, &bits, sizeof bits);
    return single;
  }

  void run() const {
    int64_t steps = product.transposeA ? a.rows : a.columns;
    for (int64_t number = 0; number < out.batch; ++number)
      for (int64_t j = 0; j < out.columns; ++j)
        for (int64_t i = 0; i < out.rows; ++i) {
          float single = 0;
          double full = 0;
          for (int64_t step = 0; step < steps; ++step) {
            int64_t k = isBackwards ? steps - 1 - step : step;
            double x = factor(product.transposeA ? a.at(atA, number, k, i)
                                                 : a.at(atA, number, i, k)) *
                       factor(product.transposeB ? b.at(atB, number, j, k)
                                                 : b.at(atB, number, k, j));
            full += x;
            single += static_cast<float>(x);
          }
          double sum = alpha * (product.compute == kCompute64 ? full : single);
          if (beta != 0)
            sum += beta * c.at(atC, number, i, j);
          if (product.epilogue == kBiasEpilogue)
            sum += readItem(out.type, static_cast<const char *>(product.bias) +
                                          i * itemBytes(out.type));
          out.set(atOut, number, i, j, sum);
        }
  }
};

Address addressOf(const void *pointer) {
  return reinterpret_cast<Address>(pointer);
}

} // namespace

extern "C" {

size_t cublasLtGetVersion() {
  return std::strtoull(setting("_LT_VERSION", "130100").c_str(), nullptr, 10);
}
const char *cublasLtGetStatusString(int) { return "asked to fail"; }

int cublasLtCreate(Handle *handle) {
  FAIL_IF_ASKED;
  *handle = make(new int);
  return 0;
}
int cublasLtDestroy(Handle handle) {
  if (handles().size() != 1)
    refuse("something of cuBLASLt is not given back");
  return release<int>(handle);
}
int cublasLtMatmulDescCreate(Handle *descriptor, int compute, int scale) {
  FAIL_IF_ASKED;
  if ((compute == kCompute64) != (scale == kReal64))
    return kInvalid;
  *descriptor = make(new Product{compute});
  return 0;
}
int cublasLtMatmulDescDestroy(Handle descriptor) {
  return release<Product>(descriptor);
}
int cublasLtMatmulDescSetAttribute(Handle descriptor, int attribute,
                                   const void *value, size_t bytes) {
  FAIL_IF_ASKED;
  auto &product = get<Product>(descriptor);
  if (attribute == kBiasPointer && bytes == sizeof(void *)) {
    product.bias = *static_cast<const void *const *>(value);
    return 0;
  }
  int number;
  if (bytes != sizeof number)
    return kInvalid;
  std::memcpy(&number, value, bytes);
  if (attribute == kTransposeA)
    product.transposeA = number;
  else if (attribute == kTransposeB)
    product.transposeB = number;
  else if (attribute == kEpilogue)
    product.epilogue = number;
  else
    return kInvalid;
  return 0;
}
int cublasLtMatrixLayoutCreate(Handle *layout, int type, uint64_t rows,
                               uint64_t columns, int64_t leading) {
  FAIL_IF_ASKED;
  *layout = make(new Matrix{type, static_cast<int64_t>(rows),
                            static_cast<int64_t>(columns), leading});
  return 0;
}
int cublasLtMatrixLayoutDestroy(Handle layout) {
  return release<Matrix>(layout);
}
int cublasLtMatrixLayoutSetAttribute(Handle layout, int attribute,
                                     const void *value, size_t bytes) {
  FAIL_IF_ASKED;
  auto &matrix = get<Matrix>(layout);
  if (attribute == kBatchCount && bytes == sizeof(int32_t)) {
    int32_t count;
    std::memcpy(&count, value, bytes);
    matrix.batch = count;
  } else if (attribute == kBatchStride && bytes == sizeof(int64_t)) {
    std::memcpy(&matrix.stride, value, bytes);
  } else {
    return kInvalid;
  }
  return 0;
}
int cublasLtMatmulPreferenceCreate(Handle *preference) {
  FAIL_IF_ASKED;
  *preference = make(new Preference);
  return 0;
}
int cublasLtMatmulPreferenceDestroy(Handle preference) {
  return release<Preference>(preference);
}
int cublasLtMatmulPreferenceSetAttribute(Handle preference, int attribute,
                                         const void *value, size_t bytes) {
  FAIL_IF_ASKED;
  auto &wanted = get<Preference>(preference);
  if (attribute == kMostWorkspace && bytes == sizeof(uint64_t))
    std::memcpy(&wanted.workspace, value, bytes);
  else if (attribute >= kAlignmentA && attribute <= kAlignmentOut &&
           bytes == sizeof(uint32_t))
    std::memcpy(&wanted.alignment, value, bytes);
  else
    return kInvalid;
  return 0;
}

int cublasLtMatmulAlgoGetHeuristic(Handle handle, Handle descriptor, Handle a,
                                   Handle b, Handle c, Handle out,
                                   Handle preference, int most,
                                   HeuristicResult *results, int *found) {
  FAIL_IF_ASKED;
  static uint64_t turn = 0;
  (void)get<int>(handle);
  auto &product = get<Product>(descriptor);
  auto &wanted = get<Preference>(preference);
  auto &target = get<Matrix>(out);
  if (most < 1 ||
      !agrees(product, get<Matrix>(a), get<Matrix>(b), get<Matrix>(c), target))
    return kInvalid;
  if (product.epilogue == kBiasEpilogue && addressOf(product.bias) % 16)
    return kInvalid;
  *found = 0;
  if (std::to_string(target.rows) == setting("_LT_NONE", ""))
    return kUnsupported;
  *found = 1;
  *results = {};
  results->workspaceBytes = wanted.workspace / 2;
  results->algorithm[0] = kMagic;
  results->algorithm[1] =
      fingerprint(product, get<Matrix>(a), get<Matrix>(b), target);
  results->algorithm[2] = turn++ % 2;
  results->algorithm[3] = wanted.alignment;
  results->algorithm[4] = results->workspaceBytes;
  return 0;
}

int cublasLtMatmulAlgoCheck(Handle, Handle descriptor, Handle a, Handle b,
                            Handle, Handle out, const void *algorithm,
                            HeuristicResult *result) {
  FAIL_IF_ASKED;
  *result = {};
  std::memcpy(result->algorithm, algorithm, sizeof result->algorithm);
  result->workspaceBytes = result->algorithm[4];
  return result->algorithm[0] == kMagic &&
                 result->algorithm[1] ==
                     fingerprint(get<Product>(descriptor), get<Matrix>(a),
                                 get<Matrix>(b), get<Matrix>(out))
             ? 0
             : kInvalid;
}

int cublasLtMatmul(Handle handle, Handle descriptor, const void *alpha,
                   const void *a, Handle layoutA, const void *b, Handle layoutB,
                   const void *beta, const void *c, Handle layoutC, void *out,
                   Handle layoutOut, const void *algorithm, void *workspace,
                   size_t workspaceBytes, Handle stream) {
  FAIL_IF_ASKED;
  (void)get<int>(handle);
  Call call{get<Product>(descriptor),
            get<Matrix>(layoutA),
            get<Matrix>(layoutB),
            get<Matrix>(layoutC),
            get<Matrix>(layoutOut),
            0,
            0,
            a,
            b,
            c,
            out,
            false};
  HeuristicResult known;
  if (!alpha || !beta || !a || !b || !c || !out || !algorithm || !stream ||
      cublasLtMatmulAlgoCheck(handle, descriptor, layoutA, layoutB, layoutC,
                              layoutOut, algorithm, &known) != 0 ||
      workspaceBytes < known.workspaceBytes || addressOf(workspace) % 256 != 0)
    return kInvalid;
  for (const void *matrix : {a, b, static_cast<const void *>(out)})
    if (addressOf(matrix) % known.algorithm[3] != 0)
      return kInvalid;
  bool isDouble = call.product.compute == kCompute64;
  call.alpha =
      readItem(isDouble ? kReal64 : kReal32, static_cast<const char *>(alpha));
  call.beta =
      readItem(isDouble ? kReal64 : kReal32, static_cast<const char *>(beta));
  call.isBackwards = known.algorithm[2] != 0;
  // Columns first: the second matrix of the call is the first of the manifest.
  StandInProduct product{
      {call.out.columns, call.out.rows,
       call.product.transposeA ? call.a.rows : call.a.columns, call.out.batch},
      {addressOf(b), addressOf(a), addressOf(out)},
      addressOf(workspace),
      workspaceBytes};
  auto put = reinterpret_cast<decltype(&cutbackStandInProduct)>(
      ::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "cutbackStandInProduct"));
  if (!put)
    refuse("cuBLASLt has no driver that is a stand-in");
  put(product, stream, [call] { call.run(); });
  return 0;
}

} // extern "C"
