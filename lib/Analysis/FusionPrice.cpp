// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A greedy model of kernel formation. Ops are visited from the last to the
// first; an op joins the earliest of the kernels that read its results, if it
// can fuse with its readers there. A kernel runs where its last op stands.
// Then every value that leaves a kernel goes to a later one, so the order
// stays one that runs, whatever else is merged. Bytes are counted at the
// border of a kernel: a value read from outside once, a value written if
// somebody outside reads it.
//
// Views belong to no kernel: whoever reads a view reads the storage under it.
//
// The extra time of a plan is the difference to the same step without its
// price: a forward that hands nothing over, and a backward without copies to
// which every value of the forward is given.

#include "cutback/Analysis/FusionPrice.h"

#include "cutback/Analysis/Roofline.h"

using namespace mlir;
using namespace cutback;
using cutback::joint::FusionKind;

namespace {

constexpr uint32_t kNoKernel = ~uint32_t(0);

struct Kernel {
  double flopsPs = 0, bytes = 0;
};

class HalfPricing {
public:
  HalfPricing(const GraphView &view, const ValueSizes &sizes,
              const Device &device, const std::vector<double> &flopsPs)
      : view(view), sizes(sizes), device(device), flopsPs(flopsPs),
        kernelOf(view.numOps(), kNoKernel), lastReader(view.numValues(), 0),
        inHalf(view.numOps(), 0), isKept(view.numValues(), 0) {}

  /// `kept`: values that somebody reads after the half has run. `isFree` says
  /// that values from outside cost nothing to read.
  double run(ArrayRef<uint32_t> ops, ArrayRef<ArrayRef<uint32_t>> kept,
             bool isFree) {
    for (uint32_t op : ops)
      inHalf[op] = 1;
    for (ArrayRef<uint32_t> list : kept)
      for (uint32_t value : list)
        isKept[sizes.storage[value]] = 1;
    for (uint32_t op : llvm::reverse(ops))
      place(op);
    for (uint32_t op : ops)
      countBytes(op, isFree);
    double total = 0;
    for (const Kernel &kernel : kernels)
      total += timeOf(kernel);
    return total;
  }
  uint64_t numKernels() const { return kernels.size(); }

  /// The kernels of `ops`, which have been run, from the first to the last.
  std::vector<FusedKernel> list(ArrayRef<uint32_t> ops) const {
    std::vector<FusedKernel> out(kernels.size());
    // Later kernels have smaller numbers: the walk was backwards.
    auto of = [&](uint32_t kernel) -> FusedKernel & {
      return out[kernels.size() - 1 - kernel];
    };
    for (uint32_t kernel = 0; kernel < kernels.size(); ++kernel)
      of(kernel).ps = timeOf(kernels[kernel]);
    for (uint32_t op : ops)
      if (kernelOf[op] != kNoKernel)
        of(kernelOf[op]).ops.push_back(op);
    return out;
  }

private:
  double timeOf(const Kernel &kernel) const {
    return std::max(kernel.flopsPs, kernel.bytes / device.bandwidth) +
           device.launchPs;
  }

  bool isHost(uint32_t op) const {
    if (view.traits[op].view || view.traits[op].literal)
      return true;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (!sizes.isScalar(r))
        return false;
    return true;
  }

  /// The op under views that computes `value`, or kNone.
  uint32_t producer(uint32_t value) const {
    uint32_t def = view.definer[sizes.storage[value]];
    return def != GraphView::kNone && inHalf[def] ? def : GraphView::kNone;
  }

  /// Looks for the earliest kernel among the readers of `value`, under views.
  /// `fuses` says whether all readers there can take the producer in.
  void findReaders(uint32_t value, const OpTraits &producer, uint32_t &earliest,
                   bool &fuses) const {
    for (uint32_t user : view.users(value)) {
      if (user == view.numOps() || !inHalf[user])
        continue;
      if (view.traits[user].view) {
        for (uint32_t r = view.resultBegin[user];
             r < view.resultBegin[user + 1]; ++r)
          findReaders(r, producer, earliest, fuses);
        continue;
      }
      uint32_t kernel = kernelOf[user];
      if (kernel == kNoKernel)
        continue;
      bool canTake = canFuse(producer, view.traits[user]);
      // Later kernels have smaller numbers: the walk is backwards.
      if (earliest == kNoKernel || kernel > earliest)
        fuses = canTake;
      else if (kernel == earliest)
        fuses &= canTake;
      if (earliest == kNoKernel || kernel > earliest)
        earliest = kernel;
    }
  }

