// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives in a stage: between the ranks that run its row together.
#ifndef CUTBACK_RUNTIME_PIPELINE_GROUPCOLLECTIVES_H
#define CUTBACK_RUNTIME_PIPELINE_GROUPCOLLECTIVES_H

#include "cutback/Runtime/Executor.h"
#include "cutback/Runtime/Pipeline/Transport.h"

namespace cutback::pipeline {

class GroupCollectives : public CollectiveRunner {
public:
  /// The group is called `name` in graphs; its ranks are those of the waiter's
  /// transport, which outlives this.
  GroupCollectives(std::string name, Waiter &waiter)
      : name(std::move(name)), waiter(waiter) {}

  /// Why no rank can run it, before the first one does; or empty.
  std::string check(const ArtifactCollective &what) const;

  /// Sums are those of the ranks in their order, rounded in the type; a mean is
  /// the sum divided by their number.
  std::string run(const ArtifactCollective &what, const char *from,
                  int64_t fromBytes, char *to, int64_t toBytes) override;

  /// Whether a run has failed: another rank did not come, or has stopped.
  bool hasFailed() const { return isStopped; }

private:
  std::string name;
  Waiter &waiter;
  bool isStopped = false;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_GROUPCOLLECTIVES_H
