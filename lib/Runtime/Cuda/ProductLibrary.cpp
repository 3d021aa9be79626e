// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by cuBLASLt, which counts columns first: out = a b in rows is
// out' = b' a' in columns, the same memory. So b goes in as the first matrix.
//
//   1. Products of one description (productKey) are one choice. What the
//      backward computes again is of the description of the forward's, and has
//      the same bits: one algorithm, on one stream.
//   2. The choice is that of the record beside the artifact, if the library
//      still takes it; else the first of the heuristic, which may differ from
//      one version to the next. It is recorded, so that later runs repeat this
//      one. An algorithm is 64 bytes that only the library knows.
//   3. A product without an algorithm is computed by our kernel.

#include "cutback/Runtime/Cuda/ProductLibrary.h"

#include "cutback/Support/Json.h"
#include "cutback/Support/SafeFile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <tuple>
#include <type_traits>

using namespace cutback;
using namespace cutback::cuda;

static constexpr int kNotSupported = 15; // CUBLAS_STATUS_NOT_SUPPORTED
/// The heuristic asks a bias for its alignment alone: that of all places.
static constexpr Address kAligned = 16;
static constexpr const char *kNext =
    "install cuBLASLt of CUDA 12 or 13, or compile the model without "
    "--products=cublaslt";

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static void *loadFrom(const std::string &folder) {
  for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (void *library = ::dlopen((folder + name).c_str(), RTLD_NOW))
      return library;
  return nullptr;
}

static void *loadLibrary() {
  void *library = loadFrom("");
  if (const char *home = std::getenv("CUDA_HOME"))
    for (const char *folder : {"/lib64/", "/lib/"})
      if (!library)
        library = loadFrom(std::string(home) + folder);
  return library;
}

