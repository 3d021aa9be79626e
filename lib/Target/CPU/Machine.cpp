// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. Loops become branches, everything the LLVM dialect, that LLVM IR.
//   2. Each memory access in a loop that shares nothing between iterations says
//      so (!llvm.access.group): operands and results of a kernel may be the
//      same memory, and LLVM would not make vectors of it.
//   3. Each function gets one that takes its arguments from a list.
//   4. O2 for this machine, without contraction (no a * b + c in one rounding
//      that was two), then ORC, or an object file.
//
// Of the processor it takes what cpuFeatures() lists and nothing else: so the
// code of an artifact is that of the process, and what it needs is known.

#include "Machine.h"

#include "ScalarOps.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/CpuFeatures.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

//===----------------------------------------------------------------------===//
// To LLVM IR
//===----------------------------------------------------------------------===//

/// Conversions leave the annotation of a loop behind as an attribute of no
/// meaning, which the translation to LLVM IR drops.
static void keepLoopAnnotations(ModuleOp module) {
  module.walk([](LLVM::BrOp branch) {
    if (auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
            branch->removeDiscardableAttr("llvm.loop_annotation")))
      branch.setLoopAnnotationAttr(annotation);
  });
}

static LogicalResult toLLVMDialect(ModuleOp module) {
  MLIRContext *context = module.getContext();
  context->loadDialect<cf::ControlFlowDialect>();
  RewritePatternSet loops(context);
  populateSCFToControlFlowConversionPatterns(loops);
  ConversionTarget branches(*context);
  branches.addIllegalDialect<scf::SCFDialect>();
  branches.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, branches, std::move(loops))))
    return failure();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  keepLoopAnnotations(module);
  return success();
}

/// Accesses of innermost loops whose iterations share nothing.
static void markParallel(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    llvm::MDNode *found =
        llvm::findOptionMDForLoop(loop, "llvm.loop.parallel_accesses");
    if (!found)
      continue;
    llvm::Metadata *group = found->getOperand(1).get();
    for (llvm::BasicBlock *block : loop->blocks())
      for (llvm::Instruction &op : *block)
        if (op.mayReadOrWriteMemory())
          op.setMetadata(llvm::LLVMContext::MD_access_group,
                         llvm::cast<llvm::MDNode>(group));
  }
}

/// `void NAME.run(void **arguments, int64_t *cells)`.
static void addEntry(llvm::Module &module, StringRef name) {
  llvm::Function *inner = module.getFunction(name);
  inner->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(context, 0);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer}, false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       name + kCodeSuffix, &module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
  llvm::SmallVector<llvm::Value *> arguments;
  for (unsigned i = 0; i + 1 < inner->arg_size(); ++i)
    arguments.push_back(builder.CreateLoad(
        pointer, builder.CreateConstGEP1_64(pointer, entry->getArg(0), i)));
  arguments.push_back(entry->getArg(1));
  builder.CreateCall(inner, arguments);
  builder.CreateRetVoid();
}

/// LLVM chooses between numbers of 16 bits in registers of 32 where the machine
/// has no others, and narrows what was chosen by a function of the compiler's
/// library, which is not linked. Defined here: the numbers are exact, so that
/// any rounding is right.
static void defineNarrowing(llvm::Module &module) {
  if (module.getFunction("__truncsfbf2"))
    return;
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *word = builder.getInt32Ty();
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(builder.getBFloatTy(), {builder.getFloatTy()},
                              /*isVarArg=*/false),
      llvm::GlobalValue::WeakODRLinkage, "__truncsfbf2", module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "entry", function));
  llvm::Value *bits = builder.CreateBitCast(function->getArg(0), word);
  llvm::Value *upper = builder.CreateLShr(bits, 16);
  builder.CreateRet(builder.CreateBitCast(
      builder.CreateTrunc(upper, builder.getInt16Ty()), builder.getBFloatTy()));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("tune-cpu", llvm::sys::getHostCPUName());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Half of the width is LLVM's choice for code that seldom has vectors.
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    markParallel(function);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.LoopUnrolling = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
  defineNarrowing(module);
}

/// This machine, for what cpuFeatures() lists. Instructions of bf16 are for
/// calls alone: LLVM would round by one to which small numbers are zeros.
static llvm::orc::JITTargetMachineBuilder thisMachine() {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  llvm::orc::JITTargetMachineBuilder target(triple);
  target.setCPU(triple.isX86() ? "x86-64" : "generic");
  std::vector<std::string> features = cpuFeatures();
  llvm::erase(features, "avx512bf16");
  target.addFeatures(features);
  target.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  target.setRelocationModel(llvm::Reloc::PIC_);
  target.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return target;
}

/// LLVM IR of `loops`, optimized, with an entry for each of `names`.
static llvm::Expected<std::unique_ptr<llvm::Module>>
makeModule(ModuleOp loops, ArrayRef<std::string> names,
           llvm::LLVMContext &context, llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(loops, context);
  if (!module)
    return llvm::errorCodeToError(llvm::inconvertibleErrorCode());
  for (const std::string &name : names)
    addEntry(*module, name);
  optimize(*module, machine);
  return module;
}

/// To what LLVM translates.
static LogicalResult prepare(ModuleOp loops) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  MLIRContext *context = loops.getContext();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  return toLLVMDialect(loops);
}

