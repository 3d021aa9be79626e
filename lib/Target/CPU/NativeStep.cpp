// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels by ORC (NativeKernels.h). Calls as in a step for this machine: what
// each is told becomes an object file of entries, linked with the functions
// that were compiled with Cutback, and loaded.
//
// A description says where elements lie in the memory of a tensor's root. What
// the interpreter has of the tensor must lie so too; if it does not, the call
// stays with it.

#include "cutback/Target/CPU/NativeStep.h"

#include "LinkLibrary.h"

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Executor.h"
#include "cutback/Target/CPU/NativeKernels.h"
#include "cutback/Target/CUDA/EmitStep.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

using Tensors = llvm::DenseMap<Value, Tensor>;

/// Where the memory of the root begins that `value` lies in; null if `tensor`
/// does not lie there as the module says.
static void *rootOf(Value value, const Tensor &tensor) {
  Layout layout = kernel::locate(value).layout;
  if (ArrayRef<int64_t>(tensor.sizes) != ArrayRef<int64_t>(layout.sizes))
    return nullptr;
  if (tensor.numel() > 0)
    for (size_t dim = 0; dim < layout.sizes.size(); ++dim)
      if (layout.sizes[dim] > 1 && tensor.strides[dim] != layout.strides[dim])
        return nullptr;
  int64_t begin = (tensor.offset - layout.offset) * itemSize(tensor.type);
  return begin < 0 ? nullptr : tensor.storage->data + begin;
}

namespace {

class NativeStep : public KernelRunner {
public:
  LogicalResult compile(ModuleOp module) {
    FailureOr<std::unique_ptr<KernelRunner>> compiled =
        compileNativeKernels(module);
    if (failed(compiled))
      return failure();
    kernels = std::move(*compiled);
    module.walk([&](kernel::LaunchOp launch) {
      if (!launch.getKernelAttr())
        for (auto op : launch.getBlock().getOps<aten::CallOp>())
          if (auto described = describeCpuCall(op);
              described && !described->empty())
            calls[op].parts = std::move(*described);
    });
    return link(module);
  }

  LogicalResult run(kernel::FuncOp kernel,
                    ArrayRef<Tensor> arguments) override {
    return kernels->run(kernel, arguments);
  }
  bool hasCall(Operation *op) const override { return calls.contains(op); }
  FailureOr<bool> runCall(Operation *op, const Tensors &tensors) override;

private:
  struct Call {
    std::vector<CpuCall> parts;
    std::vector<KernelCode> codes;
  };

  /// Entries are numbered; those of calls that are told the same are one.
  LogicalResult link(ModuleOp module) {
    if (calls.empty())
      return success();
    NamedCalls named;
    std::map<std::pair<std::string, std::string>, std::string> names;
    auto nameOf = [&](const PrecompiledCall &call) {
      auto [found, isNew] =
          names.try_emplace({call.function, call.description},
                            "c" + std::to_string(named.size()));
      if (isNew)
        named.emplace_back(found->second, call);
      return found->second;
    };
    for (auto &[op, call] : calls)
      for (const CpuCall &part : call.parts)
        nameOf(part.call);
    std::string error;
    library = cpu::loadCalls(named, module.getLoc(), error);
    if (!library)
      return error.empty()
                 ? failure()
                 : LogicalResult(module.emitError("its calls are not linked: ")
                                 << error);
    for (auto &[op, call] : calls)
      for (const CpuCall &part : call.parts)
        call.codes.push_back(library->find(nameOf(part.call)));
    return success();
  }

  std::unique_ptr<KernelRunner> kernels;
  llvm::MapVector<Operation *, Call> calls;
  std::unique_ptr<cpu::LoadedLibrary> library;
};

} // namespace

FailureOr<bool> NativeStep::runCall(Operation *op, const Tensors &tensors) {
  const Call &call = calls.find(op)->second;
  std::vector<std::vector<void *>> operands;
  for (const CpuCall &part : call.parts) {
    operands.emplace_back();
    for (Value value : part.tensors) {
      auto found = tensors.find(value);
      operands.back().push_back(
          found == tensors.end() ? nullptr : rootOf(value, found->second));
      if (!operands.back().back())
        return false;
    }
  }
  for (auto [code, pointers] : llvm::zip_equal(call.codes, operands)) {
    int64_t cells[kKernelCells] = {0, 0, 0, 1};
    callKernel(code, pointers.data(), cells);
    if (cells[0] == 0)
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError() << describeMark(
            {static_cast<int>(cells[0]), 0, cells[1], cells[kSizeCell]});
    diagnostic.attachNote() << "--reference says which element it is";
    return diagnostic;
  }
  return true;
}

FailureOr<std::unique_ptr<KernelRunner>>
cutback::compileNativeStep(ModuleOp module) {
  auto step = std::make_unique<NativeStep>();
  if (failed(step->compile(module)))
    return failure();
  return std::unique_ptr<KernelRunner>(std::move(step));
}
