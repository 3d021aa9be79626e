// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clock-table GOLDEN [--only=NAME] [--all] [--details]: for each graph of plan
// of the unpacked reference data, and each corner of its front of time and
// bytes (PriceSweep.h), the extra time by the terms of the network beside that
// of the kernels of the same plan, as a Markdown table. Where they differ by
// more than a tenth of the larger, the kernels that cause most of it: how much
// more time they take than the network's terms of the copies in them, and of
// the saved values that they write or are the first to read. Over all kernels
// these differences add up to that of the plan.
//
//   --all      small, bench and the corpus too
//   --details  ten kernels of every corner
//
// Exit code 1 if a plan fails. The number of misses stands in the last line.

#include "../Usage.h"

#include "Pareto.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/PriceSweep.h"
#include "cutback/Planner/TrainingGraph.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::bench;

namespace {

/// Kernels that differ by their block of the model alone.
struct Cause {
  std::string label;
  unsigned kernels = 0;
  double kernelPs = 0, networkPs = 0;
  double gap() const { return kernelPs - networkPs; }
};

/// Which kernels a plan's time is in, and which terms of the network are
/// theirs.
class Causes {
public:
  Causes(const PartitionResult &result, const Device &device)
      : result(result), view(result.view), costs(*result.costs),
        device(device) {}

  /// The largest differences first.
  std::vector<Cause> find() {
    KernelPlanner planner(*result.kernelProblem, view, *result.sizes, device,
                          costs.flopsPs);
    KernelPlan plan = planner.planApart(result.halves);
    KernelPlan bare = planner.planWithoutPrice(result.halves, plan);
    addTimes(plan.forward(), bare.forward(), "forward");
    addTimes(plan.backward(), bare.backward(), "backward");
    addCopies(plan.backward());
    addSaved(plan, bare);
    llvm::stable_sort(causes, [](const Cause &a, const Cause &b) {
      return std::abs(a.gap()) > std::abs(b.gap());
    });
    return std::move(causes);
  }

private:
  static constexpr uint32_t kNone = SegmentKernels::kNone;

  Cause &of(const SegmentKernels &segment, uint32_t kernel, const char *half) {
    Operation *op = view.ops[segment.kernels[kernel].anchor()];
    std::string label = std::string(half) + " " + shortOpName(op);
    if (std::string line = lineText(op->getLoc()); !line.empty())
      label += " (" + line + ")";
    auto [it, isNew] = byLabel.try_emplace(label, causes.size());
    if (isNew)
      causes.push_back({label});
    return causes[it->second];
  }

  /// What a kernel takes, less what those took that its ops were in.
  void addTimes(const SegmentKernels &now, const SegmentKernels &bare,
                const char *half) {
    for (uint32_t k = 0; k < now.kernels.size(); ++k) {
      Cause &cause = of(now, k, half);
      ++cause.kernels;
      cause.kernelPs += now.kernels[k].ps;
    }
    for (const Kernel &kernel : bare.kernels)
      of(now, now.kernelOf[kernel.anchor()], half).kernelPs -= kernel.ps;
  }

  void addCopies(const SegmentKernels &backward) {
    std::vector<uint8_t> isCopy(view.numOps(), 0);
    for (uint32_t op : result.halves.recomputed)
      isCopy[op] = result.sets->ops[op] == GraphSet::Forward;
    for (uint32_t op : result.halves.recomputed)
      if (int64_t ps = costs.recomputePs[op];
          ps > 0 && result.sets->ops[op] == GraphSet::Forward &&
          backward.kernelOf[op] != kNone)
        of(backward, backward.kernelOf[op], "backward").networkPs += ps;
    for (const RooflineCosts::CopyRead &read : costs.copyReads)
      if (isCopy[read.op] && !isCopy[view.definer[read.value]] &&
          backward.kernelOf[read.op] != kNone)
        of(backward, backward.kernelOf[read.op], "backward").networkPs +=
            static_cast<double>(read.ps);
  }

  void addSaved(const KernelPlan &plan, const KernelPlan &bare) {
    std::vector<uint8_t> isCounted(view.numValues(), 0);
    for (uint32_t value : result.halves.savedTensors) {
      uint32_t root = result.kernelProblem->root[value];
      if (isCounted[root] || costs.savePs[root] <= 0)
        continue;
      isCounted[root] = 1;
      double read = static_cast<double>(costs.savePs[root]);
      if (uint32_t def = view.definer[root];
          def != kNone && plan.forward().kernelOf[def] != kNone &&
          !isWritten(bare.forward(), root)) {
        double written = costs.saveBytes[root] / device.bandwidth;
        of(plan.forward(), plan.forward().kernelOf[def], "forward").networkPs +=
            written;
        read -= written;
      }
      std::vector<uint32_t> readers = readersOf(plan.backward(), root);
      for (uint32_t reader : readers)
        of(plan.backward(), reader, "backward").networkPs +=
            read / static_cast<double>(readers.size());
    }
  }

