// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives as messages, so that each transport has them, with one order of
// additions. A library's reduction adds in an order of its own, which may be
// another one with each size and each run.
//
// A reduction has two rounds. Rank r owns the r-th part of the elements: it
// gets that part of all ranks, reduces them in the order of the ranks, and
// sends the result to all. So each rank sends and receives twice the bytes,
// less one part, whatever their number.

#include "cutback/Runtime/Pipeline/Collectives.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Pipeline/Sums.h"

#include <algorithm>
#include <cstring>

using namespace cutback;
using namespace cutback::pipeline;

namespace {

enum Tag : int64_t { kLength = 1, kBytes, kPart, kReduced };

/// Sends and receives of one round, waited for together.
class Round {
public:
  explicit Round(Waiter &waiter) : waiter(waiter) {}

  void send(int to, int64_t tag, const char *bytes, int64_t count) {
    open.push_back({waiter.transport.send(to, tag, bytes, count),
                    "what rank " + number(to) + " takes"});
  }
  void receive(int from, int64_t tag, char *bytes, int64_t count) {
    open.push_back({waiter.transport.receive(from, tag, bytes, count),
                    "rank " + number(from)});
  }
  std::string finish() {
    std::string error;
    for (const auto &[ticket, what] : open)
      if (error.empty())
        error = waiter.wait(ticket, what);
    open.clear();
    return error;
  }

private:
  std::string number(int rank) const {
    return std::to_string(waiter.transport.numberOf(rank));
  }

  Waiter &waiter;
  std::vector<std::pair<Transport::Ticket, std::string>> open;
};

} // namespace

std::string pipeline::broadcast(Waiter &waiter, int root, char *bytes,
                                int64_t count) {
  Transport &transport = waiter.transport;
  Round round(waiter);
  if (transport.rank() != root)
    round.receive(root, kBytes, bytes, count);
  else
    for (int to = 0; to < transport.size(); ++to)
      if (to != root)
        round.send(to, kBytes, bytes, count);
  return round.finish();
}

std::string pipeline::gather(Waiter &waiter, int root, const std::string &own,
                             std::vector<std::string> &all) {
  Transport &transport = waiter.transport;
  Round round(waiter);
  auto length = static_cast<int64_t>(own.size());
  if (transport.rank() != root) {
    round.send(root, kLength, reinterpret_cast<char *>(&length), sizeof length);
    round.send(root, kBytes, own.data(), length);
    return round.finish();
  }
  int size = transport.size();
  std::vector<int64_t> lengths(size, length);
  for (int from = 0; from < size; ++from)
    if (from != root)
      round.receive(from, kLength, reinterpret_cast<char *>(&lengths[from]),
                    sizeof length);
  if (std::string error = round.finish(); !error.empty())
    return error;
  all.assign(size, own);
  for (int from = 0; from < size; ++from)
    if (from != root) {
      all[from].assign(lengths[from], '\0');
      round.receive(from, kBytes, all[from].data(), lengths[from]);
    }
  return round.finish();
}

std::string pipeline::barrier(Waiter &waiter) {
  // Who hears from rank 0 knows that it has heard from all.
  std::vector<std::string> all;
  if (std::string error = gather(waiter, 0, "", all); !error.empty())
    return error;
  char nothing = 0;
  return broadcast(waiter, 0, &nothing, 0);
}

std::string pipeline::allGather(Waiter &waiter, const char *own, int64_t count,
                                char *all) {
  Transport &transport = waiter.transport;
  Round round(waiter);
  for (int other = 0; other < transport.size(); ++other) {
    if (other != transport.rank()) {
      round.send(other, kBytes, own, count);
      round.receive(other, kBytes, all + other * count, count);
    } else if (count) {
      std::memcpy(all + other * count, own, count);
    }
  }
  return round.finish();
}

static void reduce(Reduction reduction, std::string_view dtype, char *to,
                   const char *more, int64_t count) {
  if (reduction == Reduction::Sum)
    return addTo(dtype, to, more, count);
  if (reduction == Reduction::Max)
    return maximize(dtype, to, more, count);
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<char>(to[i] | more[i]);
}

/// Bytes of each rank for each rank, one part after the other.
static std::string exchange(Waiter &waiter, const char *own,
                            const std::vector<int64_t> &sends, char *all,
                            const std::vector<int64_t> &takes) {
  Round round(waiter);
  for (int other = 0; other < waiter.transport.size(); ++other) {
    if (other != waiter.transport.rank()) {
      round.send(other, kPart, own, sends[other]);
      round.receive(other, kPart, all, takes[other]);
    } else if (sends[other]) {
      std::memcpy(all, own, sends[other]);
    }
    own += sends[other];
    all += takes[other];
  }
  return round.finish();
}

std::string pipeline::allToAll(Waiter &waiter, const char *own,
                               const std::vector<int64_t> &sends, char *all,
                               const std::vector<int64_t> &takes) {
  int rank = waiter.transport.rank();
  if (sends[rank] != takes[rank])
    return "rank " + std::to_string(waiter.transport.numberOf(rank)) +
           " sends itself " + std::to_string(sends[rank]) +
           " bytes in place of " + std::to_string(takes[rank]);
  return exchange(waiter, own, sends, all, takes);
}

/// Part r of all ranks, reduced in their order, to rank r.
static std::string reduceParts(Waiter &waiter, Reduction reduction,
                               std::string_view dtype, const char *own,
                               const std::vector<int64_t> &parts,
                               char *reduced) {
  int size = waiter.transport.size();
  int64_t count = parts[waiter.transport.rank()];
  std::string all(count * size, '\0');
  std::string error = exchange(waiter, own, parts, all.data(),
                               std::vector<int64_t>(size, count));
  if (!error.empty())
    return error;
  for (int other = 1; other < size; ++other)
    reduce(reduction, dtype, all.data(), all.data() + other * count, count);
  if (count)
    std::memcpy(reduced, all.data(), count);
  return "";
}

std::string pipeline::reduceScatter(Waiter &waiter, Reduction reduction,
                                    std::string_view dtype, const char *own,
                                    int64_t count, char *reduced) {
  std::vector<int64_t> parts(waiter.transport.size(), count);
  return reduceParts(waiter, reduction, dtype, own, parts, reduced);
}

std::string pipeline::allReduce(Waiter &waiter, Reduction reduction,
                                std::string_view dtype, char *bytes,
                                int64_t count) {
  Transport &transport = waiter.transport;
  int size = transport.size(), own = transport.rank();
  int64_t item = std::max<int64_t>(bytesOfType(dtype), 1);
  auto begin = [&](int part) { return count / item * part / size * item; };
  std::vector<int64_t> parts;
  for (int part = 0; part < size; ++part)
    parts.push_back(begin(part + 1) - begin(part));
  if (std::string error = reduceParts(waiter, reduction, dtype, bytes, parts,
                                      bytes + begin(own));
      !error.empty())
    return error;
  Round round(waiter);
  for (int other = 0; other < size; ++other)
    if (other != own) {
      round.send(other, kReduced, bytes + begin(own), parts[own]);
      round.receive(other, kReduced, bytes + begin(other), parts[other]);
    }
  return round.finish();
}
