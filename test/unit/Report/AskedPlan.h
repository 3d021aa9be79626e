// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans as the command line asks for them, of real graphs.
#ifndef CUTBACK_TEST_UNIT_REPORT_ASKEDPLAN_H
#define CUTBACK_TEST_UNIT_REPORT_ASKEDPLAN_H

#include "cutback/Import/Import.h"
#include "cutback/Planner/PlanOptions.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/TrainingGraph.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

namespace cutback::test {

/// Texts of joint graphs in the folders of `root`, by name; those above
/// `maxBytes` are left out.
inline std::vector<std::string> jointTexts(const std::string &root,
                                           uint64_t maxBytes) {
  std::vector<std::string> texts;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(root, code), end;
       it != end && !code; it.increment(code)) {
    std::string path = it->path() + "/joint.txt";
    uint64_t bytes = 0;
    if (!llvm::sys::fs::file_size(path, bytes) && bytes <= maxBytes)
      texts.push_back(path);
  }
  llvm::sort(texts);
  return texts;
}

/// Those of test/corpus and, with CUTBACK_GOLDEN=FOLDER, of the reference data
/// in that folder.
inline std::vector<std::string> realGraphs(uint64_t maxBytes = 1 << 20) {
  std::vector<std::string> texts =
      jointTexts(std::string(CUTBACK_SOURCE_DIR) + "/test/corpus", maxBytes);
  if (const char *golden = std::getenv("CUTBACK_GOLDEN"))
    for (const char *part : {"small", "plan", "bench"})
      llvm::append_range(
          texts, jointTexts(std::string(golden) + "/" + part, maxBytes));
  return texts;
}

/// "gpt2" of ".../gpt2/joint.txt", as the name of a test.
inline std::string nameOfText(const testing::TestParamInfo<std::string> &info) {
  llvm::StringRef folder = llvm::sys::path::parent_path(info.param);
  return std::to_string(info.index) + "_" +
         llvm::sys::path::filename(folder).str();
}

/// A graph as it was read; plans are of copies.
class AskedGraph {
public:
  explicit AskedGraph(const std::string &path)
      : context(mlir::MLIRContext::Threading::DISABLED),
        handler(&context, [this](mlir::Diagnostic &diagnostic) {
          message = diagnostic.str();
        }) {
    registerTrainingGraph(context);
    auto read = readInput(path, context);
    if (succeeded(read) && read->graph &&
        succeeded(makeTrainingGraph(read->graph)))
      input = std::move(*read);
  }
  joint::GraphOp graph() { return input.graph; }

  /// What `cutback report` plans with these words behind the file; no result,
  /// with the reason in `message`, if nothing.
  CopiedPlan ask(const std::vector<std::string> &words) {
    CommandSpec spec;
    spec.name = "report";
    spec.options = planOptions();
    spec.minArguments = spec.maxArguments = 0;
    std::vector<std::string_view> views(words.begin(), words.end());
    std::optional<CommandLine> line = parseCommandLine(spec, views, message);
    PartitionOptions options;
    if (!line || !readPlanOptions(*line, options, message))
      return {};
    options.memory.emplace();
    auto plan = planCopy(graph(), options);
    return succeeded(plan) ? std::move(*plan) : CopiedPlan();
  }

  mlir::MLIRContext context;
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
  ImportedModule input;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_REPORT_ASKEDPLAN_H
