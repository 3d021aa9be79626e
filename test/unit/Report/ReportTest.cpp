// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Report/PartitionFiles.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

using namespace cutback;

namespace {

/// Lines of a paragraph as one.
std::string unwrapped(const std::string &text) {
  std::string out;
  for (char c : text)
    if (c != ' ' && c != '\n')
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  return out;
}

PartitionResult exampleResult() {
  PartitionResult result;
  result.graph = "step";
  result.ops = 2587;
  result.forwardOps = 1000;
  result.backwardOps = 1700;
  for (int block = 0; block < 12; ++block) {
    SavedValue saved;
    saved.name = "addmm_" + std::to_string(block);
    saved.bytes = 36 << 20;
    saved.reason = "expensive to recompute";
    saved.location = "models.py:117 in forward";
    saved.module = "blocks." + std::to_string(block) + ".attn";
    result.saved.push_back(saved);
  }
  SavedValue argument;
  argument.name = "primals_1";
  argument.argument = true;
  argument.bytes = 5 << 20;
  argument.module = "wte";
  result.saved.push_back(argument);
  result.savedBytes = result.savedPlainBytes = result.savedStorageBytes =
      int64_t(12 * 36) << 20;
  result.argumentBytes = 5 << 20;
  result.cutValue = 1234567;
  result.networkVertices = 2000;
  result.networkArcs = 5000;
  result.solver = "auto: boykov-kolmogorov";
  result.recomputed = {"mul_1", "add_2"};
  result.recomputedByKind = {{"aten.mul", 1}, {"aten.add", 1}};
  result.opaque = {{"mylib.op.default", 3}};
  result.asDeclared = {
      {"aten.sin.default", "joint.txt:14", "aten.sin takes at most 1", 2}};
  result.peak = {
      int64_t(900) << 20, int64_t(800) << 20, "mm_12",           true,
      int64_t(400) << 20, int64_t(300) << 20, int64_t(200) << 20};
  result.modelPs = 980000000;
  result.pricedPs = 1020000000;
  result.verified = true;
  return result;
}

ReportExtras exampleExtras(const PartitionResult &result) {
  ReportExtras extras;
  extras.modules = true;
  for (const SavedValue &saved : result.saved)
    extras.items.push_back({saved.module, "addmm", saved.reason, saved.bytes});
  extras.strategies.push_back(strategyLine(result, true));
  StrategyLine none;
  none.strategy = Strategy::RecomputeAll;
  none.possible = false;
  extras.strategies.push_back(none);
  extras.symbols = {{"s34", 24}};
  extras.peakModule = "blocks.11.fc";
  return extras;
}

} // namespace

TEST(Report, textHasEveryAnswer) {
  PartitionResult result = exampleResult();
  std::string text = reportText(result, exampleExtras(result));
  for (const char *expected :
       {"step: 2,587 ops, 1,000 run forward, 1,700 backward\n",
        "plan: min-cut, cost model roofline, device h100; sizes for s34 = 24\n",
        "> min-cut", "432.0", "1.02 ms", "recompute-all", "no such plan",
        "saved for the backward: 12 values, 432.0 MiB; and 1 parameter or "
        "input\n"
        "      (5.0 MiB), in memory anyway\n",
        "  blocks.0–11  1 × 12  432.0  addmm        expensive to recompute\n",
        "recomputed  2 ops: 1 mul, 1 add\n",
        "peak        900.0 MiB in the backward, at %mm_12 (blocks.11.fc): "
        "saved 400.0 MiB\n            + gradients 300.0 MiB + temporaries "
        "200.0 MiB",
        "solver      minimum cut of a network of 2,000 vertices and 5,000 "
        "arcs, "
        "by auto:\n            boykov-kolmogorov\n",
        "unknown ops 3 mylib.op.default: saved where the backward reads them, "
        "never\n            recomputed\n",
        "as declared 2 ops taken as the file declares them: 2 "
        "aten.sin.default\n            (joint.txt:14: aten.sin takes at most "
        "1)\n",
        "verified    yes: the two halves compute what the graph computes\n"})
    EXPECT_NE(text.find(expected), std::string::npos)
        << "missing: " << expected << "\nin:\n"
        << text;
}

