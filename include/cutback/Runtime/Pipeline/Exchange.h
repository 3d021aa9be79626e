// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and their gradients between stages: sent, or handed over where both
// are of one rank.
#ifndef CUTBACK_RUNTIME_PIPELINE_EXCHANGE_H
#define CUTBACK_RUNTIME_PIPELINE_EXCHANGE_H

#include "cutback/Runtime/Pipeline/Block.h"
#include "cutback/Runtime/Pipeline/Peers.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"
#include "cutback/Schedule/Simulate.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace cutback::pipeline {

/// A value that one stage makes and another one takes.
struct Edge {
  int from = 0, to = 0;      ///< stages
  int send = 0, receive = 0; ///< numbers in their lists
  std::string name;
  /// Of a micro-batch, and of one with a row less, where there are two sizes.
  int64_t bytes = 0, smallerBytes = 0;
  bool hasGradient = false; ///< whether the user gives one
};

/// All of a pipeline: by maker, value, user.
std::vector<Edge> edgesOf(const Pipeline &pipeline);

class Exchange {
public:
  /// `Value` goes from the maker to the user, `Gradient` back.
  enum Direction { Value, Gradient };

  /// The micro-batches from number `firstSmaller` on are those of
  /// `pipeline.smaller`.
  Exchange(const Pipeline &pipeline, const Schedule &schedule, Peers &peers,
           BlockCount &count, int64_t firstSmaller = INT64_MAX);

  /// Why messages cannot be told apart, or empty.
  std::string check() const;

  const std::vector<Edge> &edges() const { return all; }
  /// Numbers of the edges of a stage: what it receives, in the order of its
  /// receives; the users of what it sends.
  const std::vector<int> &into(int stage) const { return incoming[stage]; }
  const std::vector<int> &outOf(int stage) const { return outgoing[stage]; }

  /// The messages of this rank in a step, in an order in which it can begin
  /// them one after the other, and no rank waits for ever (orderTransfers): if
  /// their receives are posted when the action before the one that takes them
  /// begins, gradients with the first action of the backward. `costs` are those
  /// of the pipeline.
  std::vector<MessageGroup> order(const Costs &costs) const;

  /// Begins to receive, unless that was begun or is a hand-over.
  void post(int edge, int microBatch, Direction direction);
  /// Whether another rank sends it, so that it is waited for.
  bool isMessage(int edge, Direction direction) const {
    return sourceOf(edge, direction) != peers.transport.rank();
  }
  /// Of a message: "'value.3' of micro-batch 1 from rank 0".
  std::string describe(int edge, int microBatch, Direction direction) const;
  /// Waits for a message. An empty string, or what went wrong.
  std::string wait(int edge, int microBatch, Direction direction);
  /// Waits for it. Null, with `error` set, if it does not come.
  BlockRef take(int edge, int microBatch, Direction direction,
                std::string &error);
  /// Sends or hands over; `block` stays as it is.
  void give(int edge, int microBatch, Direction direction, BlockRef block);
  /// Lets go of what was sent. An empty string, or what went wrong.
  std::string poll();
  /// Waits until all was sent.
  std::string finish();
  /// Sends between two ranks outside of micro-batches: messages of parameters,
  /// numbered from 0 on, and to where.
  Transport::Ticket sendOther(int rank, int64_t number, BlockRef block);
  Transport::Ticket receiveOther(int rank, int64_t number, Block &block);

private:
  using Key = std::tuple<int, int, int>; ///< edge, micro-batch, direction
  struct Incoming {
    BlockRef block;
    Transport::Ticket ticket = 0; ///< 0: it is here
  };
  std::string nameOf(int edge, int microBatch, Direction direction) const;
  int64_t tagOf(int edge, int microBatch, int direction) const;
  int sourceOf(int edge, Direction direction) const;
  /// The steps of the actions whose message this may be.
  int stepOf(int edge, int microBatch, Direction direction) const;

  const Schedule &schedule;
  Peers &peers;
  BlockCount &count;
  int64_t firstSmaller;
  std::vector<Edge> all;
  std::vector<std::vector<int>> incoming, outgoing;
  std::map<Key, Incoming> inbox;
  std::vector<std::pair<Transport::Ticket, BlockRef>> sent;
  int64_t otherTags = 0, usedTags = 0;
  /// Step of the action of (stage, kind, micro-batch) in its rank's row.
  std::map<std::tuple<int, int, int>, int> steps;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_EXCHANGE_H
