// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One plan serves all sizes: which values are saved, the launches, their order.
// Where things lie and what threads do is found for the sizes of a run.
//
//   1. kernels.mlir has launches with expressions of the symbols for sizes; it
//      is proved against the joint graph of the folder
//   2. at known sizes the arena is laid out and proved, and kernels are formed
//      (Lowering/SymbolicKernels.h)
//   3. from there on it is a step as any other; its manifest names the one of
//      the folder that it was made of

#include "SizedStep.h"

#include "cutback/Analysis/SymbolUses.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Interpreter/Step.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Runtime/StepSizes.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace cutback {

llvm::StringMap<int64_t> plannedSizes(const PartitionResult &plan) {
  llvm::StringMap<int64_t> sizes;
  for (NamedAttribute entry : argumentSymbols(plan.view.graph))
    if (auto symbol = dyn_cast<joint::SymbolAttr>(entry.getValue());
        symbol && symbol.getHint())
      sizes[entry.getName()] = *symbol.getHint();
  for (const auto &given : plan.options.symbols)
    sizes[given.getKey()] = given.getValue();
  return sizes;
}

void addSymbols(Artifact &artifact, joint::GraphOp graph,
                const KernelModule &kernels,
                const llvm::StringMap<int64_t> &sizes) {
  for (NamedAttribute entry :
       kernel::findArena(kernels.link).getSymbolsAttr()) {
    auto symbol = cast<joint::SymbolAttr>(entry.getValue());
    artifact.symbols.push_back(
        {entry.getName().str(), sizes.lookup(entry.getName()),
         symbol.getMin().value_or(0), symbol.getMax().value_or(INT64_MAX)});
  }
  llvm::StringMap<ArrayAttr> declared;
  interpreter::StepNames names = interpreter::nameStep(graph);
  for (auto [i, name] : llvm::enumerate(names.arguments))
    if (auto dims =
            graph.getArgAttrOfType<ArrayAttr>(i, joint::JointDialect::kDims))
      declared[name] = dims;
  for (ArtifactArgument &argument : artifact.arguments) {
    ArrayAttr dims = declared.lookup(argument.name);
    if (!dims || !llvm::any_of(dims, llvm::IsaPred<StringAttr>))
      continue;
    for (auto [axis, dim] : llvm::enumerate(dims)) {
      auto text = dyn_cast<StringAttr>(dim);
      argument.declared.push_back(text ? text.str()
                                       : std::to_string(argument.sizes[axis]));
    }
  }
}

int loadKernels(Session &session, const std::string &folder,
                joint::GraphOp graph, std::optional<KernelModule> &kernels) {
  std::string path = folder + "/" + kKernelsFile;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!llvm::sys::fs::is_regular_file(path) || !buffer) {
    session.error("no " + std::string(kKernelsFile) + " in the folder '" +
                  folder + "'");
    session.note("store the step again with `cutback compile --to=kernels`, or "
                 "run its halves with --reference alone");
    return WrongInput;
  }
  session.progress.step("verifying kernels");
  session.context.getOrLoadDialect<kernel::KernelDialect>();
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(source, &session.context);
  if (!module)
    return WrongInput;
  FailureOr<KernelModule> read = readKernelModule(std::move(module));
  if (failed(read))
    return WrongInput;
  if (failed(verifyKernels(graph, *read))) {
    session.error("refused: the launches do not compute what the joint graph "
                  "computes");
    session.note("store the step again with `cutback compile --to=kernels`");
    return NoPlan;
  }
  kernels = std::move(*read);
  return Done;
}

int emitForSizes(Session &session, joint::GraphOp graph, joint::GraphOp planned,
                 const KernelModule &kernels, const Artifact &artifact,
                 const std::vector<int64_t> &values, const TargetChoice &choice,
                 Artifact &sized, std::vector<TextFile> &files) {
  llvm::StringMap<int64_t> sizes;
  for (auto [symbol, value] : llvm::zip_equal(artifact.symbols, values))
    sizes[symbol.name] = value;
  session.progress.step("forming kernels");
  FailureOr<SizedKernels> formed = instantiateKernels(kernels, planned, sizes);
  if (failed(formed))
    return NoPlan;
  if (int code =
          emitTarget(session, graph, formed->kernels, choice, sized, files)) {
    for (auto [symbol, value] : llvm::zip_equal(artifact.symbols, values))
      if (value == 0)
        session.note("size " + symbol.name +
                     " is 0: compile the model for that alone, with --sym=" +
                     symbol.name + "=0");
    return code;
  }
  addSymbols(sized, graph, kernels, sizes);
  sized.of = artifact.checksum;
  return Done;
}

int compileForSizes(Session &session, const std::string &folder,
                    const Artifact &artifact,
                    const std::vector<int64_t> &values) {
  StoredHalves stored;
  if (int code = stored.load(session, {folder}, ImportOptions()))
    return code;
  if (int code = stored.verify(session))
    return code;
  joint::GraphOp planned = stored.plan->view.graph;
  std::optional<KernelModule> kernels;
  if (int code = loadKernels(session, folder, planned, kernels))
    return code;
  Artifact sized;
  std::vector<TextFile> files;
  if (int code =
          emitForSizes(session, stored.graph, planned, *kernels, artifact,
                       values, choiceOf(artifact), sized, files))
    return code;
  files.emplace_back(kManifestFile, writeManifest(sized));
  session.progress.step("writing");
  std::vector<NamedFile> named;
  for (const auto &[name, data] : files)
    named.push_back({name, data});
  std::string error =
      writeFolderSafely(sizedFolder(folder, artifact, values), named);
  return error.empty() ? Done : session.failedWrite(error);
}

int addSizes(Session &session, const std::string &folder) {
  Artifact artifact;
  StepError why;
  if (!readStepFolder(folder, artifact, why)) {
    session.error(why.what);
    session.note(why.next);
    return NoPlan;
  }
  llvm::StringMap<int64_t> given;
  std::vector<std::string> texts;
  for (std::string_view text : session.line.all("sym"))
    texts.emplace_back(text);
  if (!parseSymbols(texts, given, why.what)) {
    session.error(why.what);
    return WrongUsage;
  }
  std::vector<int64_t> values;
  std::string names;
  for (const ArtifactSymbol &symbol : artifact.symbols) {
    auto found = given.find(symbol.name);
    values.push_back(found == given.end() ? symbol.value : found->getValue());
    names += (names.empty() ? "'" : ", '") + symbol.name + "'";
    given.erase(symbol.name);
  }
  if (!given.empty()) {
    session.error("the step in '" + folder + "' has no size '" +
                  given.begin()->getKey().str() + "'");
    session.note(names.empty() ? "it is for one set of sizes"
                               : "it has " + names);
    return WrongUsage;
  }
  if (!checkSizes(artifact, values, why)) {
    session.error(why.what);
    session.note(why.next);
    return WrongInput;
  }
  std::string found = folder;
  Artifact sized = artifact;
  return findSized(found, sized, values, why)
             ? Done
             : compileForSizes(session, folder, artifact, values);
}

} // namespace cutback
