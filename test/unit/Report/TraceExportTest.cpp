// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces of random graphs: well-formed, in the order of time, and with the
// times and bytes of the report.

#include "RandomPlan.h"

#include "cutback/Report/StepTimeline.h"
#include "cutback/Report/TraceExport.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::test;
using llvm::StringRef;

namespace {

/// Nanoseconds of a time in microseconds.
int64_t nanoseconds(const llvm::json::Object &event, StringRef key) {
  return std::llround(event.getNumber(key).value_or(-1) * 1000);
}

class TraceExport : public RandomPlan {
protected:
  /// Plans a random graph, and parses the events of its trace.
  void trace(bool memory, StringRef title = "a title") {
    makePlan(60, /*isChain=*/false, memory);
    ASSERT_TRUE(result);
    std::string error;
    auto written = traceJson(*result, extras, title, error);
    ASSERT_TRUE(written.has_value()) << error;
    text = *written;
    EXPECT_EQ(text, *traceJson(*result, extras, title, error));
    auto parsed = llvm::json::parse(text);
    ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
    json = std::move(*parsed);
    for (const auto &event : *json.getAsObject()->getArray("traceEvents"))
      events.push_back(event.getAsObject());
  }

  std::vector<const llvm::json::Object *> of(StringRef phase,
                                             StringRef name = "") const {
    std::vector<const llvm::json::Object *> out;
    for (const llvm::json::Object *event : events)
      if (event->getString("ph") == phase &&
          (name.empty() || event->getString("name") == name))
        out.push_back(event);
    return out;
  }

  std::string text;
  llvm::json::Value json = nullptr;
  std::vector<const llvm::json::Object *> events;
};

} // namespace

TEST_P(TraceExport, launchesFollowEachOtherAndAddUpToTheReport) {
  trace(true);
  int64_t end = 0, forward = 0;
  bool isBackward = false;
  for (const llvm::json::Object *launch : of("X")) {
    EXPECT_EQ(nanoseconds(*launch, "ts"), end);
    EXPECT_GE(nanoseconds(*launch, "dur"), 0);
    end += nanoseconds(*launch, "dur");
    // The backward begins when the forward is done.
    isBackward |= launch->getInteger("tid") == 2;
    EXPECT_EQ(launch->getInteger("tid"), isBackward ? 2 : 1);
    forward += !isBackward;
  }
  EXPECT_EQ(of("X").size(), result->kernels);
  const KernelPlan &plan = *result->kernelPlan;
  EXPECT_EQ(forward, int64_t(plan.forward().kernels.size()));
  EXPECT_EQ(end, std::llround(plan.ps() / 1000));
}

TEST_P(TraceExport, theLargestCountIsThePeak) {
  for (bool memory : {true, false}) {
    events.clear();
    trace(memory);
    int64_t most = 0, last = -1;
    for (const llvm::json::Object *count : of("C", "arena bytes in use")) {
      most = std::max(
          most, count->getObject("args")->getInteger("bytes").value_or(0));
      EXPECT_GE(nanoseconds(*count, "ts"), last);
      last = nanoseconds(*count, "ts");
    }
    EXPECT_EQ(most, memory ? result->memory->lowerBound() : result->peak.bytes);
    auto peaks = of("i", "peak");
    ASSERT_EQ(peaks.size(), 1u);
    EXPECT_EQ(peaks[0]->getObject("args")->getInteger("bytes"), most);
    // In front of each launch, and at the end.
    EXPECT_EQ(of("C", "arena bytes in use").size(), of("X").size() + 1);
  }
}

TEST_P(TraceExport, countsByUseAddUp) {
  trace(true);
  auto total = of("C", "arena bytes in use"), parts = of("C", "bytes by use");
  ASSERT_EQ(total.size(), parts.size());
  for (size_t i = 0; i < total.size(); ++i) {
    int64_t sum = 0;
    for (const auto &[use, bytes] : *parts[i]->getObject("args"))
      sum += bytes.getAsInteger().value_or(-1);
    EXPECT_EQ(total[i]->getObject("args")->getInteger("bytes"), sum);
    EXPECT_EQ(nanoseconds(*total[i], "ts"), nanoseconds(*parts[i], "ts"));
  }
}

TEST_P(TraceExport, whatEndsTheStepAreGradientsAndResults) {
  trace(true);
  const auto &last = *of("C", "bytes by use").back()->getObject("args");
  int64_t gradients = 0;
  for (const LiveValue &value : StepTimeline::of(*result).values)
    if (value.kind == LiveKind::Gradient)
      gradients += value.bytes;
  EXPECT_EQ(last.getInteger("gradient"), gradients);
}

TEST_P(TraceExport, namesMayBeAnything) {
  trace(true, StringRef("\"</script>\xff\n", 13));
  EXPECT_TRUE(llvm::json::isUTF8(text));
}

INSTANTIATE_TEST_SUITE_P(Graphs, TraceExport, ::testing::Range<uint64_t>(1, 7));

TEST(TraceExportErrors, aDeviceThatIsGoneIsAnError) {
  PartitionResult result;
  result.options.device = "no-such-device";
  std::string error;
  EXPECT_FALSE(traceJson(result, {}, "title", error).has_value());
  EXPECT_NE(error.find("no-such-device"), std::string::npos) << error;
}
