// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder that was compiled has files that nobody reads as an argument for
// anything: launches, machine code, weights. Nothing of them is believed
// either.
//
//   1. each file has the checksum that the manifest names, and the manifest
//      its own (readStepFolder, checkWeights)
//   2. kernels are formed once more of the plan, which was made again of
//      joint.mlir; kernels.mlir must be their text
//   3. files of the target are emitted once more; the manifest must be what
//      comes of it, line by line. Machine code for this very processor is
//      compiled again, too. What compilers of others made, and what is for
//      another processor, is taken for what its checksum says
//   4. the same of folders for other sizes

#include "ArtifactProof.h"

#include "ArtifactRun.h"
#include "SizedStep.h"
#include "StepKernels.h"
#include "StepSources.h"

#include "cutback/Report/PartitionFiles.h"
#include "cutback/Runtime/CpuFeatures.h"
#include "cutback/Runtime/StepFolder.h"
#include "cutback/Runtime/StepSizes.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace cutback {

namespace {

class ArtifactProof {
public:
  ArtifactProof(Session &session, std::string folder, StoredHalves &stored)
      : session(session), folder(std::move(folder)), stored(stored),
        hasTarget(isArtifact(this->folder)) {}

  int run() {
    if (hasTarget)
      if (int code = readFiles())
        return code;
    if (int code = formKernelsAgain())
      return code;
    if (hasTarget)
      if (int code = proveManifest())
        return code;
    if (int code = proveKernels())
      return code;
    return hasTarget ? proveSizes() : int(Done);
  }

private:
  int refuse(const std::string &path, const std::string &why) {
    session.error("refused: " + path + " " + why);
    session.note("compile the model again");
    return NoPlan;
  }
  int refuse(const std::string &path, const PartMismatch &mismatch) {
    return refuse(path + "/" + mismatch.file,
                  "is not what its plan gives: " + mismatch.message);
  }

  int readFiles() {
    StepError why;
    if (!readStepFolder(folder, artifact, why))
      return refuse(folder, "is damaged: " + why.what);
    StepFiles sources;
    return openOwnWeights(session, folder, artifact, sources);
  }

  /// As `compile` forms them (CompileCommand.cpp).
  int formKernelsAgain() {
    PartitionResult &plan = *stored.plan;
    std::vector<std::string> options;
    if (plan.update)
      options = plan.update->options;
    bool isStep = hasTarget || plan.update;
    if (int code = formKernels(session, plan, !isStep, kernels))
      return code;
    if (plan.update) {
      std::string why;
      std::optional<Optimizer> optimizer = readOptimizer(options, why);
      if (!optimizer ||
          !addUpdate(plan, *kernels, stored.graph, *optimizer, options))
        return NoPlan;
    } else if (hasTarget) {
      formForAllSizes(session, plan, forAll);
    }
    return Done;
  }

  /// Machine code is compiled again where this machine gives the same.
  TargetChoice choiceHere(const Artifact &made) const {
    TargetChoice choice = choiceOf(made);
    choice.compiles = false;
    return choice;
  }
  bool isOfThisMachine(const Artifact &made) const {
    return made.target == kCpuTarget && made.machine == machineName() &&
           made.features == cpuFeatures();
  }

  /// Takes from `made` what `computed` cannot have.
  void takeOver(const Artifact &made, Artifact &computed) const {
    if (made.target == kCpuTarget && !isOfThisMachine(made)) {
      computed.machine = made.machine;
      computed.features = made.features;
      for (auto [one, other] : llvm::zip(computed.kernels, made.kernels))
        one.bounds = other.bounds;
      llvm::erase_if(computed.files, [](const ArtifactFile &file) {
        return file.name == kHostLibrary;
      });
    }
    std::vector<ArtifactFile> files;
    for (const ArtifactFile &file : made.files) {
      const ArtifactFile *own = computed.findFile(file.name);
      bool isOfOthers = StringRef(file.name).ends_with(".fatbin") ||
                        file.name == kHostLibrary || file.name == kWeightsFile;
      if (own)
        files.push_back(*own);
      else if (isOfOthers)
        files.push_back(file);
    }
    for (const ArtifactFile &file : computed.files)
      if (!made.findFile(file.name))
        files.push_back(file);
    computed.files = std::move(files);
  }

