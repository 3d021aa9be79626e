// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's library of matrix products (cuBLASLt), found at run time.
#ifndef CUTBACK_RUNTIME_CUDA_PRODUCTLIBRARY_H
#define CUTBACK_RUNTIME_CUDA_PRODUCTLIBRARY_H

#include "cutback/Runtime/Cuda/Driver.h"
#include "cutback/Runtime/Cuda/ProductCalls.h"
#include "cutback/Runtime/Executor.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cutback::cuda {

/// All that an algorithm depends on in one artifact: products of equal text are
/// computed by the same one. Names, places and offsets are not in it.
std::string productKey(const ArtifactProduct &product);

/// Computes the products of an artifact, each by one algorithm that is chosen
/// when the step is opened: that of the record of an earlier run on this device
/// with this version of the library, or the first one of the library's
/// heuristic. What it holds is given back with it.
class ProductLibrary {
public:
  /// Versions of the library that have these calls.
  static constexpr int kNewest = 13, kOldest = 12;

  /// Loads `libcublasLt.so.13` or `.12`, from where the system looks for
  /// libraries or from CUDA_HOME. Null, with `error` set, if there is none.
  static std::unique_ptr<ProductLibrary> open(StepError &error);
  ~ProductLibrary();

  /// Chooses an algorithm for each product of `artifact`. `record` is a file of
  /// earlier choices on the device `device`; it is written if it lacks one.
  /// Returns an empty string, or which call failed.
  std::string choose(const Artifact &artifact, const std::string &record,
                     const std::string &device);

  /// Whether there is an algorithm for it.
  bool has(const ArtifactProduct &product) const;

  /// Puts the product on `stream`. `addresses`: by operand of the launch.
  /// Returns an empty string, or what went wrong.
  std::string launch(const ArtifactProduct &product,
                     const std::vector<Address> &addresses, Address workspace,
                     Handle stream) const;

  /// What a user may want to know: products without an algorithm, a record that
  /// cannot be written.
  const std::vector<std::string> &notes() const { return said; }

private:
  /// cublasLtMatmulAlgo_t, opaque.
  using Algorithm = std::array<uint64_t, 8>;
  /// What the library knows a product by.
  struct Descriptors {
    Handle product = nullptr, a = nullptr, b = nullptr, c = nullptr,
           out = nullptr;
  };
  struct Choice {
    const ArtifactProduct *product = nullptr; ///< one of its launches
    Descriptors described;
    Algorithm algorithm = {};
    bool isThere = false;
    unsigned alignment = 16; ///< the least of its launches, in bytes
    size_t launches = 0;
  };

  bool check(std::string &error, int status, const char *call) const;
  std::string keyOf(const ArtifactProduct &product) const;
  ComputeType computeOf(const ArtifactProduct &product) const;
  std::string describe(const ArtifactProduct &product, Descriptors &all) const;
  std::string describeMatrix(const ArtifactProduct &product,
                             const ArtifactMatrix &matrix, int64_t rows,
                             int64_t columns, Handle &layout) const;
  std::string setNumber(Handle descriptor, int attribute, int value) const;
  std::string setBias(Handle descriptor, Address at) const;
  std::string ask(Choice &choice) const;
  std::string prefer(const Choice &choice, Handle preference) const;
  bool takeRecorded(const std::string &key, Choice &choice) const;
  std::string findAlgorithms(bool &isNew);
  void readRecord(const std::string &path, const std::string &device);
  void writeRecord(const std::string &path, const std::string &device);

  ProductCalls calls = {};
  Handle handle = nullptr;
  size_t version = 0;
  bool tf32 = false; ///< of the artifact: factors of f32 are rounded
  std::map<std::string, Choice> choices;     ///< by key
  std::map<std::string, Algorithm> recorded; ///< by key
  std::vector<std::string> said;
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_PRODUCTLIBRARY_H