TEST(Report, theHeadIsWhatAUserWouldHaveWithoutUs) {
  PartitionResult result = exampleResult();
  ReportExtras extras = exampleExtras(result);
  EXPECT_EQ(reportText(result, extras).find("against "), std::string::npos)
      << "nothing to compare with";
  AutogradSaves eager;
  eager.savedBytes = int64_t(864) << 20;
  eager.peakBytes = (int64_t(900) << 20) + 1;
  extras.eager = eager;
  std::string text = unwrapped(reportText(result, extras));
  EXPECT_NE(text.find("against eager PyTorch: saved 432.0 MiB instead of 864.0 "
                      "MiB (-50 %), peak the same 900.0 MiB"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("torch.compile"), std::string::npos) << text;
  extras.isCheckpointed = true;
  extras.eager->savedBytes = int64_t(422) << 20;
  extras.eager->peakBytes.reset();
  text = unwrapped(reportText(result, extras));
  EXPECT_NE(text.find("against eager PyTorch with its checkpoints: saved 432.0 "
                      "MiB instead of 422.0 MiB (+2.4 %) strategy"),
            std::string::npos)
      << text;
  extras.torch = StrategyLine();
  extras.torch->savedBytes = int64_t(864) << 20;
  extras.torch->peakBytes = int64_t(1800) << 20;
  text = unwrapped(reportText(result, extras));
  EXPECT_NE(text.find("against torch.compile: saved 432.0 MiB instead of 864.0 "
                      "MiB (-50 %), peak 900.0 MiB instead of 1,800.0 MiB "
                      "(-50 %)"),
            std::string::npos)
      << text;
}

TEST(Report, textSaysThatNoPlanChangesThePeak) {
  PartitionResult result = exampleResult();
  ReportExtras extras = exampleExtras(result);
  DeviceFit fit;
  fit.device = "h100";
  fit.memoryBytes = int64_t(80) << 30;
  fit.residentBytes = int64_t(81) << 30;
  fit.peakBytes = fit.floorBytes = result.peak.bytes;
  extras.fit = fit;
  std::string text = unwrapped(reportText(result, extras));
  EXPECT_NE(text.find("gradients and results are the peak"), std::string::npos);
  size_t head = text.find("does not fit on h100 (80.0 GiB): needs 81.9 GiB");
  EXPECT_LT(head, text.find("saved for the backward")) << text;
  std::string json = reportJson(result, extras);
  EXPECT_NE(json.find("\"memory_bytes\":85899345920,\"fits\":false"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"floor_bytes\":943718400"), std::string::npos) << json;
}

TEST(Report, textSaysHowThePeakIsKnown) {
  PartitionResult result = exampleResult();
  ReportExtras extras = exampleExtras(result);
  EXPECT_NE(unwrapped(reportText(result, extras)).find("op by op; at"),
            std::string::npos);
  result.memoryProblem = "size of 'x' is not known";
  EXPECT_NE(unwrapped(reportText(result, extras)).find("size of 'x'"),
            std::string::npos);
  EXPECT_NE(reportJson(result, extras).find("\"not_planned\":\"size of 'x'"),
            std::string::npos);
  result.memoryProblem.clear();
  result.peak.isPlanned = true;
  result.peak.resultBytes = 64;
  std::string text = reportText(result, extras);
  EXPECT_NE(text.find("results 64 B"), std::string::npos) << text;
  EXPECT_NE(text.find("planned;"), std::string::npos) << text;
}

TEST(Report, textSaysWhatWasMinimized) {
  PartitionResult result = exampleResult();
  result.options.minimize = Minimize::Peak;
  result.bytePricePs = 0.3;
  result.search = {12, std::nullopt, true};
  std::string text = unwrapped(reportText(result, exampleExtras(result)));
  EXPECT_NE(text.find("byte price 0.3, chosen for the least peak of 12 plans;"),
            std::string::npos)
      << text;
  result.choice.recompute = {"mm_2"};
  result.search->isWhole = false;
  text = unwrapped(reportText(result, exampleExtras(result)));
  EXPECT_NE(text.find("of 12 plans, with 1 value recomputed on top (the graph "
                      "is so large that some prices of a byte were left out)"),
            std::string::npos)
      << text;
  EXPECT_NE(reportJson(result, exampleExtras(result))
                .find(R"("search":{"plans":12,"whole":false,)"
                      R"("recompute":["mm_2"]})"),
            std::string::npos);
}

TEST(Report, saysWhichMinimumCutWasPassedOver) {
  PartitionResult result = exampleResult();
  EXPECT_EQ(reportText(result, exampleExtras(result)).find("chosen "),
            std::string::npos);
  result.passedOver = {3 << 20, 2 << 20, 7'000'000, false, 0.25};
  std::string text = reportText(result, exampleExtras(result));
  EXPECT_NE(
      text.find("chosen      the peak is not above that of PyTorch's "
                "decision, 2.0 MiB; the\n            "
                "minimum cut has 3.0 MiB and 7.00 us of saving and "
                "recomputing\n            (--byte-price=0.25 takes it)\n"),
      std::string::npos)
      << text;
  std::string json = reportJson(result, exampleExtras(result));
  EXPECT_NE(
      json.find(
          R"("passed_over":{"peak_bytes":3145728,)"
          R"("torch_peak_bytes":2097152,"priced_ps":7000000,"byte_price_ps":0.25})"),
      std::string::npos)
      << json;
  result.passedOver->isByOps = true;
  text = reportText(result, exampleExtras(result));
  EXPECT_NE(text.find("the peak, op by op, is not above"), std::string::npos)
      << text;
  json = reportJson(result, exampleExtras(result));
  EXPECT_NE(json.find(R"("byte_price_ps":0.25,"by_ops":true})"),
            std::string::npos)
      << json;
}

TEST(Report, textStaysOnOneScreen) {
  PartitionResult result = exampleResult();
  result.saved.clear();
  ReportExtras extras = exampleExtras(result);
  result.savedBytes = 100 * 4990;
  for (int i = 0; i < 5000; ++i) {
    SavedValue saved;
    saved.name = "value_" + std::to_string(i);
    saved.bytes = i;
    result.saved.push_back(saved);
    extras.items.push_back({"line" + std::to_string(i / 2) + ".py:1", "mul",
                            "because", saved.bytes});
    result.recomputedByKind.push_back({"op" + std::to_string(i), 1});
  }
  std::string text = reportText(result, extras);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 55) << text;
  EXPECT_NE(text.find("… 2,488 more"), std::string::npos) << text;
  EXPECT_NE(text.find("largest single values"), std::string::npos);
  EXPECT_NE(text.find("  %value_4999"), std::string::npos);
  EXPECT_NE(unwrapped(text).find("4,994 others"), std::string::npos) << text;
}

