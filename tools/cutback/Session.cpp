// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every command needs. The context works on one thread: a graph is one
// function, and starting a pool costs more than partitioning a usual graph.
// Dialects are loaded by whoever reads the input, so that a command pays for
// no others.
//
// Diagnostics are printed as compilers do, without the source line: it would
// be a line of the model, or a line of the input of several hundred columns.

#include "Session.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Upstream/ExternalModels.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Report/PartitionFiles.h"
#include "cutback/Support/Heap.h"
#include "cutback/Support/MLIR/DiagnosticPlace.h"
#include "cutback/Support/SafeFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <unistd.h>

using namespace mlir;

namespace cutback {

static void printError(const std::string &text) {
  writeAll(STDERR_FILENO, text);
}

Session::Session(std::string_view command, const CommandLine &line)
    : StoredHalvesClient(*new MLIRContext(MLIRContext::Threading::DISABLED)),
      progress("cutback " + std::string(command), line.has("progress")),
      line(line), command(command) {
  registerTrainingGraph(context);
  // Known, not loaded: what a text names is loaded when it is read. Ops of
  // dialects that are not even known are planned by their effects and sizes.
  DialectRegistry registry;
  registerUpstreamDialects(registry);
  context.appendDialectRegistry(registry);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  handler = context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { printDiagnostic(diagnostic); });
  if (line.has("remarks"))
    enablePlanRemarks(context);
}

Session::~Session() { context.getDiagEngine().eraseHandler(*handler); }

static const char *severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Error:
    break;
  }
  return "error";
}

/// "FILE:LINE:COL", without a column that is not known; the input where
/// nothing is.
static std::string placeText(Location location, const std::string &input) {
  DiagnosticPlace place = diagnosticPlace(location);
  if (place.file.empty())
    return input.empty() ? "cutback" : input;
  std::string text = place.file.str();
  for (unsigned number : {place.line, place.column})
    if (number != 0)
      text += ":" + std::to_string(number);
  return text;
}

void Session::printDiagnostic(Diagnostic &diagnostic) {
  std::string text = placeText(diagnostic.getLocation(), input) + ": " +
                     severityName(diagnostic.getSeverity()) + ": " +
                     diagnostic.str() + "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    text +=
        placeText(note.getLocation(), input) + ": note: " + note.str() + "\n";
  printError(text);
}

FailureOr<ImportedModule>
Session::load(const std::string &path, ImportOptions options, double &seconds) {
  std::string file = path;
  if (llvm::sys::fs::is_directory(file)) {
    std::string wrong, next;
    file = findGraphFile(path, wrong, next);
    if (file.empty()) {
      error(wrong);
      note(next);
      return failure();
    }
  }
  input = file == "-" ? "<stdin>" : file;
  progress.step("reading " + input);
  if (uint64_t bytes; !llvm::sys::fs::file_size(file, bytes))
    prepareHeap(heapOfText(bytes));
  auto start = std::chrono::steady_clock::now();
  FailureOr<ImportedModule> module = readInput(file, context, options);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  seconds += time.count();
  return module;
}

int Session::addHooks(HookTable &table) {
  std::vector<HookOption> options;
  std::string wrong;
  if (!readHookOptions(line, options, wrong)) {
    error(wrong);
    return WrongUsage;
  }
  auto log = [this](const std::string &text) {
    (void)write(std::nullopt, text + "\n");
  };
  wrong = cutback::addHooks(options, table, log);
  if (wrong.empty())
    return Done;
  error(wrong);
  note("--hook takes [KIND:]NAME[:FUNCTION]; see `cutback " + command +
       " --help`");
  return WrongInput;
}

FailureOr<ImportedModule> Session::loadJoint(const std::string &path,
                                             ImportOptions options,
                                             double &seconds) {
  FailureOr<ImportedModule> module = load(path, options, seconds);
  if (failed(module) || module->graph)
    return module;
  error("no joint graph in '" + path + "'");
  bool isMlir = module->format == InputFormat::MlirText ||
                module->format == InputFormat::MlirBytecode;
  if (isMlir && !module->module->getOps<func::FuncOp>().empty()) {
    note("a func.func does not say what its arguments are for and which "
         "results are gradients; a joint.graph does (docs/Embedding.md)");
    return failure();
  }
  note("give a joint graph; `cutback import --list` names what an input holds");
  return failure();
}

FailureOr<ImportedModule> Session::read(const std::string &path,
                                        const ImportOptions &options) {
  double seconds = 0;
  return load(path, options, seconds);
}

FailureOr<ImportedModule> Session::readJoint(const std::string &path,
                                             const ImportOptions &options) {
  double seconds = 0;
  return loadJoint(path, options, seconds);
}

void Session::error(const std::string &message) {
  printError("cutback " + command + ": error: " + message + "\n");
}

void Session::warning(const std::string &message) {
  printError("cutback " + command + ": warning: " + message + "\n");
}

void Session::note(const std::string &message) {
  printError("cutback " + command + ": note: " + message + "\n");
}

int Session::write(std::optional<std::string_view> path,
                   const std::string &text) {
  std::string failure;
  if (path && *path != "-")
    failure = writeFileSafely(std::string(*path), text);
  else if (failure = writeAll(STDOUT_FILENO, text); !failure.empty())
    failure = "cannot write standard output: " + failure;
  return failure.empty() ? Done : failedWrite(failure);
}

int Session::failedWrite(const std::string &failure) {
  error(failure);
  note("give a place that may be written, with room, in a folder that is there;"
       " nothing was changed");
  return WrongInput;
}

} // namespace cutback
