// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One order of all actions and transfers, of which each rank has its part.
//
//   1. An action comes after the one before it in its row and after the
//      transfers that it uses; a transfer comes after the action that makes it,
//      and after the last action that is over when its receive can begin.
//   2. Of the actions that have nothing left to come after, that with the
//      earliest end is next, and transfers as soon as they can be.
//
// Every rank begins its transfers in this order, so let the first one in it
// that is not over be T. All before T are over, so both ranks have come to it
// in their orders; and all actions that T comes after, and what these use, are
// before it, so they are over too, or run. So T begins at both ends, and is
// over: none waits for ever. That a rank may begin something earlier than it is
// here changes nothing, as it is begun in the same order.

#include "cutback/Schedule/TransferOrder.h"

#include <algorithm>
#include <queue>
#include <tuple>

using namespace cutback::pipeline;

namespace {

class Orderer {
public:
  Orderer(const std::vector<std::vector<int64_t>> &durations,
          const std::vector<Transfer> &transfers)
      : durations(durations), transfers(transfers), rows(durations.size()),
        awaited(transfers.size(), 1) {
    size_t count = 1;
    for (size_t rank = 0; rank < rows.size(); ++rank) {
      rows[rank].places.resize(durations[rank].size());
      count += durations[rank].size();
    }
    longest = (int64_t(1) << 62) / static_cast<int64_t>(count);
    for (size_t i = 0; i < transfers.size(); ++i)
      add(static_cast<int>(i));
  }

  std::optional<std::vector<int>> run();

private:
  struct Place {
    std::vector<int> before; ///< transfers that come after the action
    int used = 0;            ///< transfers that it uses, and are not over
  };
  struct Row {
    std::vector<Place> places;
    size_t next = 0; ///< the action that is not over
    int64_t time = 0;
  };

  void add(int number);
  void start(int rank);
  void finish(int rank);

  const std::vector<std::vector<int64_t>> &durations;
  const std::vector<Transfer> &transfers;
  std::vector<Row> rows;
  int64_t longest = 0;      ///< duration, so that their sum is a time
  std::vector<int> awaited; ///< by transfer: actions that are not over
  using Ready = std::pair<int64_t, int>; ///< end, rank
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<int> order;
};

} // namespace

void Orderer::add(int number) {
  const Transfer &transfer = transfers[number];
  rows[transfer.from].places[transfer.made].before.push_back(number);
  std::vector<Place> &places = rows[transfer.to].places;
  ++places[transfer.used].used;
  if (transfer.used < 2)
    return;
  places[transfer.used - 2].before.push_back(number);
  ++awaited[number];
}

/// The next action of a rank can begin, if it uses nothing that is on its way.
void Orderer::start(int rank) {
  const Row &row = rows[rank];
  if (row.next < row.places.size() && row.places[row.next].used == 0)
    ready.emplace(row.time + std::min(durations[rank][row.next], longest),
                  rank);
}

/// The action of a rank is over; its own next one, and others, can begin.
void Orderer::finish(int rank) {
  Row &row = rows[rank];
  int64_t now = row.time;
  std::vector<int> &before = row.places[row.next++].before;
  std::sort(before.begin(), before.end());
  start(rank);
  for (int number : before) {
    if (--awaited[number] > 0)
      continue;
    order.push_back(number);
    Row &to = rows[transfers[number].to];
    auto used = static_cast<size_t>(transfers[number].used);
    if (--to.places[used].used > 0 || to.next != used)
      continue;
    to.time = std::max(to.time, now);
    start(transfers[number].to);
  }
}

std::optional<std::vector<int>> Orderer::run() {
  size_t left = 0;
  for (size_t rank = 0; rank < rows.size(); ++rank) {
    left += rows[rank].places.size();
    start(static_cast<int>(rank));
  }
  for (; !ready.empty(); --left) {
    auto [end, rank] = ready.top();
    ready.pop();
    rows[rank].time = end;
    finish(rank);
  }
  if (left > 0)
    return std::nullopt;
  return std::move(order);
}

std::optional<std::vector<int>> cutback::pipeline::orderTransfers(
    const std::vector<std::vector<int64_t>> &durations,
    const std::vector<Transfer> &transfers) {
  return Orderer(durations, transfers).run();
}
