// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups without a communicator of their own, which each transport would have
// to have: a message of a group is one of all ranks, with the ranks' numbers
// there. Two groups may have the same two ranks in them (a replica is all ranks
// where there is one), so collectives of each kind of group have other tags,
// and one that is late is not taken for another one's. Tickets are those of the
// transport of all.

#include "cutback/Runtime/Pipeline/GroupTransport.h"

#include <algorithm>

using namespace cutback::pipeline;

std::vector<int> RankGrid::pipelineOf(int rank) const {
  std::vector<int> ranks;
  for (int row = 0; row < rows; ++row)
    ranks.push_back(rankAt(replicaOf(rank), row, memberOf(rank)));
  return ranks;
}

std::vector<int> RankGrid::replicasOf(int rank) const {
  std::vector<int> ranks;
  for (int replica = 0; replica < replicas; ++replica)
    ranks.push_back(rankAt(replica, rowOf(rank), memberOf(rank)));
  return ranks;
}

std::vector<int> RankGrid::membersOf(int rank) const {
  std::vector<int> ranks;
  for (int member = 0; member < width; ++member)
    ranks.push_back(rankAt(replicaOf(rank), rowOf(rank), member));
  return ranks;
}

GroupTransport::GroupTransport(Transport &all, Kind kind, std::vector<int> of)
    : whole(all), kind(kind), ranks(std::move(of)) {
  own = static_cast<int>(std::find(ranks.begin(), ranks.end(), all.rank()) -
                         ranks.begin());
  this->all = static_cast<int>(ranks.size());
}

Transport::Ticket GroupTransport::send(int to, int64_t tag, const char *bytes,
                                       int64_t count) {
  return whole.send(ranks[to], tagOf(tag), bytes, count);
}

Transport::Ticket GroupTransport::receive(int from, int64_t tag, char *bytes,
                                          int64_t count) {
  return whole.receive(ranks[from], tagOf(tag), bytes, count);
}

void GroupTransport::setOrder(const std::vector<MessageGroup> &order) {
  std::vector<MessageGroup> ofAll = order;
  for (MessageGroup &one : ofAll)
    one.other = ranks[one.other];
  whole.setOrder(ofAll);
}
