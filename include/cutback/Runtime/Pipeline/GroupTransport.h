// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some of the ranks, numbered from 0 on: a replica of a pipeline, the ranks
// that have the same stages.
#ifndef CUTBACK_RUNTIME_PIPELINE_GROUPTRANSPORT_H
#define CUTBACK_RUNTIME_PIPELINE_GROUPTRANSPORT_H

#include "cutback/Runtime/Pipeline/Transport.h"

#include <vector>

namespace cutback::pipeline {

/// Where each of all ranks is. Ranks of a replica are consecutive, and in it
/// those that run one row of the schedule together (`width`).
struct RankGrid {
  int replicas = 1;
  int rows = 1;  ///< of the schedule: ranks of a pipeline
  int width = 1; ///< ranks that share a row

  int size() const { return replicas * rows * width; }
  int replicaOf(int rank) const { return rank / (rows * width); }
  int rowOf(int rank) const { return rank / width % rows; }
  int memberOf(int rank) const { return rank % width; }
  int rankAt(int replica, int row, int member) const {
    return (replica * rows + row) * width + member;
  }
  /// The ranks that run a pipeline with this one, by row; those that have the
  /// same stages in other replicas, by replica; those that share its row.
  std::vector<int> pipelineOf(int rank) const;
  std::vector<int> replicasOf(int rank) const;
  std::vector<int> membersOf(int rank) const;
};

/// Messages between ranks of a group that use the transport of all.
class GroupTransport : public Transport {
public:
  /// Whose tags it has. A rank is in one group of a kind at most; tags from
  /// kFirstTag on are those of pipelines.
  enum Kind : int64_t { Pipeline = 1, Replicas, Members };

  /// `ranks`: numbers in `all`, this one's among them. `all` outlives it.
  GroupTransport(Transport &all, Kind kind, std::vector<int> ranks);

  int localRank() const override { return whole.localRank(); }
  int numberOf(int rank) const override { return whole.numberOf(ranks[rank]); }
  std::string name() const override { return whole.name(); }
  int64_t largestTag() const override { return whole.largestTag(); }
  Ticket send(int to, int64_t tag, const char *bytes, int64_t count) override;
  Ticket receive(int from, int64_t tag, char *bytes, int64_t count) override;
  bool isDone(Ticket ticket, std::string &error) override {
    return whole.isDone(ticket, error);
  }
  /// Of one group of a rank, whose messages have tags from kFirstTag on.
  bool isOrdered() const override { return whole.isOrdered(); }
  void setOrder(const std::vector<MessageGroup> &order) override;
  void pause(unsigned rounds) override { whole.pause(rounds); }
  void abort(int code) override { whole.abort(code); }

private:
  int64_t tagOf(int64_t tag) const {
    return tag < kFirstTag ? tag + kind * kOwnTags : tag;
  }

  Transport &whole;
  Kind kind;
  std::vector<int> ranks;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_GROUPTRANSPORT_H
