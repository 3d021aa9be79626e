// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How ranks of a pipeline exchange bytes.
#ifndef CUTBACK_RUNTIME_PIPELINE_TRANSPORT_H
#define CUTBACK_RUNTIME_PIPELINE_TRANSPORT_H

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cutback::pipeline {

/// Messages of a step that go together, by their tags: all between a rank and
/// one other, in one direction.
struct MessageGroup {
  int other = 0;
  bool isSend = false;
  std::vector<int64_t> tags;
};

/// Messages between `size()` ranks, each of which has one of these and uses it
/// from one thread. Nothing waits: what has begun is asked for until it is
/// done. Messages of one sender to one receiver with one tag arrive in the
/// order in which they were sent.
class Transport {
public:
  /// A send or a receive that has begun.
  using Ticket = uint64_t;
  /// Tags below this one are those of collectives and of reports: kOwnTags
  /// each for all ranks, and for three kinds of groups of them.
  static constexpr int64_t kOwnTags = 16;
  static constexpr int64_t kFirstTag = 4 * kOwnTags;

  virtual ~Transport();

  int rank() const { return own; }
  int size() const { return all; }
  /// What messages call a rank of this: its number among all ranks.
  virtual int numberOf(int rank) const { return rank; }
  /// Its number among the ranks of this machine, from 0 on.
  virtual int localRank() const { return own; }
  /// "threads", "Open MPI 4.1.4": for messages.
  virtual std::string name() const = 0;
  /// The largest tag that messages may have.
  virtual int64_t largestTag() const = 0;

  /// Begins to send `count` bytes, which stay as they are until that is done.
  virtual Ticket send(int to, int64_t tag, const char *bytes,
                      int64_t count) = 0;
  /// Begins to receive exactly `count` bytes; a message of another length is an
  /// error of isDone().
  virtual Ticket receive(int from, int64_t tag, char *bytes, int64_t count) = 0;
  /// Whether a send or a receive is done; then its ticket is none any more.
  /// `error` is set, and the ticket gone, if it cannot be done.
  virtual bool isDone(Ticket ticket, std::string &error) = 0;

  /// Whether it has no tags for the messages of a step, and needs their order.
  virtual bool isOrdered() const { return false; }
  /// Of the groups of each of the following steps; those of two ranks are in
  /// one order at both. Other messages are of no group.
  virtual void setOrder(const std::vector<MessageGroup> &) {}

  /// A short pause of who asked for something `rounds` times in vain: ranks may
  /// be more than processors.
  virtual void pause(unsigned rounds);

  /// Ends all ranks at once, with this exit code; may return where ranks are
  /// threads, to whom it is an error of isDone().
  virtual void abort(int code) = 0;

protected:
  int own = 0, all = 1;
};

/// Waits for sends and receives of one rank, at most `timeout` each.
class Waiter {
public:
  using Clock = std::chrono::steady_clock;

  Waiter(Transport &transport, std::chrono::duration<double> timeout)
      : transport(transport), timeout(timeout) {}
  virtual ~Waiter();

  /// Waits until it is done. `what` is for messages: "value.3 of micro-batch 1
  /// from rank 0". An empty string, or what went wrong.
  std::string wait(Transport::Ticket ticket, const std::string &what);

  Transport &transport;
  const std::chrono::duration<double> timeout;

protected:
  /// What else may end the wait: an error, asked for again and again.
  virtual std::string look() { return ""; }
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_TRANSPORT_H