TEST(Report, anotherPartitionStandsBesideOurs) {
  PartitionResult result = exampleResult();
  ReportExtras extras = exampleExtras(result);
  OtherPartition other;
  other.origin = "PyTorch";
  other.savedBytes = int64_t(3081) << 20;
  other.recomputed = 7;
  other.accepted = true;
  extras.other = other;
  std::string text = reportText(result, extras);
  EXPECT_NE(text.find("PyTorch's"), std::string::npos);
  EXPECT_NE(text.find("3,081.0"), std::string::npos);
  EXPECT_NE(text.find("log, verified"), std::string::npos) << text;
  extras.other->accepted = false;
  extras.other->verdict = "no such value";
  text = reportText(result, extras);
  EXPECT_NE(text.find("log, REFUSED"), std::string::npos);
  EXPECT_NE(text.find("the certificate refuses PyTorch's partition: no such "
                      "value\n"),
            std::string::npos);
}

TEST(Report, theVerdictIsNeverImplied) {
  PartitionResult result = exampleResult();
  result.verified = false;
  result.recomputed.clear();
  result.saved.clear();
  result.savedBytes = result.argumentBytes = 0;
  ReportExtras extras;
  std::string text = reportText(result, extras);
  EXPECT_NE(text.find("verified    no: the certificate was not asked\n"),
            std::string::npos);
  EXPECT_NE(text.find("recomputed  nothing\n"), std::string::npos);
  EXPECT_NE(text.find("saved for the backward: 0 values, 0 B\n"),
            std::string::npos);
}

