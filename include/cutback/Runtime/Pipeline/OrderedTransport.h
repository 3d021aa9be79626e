// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages of a step over a wire that knows no tags, beside a transport that
// does.
#ifndef CUTBACK_RUNTIME_PIPELINE_ORDEREDTRANSPORT_H
#define CUTBACK_RUNTIME_PIPELINE_ORDEREDTRANSPORT_H

#include "cutback/Runtime/Pipeline/Transport.h"

#include <deque>
#include <map>
#include <memory>

namespace cutback::pipeline {

/// Messages of a rank one after the other: what has begun holds up what begins
/// later, until the other rank has begun it too. Those of one rank to another
/// one come in the order in which both begin them.
class Wire {
public:
  /// Messages that have begun together.
  using Ticket = uint64_t;
  struct Message {
    char *bytes = nullptr; ///< as it is until it is done
    int64_t count = 0;
  };

  virtual ~Wire();
  /// "NCCL 2.27.3": for messages.
  virtual std::string name() const = 0;
  struct Direction {
    int other = 0;
    bool isSend = false;
  };
  /// Before the first message: of all ranks together. May wait until the other
  /// rank of each has called it. An empty string, or what went wrong.
  virtual std::string connect(const std::vector<Direction> &) { return ""; }
  /// Begins to send to rank `other`, or to receive from it. Does not wait.
  /// `error` is set if that fails.
  virtual Ticket begin(int other, bool isSend,
                       const std::vector<Message> &messages,
                       std::string &error) = 0;
  /// Whether they are done; then the ticket is none any more. `error` is set if
  /// they cannot be done.
  virtual bool isDone(Ticket ticket, std::string &error) = 0;
  /// Ends what goes on. All ranks call it, or end.
  virtual void abort() = 0;
};

/// Messages of setOrder() go over the wire, in that order, others over `base`,
/// which outlives this.
class OrderedTransport : public Transport {
public:
  OrderedTransport(Transport &base, std::unique_ptr<Wire> wire);
  ~OrderedTransport() override;

  int localRank() const override { return base.localRank(); }
  int numberOf(int rank) const override { return base.numberOf(rank); }
  std::string name() const override;
  int64_t largestTag() const override { return base.largestTag(); }
  Ticket send(int to, int64_t tag, const char *bytes, int64_t count) override;
  Ticket receive(int from, int64_t tag, char *bytes, int64_t count) override;
  bool isDone(Ticket ticket, std::string &error) override;
  bool isOrdered() const override { return true; }
  void setOrder(const std::vector<MessageGroup> &order) override;
  void pause(unsigned rounds) override { base.pause(rounds); }
  void abort(int code) override;

private:
  /// Messages that have begun together, or cannot.
  struct Begun {
    Wire::Ticket ticket = 0;
    bool isDone = false;
    std::string error;
  };
  struct Pending {
    Ticket ofBase = 0;
    std::shared_ptr<Begun> begun; ///< null while it waits for its turn
  };
  struct Given {
    Ticket ticket = 0;
    Wire::Message message;
  };
  Ticket keep(Ticket ofBase);
  Ticket give(int64_t tag, char *bytes, int64_t count);
  void connect();
  void beginAll();

  Transport &base;
  std::unique_ptr<Wire> wire;
  std::vector<MessageGroup> groups;
  size_t next = 0; ///< group that is to begin
  bool isConnected = false;
  std::string problem; ///< of connecting
  /// By tag of a group: what waits for its turn.
  std::map<int64_t, std::deque<Given>> given;
  std::map<Ticket, Pending> pending;
  Ticket last = 0;
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_ORDEREDTRANSPORT_H
