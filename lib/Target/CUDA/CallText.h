// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls (launches of one op without loops of its own) as kernels: products,
// attention, gathers. One file a family.
#ifndef CUTBACK_LIB_TARGET_CUDA_CALLTEXT_H
#define CUTBACK_LIB_TARGET_CUDA_CALLTEXT_H

#include "KernelText.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Target/CPU/StridedCalls.h"
#include "cutback/Target/CUDA/EmitStep.h"

namespace cutback::cuda {

/// One kernel of a call, and the tensors whose memory its parameters are.
struct CallKernel {
  KernelText kernel;
  /// Null for the seed of the step.
  std::vector<mlir::Value> roots, tensors;
  /// Each element of so many parameters, the first ones, is read where the
  /// result has it, by the thread that writes it: they may lie in its place.
  unsigned mayReplace = 0;
};

/// Collects the parameters of a kernel while its text is written.
class CallWriter {
public:
  /// `name`: of the kernel; equal texts become one kernel later.
  explicit CallWriter(const std::string &name) { call.kernel.name = name; }

  /// A tensor that is read, called `name`, or written (a result).
  void read(mlir::Value tensor, const std::string &name) {
    add(tensor, name, false);
  }
  void write(mlir::Value tensor, const std::string &name) {
    add(tensor, name, true);
  }
  /// The seed of the step, which is parameter `seed`.
  void readSeed() {
    call.kernel.parameters.push_back({"long long", "seed", false});
    call.roots.emplace_back();
    call.tensors.emplace_back();
  }
  /// The parameter of this name as a tensor; none where there is no such one.
  std::optional<precompiled::StridedTensor> strided(llvm::StringRef name) const;

  /// "a[i * 64 + k]": an element of `tensor`, which is parameter `name`. One
  /// index a dimension; `layout` in place of the tensor's own.
  static std::string element(mlir::Value tensor, const std::string &name,
                             llvm::ArrayRef<std::string> indices);
  static std::string element(const Layout &layout, const std::string &name,
                             llvm::ArrayRef<std::string> indices);

  void comment(const std::string &line) {
    call.kernel.comment += "// " + line + "\n";
  }
  void line(const std::string &text) { call.kernel.body += "  " + text + "\n"; }
  void shape(std::array<int64_t, 3> grid, std::array<int64_t, 3> block,
             int64_t sharedBytes = 0) {
    call.kernel.shape = {grid, block, sharedBytes};
  }
  /// A thread for each of `count` elements: its number is `element`.
  void openElements(int64_t count);
  /// A warp for 128 columns of each of `rows` rows, for sumRows() and
  /// countRows(): the row's number is `row`.
  void openRows(int64_t rows, int64_t columns);
  KernelText &kernel() { return call.kernel; }
  CallKernel take() { return std::move(call); }

private:
  void add(mlir::Value tensor, const std::string &name, bool isWritten);

  CallKernel call;
};

/// "float", of a tensor's elements; empty for a type without text.
std::string elementTypeText(mlir::Value tensor);
/// In which products of such elements are summed: "float" or "double".
std::string sumTypeText(mlir::Value tensor);
/// "64 x 32"
std::string sizesText(llvm::ArrayRef<int64_t> sizes);
llvm::ArrayRef<int64_t> sizesOf(mlir::Value tensor);
bool isFloatTensor(mlir::Value tensor);
int64_t productOf(llvm::ArrayRef<int64_t> sizes);
/// The number of an element of `sizes` as one index a dimension:
/// "element / 12", "element / 4 % 3", "element % 4".
llvm::SmallVector<std::string> indicesOf(const std::string &number,
                                         llvm::ArrayRef<int64_t> sizes);

/// The dimension `dim` of a call, counted from 0; nothing if it is not known.
std::optional<size_t> axisOf(const aten::CallReader &call, size_t rank);

//===-- Products ----------------------------------------------------------===//

/// What calls are written for, and what the user chose.
struct CallOptions {
  StepKernels form = StepKernels::HaveText;
  CudaOptions cuda;
};

/// out = beta * self + alpha * (a b), for each matrix of a batch. The kernel
/// has a, b, self (where there is one, and beta is not 0) and out as
/// parameters.
struct ProductProblem {
  mlir::Value self, a, b, out;
  double alpha = 1, beta = 1;