  int compareManifest(const std::string &path, const Artifact &made,
                      Artifact &computed) {
    takeOver(made, computed);
    std::string stored = writeManifest(made), again = writeManifest(computed);
    if (stored == again)
      return Done;
    return refuse(path, differentLine(kManifestFile, stored, again));
  }

  int proveManifest() {
    Artifact computed;
    std::vector<TextFile> files;
    if (int code = emitTarget(session, stored.graph, *kernels,
                              choiceHere(artifact), computed, files))
      return code;
    if (forAll)
      addSymbols(computed, stored.graph, *forAll, plannedSizes(*stored.plan));
    text = printModule(forAll ? *forAll->module : *kernels->module);
    computed.files.push_back(describeFile(kKernelsFile, text));
    return compareManifest(folder, artifact, computed);
  }

  int proveKernels() {
    if (text.empty())
      text = printModule(*kernels->module);
    auto buffer = llvm::MemoryBuffer::getFile(folder + "/" + kKernelsFile);
    if (!buffer)
      return refuse(folder + "/" + kKernelsFile,
                    "cannot be read: " + buffer.getError().message());
    StringRef given = (*buffer)->getBuffer();
    if (given == text)
      return Done;
    // Layout and comments do not matter.
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(given, &session.context);
    if (!module)
      return refuse(folder + "/" + kKernelsFile, "is no module");
    std::string printed = printModule(*module);
    return printed == text
               ? int(Done)
               : refuse(folder, differentLine(kKernelsFile, printed, text));
  }

  int proveSizes() {
    std::error_code error;
    std::string sizes = folder + "/" + kSizesFolder;
    std::vector<std::string> folders;
    for (llvm::sys::fs::directory_iterator it(sizes, error), end;
         it != end && !error; it.increment(error))
      if (isArtifact(it->path()))
        folders.push_back(it->path());
    llvm::sort(folders);
    for (const std::string &one : folders)
      if (int code = proveSized(one))
        return code;
    return Done;
  }

  int proveSized(const std::string &path) {
    Artifact made, computed;
    StepError why;
    if (!readStepFolder(path, made, why))
      return refuse(path, "is damaged: " + why.what);
    std::vector<int64_t> values;
    for (const ArtifactSymbol &symbol : made.symbols)
      values.push_back(symbol.value);
    if (made.of != artifact.checksum || !forAll ||
        made.symbols.size() != artifact.symbols.size() ||
        path != sizedFolder(folder, artifact, values))
      return refuse(path, "is not of the step beside it");
    std::vector<TextFile> files;
    if (int code = emitForSizes(session, stored.graph, stored.plan->view.graph,
                                *forAll, artifact, values, choiceHere(made),
                                computed, files))
      return code;
    return compareManifest(path, made, computed);
  }

  Session &session;
  std::string folder;
  StoredHalves &stored;
  bool hasTarget;
  Artifact artifact;
  std::optional<KernelModule> kernels, forAll;
  std::string text; ///< of kernels.mlir, as it should be
};

} // namespace

int proveArtifact(Session &session, const std::string &folder,
                  StoredHalves &stored, std::string &what) {
  bool hasTarget = isArtifact(folder);
  if (!hasTarget && !llvm::sys::fs::exists(folder + "/" + kKernelsFile))
    return Done;
  session.progress.step("making the kernels again");
  if (int code = ArtifactProof(session, folder, stored).run())
    return code;
  what = hasTarget ? "; manifest.json, kernels.mlir and all files of the "
                     "target are what comes of it"
                   : "; kernels.mlir is what comes of it";
  return Done;
}

} // namespace cutback
