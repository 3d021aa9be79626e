// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank gives messages when its row comes to them; they begin when all that is
// before them in the order has begun, those of a group together. Nothing here
// waits: an order of Exchange::order() comes to an end because what a rank
// waits for in its row has begun before (TransferOrder.cpp).
//
// The order is that of each step: after the last group the first one follows.
// No rank begins a step before its messages of the last one are done, so no
// message is taken for that of another step.
//
// Linear in messages, but for look-ups by tag.

#include "cutback/Runtime/Pipeline/OrderedTransport.h"

#include <algorithm>

using namespace cutback::pipeline;

Wire::~Wire() = default;

OrderedTransport::OrderedTransport(Transport &base, std::unique_ptr<Wire> wire)
    : base(base), wire(std::move(wire)) {
  own = base.rank();
  all = base.size();
}

OrderedTransport::~OrderedTransport() = default;

std::string OrderedTransport::name() const {
  return wire->name() + " beside " + base.name();
}

void OrderedTransport::setOrder(const std::vector<MessageGroup> &order) {
  groups = order;
  next = 0;
  isConnected = false;
  given.clear();
  for (const MessageGroup &group : groups)
    for (int64_t tag : group.tags)
      given[tag];
}

Transport::Ticket OrderedTransport::keep(Ticket ofBase) {
  pending[++last].ofBase = ofBase;
  return last;
}

Transport::Ticket OrderedTransport::give(int64_t tag, char *bytes,
                                         int64_t count) {
  Ticket ticket = keep(0);
  given[tag].push_back({ticket, {bytes, count}});
  if (!isConnected)
    connect();
  beginAll();
  return ticket;
}

Transport::Ticket OrderedTransport::send(int to, int64_t tag, const char *bytes,
                                         int64_t count) {
  return given.count(tag) ? give(tag, const_cast<char *>(bytes), count)
                          : keep(base.send(to, tag, bytes, count));
}

Transport::Ticket OrderedTransport::receive(int from, int64_t tag, char *bytes,
                                            int64_t count) {
  return given.count(tag) ? give(tag, bytes, count)
                          : keep(base.receive(from, tag, bytes, count));
}

/// When a rank has its first message, which it has before it waits for any.
void OrderedTransport::connect() {
  std::map<std::pair<int, bool>, Wire::Direction> directions;
  for (const MessageGroup &group : groups)
    directions[{group.other, group.isSend}] = {group.other, group.isSend};
  std::vector<Wire::Direction> all;
  for (const auto &[key, direction] : directions)
    all.push_back(direction);
  problem = wire->connect(all);
  isConnected = true;
}

/// Begins the groups whose turn it is, up to the first one that is not given.
void OrderedTransport::beginAll() {
  while (true) {
    const MessageGroup &group = groups[next];
    if (std::any_of(group.tags.begin(), group.tags.end(),
                    [&](int64_t tag) { return given[tag].empty(); }))
      return;
    auto begun = std::make_shared<Begun>();
    std::vector<Wire::Message> messages;
    for (int64_t tag : group.tags) {
      messages.push_back(given[tag].front().message);
      pending[given[tag].front().ticket].begun = begun;
      given[tag].pop_front();
    }
    begun->error = problem;
    if (problem.empty())
      begun->ticket =
          wire->begin(group.other, group.isSend, messages, begun->error);
    next = (next + 1) % groups.size();
  }
}

bool OrderedTransport::isDone(Ticket ticket, std::string &error) {
  auto found = pending.find(ticket);
  if (found == pending.end())
    return true;
  Pending &one = found->second;
  bool isDone = false;
  if (one.ofBase) {
    isDone = base.isDone(one.ofBase, error);
  } else if (!problem.empty()) {
    error = problem;
  } else if (Begun *begun = one.begun.get()) {
    if (!begun->isDone && begun->error.empty())
      begun->isDone = wire->isDone(begun->ticket, begun->error);
    isDone = begun->isDone;
    error = begun->error;
  }
  if (!isDone && error.empty())
    return false;
  pending.erase(found);
  return error.empty();
}

void OrderedTransport::abort(int code) {
  wire->abort();
  base.abort(code);
}
