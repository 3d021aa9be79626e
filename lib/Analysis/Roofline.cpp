// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices every op and every value, each as if it stood alone:
//
//   * an op costs max(FLOPs / rate, bytes / bandwidth) + one launch;
//   * keeping a value costs reading it in the backward, and writing it in the
//     forward unless it is written anyway;
//   * views are free to recompute and never kept: their base is; literals
//     (undefined contents, one number everywhere) likewise, without a base.
//
// What fusion makes of that, as far as no plan is needed to know it, is put in
// by refineByKernels (Kernels/NetworkTerms.h).

#include "cutback/Analysis/Roofline.h"

#include "cutback/Support/MLIR/OpAccess.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

bool cutback::canFuse(const OpTraits &producer, const OpTraits &consumer) {
  switch (producer.fusion) {
  case FusionKind::View:
    return consumer.fusion != FusionKind::Never;
  case FusionKind::Pointwise:
  case FusionKind::Create:
  case FusionKind::Gather:
    return consumer.fusion == FusionKind::Pointwise ||
           consumer.fusion == FusionKind::Reduction ||
           consumer.fusion == FusionKind::View ||
           consumer.fusion == FusionKind::Concat;
  case FusionKind::Reduction:
    return consumer.fusion == FusionKind::Pointwise ||
           consumer.fusion == FusionKind::View;
  case FusionKind::Concat:
  case FusionKind::Never:
    return false;
  }
  return false;
}

std::vector<uint8_t> cutback::computeMaterialized(const GraphView &view,
                                                  const GraphSets &sets) {
  std::vector<uint8_t> materialized(view.numValues(), 0);
  // From the last op to the first: a view that must be in memory says so of
  // the value it looks at.
  for (uint32_t v = view.numValues(); v-- > 0;) {
    if (view.isArg(v)) {
      materialized[v] = 1;
      continue;
    }
    const OpTraits &producer = view.traits[view.definer[v]];
    for (uint32_t user : view.users(v)) {
      if (user == view.numOps() || !canFuse(producer, view.traits[user])) {
        materialized[v] = 1;
        break;
      }
      if (view.traits[user].view && sets.ops[user] == GraphSet::Forward) {
        uint32_t first = view.resultBegin[user];
        for (uint32_t r = first; r < view.resultBegin[user + 1]; ++r)
          materialized[v] |= materialized[r];
      }
    }
  }
  return materialized;
}

bool cutback::outlivesStep(RoleAttr role) {
  return role.getKind() == RoleKind::Param ||
         role.getKind() == RoleKind::Buffer ||
         role.getKind() == RoleKind::Constant;
}

namespace {

class Pricing {
public:
  Pricing(const GraphView &view, const ValueSizes &sizes, const Device &device)
      : view(view), sizes(sizes), device(device) {}

  /// `compute` is what computePs gives.
  int64_t recompute(uint32_t op, double compute) const {
    const OpTraits &traits = view.traits[op];
    if (traits.ordered || !traits.recomputable)
      return RooflineCosts::kNever;
    if (traits.view || traits.literal)
      return 0;
    bool isScalar = true;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      isScalar &= sizes.isScalar(r);
    if (isScalar && view.numResults(op))
      return 0; // the host computes sizes
    return round(std::max(compute, trafficPs(op)) + device.launchPs);
  }

  double computePs(uint32_t op);
  double bytesPs(double bytes) const { return bytes / device.bandwidth; }
  static int64_t round(double ps) {
    return static_cast<int64_t>(std::min(std::ceil(ps), 1e15));
  }

private:
  double flopsOf(uint32_t op, bool &onMatrixUnits) {
    shapes.clear();
    auto addShape = [&](uint32_t value) {
      auto shaped = dyn_cast<RankedTensorType>(sizes.type[value]);
      shapes.push_back(shaped ? shaped.getShape() : ArrayRef<int64_t>());
    };
    for (uint32_t value : view.operands(op))
      addShape(value);
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      addShape(r);
    const CostModelOpInterface::Concept *how = models.of(view.ops[op]);
    if (!how)
      return resultElements(op);
    CostModelOpInterface model(view.ops[op], how);
    onMatrixUnits = model.usesMatrixUnits();
    return model.getFlops(shapes);
  }

