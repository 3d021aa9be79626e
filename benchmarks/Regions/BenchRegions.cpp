// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-regions [--shape=N,N,N] [--runs=N]: what checkpoint regions cost beside
// the plan of the graph that they are in, in process CPU seconds. The graph is
// a chain of products, each with a sine and its square, in nested regions:
// 20,20,28 (the default) is 20 regions of 20 regions of 28 blocks, some 100 k
// ops with the backward and what runs again.
//
// Handled are regions when `joint.checkpoint` is dissolved, when tags are
// cleaned and random ops numbered, and when runs become copies, with the sets
// that this asks for and the numbers of the larger graph. The steps of the
// planner are called one by one on a copy. Beside them stand a partition, from
// prepare to verified, and a plan with its memory, as commands make it. Of each
// the median.

#include "../Usage.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Planner/TrainingGraph.h"
#include "cutback/Transforms/CleanTags.h"
#include "cutback/Transforms/ExpandRegions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace mlir;
using namespace cutback;

namespace {

constexpr llvm::StringLiteral kTensor = "tensor<256x256xf32>";

double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

double median(std::vector<double> list) {
  llvm::sort(list);
  return list[list.size() / 2];
}

/// Text of a forward graph.
class Chain {
public:
  std::string text(ArrayRef<unsigned> counts) {
    std::string result = write("%w", counts);
    return ("joint.graph @g(%w: " + kTensor +
            " {joint.role = #joint.role<param \"w\">}, %k: " + kTensor +
            " {joint.role = #joint.role<buffer \"k\">}) -> (tensor<f32>) "
            "gradients () {\n" +
            body + "%sum = aten.sum(" + result + ") : (" + kTensor +
            ") -> tensor<f32>\njoint.output %sum : tensor<f32>\n}")
        .str();
  }

private:
  std::string fresh() { return "%v" + std::to_string(number++); }

  std::string call(StringRef op, ArrayRef<std::string> operands) {
    std::string result = fresh();
    body += result + " = aten." + op.str() + "(" + llvm::join(operands, ", ") +
            ") : (" + kTensor.str();
    for (size_t i = 1; i < operands.size(); ++i)
      body += ", " + kTensor.str();
    body += ") -> " + kTensor.str() + "\n";
    return result;
  }

  /// What stands in one region, or in none.
  std::string write(std::string value, ArrayRef<unsigned> counts) {
    for (unsigned i = 0; i < counts.front(); ++i) {
      if (counts.size() == 1) {
        std::string sine = call("sin", {call("mm", {value, "%k"})});
        value = call("mul.Tensor", {sine, sine});
        continue;
      }
      std::string result = fresh();
      body += result + " = joint.checkpoint {\n";
      std::string inner = write(value, counts.drop_front());
      body += "joint.yield " + inner + " : " + kTensor.str() +
              "\n} : " + kTensor.str() + "\n";
      value = result;
    }
    return value;
  }