  bool isWritten(const SegmentKernels &forward, uint32_t root) const {
    uint32_t own = forward.kernelOf[view.definer[root]];
    return llvm::any_of(readersOf(forward, root),
                        [&](uint32_t kernel) { return kernel != own; });
  }

  std::vector<uint32_t> readersOf(const SegmentKernels &segment,
                                  uint32_t root) const {
    std::vector<uint32_t> kernels;
    for (uint32_t read : result.kernelProblem->readersOf(root))
      if (uint32_t kernel =
              segment.kernelOf[result.kernelProblem->reads[read].op];
          kernel != kNone)
        kernels.push_back(kernel);
    llvm::sort(kernels);
    kernels.erase(llvm::unique(kernels), kernels.end());
    return kernels;
  }

  const PartitionResult &result;
  const GraphView &view;
  const RooflineCosts &costs;
  const Device &device;
  std::vector<Cause> causes;
  llvm::StringMap<size_t> byLabel;
};

class Table {
public:
  explicit Table(bool inDetail) : inDetail(inDetail) {}

  /// False if a plan fails.
  bool add(const ParetoCase &which) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerTrainingGraph(context);
    FailureOr<ImportedModule> imported = readInput(which.text, context);
    if (failed(imported) || !imported->graph ||
        failed(makeTrainingGraph(imported->graph)))
      return false;
    PartitionOptions options;
    options.symbols = which.symbols;
    options.decompose = true;
    options.emit = options.verify = false;
    PhaseSeconds seconds;
    auto prepared = preparePartition(imported->graph, options, seconds);
    if (failed(prepared))
      return false;
    auto front = sweepBytePrice(imported->graph, options);
    if (failed(front))
      return false;
    PreparedGraph known = std::move(*prepared);
    for (const PricePoint &point : front->corners) {
      options.bytePrice = point.bytePricePs;
      auto result = partitionGraph(imported->graph, options, std::move(known));
      if (failed(result))
        return false;
      print(which.name, **result);
      known = takePrepared(**result);
    }
    return true;
  }

  unsigned corners = 0, misses = 0;

private:
  void print(llvm::StringRef name, const PartitionResult &result) {
    double network = static_cast<double>(result.modelPs);
    double kernels = static_cast<double>(result.pricedPs);
    double larger = std::max(network, kernels);
    double off = larger > 0 ? std::abs(network - kernels) / larger : 0;
    bool isMiss = off > 0.1;
    ++corners;
    misses += isMiss;
    llvm::outs() << "| " << name
                 << llvm::format(" | %.4g | %.2f | %.2f | %.2f | %.1f %% | ",
                                 result.bytePricePs,
                                 result.savedBytes / 1048576.0, network * 1e-6,
                                 kernels * 1e-6, 100 * off);
    if (isMiss || inDetail)
      printCauses(result, inDetail ? 10 : 2);
    llvm::outs() << " |\n";
    llvm::outs().flush();
  }

  static void printCauses(const PartitionResult &result, size_t count) {
    Device device;
    std::string error;
    if (!Device::load(result.options.device, device, error))
      return;
    std::vector<Cause> causes = Causes(result, device).find();
    const char *separator = "";
    for (const Cause &cause :
         llvm::ArrayRef(causes).take_front(std::min(count, causes.size()))) {
      llvm::outs() << separator << cause.kernels << " × " << cause.label
                   << llvm::format(": %.2f by %.2f", cause.kernelPs * 1e-6,
                                   cause.networkPs * 1e-6);
      separator = "; ";
    }
  }

  bool inDetail;
};

} // namespace

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "clock-table GOLDEN [--only=NAME] [--all] [--details]\n"
      "extra time by network and by kernels at the corners of the front, of "
      "the graphs in the folder GOLDEN";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  std::string folder, only;
  bool isAll = false, inDetail = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--only="))
      only = argument.str();
    else if (argument == "--all")
      isAll = true;
    else if (argument == "--details")
      inDetail = true;
    else
      folder = argument.str();
  }
  if (folder.empty()) {
    llvm::errs() << "usage: " << usage << "\n";
    return 2;
  }
  llvm::outs() << "| graph | byte price | saved, MiB | network, µs | kernels, "
                  "µs | off | kernels × kind: µs by kernels, by network |\n"
                  "|---|--:|--:|--:|--:|--:|---|\n";
  Table table(inDetail);
  bool ok = true;
  for (const ParetoCase &which : findParetoCases(folder)) {
    bool isChosen =
        only.empty() ? isAll || llvm::StringRef(which.text).contains("/plan/")
                     : which.name == only;
    if (isChosen && !table.add(which)) {
      llvm::errs() << which.name << ": no plans\n";
      ok = false;
    }
  }
  llvm::outs() << "\n"
               << table.corners << " corners, " << table.misses
               << " off by more than a tenth\n";
  return ok ? 0 : 1;
}
