// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message for each value, user and micro-batch, in each direction, with a tag
// of its own: nothing depends on the order in which messages come. Receives are
// posted before what is sent is needed, sends hold their block until they are
// done, so no rank waits for another one but for a value it computes with: an
// order of actions that exists does not end in a deadlock.
//
// A block that is handed over or sent to several users is one block.

#include "cutback/Runtime/Pipeline/Exchange.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::pipeline;

std::vector<Edge> pipeline::edgesOf(const Pipeline &pipeline) {
  std::vector<Edge> edges;
  for (size_t from = 0; from < pipeline.stages.size(); ++from) {
    const auto &sends = pipeline.stages[from].sends;
    for (size_t send = 0; send < sends.size(); ++send)
      for (int64_t to : sends[send].to) {
        const auto &receives = pipeline.stages[to].receives;
        auto found = std::find_if(receives.begin(), receives.end(),
                                  [&](const PipelineReceive &one) {
                                    return one.name == sends[send].name;
                                  });
        Edge edge;
        edge.from = static_cast<int>(from);
        edge.to = static_cast<int>(to);
        edge.send = static_cast<int>(send);
        edge.receive = static_cast<int>(found - receives.begin());
        edge.name = sends[send].name;
        edge.bytes = bytesOf(sends[send]);
        if (!pipeline.smaller.empty())
          edge.smallerBytes = bytesOf(pipeline.smaller[from].sends[send]);
        edge.hasGradient = found->hasGradient;
        edges.push_back(edge);
      }
  }
  return edges;
}

Exchange::Exchange(const Pipeline &pipeline, const Schedule &schedule,
                   Peers &peers, BlockCount &count, int64_t firstSmaller)
    : schedule(schedule), peers(peers), count(count),
      firstSmaller(firstSmaller), all(edgesOf(pipeline)),
      incoming(pipeline.stages.size()), outgoing(pipeline.stages.size()) {
  for (size_t i = 0; i < all.size(); ++i) {
    incoming[all[i].to].push_back(static_cast<int>(i));
    outgoing[all[i].from].push_back(static_cast<int>(i));
  }
  for (std::vector<int> &edges : incoming)
    std::sort(edges.begin(), edges.end(),
              [&](int a, int b) { return all[a].receive < all[b].receive; });
  otherTags = tagOf(static_cast<int>(all.size()), 0, 0);
  // Two a stage and parameter (Rank::addReplica), numbered from 1 on.
  usedTags = otherTags;
  auto stages = static_cast<int64_t>(pipeline.stages.size());
  for (const PipelineStage &stage : pipeline.stages)
    usedTags += 2 * stages * static_cast<int64_t>(stage.parameters.size() + 1);
  for (const Row &row : schedule.rows)
    for (size_t step = 0; step < row.size(); ++step)
      if (row[step])
        forEachPart(*row[step], [&](const Action &action) {
          steps[{action.stage, static_cast<int>(action.kind),
                 action.microBatch}] = static_cast<int>(step);
        });
}

int64_t Exchange::tagOf(int edge, int microBatch, int direction) const {
  return Transport::kFirstTag +
         (int64_t(edge) * schedule.microBatches + microBatch) * 2 + direction;
}

std::string Exchange::check() const {
  int64_t needed = usedTags, there = peers.transport.largestTag();
  return needed <= there
             ? ""
             : peers.transport.name() + " has " + std::to_string(there) +
                   " tags for messages, and these micro-batches need " +
                   std::to_string(needed);
}

int Exchange::sourceOf(int edge, Direction direction) const {
  return schedule
      .rankOfStage[direction == Value ? all[edge].from : all[edge].to];
}

int Exchange::stepOf(int edge, int microBatch, Direction direction) const {
  int stage = direction == Value ? all[edge].from : all[edge].to;
  for (ActionKind kind : {ActionKind::Forward, ActionKind::Backward,
                          ActionKind::InputGradients}) {
    if ((kind == ActionKind::Forward) != (direction == Value))
      continue;
    auto found = steps.find({stage, static_cast<int>(kind), microBatch});
    if (found != steps.end())
      return found->second;
  }
  return -1;
}

void Exchange::post(int edge, int microBatch, Direction direction) {
  int source = sourceOf(edge, direction);
  if (source == peers.transport.rank())
    return;
  auto [found, isNew] = inbox.try_emplace(Key(edge, microBatch, direction));
  if (!isNew)
    return;
  Incoming &message = found->second;
  int64_t bytes =
      microBatch < firstSmaller ? all[edge].bytes : all[edge].smallerBytes;
  message.block = Block::make(bytes, count);
  message.ticket = peers.transport.receive(
      source, tagOf(edge, microBatch, direction), message.block->data(), bytes);
}

std::string Exchange::nameOf(int edge, int microBatch,
                             Direction direction) const {
  return std::string("'") + (direction == Gradient ? kGradientPrefix : "") +
         all[edge].name + "' of micro-batch " + std::to_string(microBatch);
}

std::string Exchange::describe(int edge, int microBatch,
                               Direction direction) const {
  return nameOf(edge, microBatch, direction) + " from rank " +
         std::to_string(peers.transport.numberOf(sourceOf(edge, direction)));
}

std::string Exchange::wait(int edge, int microBatch, Direction direction) {
  post(edge, microBatch, direction);
  auto found = inbox.find(Key(edge, microBatch, direction));
  if (found == inbox.end() || !found->second.ticket)
    return "";
  std::string error =
      peers.wait(found->second.ticket, describe(edge, microBatch, direction));
  if (error.empty())
    peers.heard(sourceOf(edge, direction), stepOf(edge, microBatch, direction));
  found->second.ticket = 0;
  return error;
}

BlockRef Exchange::take(int edge, int microBatch, Direction direction,
                        std::string &error) {
  error = wait(edge, microBatch, direction);
  if (!error.empty())
    return nullptr;
  auto found = inbox.find(Key(edge, microBatch, direction));
  if (found == inbox.end()) {
    error = nameOf(edge, microBatch, direction) + " is taken before it is made";
    return nullptr;
  }
  BlockRef block = std::move(found->second.block);
  inbox.erase(found);
  return block;
}

void Exchange::give(int edge, int microBatch, Direction direction,
                    BlockRef block) {
  int to =
      schedule.rankOfStage[direction == Value ? all[edge].to : all[edge].from];
  if (to == peers.transport.rank()) {
    inbox[Key(edge, microBatch, direction)] = {std::move(block), 0};
    return;
  }
  Transport::Ticket ticket = peers.transport.send(
      to, tagOf(edge, microBatch, direction), block->data(), block->bytes());
  sent.emplace_back(ticket, std::move(block));
}

std::string Exchange::poll() {
  std::string error;
  auto isDone = [&](const auto &one) {
    return error.empty() && peers.transport.isDone(one.first, error);
  };
  sent.erase(std::remove_if(sent.begin(), sent.end(), isDone), sent.end());
  return error;
}

std::string Exchange::finish() {
  std::string error;
  for (const auto &[ticket, block] : sent)
    if (error.empty())
      error = peers.wait(ticket, "another rank to take what it is sent");
  sent.clear();
  return error;
}

Transport::Ticket Exchange::sendOther(int rank, int64_t number,
                                      BlockRef block) {
  Transport::Ticket ticket = peers.transport.send(
      rank, otherTags + number, block->data(), block->bytes());
  sent.emplace_back(ticket, std::move(block));
  return ticket;
}

Transport::Ticket Exchange::receiveOther(int rank, int64_t number,
                                         Block &block) {
  return peers.transport.receive(rank, otherTags + number, block.data(),
                                 block.bytes());
}