  double resultElements(uint32_t op) const {
    double elements = 0;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (auto type = dyn_cast<RankedTensorType>(sizes.type[r]);
          type && type.hasStaticShape())
        elements += static_cast<double>(type.getNumElements());
    return elements;
  }

  Type elementType(uint32_t op) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      if (auto type = dyn_cast<RankedTensorType>(sizes.type[r]))
        return type.getElementType();
    return Float32Type::get(view.ops[op]->getContext());
  }

  double trafficPs(uint32_t op) const {
    double written = 0, read = 0;
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      written += static_cast<double>(sizes.bytes[r]);
    bool gathers = view.traits[op].fusion == FusionKind::Gather;
    for (uint32_t value : view.operands(op)) {
      double bytes = static_cast<double>(sizes.bytes[value]);
      // A lookup touches as much of its table as it gives.
      read += gathers ? std::min(bytes, written) : bytes;
    }
    return (read + written) / device.bandwidth;
  }

  const GraphView &view;
  const ValueSizes &sizes;
  const Device &device;
  SmallVector<ArrayRef<int64_t>> shapes;
  ConceptTable<CostModelOpInterface> models;
  // Most ops have the element type of the one before them.
  Type ratedType;
  double matrixRate = 0, vectorRate = 0;
};

double Pricing::computePs(uint32_t op) {
  bool onMatrixUnits = false;
  double flops = flopsOf(op, onMatrixUnits);
  if (flops <= 0)
    return 0;
  if (Type type = elementType(op); type != ratedType) {
    ratedType = type;
    matrixRate = device.matrix.of(type);
    vectorRate = device.vector.of(type);
  }
  return flops / (onMatrixUnits ? matrixRate : vectorRate);
}

} // namespace

static std::vector<double> flopsOf(const GraphView &view, Pricing &pricing) {
  std::vector<double> flopsPs(view.numOps());
  for (uint32_t op = 0; op < view.numOps(); ++op)
    flopsPs[op] = pricing.computePs(op);
  return flopsPs;
}

std::vector<double> cutback::computeFlopsPs(const GraphView &view,
                                            const ValueSizes &sizes,
                                            const Device &device) {
  Pricing pricing(view, sizes, device);
  return flopsOf(view, pricing);
}

RooflineCosts RooflineCosts::compute(const GraphView &view,
                                     const GraphSets &sets,
                                     const ValueSizes &sizes,
                                     const Device &device) {
  Pricing pricing(view, sizes, device);
  RooflineCosts costs;
  costs.flopsPs = flopsOf(view, pricing);
  costs.recomputePs.resize(view.numOps(), kNever);
  for (uint32_t op = 0; op < view.numOps(); ++op)
    if (sets.ops[op] != GraphSet::Backward)
      costs.recomputePs[op] = pricing.recompute(op, costs.flopsPs[op]);
  costs.savePs.resize(view.numValues(), kNever);
  costs.saveBytes.resize(view.numValues(), 0);
  std::vector<uint8_t> materialized = computeMaterialized(view, sets);
  GraphOp graph = view.graph;
  for (uint32_t v = 0; v < view.numValues(); ++v) {
    if (sets.values[v] == GraphSet::Backward)
      continue;
    if (view.isArg(v)) {
      bool free = outlivesStep(graph.getRole(v)) || sizes.isScalar(v);
      costs.saveBytes[v] = free ? 0 : sizes.bytes[v];
      costs.savePs[v] =
          free ? 0 : Pricing::round(pricing.bytesPs(sizes.bytes[v]));
      continue;
    }
    if (sizes.isScalar(v)) {
      costs.savePs[v] = 1;
      continue;
    }
    if (sizes.kind[v] != ValueKind::Tensor || sizes.storage[v] != v ||
        view.traits[view.definer[v]].literal)
      continue;
    costs.saveBytes[v] = sizes.bytes[v];
    costs.savePs[v] = Pricing::round((materialized[v] ? 1 : 2) *
                                     pricing.bytesPs(sizes.bytes[v]));
  }
  return costs;
}
