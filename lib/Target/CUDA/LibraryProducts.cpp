// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products a library may compute, and where its workspace lies.
//
//   1. A product is described by leading dimensions and transpositions, with a
//      matrix or a row that is added. What is not of that form (mixed types, a
//      column that is added, strides that say neither) has our kernel alone.
//   2. A workspace is scratch of its launch: at the first place in the arena
//      that nothing holds while the product runs. One place is enough for all
//      launches of a moment; the arena grows only where it has no hole.
//   3. What the backward computes again must have the bits of the forward. Two
//      products of one value that differ in anything that an algorithm depends
//      on are both ours, whose order of sums is that of k.
//
// The kernel of a launch stays: it runs where the library has no algorithm, and
// on a host.

#include "cutback/Target/CUDA/LibraryProducts.h"

#include "CallText.h"

#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"
#include "cutback/Runtime/Cuda/ProductLibrary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"

#include <set>

using namespace mlir;
using namespace cutback;

static constexpr int64_t kAlignment = 256;
static constexpr int64_t kMiB = int64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

static std::string dtypeText(Value tensor) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  return type.isF32()    ? "f32"
         : type.isF64()  ? "f64"
         : type.isBF16() ? "bf16"
         : type.isF16()  ? "f16"
                         : "";
}

/// The matrices of the last two dimensions; nothing for other strides.
static std::optional<ArtifactMatrix> describeMatrix(Value tensor,
                                                    int64_t operand) {
  Layout layout = kernel::locate(tensor).layout;
  size_t outer = layout.sizes.size() - 2;
  int64_t rows = layout.sizes[outer], columns = layout.sizes[outer + 1];
  int64_t rowStride = layout.strides[outer],
          columnStride = layout.strides[outer + 1];
  ArtifactMatrix matrix;
  matrix.operand = operand;
  matrix.offset = layout.offset;
  if (outer && layout.sizes[0] > 1)
    matrix.batchStride = layout.strides[0];
  matrix.isTransposed = columnStride != 1 && columns != 1;
  if (matrix.isTransposed) {
    std::swap(rows, columns);
    std::swap(rowStride, columnStride);
  }
  matrix.leading = rows > 1 ? rowStride : columns;
  bool isRow = columns == 1 || columnStride == 1;
  if (!isRow || matrix.leading < columns || matrix.batchStride < 0)
    return std::nullopt;
  return matrix;
}

/// Whether `self` is one row, which is added to each.
static bool isRow(Value self, int64_t columns) {
  Layout layout = kernel::locate(self).layout;
  return !layout.sizes.empty() && layout.sizes.back() == columns &&
         layout.numel() == columns && layout.isContiguous() &&
         layout.offset == 0;
}

/// Adds what is added to the product; false where a library adds it otherwise.
static bool describeSum(const cuda::ProductProblem &problem,
                        ArtifactProduct &product) {
  if (!problem.self || problem.beta == 0)
    return true;
  if (product.batch == 1 && problem.beta == 1 &&
      isRow(problem.self, product.n)) {
    product.bias = 2;
    return true;
  }
  if (cuda::sizesOf(problem.self) != cuda::sizesOf(problem.out))
    return false;
  auto matrix = describeMatrix(problem.self, 2);
  if (!matrix || matrix->isTransposed)
    return false;
  product.c = *matrix;
  product.beta = problem.beta;
  return true;
}

static std::optional<ArtifactProduct> describe(Operation *op) {
  auto call = dyn_cast<aten::CallOp>(op);
  auto problem = call ? cuda::readProduct(call) : std::nullopt;
  if (!problem || !problem->a || !problem->b)
    return std::nullopt;
  const cuda::ProductProblem &p = *problem;
  ArtifactProduct product;
  product.dtype = dtypeText(p.out);
  for (Value tensor : {p.a, p.b, p.self ? p.self : p.out})
    if (product.dtype.empty() || dtypeText(tensor) != product.dtype)
      return std::nullopt;
  bool isBatch = p.isBatch();
  product.m = cuda::sizesOf(p.out)[isBatch];
  product.n = cuda::sizesOf(p.out)[isBatch + 1];
  product.k = cuda::sizesOf(p.a)[isBatch + 1];
  product.batch = isBatch ? cuda::sizesOf(p.out)[0] : 1;
  product.alpha = p.alpha;
  bool hasSum = p.self && p.beta != 0;
  auto a = describeMatrix(p.a, 0), b = describeMatrix(p.b, 1),
       out = describeMatrix(p.out, hasSum ? 3 : 2);
  if (product.m * product.n * product.k * product.batch == 0 || !a || !b ||
      !out || out->isTransposed || !describeSum(p, product))
    return std::nullopt;
  product.a = *a;
  product.b = *b;
  product.out = *out;
  return product;
}