/// The name of the first call that `library` lacks, or empty.
static std::string findCalls(void *library, ProductCalls &calls) {
  std::string missing;
  auto find = [&](auto &call, const char *name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(
        ::dlsym(library, name));
    if (!call && missing.empty())
      missing = name;
  };
  find(calls.cublasLtGetVersion, "cublasLtGetVersion");
  find(calls.cublasLtGetStatusString, "cublasLtGetStatusString");
  find(calls.cublasLtCreate, "cublasLtCreate");
  find(calls.cublasLtDestroy, "cublasLtDestroy");
  find(calls.cublasLtMatmulDescCreate, "cublasLtMatmulDescCreate");
  find(calls.cublasLtMatmulDescDestroy, "cublasLtMatmulDescDestroy");
  find(calls.cublasLtMatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute");
  find(calls.cublasLtMatrixLayoutCreate, "cublasLtMatrixLayoutCreate");
  find(calls.cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutDestroy");
  find(calls.cublasLtMatrixLayoutSetAttribute,
       "cublasLtMatrixLayoutSetAttribute");
  find(calls.cublasLtMatmulPreferenceCreate, "cublasLtMatmulPreferenceCreate");
  find(calls.cublasLtMatmulPreferenceDestroy,
       "cublasLtMatmulPreferenceDestroy");
  find(calls.cublasLtMatmulPreferenceSetAttribute,
       "cublasLtMatmulPreferenceSetAttribute");
  find(calls.cublasLtMatmulAlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(calls.cublasLtMatmulAlgoCheck, "cublasLtMatmulAlgoCheck");
  find(calls.cublasLtMatmul, "cublasLtMatmul");
  return missing;
}

std::unique_ptr<ProductLibrary> ProductLibrary::open(StepError &error) {
  error = {"", kNext};
  void *library = loadLibrary();
  if (!library) {
    error.what = "the step's products are cuBLASLt's, and there is no "
                 "libcublasLt.so.13 or .12, where the system looks for "
                 "libraries or in CUDA_HOME";
    return nullptr;
  }
  auto products = std::make_unique<ProductLibrary>();
  std::string missing = findCalls(library, products->calls);
  if (products->calls.cublasLtGetVersion)
    products->version = products->calls.cublasLtGetVersion();
  size_t major = products->version / 10000;
  if (major < kOldest || major > kNewest || !missing.empty()) {
    error.what = "the step's products are cuBLASLt's of CUDA 12 or 13, and "
                 "the libcublasLt that is there has version " +
                 std::to_string(products->version) +
                 (missing.empty() ? "" : ", and lacks " + missing);
    return nullptr;
  }
  if (!products->check(error.what,
                       products->calls.cublasLtCreate(&products->handle),
                       "cublasLtCreate"))
    return nullptr;
  return products;
}

ProductLibrary::~ProductLibrary() {
  for (auto &[key, choice] : choices) {
    const Descriptors &all = choice.described;
    for (Handle layout : {all.a, all.b, all.c, all.out})
      if (layout)
        (void)calls.cublasLtMatrixLayoutDestroy(layout);
    if (all.product)
      (void)calls.cublasLtMatmulDescDestroy(all.product);
  }
  if (handle)
    (void)calls.cublasLtDestroy(handle);
}

/// Keeps the first error; true while there is none.
bool ProductLibrary::check(std::string &error, int status,
                           const char *call) const {
  if (error.empty() && status != 0) {
    const char *text = calls.cublasLtGetStatusString(status);
    error = std::string(call) + ": " + (text ? text : "failed") + " (" +
            std::to_string(status) + ")";
  }
  return error.empty();
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

static DataType dataTypeOf(const ArtifactProduct &product) {
  return product.dtype == "f64"    ? kReal64
         : product.dtype == "bf16" ? kRealB16
         : product.dtype == "f16"  ? kReal16
                                   : kReal32;
}

static std::string matrixText(const ArtifactMatrix &matrix) {
  return std::to_string(matrix.leading) + (matrix.isTransposed ? "t" : "n") +
         "+" + std::to_string(matrix.batchStride);
}

std::string cuda::productKey(const ArtifactProduct &product) {
  char factors[80];
  std::snprintf(factors, sizeof factors, "%.17g %.17g", product.alpha,
                product.beta);
  std::string text = product.dtype;
  for (int64_t size : {product.m, product.n, product.k, product.batch})
    text += " " + std::to_string(size);
  for (const ArtifactMatrix *matrix :
       {&product.a, &product.b, &product.c, &product.out})
    text += matrix->operand < 0 ? " none" : " " + matrixText(*matrix);
  return text + (product.bias < 0 ? " plain " : " bias ") + factors + " in " +
         std::to_string(product.workspaceBytes);
}

std::string ProductLibrary::keyOf(const ArtifactProduct &product) const {
  return productKey(product) + (computeOf(product) == kTf32 ? " tf32" : "");
}

ComputeType ProductLibrary::computeOf(const ArtifactProduct &product) const {
  return product.dtype == "f64"           ? kCompute64
         : product.dtype == "f32" && tf32 ? kTf32
                                          : kCompute32;
}

/// In bytes, at most 16: places of operands are multiples of that.
static unsigned alignmentOf(const ArtifactProduct &product) {
  unsigned all = 16;
  for (const ArtifactMatrix *matrix :
       {&product.a, &product.b, &product.c, &product.out})
    if (matrix->operand >= 0)
      all |= static_cast<unsigned>(matrix->offset * bytesOfType(product.dtype) %
                                   16);
  return all & -all;
}

std::string ProductLibrary::setNumber(Handle descriptor, int attribute,
                                      int value) const {
  std::string error;
  check(error,
        calls.cublasLtMatmulDescSetAttribute(descriptor, attribute, &value,
                                             sizeof value),
        "cublasLtMatmulDescSetAttribute");
  return error;
}

std::string ProductLibrary::setBias(Handle descriptor, Address at) const {
  std::string error;
  check(error,
        calls.cublasLtMatmulDescSetAttribute(descriptor, kBiasPointer, &at,
                                             sizeof at),
        "cublasLtMatmulDescSetAttribute");
  return error;
}

std::string ProductLibrary::describeMatrix(const ArtifactProduct &product,
                                           const ArtifactMatrix &matrix,
                                           int64_t rows, int64_t columns,
                                           Handle &layout) const {
  std::string error;
  // Memory as it lies, its lines as columns.
  if (!matrix.isTransposed)
    std::swap(rows, columns);
  if (!check(error,
             calls.cublasLtMatrixLayoutCreate(&layout, dataTypeOf(product),
                                              rows, columns, matrix.leading),
             "cublasLtMatrixLayoutCreate") ||
      product.batch == 1)
    return error;
  auto count = static_cast<int32_t>(product.batch);
  check(error,
        calls.cublasLtMatrixLayoutSetAttribute(layout, kBatchCount, &count,
                                               sizeof count),
        "cublasLtMatrixLayoutSetAttribute");
  check(error,
        calls.cublasLtMatrixLayoutSetAttribute(layout, kBatchStride,
                                               &matrix.batchStride,
                                               sizeof matrix.batchStride),
        "cublasLtMatrixLayoutSetAttribute");
  return error;
}

std::string ProductLibrary::describe(const ArtifactProduct &product,
                                     Descriptors &all) const {
  std::string error;
  bool isDouble = product.dtype == "f64";
  if (!check(error,
             calls.cublasLtMatmulDescCreate(&all.product, computeOf(product),
                                            isDouble ? kReal64 : kReal32),
             "cublasLtMatmulDescCreate"))
    return error;
  error = setNumber(all.product, kTransposeA, product.b.isTransposed);
  if (error.empty())
    error = setNumber(all.product, kTransposeB, product.a.isTransposed);
  if (error.empty() && product.bias >= 0)
    error = setNumber(all.product, kEpilogue, kBiasEpilogue);
  if (error.empty() && product.bias >= 0)
    error = setBias(all.product, kAligned);
  const ArtifactMatrix &c = product.c.operand < 0 ? product.out : product.c;
  const std::tuple<const ArtifactMatrix &, int64_t, int64_t, Handle &> parts[] =
      {{product.b, product.k, product.n, all.a},
       {product.a, product.m, product.k, all.b},
       {c, product.m, product.n, all.c},
       {product.out, product.m, product.n, all.out}};
  for (const auto &[matrix, rows, columns, layout] : parts)
    if (error.empty())
      error = describeMatrix(product, matrix, rows, columns, layout);
  return error;
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

std::string ProductLibrary::prefer(const Choice &choice,
                                   Handle preference) const {
  std::string error;
  auto set = [&](int attribute, const auto &value) {
    check(error,
          calls.cublasLtMatmulPreferenceSetAttribute(preference, attribute,
                                                     &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  set(kMostWorkspace, static_cast<uint64_t>(choice.product->workspaceBytes));
  for (int attribute : {kAlignmentA, kAlignmentB, kAlignmentC, kAlignmentOut})
    set(attribute, static_cast<uint32_t>(choice.alignment));
  return error;
}

std::string ProductLibrary::ask(Choice &choice) const {
  std::string error;
  Handle preference = nullptr;
  if (!check(error, calls.cublasLtMatmulPreferenceCreate(&preference),
             "cublasLtMatmulPreferenceCreate"))
    return error;
  error = prefer(choice, preference);
  const Descriptors &all = choice.described;
  HeuristicResult result = {};
  int found = 0;
  if (error.empty()) {
    int status = calls.cublasLtMatmulAlgoGetHeuristic(
        handle, all.product, all.a, all.b, all.c, all.out, preference, 1,
        &result, &found);
    if (status == kNotSupported)
      found = 0;
    else
      check(error, status, "cublasLtMatmulAlgoGetHeuristic");
  }
  (void)calls.cublasLtMatmulPreferenceDestroy(preference);
  choice.isThere = error.empty() && found > 0 && result.state == 0;
  std::copy_n(result.algorithm, choice.algorithm.size(),
              choice.algorithm.begin());
  return error;
}

/// What an earlier run chose, if the library takes it.
bool ProductLibrary::takeRecorded(const std::string &key,
                                  Choice &choice) const {
  auto found = recorded.find(key);
  if (found == recorded.end())
    return false;
  const Descriptors &all = choice.described;
  HeuristicResult result = {};
  int status =
      calls.cublasLtMatmulAlgoCheck(handle, all.product, all.a, all.b, all.c,
                                    all.out, found->second.data(), &result);
  choice.algorithm = found->second;
  choice.isThere = status == 0 && result.state == 0 &&
                   result.workspaceBytes <=
                       static_cast<size_t>(choice.product->workspaceBytes);
  return choice.isThere;
}

std::string ProductLibrary::findAlgorithms(bool &isNew) {
  size_t refused = 0, launches = 0;
  for (auto &[key, choice] : choices) {
    std::string error = describe(*choice.product, choice.described);
    if (error.empty() && !takeRecorded(key, choice)) {
      error = ask(choice);
      isNew |= choice.isThere;
    }
    if (!error.empty())
      return error + ", for a product of " + key;
    if (choice.isThere)
      recorded[key] = choice.algorithm;
    refused += choice.isThere ? 0 : choice.launches;
    launches += choice.launches;
  }
  if (refused)
    said.push_back("cuBLASLt has no algorithm for " + std::to_string(refused) +
                   " of " + std::to_string(launches) +
                   " products: our kernels compute these");
  return "";
}

std::string ProductLibrary::choose(const Artifact &artifact,
                                   const std::string &record,
                                   const std::string &device) {
  tf32 = artifact.tf32;
  for (const ArtifactSegment &segment : artifact.segments)
    for (const ArtifactLaunch &launch : segment.launches)
      if (launch.product) {
        Choice &choice = choices[keyOf(*launch.product)];
        choice.product = &*launch.product;
        choice.alignment =
            std::min(choice.alignment, alignmentOf(*launch.product));
        ++choice.launches;
      }
  readRecord(record, device);
  bool isNew = false;
  std::string error = findAlgorithms(isNew);
  if (error.empty() && isNew)
    writeRecord(record, device);
  return error;
}

bool ProductLibrary::has(const ArtifactProduct &product) const {
  auto found = choices.find(keyOf(product));
  return found != choices.end() && found->second.isThere;
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

void ProductLibrary::readRecord(const std::string &path,
                                const std::string &device) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  JsonDocument document;
  if (!file || JsonDocument::parse(text, document))
    return;
  JsonValue root = document.root();
  if (root.find("device").decoded() != device ||
      root.find("version").asInt() != static_cast<int64_t>(version))
    return;
  for (JsonValue one : root.find("algorithms").children()) {
    std::string digits = one.find("algorithm").decoded();
    Algorithm algorithm;
    if (digits.size() != 16 * algorithm.size() ||
        digits.find_first_not_of("0123456789abcdef") != std::string::npos)
      continue;
    for (size_t i = 0; i < algorithm.size(); ++i)
      algorithm[i] =
          std::strtoull(digits.substr(16 * i, 16).c_str(), nullptr, 16);
    recorded[one.find("product").decoded()] = algorithm;
  }
}

void ProductLibrary::writeRecord(const std::string &path,
                                 const std::string &device) {
  std::string text = "{\n  \"device\": " + quoteJson(device) +
                     ",\n  \"version\": " + std::to_string(version) +
                     ",\n  \"algorithms\": [";
  for (const auto &[key, algorithm] : recorded) {
    text += (text.back() == '[' ? "\n    {" : ",\n    {");
    text += "\"product\": " + quoteJson(key) + ", \"algorithm\": \"";
    for (uint64_t word : algorithm) {
      char digits[20];
      std::snprintf(digits, sizeof digits, "%016llx",
                    static_cast<unsigned long long>(word));
      text += digits;
    }
    text += "\"}";
  }
  std::string error = writeFileSafely(path, text + "\n  ]\n}\n");
  if (!error.empty())
    said.push_back("the algorithms of cuBLASLt are not recorded, a later run "
                   "may take others: " +
                   error);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

std::string ProductLibrary::launch(const ArtifactProduct &product,
                                   const std::vector<Address> &addresses,
                                   Address workspace, Handle stream) const {
  const Choice &choice = choices.at(keyOf(product));
  const Descriptors &all = choice.described;
  int64_t item = bytesOfType(product.dtype);
  auto pointer = [&](const ArtifactMatrix &matrix) {
    return reinterpret_cast<void *>(addresses[matrix.operand] +
                                    matrix.offset * item);
  };
  std::string error;
  if (product.bias >= 0)
    error = setBias(all.product, addresses[product.bias]);
  if (!error.empty())
    return error;
  // Factors are of the type in which sums are.
  float single[2] = {static_cast<float>(product.alpha),
                     static_cast<float>(product.beta)};
  const double full[2] = {product.alpha, product.beta};
  bool isDouble = product.dtype == "f64";
  const void *alpha = isDouble ? static_cast<const void *>(full) : single;
  const void *beta =
      isDouble ? static_cast<const void *>(full + 1) : single + 1;
  const ArtifactMatrix &c = product.c.operand < 0 ? product.out : product.c;
  check(error,
        calls.cublasLtMatmul(handle, all.product, alpha, pointer(product.b),
                             all.a, pointer(product.a), all.b, beta, pointer(c),
                             all.c, pointer(product.out), all.out,
                             choice.algorithm.data(),
                             reinterpret_cast<void *>(workspace),
                             product.workspaceBytes, stream),
        "cublasLtMatmul");
  return error;
}