TEST(Report, jsonHasTheKeysOfSchemaOne) {
  PartitionResult result = exampleResult();
  std::string text = reportJson(result, exampleExtras(result));
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  ASSERT_TRUE(bool(value)) << llvm::toString(value.takeError());
  llvm::json::Object &root = *value->getAsObject();
  for (const char *key : {"graph",
                          "strategy",
                          "cost_model",
                          "rules",
                          "solver",
                          "ops",
                          "forward_ops",
                          "backward_ops",
                          "saved",
                          "saved_bytes",
                          "saved_plain_bytes",
                          "saved_storage_bytes",
                          "argument_bytes",
                          "cut_value",
                          "network",
                          "recomputed",
                          "opaque",
                          "as_declared",
                          "peak",
                          "time",
                          "verified",
                          "seconds"})
    EXPECT_NE(root.get(key), nullptr) << key;
  EXPECT_EQ(root.getInteger("schema"), 1);
  EXPECT_EQ(root.getString("strategy"), "min-cut");
  EXPECT_EQ(root.getArray("saved")->size(), 13u);
  llvm::json::Object &saved = *(*root.getArray("saved"))[0].getAsObject();
  EXPECT_EQ(saved.getString("value"), "addmm_0");
  EXPECT_EQ(saved.getString("kind"), "tensor");
  EXPECT_EQ(saved.getInteger("bytes"), 36 << 20);
  EXPECT_EQ(saved.getBoolean("argument"), false);
  EXPECT_EQ(root.getObject("peak")->getString("model"), "op-by-op");
  EXPECT_EQ(root.getObject("symbols")->getInteger("s34"), 24);
  EXPECT_EQ(root.getObject("network")->getInteger("arcs"), 5000);
}

TEST(Report, jsonWithoutTimesIsThePlanAlone) {
  PartitionResult result = exampleResult();
  ReportExtras extras = exampleExtras(result);
  std::string text = planJson(result, extras, {"j", "f", "b"});
  EXPECT_EQ(text.find("seconds"), std::string::npos);
  result.seconds.solve = 7;
  EXPECT_EQ(text, planJson(result, extras, {"j", "f", "b"}));
  // As xxhsum -H2 prints it.
  EXPECT_NE(planJson(result, extras, {"", "f", "b"})
                .find(R"("joint.mlir":{"bytes":0,"xxh3_128":)"
                      R"("99aa06d3014798d86001c324468d497f"})"),
            std::string::npos);
}

TEST(Report, choicesAreSpelledAsOnTheCommandLine) {
  EXPECT_EQ(spell(Strategy::RecomputeAll), "recompute-all");
  EXPECT_EQ(spell(Strategy::Precompute), "precompute");
  EXPECT_EQ(spell(Strategy::Eager), "eager");
  EXPECT_EQ(spell(CostModel::PyTorch), "pytorch");
  EXPECT_EQ(spell(Rules::Torch2_3), "torch-2.3");
  EXPECT_EQ(spell(SavedValue::Size), "size");
  EXPECT_EQ(spell(SavedValue::Seed), "seed");
}