std::optional<ArtifactProduct> cutback::describeProduct(kernel::LaunchOp launch,
                                                        Operation *op) {
  if (!launch.getScratch())
    return std::nullopt;
  std::optional<ArtifactProduct> product = describe(op);
  if (product) {
    product->workspaceAt =
        static_cast<int64_t>(launch.getScratchAt().value_or(0));
    product->workspaceBytes = static_cast<int64_t>(*launch.getScratch());
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

int64_t
cutback::workspaceBytesOf(const std::vector<std::string> &architectures) {
  // What NVIDIA recommends for Hopper and newer, and in front of it.
  bool isNew = llvm::any_of(architectures, [](StringRef name) {
    unsigned number = 0;
    return name.consume_front("sm_") && !name.getAsInteger(10, number) &&
           number >= 90;
  });
  return (isNew ? 32 : 4) * kMiB;
}

namespace {

/// The calls of a step that may be a library's.
class LibraryCalls {
public:
  explicit LibraryCalls(const kernel::StepSegments &step) {
    for (func::FuncOp function : step.functions)
      for (auto launch : function.front().getOps<kernel::LaunchOp>())
        if (!launch.getKernelAttr() && !launch.getScratch())
          for (Operation &op : launch.getBlock().without_terminator())
            if (auto call = dyn_cast<aten::CallOp>(op))
              add(launch, call);
  }

  SmallVector<kernel::LaunchOp> launches() const {
    SmallVector<kernel::LaunchOp> all;
    for (const Call &call : calls)
      if (keys.lookup(call.value).size() == 1)
        all.push_back(call.launch);
    return all;
  }

private:
  struct Call {
    kernel::LaunchOp launch;
    StringRef value;
  };

  void add(kernel::LaunchOp launch, aten::CallOp call) {
    if (!cuda::readProduct(call))
      return;
    StringRef value = joint::nameInGraph(call);
    auto product = describe(call);
    keys[value].insert(product ? cuda::productKey(*product) : "");
    if (product)
      calls.push_back({launch, value});
  }

  std::vector<Call> calls; ///< in the order of launches
  /// By the name of a value, how it is computed: several ways, or none.
  llvm::StringMap<std::set<std::string>> keys;
};

/// Stretches of the arena, each from the launch that writes it to the one that
/// reads it last.
class Holes {
public:
  explicit Holes(kernel::ArenaOp arena, const kernel::StepSegments &step)
      : held(kernel::findHeldBytes(arena)) {
    for (func::FuncOp function : step.functions)
      for (Operation &op : function.front())
        numbers.try_emplace(&op, numbers.size());
    llvm::sort(held, [](const auto &a, const auto &b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
  }

  /// The first `bytes` that nothing holds while `launch` runs.
  int64_t find(Operation *launch, int64_t bytes) const {
    size_t now = numbers.lookup(launch);
    int64_t at = 0;
    for (const kernel::HeldBytes &one : held) {
      bool isHeld = numbers.lookup(one.born) <= now &&
                    (!one.dies || now <= numbers.lookup(one.dies));
      if (!isHeld || one.end <= at)
        continue;
      if (at + bytes <= one.begin)
        break;
      at = static_cast<int64_t>(llvm::alignTo(uint64_t(one.end), kAlignment));
    }
    return at;
  }

private:
  std::vector<kernel::HeldBytes> held;
  llvm::DenseMap<Operation *, size_t> numbers;
};

} // namespace

LogicalResult cutback::placeWorkspaces(ModuleOp module, int64_t bytes) {
  for (auto arena : module.getOps<kernel::ArenaOp>()) {
    FailureOr<kernel::StepSegments> step = kernel::findSegments(arena);
    if (failed(step))
      return failure();
    Holes holes(arena, *step);
    auto whole = static_cast<int64_t>(arena.getBytes());
    for (kernel::LaunchOp launch : LibraryCalls(*step).launches()) {
      int64_t at = holes.find(launch, bytes);
      launch.setScratchAt(at);
      launch.setScratch(bytes);
      whole = std::max(whole, at + bytes);
    }
    arena.setBytes(whole);
  }
  return verify(module);
}