/// The object file of `module`. Instructions stay in the order of the loops: a
/// scheduler for few registers would take iterations that are interleaved
/// apart again, each a chain of which a processor sees one at a time.
static llvm::Expected<llvm::SmallVector<char, 0>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  // Without it there is no memcpy, and bytes are copied one by one.
  passes.add(new llvm::RuntimeLibraryInfoWrapper(machine.getTargetTriple()));
  // Those that addPassesToEmitFile() adds, but the scheduler.
  auto *information = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig *config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::MachineSchedulerID);
  passes.add(config);
  passes.add(information);
  if (config->addISelPasses())
    return llvm::errorCodeToError(llvm::inconvertibleErrorCode());
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr,
                            llvm::CodeGenFileType::ObjectFile,
                            information->getMMI().getContext()))
    return llvm::errorCodeToError(llvm::inconvertibleErrorCode());
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return object;
}

//===----------------------------------------------------------------------===//
// ORC
//===----------------------------------------------------------------------===//

namespace {

class OrcMachine : public Machine {
public:
  llvm::Error add(ModuleOp loops, ArrayRef<std::string> names) {
    llvm::LLVMContext context;
    llvm::orc::JITTargetMachineBuilder target = thisMachine();
    auto machine = target.createTargetMachine();
    if (!machine)
      return machine.takeError();
    auto module = makeModule(loops, names, context, **machine);
    if (!module)
      return module.takeError();
    auto object = emitObject(**module, **machine);
    if (!object)
      return object.takeError();
    auto made = llvm::orc::LLJITBuilder()
                    .setJITTargetMachineBuilder(std::move(target))
                    .create();
    if (!made)
      return made.takeError();
    jit = std::move(*made);
    if (llvm::Error error = defineLibrary())
      return error;
    if (llvm::Error error =
            jit->addObjectFile(std::make_unique<llvm::SmallVectorMemoryBuffer>(
                std::move(*object), /*RequiresNullTerminator=*/false)))
      return error;
    for (const std::string &name : names) {
      auto address = jit->lookup(name + kCodeSuffix);
      if (!address)
        return address.takeError();
      functions.push_back(address->toPtr<KernelCode>());
    }
    return llvm::Error::success();
  }

  KernelCode function(size_t number) const override {
    return functions[number];
  }

private:
  /// What kernels call, and what LLVM does (memset, memcpy).
  llvm::Error defineLibrary() {
    llvm::orc::SymbolMap symbols;
    for (const LibraryFunction &function : libraryFunctions())
      symbols[jit->mangleAndIntern(std::string("cutback_") + function.name)] = {
          llvm::orc::ExecutorAddr::fromPtr(function.address),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    llvm::orc::JITDylib &main = jit->getMainJITDylib();
    if (llvm::Error error =
            main.define(llvm::orc::absoluteSymbols(std::move(symbols))))
      return error;
    auto process =
        llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
            jit->getDataLayout().getGlobalPrefix());
    if (!process)
      return process.takeError();
    main.addGenerator(std::move(*process));
    return llvm::Error::success();
  }

  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<KernelCode> functions;
};

} // namespace

FailureOr<std::unique_ptr<Machine>>
Machine::compile(ModuleOp loops, ArrayRef<std::string> names) {
  if (failed(prepare(loops)))
    return failure();
  auto machine = std::make_unique<OrcMachine>();
  // No kernel is at fault: what is lowered is what LLVM takes.
  if (llvm::Error error = machine->add(loops, names))
    llvm::report_fatal_error(std::move(error));
  return std::unique_ptr<Machine>(std::move(machine));
}

//===----------------------------------------------------------------------===//
// Object files
//===----------------------------------------------------------------------===//

/// Functions of the C library under their own names, now that nobody rewrites
/// calls of them any more.
static void nameLibrary(llvm::Module &module) {
  for (const LibraryFunction &function : libraryFunctions())
    if (llvm::Function *declared =
            module.getFunction(std::string("cutback_") + function.name)) {
      declared->setName(function.name);
      declared->addFnAttr(llvm::Attribute::NoBuiltin);
    }
}

/// NAME.run of a call: a function that was compiled with Cutback, and behind
/// the operands and cells that all have, what it is told.
static void addCall(llvm::Module &module, const std::string &name,
                    const PrecompiledCall &call) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(context, 0);
  llvm::Type *none = llvm::Type::getVoidTy(context);
  llvm::Constant *bytes = llvm::ConstantDataArray::getString(
      context, call.description, /*AddNull=*/false);
  auto *told = new llvm::GlobalVariable(module, bytes->getType(),
                                        /*isConstant=*/true,
                                        llvm::GlobalValue::PrivateLinkage,
                                        bytes, name + ".description");
  told->setAlignment(llvm::Align(8));
  llvm::FunctionCallee function = module.getOrInsertFunction(
      call.function,
      llvm::FunctionType::get(none, {pointer, pointer, pointer}, false));
  auto *entry = llvm::Function::Create(
      llvm::FunctionType::get(none, {pointer, pointer}, false),
      llvm::GlobalValue::ExternalLinkage, name + kCodeSuffix, &module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
  builder.CreateCall(function, {entry->getArg(0), entry->getArg(1), told});
  builder.CreateRetVoid();
}

static llvm::Expected<std::string> makeObject(ModuleOp loops,
                                              ArrayRef<std::string> names,
                                              const NamedCalls &calls) {
  auto machine = thisMachine().createTargetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto module = makeModule(loops, names, context, **machine);
  if (!module)
    return module.takeError();
  nameLibrary(**module);
  for (const auto &[name, call] : calls)
    addCall(**module, name, call);
  auto object = emitObject(**module, **machine);
  if (!object)
    return object.takeError();
  return std::string(object->begin(), object->end());
}

FailureOr<std::string> cpu::compileObject(ModuleOp loops,
                                          ArrayRef<std::string> names,
                                          const NamedCalls &calls) {
  if (failed(prepare(loops)))
    return failure();
  llvm::Expected<std::string> object = makeObject(loops, names, calls);
  if (!object)
    llvm::report_fatal_error(object.takeError());
  return std::move(*object);
}