  std::string body;
  unsigned number = 0;
};

joint::GraphOp graphOf(ModuleOp module) {
  return *module.getOps<joint::GraphOp>().begin();
}

/// Seconds of dissolving the regions of a forward graph.
double timeFlatten(ModuleOp forward) {
  OwningOpRef<ModuleOp> copy = forward.clone();
  double start = cpuSeconds();
  flattenCheckpoints(graphOf(*copy));
  return cpuSeconds() - start;
}

/// Seconds of what the planner does about tags.
double timeTags(ModuleOp joint, ExpandedRegions &expanded) {
  OwningOpRef<ModuleOp> copy = joint.clone();
  joint::GraphOp graph = graphOf(*copy);
  GraphView view = GraphView::build(graph);
  double start = cpuSeconds();
  Policies policies = readPolicies(view);
  cleanTags(view, policies);
  markReplays(view);
  if (hasRegionsToExpand(view, policies)) {
    FailureOr<GraphSets> sets = GraphSets::compute(view);
    if (succeeded(sets))
      expanded = expandRegions(view, *sets, policies);
  }
  return cpuSeconds() - start;
}

/// Seconds of a partition, from prepare to verified, and of a plan as commands
/// make it, with its memory; negative if there is none.
struct PlanTimes {
  double partition = -1, plan = -1;
  uint64_t ops = 0;
};

PlanTimes timePlan(ModuleOp joint, Strategy strategy) {
  PlanTimes times;
  PartitionOptions options;
  options.strategy = strategy;
  options.figures = false;
  OwningOpRef<ModuleOp> copy = joint.clone();
  PhaseSeconds seconds;
  double start = cpuSeconds();
  auto prepared = preparePartition(graphOf(*copy), options, seconds);
  if (failed(prepared))
    return times;
  auto partition =
      partitionGraph(graphOf(*copy), options, std::move(*prepared));
  if (failed(partition) || !(*partition)->verified)
    return times;
  times.partition = cpuSeconds() - start;
  times.ops = (*partition)->ops;
  copy = joint.clone();
  options.memory.emplace();
  start = cpuSeconds();
  if (succeeded(planStep(graphOf(*copy), options)))
    times.plan = cpuSeconds() - start;
  return times;
}

int run(ArrayRef<unsigned> counts, unsigned runs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerTrainingGraph(context);
  context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  OwningOpRef<ModuleOp> forward =
      parseSourceString<ModuleOp>(Chain().text(counts), &context);
  if (!forward)
    return 1;
  OwningOpRef<ModuleOp> joint = forward->clone();
  if (failed(makeTrainingGraph(graphOf(*joint))))
    return 1;
  static constexpr std::pair<const char *, Strategy> strategies[] = {
      {"min-cut", Strategy::MinCut}, {"eager", Strategy::Eager}};
  std::vector<double> flatten, tags, partitions[2], plans[2];
  ExpandedRegions expanded;
  uint64_t ops[2];
  // By turns, so that what else the machine does strikes all alike.
  for (unsigned i = 0; i < runs; ++i) {
    flatten.push_back(timeFlatten(*forward));
    tags.push_back(timeTags(*joint, expanded));
    for (unsigned s = 0; s < 2; ++s) {
      PlanTimes times = timePlan(*joint, strategies[s].second);
      if (times.plan < 0)
        return 1;
      ops[s] = times.ops;
      partitions[s].push_back(times.partition);
      plans[s].push_back(times.plan);
    }
  }
  double regions = median(flatten) + median(tags);
  llvm::outs() << llvm::format("dissolved in %.1f ms; tags, and %llu copies, "
                               "%.1f ms\n",
                               median(flatten) * 1e3,
                               static_cast<unsigned long long>(expanded.copies),
                               median(tags) * 1e3);
  for (unsigned s = 0; s < 2; ++s) {
    double partition = median(partitions[s]), plan = median(plans[s]);
    llvm::outs() << llvm::format(
        "%-8s %llu ops: %.1f %% of a partition, %.1f ms; %.1f %% of a plan, "
        "%.1f ms\n",
        strategies[s].first, static_cast<unsigned long long>(ops[s]),
        100 * regions / partition, partition * 1e3, 100 * regions / plan,
        plan * 1e3);
  }
  return 0;
}

} // namespace

/// The numbers of "20,20,28"; none if it is no such text.
static SmallVector<unsigned> readShape(StringRef text) {
  SmallVector<unsigned> counts;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    counts.push_back(0);
    if (part.getAsInteger(10, counts.back()) || counts.back() == 0)
      return {};
  }
  return counts;
}

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "bench-regions [OPTIONS]\n"
      "what nested checkpoint regions cost beside a plan\n\n"
      "  --shape=N,...,N  regions in each region, last the blocks (20,20,28)\n"
      "  --runs=N         of which the median counts (5)";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  StringRef shape = bench::valueOf(argc, argv, "--shape").value_or("20,20,28");
  SmallVector<unsigned> counts = readShape(shape);
  if (counts.empty()) {
    llvm::errs() << "--shape=" << shape << " is not --shape=N,...,N\n";
    return 1;
  }
  StringRef times = bench::valueOf(argc, argv, "--runs").value_or("5");
  unsigned runs = 0;
  if (times.getAsInteger(10, runs) || runs == 0) {
    llvm::errs() << "--runs=" << times << " is not --runs=N, N from 1\n";
    return 1;
  }
  return run(counts, runs);
}
