// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ranks know of each other when one of them stops.
#ifndef CUTBACK_RUNTIME_PIPELINE_PEERS_H
#define CUTBACK_RUNTIME_PIPELINE_PEERS_H

#include "cutback/Runtime/Pipeline/Transport.h"
#include "cutback/Schedule/Schedule.h"

#include <memory>
#include <vector>

namespace cutback::pipeline {

/// Waits as a Waiter does, and also ends when another rank reports that it has
/// stopped. A rank that stops reports to all, hears what each of them did last,
/// and one of them says it: within `timeout` from when the first began to wait.
class Peers : public Waiter {
public:
  /// All ranks make one, of one schedule.
  Peers(Transport &transport, std::chrono::duration<double> timeout,
        const Schedule &schedule)
      : Peers(transport, transport, timeout, schedule) {}
  /// Waits are for ranks of `group`, reports are to and of all ranks. The
  /// schedule has a row of each of `all`.
  Peers(Transport &all, Transport &group, std::chrono::duration<double> timeout,
        const Schedule &schedule);
  ~Peers() override;

  /// For programs: from now on this signal does not end the process, but its
  /// waits, so that it says where it was.
  static void endOn(int signal);

  /// What this rank does from now on: the action in this step of its row; -1
  /// before the first one.
  void begin(int step) { place = step; }
  /// A message came: `from`, a rank of the group, has done the action of that
  /// step of its row.
  void heard(int from, int step);

  /// How a run ended that was stopped.
  struct End {
    /// The message, with each rank's last action and the grid; empty on a rank
    /// that leaves it to another one.
    std::string text;
  };
  /// This rank stops, because it waited in vain or, where `isOwn`, of something
  /// that went wrong here. Takes a second or a fourth of the timeout.
  End stop(const std::string &why, bool isOwn);
  /// All ranks are done: no reports come any more. An empty string, or what
  /// went wrong.
  std::string finish();

  /// Waits for ranks of another group, and ends as this does.
  std::unique_ptr<Waiter> over(Transport &group);

protected:
  std::string look() override;

private:
  struct Report;
  void send(int kind, const std::string &why);
  /// Of `rank`; nothing that has come yet is null.
  const Report *reportOf(int rank);
  std::string describe(const std::vector<const Report *> &all) const;
  int lastStepOf(int rank, const std::vector<const Report *> &all) const;
  int guilty(const std::vector<const Report *> &all) const;
  std::string actionAt(int rank, int step) const;

  Transport &world; ///< of all ranks
  const Schedule &schedule;
  std::chrono::duration<double> grace;
  int place = -1;
  std::vector<int> steps; ///< by rank: heard of
  /// By rank; own: what was sent.
  std::vector<std::unique_ptr<Report>> reports, earlier;
  std::vector<Transport::Ticket> tickets; ///< of their receives; 0: it is over
  std::vector<bool> hasReported;
  std::vector<std::pair<int, Transport::Ticket>> sent; ///< and to whom
};

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_PEERS_H
