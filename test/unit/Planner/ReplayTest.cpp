// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's own halves of a checkpointed model, as its trace log has them: the
// attention is run twice, with a saved random state. The certificate accepts
// them, and none of the texts with one call changed.

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Partition/Certificate.h"
#include "cutback/Planner/OtherPlan.h"

#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

std::string readLog() {
  auto buffer = llvm::MemoryBuffer::getFile(std::string(CUTBACK_SOURCE_DIR) +
                                            "/test/corpus/gpt2_checkpointed/"
                                            "trace.log");
  EXPECT_TRUE(bool(buffer));
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// What the certificate says: empty if it accepts the halves.
std::string judge(const std::string &log) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  ImportOptions options;
  options.torchHalves = true;
  FailureOr<ImportedModule> module =
      readInput(llvm::MemoryBufferRef(log, "log"), context, options);
  if (failed(module) || !module->torchForward || !module->torchBackward)
    return "no halves: " + message;
  FailureOr<HalvesSignature> signature = deriveSignature(
      module->graph, module->torchForward, module->torchBackward);
  if (failed(signature) ||
      failed(verifyHalves(module->graph, module->torchForward,
                          module->torchBackward, *signature)))
    return message;
  return "";
}

TEST(Replay, PyTorchsOwnHalvesAreAccepted) { EXPECT_EQ(judge(readLog()), ""); }

TEST(Replay, PyTorchsOwnHalvesHaveFiguresLikeOurs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string log = readLog();
  ImportOptions options;
  options.torchHalves = true;
  FailureOr<ImportedModule> module =
      readInput(llvm::MemoryBufferRef(log, "log"), context, options);
  ASSERT_TRUE(succeeded(module));
  FailureOr<HalvesSignature> signature = deriveSignature(
      module->graph, module->torchForward, module->torchBackward);
  ASSERT_TRUE(succeeded(signature));
  CertificateStats stats;
  ASSERT_TRUE(
      succeeded(verifyHalves(module->graph, module->torchForward,
                             module->torchBackward, *signature, &stats)));
  ASSERT_EQ(stats.saved.size(), signature->saved.size());
  EXPECT_EQ(llvm::count(stats.saved, Value()), 2) << "the random states";
  PartitionOptions plan;
  FailureOr<OtherFigures> figures =
      figureOther(module->graph, stats.saved, plan);
  ASSERT_TRUE(succeeded(figures));
  // Everything saved is the other end: more bytes, no recomputation.
  SmallVector<Value> all;
  for (Operation &op : module->graph.getBlock().without_terminator())
    llvm::append_range(all, op.getResults());
  FailureOr<OtherFigures> everything = figureOther(module->graph, all, plan);
  ASSERT_TRUE(succeeded(everything));
  EXPECT_GT(figures->peakBytes, 0);
  EXPECT_LT(figures->peakBytes, everything->peakBytes);
  EXPECT_GT(figures->pricedPs, everything->pricedPs);
  plan.device = "no such device";
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(figureOther(module->graph, stats.saved, plan)));
}

TEST(Replay, ChangedHalvesAreRefused) {
  std::string log = readLog();
  size_t numChanged = 0;
  // Each replayed call once with another operand, once with another literal.
  const std::string call = "higher_order.run_with_rng_state(";
  for (size_t at = log.find(call); at != std::string::npos;
       at = log.find(call, at + 1)) {
    size_t key = log.find("permute_", at), end = log.find("0.0, True)", at);
    ASSERT_LT(key, end);
    std::string changed = log;
    size_t next = log.find(", ", key);
    std::string operand = log.substr(key, next - key);
    size_t second = log.find("permute_", next);
    std::string other = log.substr(second, log.find(", ", second) - second);
    changed.replace(key, operand.size(), other);
    EXPECT_NE(judge(changed), "") << operand << " -> " << other;
    changed = log;
    changed.replace(end, 3, "0.5");
    EXPECT_NE(judge(changed), "");
    changed = log;
    changed.replace(log.find("True", end), 4, "False");
    EXPECT_NE(judge(changed), "");
    ++numChanged;
  }
  EXPECT_EQ(numChanged, 2u);
}

TEST(Replay, APairHasTwoElements) {
  std::string log = readLog();
  const std::string element = "run_and_save_rng_state[1]";
  size_t at = log.find(element);
  ASSERT_NE(at, std::string::npos);
  log.replace(at, element.size(), "run_and_save_rng_state[2]");
  EXPECT_EQ(judge(log),
            "no halves: PyTorch's own partition is not read: element 2 of a "
            "pair of random state and result");
}

} // namespace