  bool isBatch() const { return sizesOf(out).size() == 3; }
};
/// Nothing for an op that is no product.
std::optional<ProductProblem> readProduct(aten::CallOp op);

/// Whether tensor cores multiply elements of both.
bool isOfTiles(mlir::Value a, mlir::Value b, CallOptions options = {});
/// "TileOperand<bf16, true, true>{a + batch * 4096, 64, 1}": a matrix of the
/// last two dimensions, of which `line` (0 or 1) has the lines; `outer` names
/// indices of those in front.
std::string tileOperandText(mlir::Value tensor, const std::string &name,
                            llvm::ArrayRef<std::string> outer, unsigned line);
/// How large the tiles of tileProduct() are, in rows and in columns.
int64_t tileProductOf(int64_t rows, int64_t columns, int64_t batch);
/// The launch of tileProduct().
void shapeTiles(CallWriter &text, int64_t rows, int64_t columns, int64_t batch,
                int64_t tile);
/// The launch of so many product()s (blockIdx.y) a matrix of a batch
/// (blockIdx.z), of at most so many rows and columns, with sums of type `sum`.
/// Gives the function: "product<float, ProductShape<64, 64, 4, 4, 16, 256>>".
std::string shapeScalars(CallWriter &text, int64_t rows, int64_t columns,
                         int64_t products, int64_t batch,
                         const std::string &sum);

/// "[=](int i) { return i * 64; },": where an element is by these of its
/// indices, with nothing for others; of two such texts the first has the
/// `offset` of the tensor.
std::string placeText(mlir::Value tensor, const char *parameter,
                      llvm::ArrayRef<std::string> indices, bool offset);

//===-- Sums of any elements ----------------------------------------------===//

/// The type that a sum of such elements is held in: not narrower than `float`.
std::string heldType(mlir::Value tensor);
/// An element as that, and that as an element.
std::string held(mlir::Value tensor, const std::string &element);
std::string stored(mlir::Value tensor, const std::string &value);
/// An index, marked as wrong where it is outside of [0, size).
std::string checkedText(CallWriter &text, const std::string &index,
                        int64_t size);

/// What a family gives: kernels in the order in which they run; failure with
/// why. A family that does not know the op gives nothing.
struct CallResult {
  bool isKnown = false;
  std::string problem;
  std::vector<CallKernel> kernels;

  static CallResult of(CallWriter &text) {
    CallResult result;
    result.isKnown = true;
    result.kernels.push_back(text.take());
    return result;
  }
  static CallResult failed(const std::string &why) {
    CallResult result;
    result.isKnown = true;
    result.problem = why;
    return result;
  }
};
CallResult writeProductCall(aten::CallOp op, CallOptions options);
CallResult writeConvolutionCall(aten::CallOp op, CallOptions options);
CallResult writeAttentionCall(aten::CallOp op, CallOptions options);
CallResult writeGroupedCall(aten::CallOp op);
CallResult writeRowsCall(aten::CallOp op);
CallResult writeBagCall(aten::CallOp op);
CallResult writeScatterCall(aten::CallOp op);
CallResult writeIndexPutCall(aten::CallOp op);
CallResult writeOrderCall(aten::CallOp op);
CallResult writeWindowsCall(aten::CallOp op);
CallResult writePoolCall(aten::CallOp op);
CallResult writeResampleCall(aten::CallOp op);
CallResult writePaddingCall(aten::CallOp op);
CallResult writeSelectCall(aten::CallOp op);
CallResult writeMaskedCall(aten::CallOp op);
CallResult writeGridCall(aten::CallOp op);
CallResult writeDistanceCall(aten::CallOp op);
CallResult writeDrawCall(aten::CallOp op);
CallResult writeSpecialCall(aten::CallOp op);
/// `joint.poisson`, `joint.binomial`.
CallResult writeSeededDraw(mlir::Operation *op);
CallResult writeEffectCall(mlir::Operation *op);
/// The elements of `tensor` in their order; the second parameter has no root.
CallKernel writeDenseCopy(mlir::Value tensor);

/// Asks the families. `problem` says why, if nobody can.
std::vector<CallKernel> writeCall(mlir::Operation *op, std::string &problem,
                                  CallOptions options = {});

} // namespace cutback::cuda

#endif // CUTBACK_LIB_TARGET_CUDA_CALLTEXT_H
