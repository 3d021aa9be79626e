// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From dialect `kernel` to functions that can be called: each kernel becomes
// loops (LowerKernel.h), all of them one module of machine code (Machine.h). A
// call hands over addresses and a cell for what went wrong; an access outside
// of its memory reads element 0 instead, and is an error behind the kernel.

#include "cutback/Target/CPU/NativeKernels.h"

#include "Machine.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Runtime/KernelCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <tuple>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

/// All kernels of `module` as functions of `loops`, under `names`: what each
/// checks.
static FailureOr<std::vector<std::vector<Operation *>>>
lowerAll(ModuleOp module, ModuleOp loops, std::vector<std::string> &names,
         const LoopChoices &choices) {
  module.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  std::vector<std::vector<Operation *>> checked;
  for (auto kernel : module.getOps<kernel::FuncOp>()) {
    FailureOr<LoweredKernel> lowered = lowerKernel(kernel, loops, choices);
    if (failed(lowered))
      return failure();
    names.push_back(kernel.getSymName().str());
    checked.push_back(std::move(lowered->checked));
  }
  return checked;
}

/// Iterations of the reduced axes.
static int64_t rowOf(kernel::NestOp nest) {
  int64_t count = 1;
  for (auto [extent, reduces] :
       llvm::zip_equal(nest.getExtents(), nest.getReduced()))
    count *= reduces ? extent : 1;
  return count;
}

/// How many places there are for what is checked: elements of the memory that a
/// load or store accesses, of a dimension, of a row; -1 where that is unknown.
static int64_t boundOf(Operation *checked) {
  if (auto choose = dyn_cast<kernel::ChooseOp>(checked))
    return choose.findSize().value_or(-1);
  if (isa<kernel::PickOp>(checked))
    return rowOf(cast<kernel::NestOp>(checked->getParentOp()));
  auto load = dyn_cast<kernel::LoadOp>(checked);
  auto store = dyn_cast<kernel::StoreOp>(checked);
  if (!load && !store)
    return -1;
  Value memory = load ? load.getMemory() : store.getMemory();
  return cast<MemRefType>(memory.getType()).getDimSize(0);
}

namespace {

class NativeKernels : public KernelRunner {
public:
  NativeKernels(unsigned parts, const LoopChoices &choices)
      : parts(parts), choices(choices) {}

  LogicalResult compile(ModuleOp module) {
    OwningOpRef<ModuleOp> loops(ModuleOp::create(module.getLoc()));
    std::vector<std::string> names;
    auto lowered = lowerAll(module, *loops, names, choices);
    if (failed(lowered))
      return failure();
    for (auto [kernel, checked] :
         llvm::zip_equal(module.getOps<kernel::FuncOp>(), *lowered))
      kernels[kernel].checked = std::move(checked);
    FailureOr<std::unique_ptr<cpu::Machine>> made =
        cpu::Machine::compile(*loops, names);
    if (failed(made))
      return failure();
    machine = std::move(*made);
    for (auto [number, kernel] :
         llvm::enumerate(module.getOps<kernel::FuncOp>()))
      kernels[kernel].run = machine->function(number);
    return success();
  }

  LogicalResult run(kernel::FuncOp kernel,
                    ArrayRef<Tensor> arguments) override {
    const Kernel &code = kernels.find(kernel)->second;
    if (arguments.size() != kernel.getBody().getNumArguments())
      return kernel.emitOpError("has another number of arguments");
    SmallVector<void *, 16> addresses;
    for (const Tensor &argument : arguments)
      addresses.push_back(argument.data());
    int64_t wrong = 0, place = 0; // of the first part that found something
    for (unsigned part = parts; part-- > 0;) {
      int64_t cells[kKernelCells] = {0, 0, part, parts};
      callKernel(code.run, addresses.data(), cells);
      if (cells[0])
        std::tie(wrong, place) = std::tie(cells[0], cells[1]);
    }
    return wrong ? fail(kernel, code.checked[wrong - 1], place) : success();
  }

private:
  struct Kernel {
    KernelCode run = nullptr;
    std::vector<Operation *> checked;
  };

  static LogicalResult fail(kernel::FuncOp kernel, Operation *op,
                            int64_t number) {
    InFlightDiagnostic diagnostic = op->emitOpError();
    int64_t bound = boundOf(op);
    if (isa<kernel::ChooseOp, kernel::PickOp>(op))
      diagnostic << "has index " << number << " of a dimension of size "
                 << bound;
    else
      diagnostic << "reaches element " << number << " of " << bound;
    diagnostic.attachNote(op->getParentOp()->getLoc())
        << "in kernel @" << kernel.getSymName()
        << "; an index that the step was given is out of range, and "
           "--reference says which";
    return diagnostic;
  }

  unsigned parts;
  const LoopChoices choices;
  llvm::DenseMap<Operation *, Kernel> kernels; ///< by kernel.func
  std::unique_ptr<cpu::Machine> machine;
};

} // namespace

LoopChoices cutback::choicesOfThisProcessor(AccessTests tests) {
  LoopChoices choices;
  choices.tests = tests;
  choices.hasScaling = llvm::is_contained(cpuFeatures(), "avx512vl");
  return choices;
}

FailureOr<std::unique_ptr<KernelRunner>>
cutback::compileNativeKernels(ModuleOp module) {
  return compileNativeKernelsInParts(module, 1, choicesOfThisProcessor());
}

FailureOr<std::unique_ptr<KernelRunner>>
cutback::compileNativeKernelsInParts(ModuleOp module, unsigned parts,
                                     const LoopChoices &choices) {
  auto kernels = std::make_unique<NativeKernels>(parts, choices);
  if (failed(kernels->compile(module)))
    return failure();
  return std::unique_ptr<KernelRunner>(std::move(kernels));
}

FailureOr<KernelObject> cutback::compileKernelObject(ModuleOp module,
                                                     const NamedCalls &calls,
                                                     AccessTests tests) {
  OwningOpRef<ModuleOp> loops(ModuleOp::create(module.getLoc()));
  std::vector<std::string> names;
  auto lowered = lowerAll(module, *loops, names, choicesOfThisProcessor(tests));
  if (failed(lowered))
    return failure();
  FailureOr<std::string> bytes = cpu::compileObject(*loops, names, calls);
  if (failed(bytes))
    return failure();
  KernelObject object;
  object.bytes = std::move(*bytes);
  for (auto [name, checked] : llvm::zip_equal(names, *lowered))
    for (Operation *op : checked)
      object.bounds[name].push_back(boundOf(op));
  return object;
}
