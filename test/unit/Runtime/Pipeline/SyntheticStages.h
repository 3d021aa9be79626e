// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stages written by hand, with gradients that are known, and a run of them in
// one loop: what ranks must equal to the bit.
#ifndef CUTBACK_TEST_RUNTIME_PIPELINE_SYNTHETICSTAGES_H
#define CUTBACK_TEST_RUNTIME_PIPELINE_SYNTHETICSTAGES_H

#include "cutback/Runtime/Pipeline/Rank.h"

#include <functional>
#include <map>
#include <random>

namespace cutback::pipeline {

using Floats = std::vector<float>;
using NamedFloats = std::map<std::string, Floats>;

/// A pipeline whose stage s takes what it receives (stage 0 an input), adds it
/// up to h, and makes of each value it sends, or of its loss,
///
///   value v = (v + 1) / 2 * h * w * (1 + n)   n = buffer.n as it was
///   loss    = sum of h * w * (1 + n)          n = n / 2 + h[0] afterwards
///
/// over kRows x kColumns elements. `param.w` is that of two stages where there
/// are three or more. Values skip stages by chance.
class SyntheticStages {
public:
  static constexpr int64_t kRows = 2, kColumns = 3;
  static constexpr int64_t kSize = kRows * kColumns;

  SyntheticStages(int stages, uint64_t seed, bool hasBuffers = true);

  /// Opens phases: of stages in `splitStages` input and weight, of the others
  /// all of the backward.
  OpenPhase open(bool isSmaller = false) const;
  /// Makes micro-batches from number `count` on a row smaller.
  void addSmaller(int64_t count);
  /// Finds parameters, buffers and inputs, those for `microBatches`.
  FindTensor weights() const { return finder(&given); }
  FindTensor inputs(int microBatches);

  /// Runs micro-batches one after the other, gradients added in the order of
  /// `order[stage]`: loss.K, grad.S, buffer.S, output.0.
  NamedFloats runHere(int microBatches,
                      const std::vector<std::vector<int>> &order,
                      bool hasBackward = true) const {
    return runShare({0, microBatches, microBatches}, order, hasBackward);
  }
  /// The same of each of `replicas`, of `microBatches` each: gradients added in
  /// the order of replicas, buffers of the first.
  NamedFloats runReplicas(int replicas, int microBatches,
                          const std::vector<std::vector<int>> &order,
                          bool hasBackward = true) const;
  /// Buffers that a step has made are those that the next one begins with.
  void takeBuffers(const NamedFloats &made);
  /// The gradient of one stage's phase as a number: loss of all micro-batches
  /// with parameter `name` changed by `change` at `element`, in double.
  double lossWith(int microBatches, const std::string &name, int element,
                  double change) const;

  Pipeline pipeline;
  int64_t larger = INT64_MAX; ///< so many micro-batches have all rows
  /// Called before each phase; an error ends it.
  std::function<std::string(int stage, PipelineStage::PhaseKind kind)> before;

private:
  /// Micro-batches of a batch of `all`.
  struct Share {
    int first, count, all;
  };
  NamedFloats runShare(Share share, const std::vector<std::vector<int>> &order,
                       bool hasBackward) const;
  FindTensor finder(const NamedFloats *tensors) const;
  ArtifactTensor typeOf(const std::string &name) const;
  /// Elements of the inputs of the micro-batches before this one.
  int64_t sizeBefore(int microBatch) const;

  NamedFloats given, batch;
};

} // namespace cutback::pipeline

#endif // CUTBACK_TEST_RUNTIME_PIPELINE_SYNTHETICSTAGES_H