  void place(uint32_t op) {
    if (isHost(op))
      return;
    uint32_t earliest = kNoKernel;
    bool fuses = false;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      findReaders(r, view.traits[op], earliest, fuses);
    bool joins = earliest != kNoKernel && fuses;
    kernelOf[op] = joins ? earliest : kernels.size();
    if (!joins)
      kernels.emplace_back();
    kernels[kernelOf[op]].flopsPs += flopsPs[op];
  }

  void countBytes(uint32_t op, bool isFree) {
    uint32_t kernel = kernelOf[op];
    if (kernel == kNoKernel)
      return;
    for (uint32_t value : view.operands(op)) {
      uint32_t base = sizes.storage[value], def = producer(value);
      if (def != GraphView::kNone && kernelOf[def] == kernel)
        continue;
      if ((def == GraphView::kNone && isFree) || lastReader[base] == kernel + 1)
        continue;
      lastReader[base] = kernel + 1;
      int64_t bytes = std::min(sizes.bytes[value], sizes.bytes[base]);
      // A lookup touches as much of its table as it gives.
      if (view.traits[op].fusion == FusionKind::Gather)
        bytes = std::min(bytes, sizes.bytes[view.resultBegin[op]]);
      kernels[kernel].bytes += bytes;
    }
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (isWritten(r, kernel))
        kernels[kernel].bytes += sizes.bytes[r];
  }

  bool isWritten(uint32_t value, uint32_t kernel) const {
    if (isKept[value])
      return true;
    for (uint32_t user : view.users(value)) {
      if (user == view.numOps() || !inHalf[user])
        continue;
      if (view.traits[user].view) {
        for (uint32_t r = view.resultBegin[user];
             r < view.resultBegin[user + 1]; ++r)
          if (isWritten(r, kernel))
            return true;
      } else if (kernelOf[user] != kernel) {
        return true;
      }
    }
    return false;
  }

  const GraphView &view;
  const ValueSizes &sizes;
  const Device &device;
  const std::vector<double> &flopsPs;
  std::vector<uint32_t> kernelOf, lastReader;
  std::vector<uint8_t> inHalf, isKept;
  std::vector<Kernel> kernels;
};

} // namespace

FusedTime cutback::priceFused(const GraphView &view, const ValueSizes &sizes,
                              const Device &device,
                              const std::vector<double> &flopsPs,
                              const Halves &halves) {
  auto price = [&](ArrayRef<uint32_t> ops, ArrayRef<ArrayRef<uint32_t>> kept,
                   bool isFree, uint64_t *kernels) {
    HalfPricing half(view, sizes, device, flopsPs);
    double ps = half.run(ops, kept, isFree);
    if (kernels)
      *kernels = half.numKernels();
    return ps;
  };
  FusedTime time;
  time.forwardPs =
      price(halves.forwardOps, {view.forwardResults(), halves.savedTensors},
            false, &time.forwardKernels);
  time.backwardPs = price(halves.backwardOps, {view.gradients()}, false,
                          &time.backwardKernels);
  // Without copies, and with whatever the forward computed for nothing. X is
  // where the plan has it, so it cancels out.
  std::vector<uint8_t> isCopy(view.numOps(), 0);
  for (uint32_t op : halves.recomputed)
    isCopy[op] = 1;
  std::vector<uint32_t> backward;
  for (uint32_t op : halves.backwardOps)
    if (!isCopy[op])
      backward.push_back(op);
  double ideal =
      price(halves.forwardOps, {view.forwardResults()}, false, nullptr) +
      price(backward, {view.gradients()}, true, nullptr);
  time.extraPs = time.forwardPs + time.backwardPs - ideal;
  return time;
}

FusedKernels cutback::listKernels(const GraphView &view,
                                  const ValueSizes &sizes, const Device &device,
                                  const std::vector<double> &flopsPs,
                                  const Halves &halves) {
  auto list = [&](ArrayRef<uint32_t> ops, ArrayRef<ArrayRef<uint32_t>> kept) {
    HalfPricing half(view, sizes, device, flopsPs);
    half.run(ops, kept, false);
    return half.list(ops);
  };
  return {list(halves.forwardOps, {view.forwardResults(), halves.savedTensors}),
          list(halves.backwardOps, {view.gradients()})};
}

double cutback::priceBackward(const GraphView &view, const ValueSizes &sizes,
                              const Device &device,
                              const std::vector<double> &flopsPs,
                              const Halves &halves) {
  return HalfPricing(view, sizes, device, flopsPs)
      .run(halves.backwardOps, {view.gradients()}, false);
}
