// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A queue of messages for each (sender, receiver, tag), under one lock. A
// message is a copy: the receiver takes it out of the queue and copies it to
// its own memory, so no thread writes to memory of another one, and a rank
// that ends in an error may free what it was to receive into.
//
// For tests a send may be done as late as an MPI's may be, and messages may be
// late: an order that needs a send to be done at once, or one message to come
// before another one, is found out.

#include "cutback/Runtime/Pipeline/ThreadTransport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

using namespace cutback::pipeline;
using Clock = std::chrono::steady_clock;

namespace {

struct Message {
  std::string bytes;
  Clock::time_point arrives;
  std::shared_ptr<std::atomic<bool>> isTaken;
};
using Queue = std::deque<Message>;

} // namespace

struct ThreadRanks::State {
  State(int size, const Options &options)
      : size(size), options(options), hasLeft(size), random(options.seed) {}

  const int size;
  const Options options;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::tuple<int, int, int64_t>, Queue> queues; ///< from, to, tag
  std::vector<bool> hasLeft;
  std::mt19937_64 random;
  int abortedBy = -1;
};

namespace {

class ThreadTransport : public Transport {
public:
  ThreadTransport(ThreadRanks::State &state, int rank) : state(state) {
    own = rank;
    all = state.size;
  }

  std::string name() const override { return "threads"; }
  int64_t largestTag() const override { return INT64_MAX; }
  Ticket send(int to, int64_t tag, const char *bytes, int64_t count) override;
  Ticket receive(int from, int64_t tag, char *bytes, int64_t count) override;
  bool isDone(Ticket ticket, std::string &error) override;
  void pause(unsigned rounds) override;
  void abort(int code) override;

private:
  struct Pending {
    int other = 0;
    int64_t tag = 0;    ///< of a receive
    char *to = nullptr; ///< of a receive
    int64_t count = 0;
    std::shared_ptr<std::atomic<bool>> isTaken; ///< of a send
    bool isReceived = false;
    std::string error;
  };
  void take(Pending &pending);

  ThreadRanks::State &state;
  std::map<Ticket, Pending> pending;
  Ticket last = 0;
};

} // namespace

Transport::Ticket ThreadTransport::send(int to, int64_t tag, const char *bytes,
                                        int64_t count) {
  auto isTaken = std::make_shared<std::atomic<bool>>(false);
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    Queue &queue = state.queues[{own, to, tag}];
    Clock::time_point arrives = Clock::now();
    if (state.options.delayMicroseconds)
      arrives += std::chrono::microseconds(state.random() %
                                           state.options.delayMicroseconds);
    if (!queue.empty()) // no message overtakes another one
      arrives = std::max(arrives, queue.back().arrives);
    queue.push_back({std::string(bytes, count), arrives, isTaken});
  }
  state.changed.notify_all();
  Pending &sent = pending[++last];
  sent.other = to;
  sent.isTaken = isTaken;
  return last;
}

Transport::Ticket ThreadTransport::receive(int from, int64_t tag, char *bytes,
                                           int64_t count) {
  Pending &wanted = pending[++last];
  wanted.other = from;
  wanted.tag = tag;
  wanted.to = bytes;
  wanted.count = count;
  return last;
}

/// Takes the message of a receive, if it has arrived. Under the lock.
void ThreadTransport::take(Pending &pending) {
  auto found = state.queues.find({pending.other, own, pending.tag});
  if (pending.isTaken || pending.isReceived || found == state.queues.end() ||
      found->second.front().arrives > Clock::now())
    return;
  Message message = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty())
    state.queues.erase(found);
  *message.isTaken = true;
  pending.isReceived = true;
  state.changed.notify_all();
  if (static_cast<int64_t>(message.bytes.size()) != pending.count)
    pending.error = "rank " + std::to_string(pending.other) + " sent " +
                    std::to_string(message.bytes.size()) +
                    " bytes in place of " + std::to_string(pending.count);
  else if (pending.count)
    std::memcpy(pending.to, message.bytes.data(), pending.count);
}

bool ThreadTransport::isDone(Ticket ticket, std::string &error) {
  auto found = pending.find(ticket);
  if (found == pending.end())
    return true;
  Pending &one = found->second;
  std::lock_guard<std::mutex> lock(state.mutex);
  // As in an MPI, whoever asks for one thing gets on with all.
  for (auto &[other, waiting] : pending)
    take(waiting);
  bool isDone = one.isTaken ? !state.options.isSynchronous || *one.isTaken
                            : one.isReceived;
  error = one.error;
  if (!isDone && state.abortedBy >= 0)
    error = "rank " + std::to_string(state.abortedBy) + " has ended all";
  else if (!isDone && state.hasLeft[one.other])
    error = "rank " + std::to_string(one.other) + " is gone";
  if (!isDone && error.empty())
    return false;
  pending.erase(found);
  return error.empty();
}

void ThreadTransport::pause(unsigned rounds) {
  std::unique_lock<std::mutex> lock(state.mutex);
  state.changed.wait_for(lock,
                         std::chrono::microseconds(rounds < 4 ? 50 : 500));
}

void ThreadTransport::abort(int) {
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (state.abortedBy < 0)
      state.abortedBy = own;
  }
  state.changed.notify_all();
}

ThreadRanks::ThreadRanks(int size, const Options &options)
    : state(std::make_unique<State>(size, options)) {}
ThreadRanks::~ThreadRanks() = default;

std::unique_ptr<Transport> ThreadRanks::open(int rank) {
  return std::make_unique<ThreadTransport>(*state, rank);
}

void ThreadRanks::leave(int rank) {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->hasLeft[rank] = true;
  }
  state->changed.notify_all();
}

void ThreadRanks::run(const std::function<void(Transport &)> &body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < state->size; ++rank)
    threads.emplace_back([this, rank, &body] {
      std::unique_ptr<Transport> transport = open(rank);
      body(*transport);
    });
  for (std::thread &thread : threads)
    thread.join();
}
