// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank that dies says nothing, and one that hangs neither; what they did last
// others know by what came from them. So each rank keeps, of each other one,
// the step of the last action whose message it got, and one receive open for
// its report.
//
//   1. Who stops (an error of its own, a wait in vain, the report of another)
//      sends a report to all: why, in which step, and what it knows of others.
//   2. It waits for the reports of all, a second or a fourth of the timeout.
//   3. The first rank that has reported speaks: it names who is at fault (who
//      had an error, else who is silent, else who waited), what each rank did
//      last, and the grid with the place marked.
//
// At the end of a run without faults each rank reports that it is done, so that
// no receive stays open.

#include "cutback/Runtime/Pipeline/Peers.h"

#include <algorithm>
#include <csignal>
#include <cstring>

using namespace cutback::pipeline;

static constexpr int64_t kReportTag = 15;
static_assert(kReportTag < Transport::kOwnTags);
static constexpr size_t kTextBytes = 480;

/// Set by a signal.
static volatile std::sig_atomic_t isToEnd = 0;

void Peers::endOn(int signal) {
  std::signal(signal, [](int) { isToEnd = 1; });
}

namespace {
enum Kind : int32_t { Done, Told, Waited, Failed };
} // namespace

/// As it is sent: numbers of this machine, then the steps heard of.
struct Peers::Report {
  explicit Report(int ranks) : bytes(kTextBytes + (2 + ranks) * 4) {}

  int32_t &number(size_t i) {
    return reinterpret_cast<int32_t *>(bytes.data() + kTextBytes)[i];
  }
  int32_t number(size_t i) const {
    return reinterpret_cast<const int32_t *>(bytes.data() + kTextBytes)[i];
  }
  int32_t kind() const { return number(0); }
  int32_t step() const { return number(1); }
  int32_t heard(int rank) const { return number(2 + rank); }
  std::string text() const {
    return std::string(bytes.data(), strnlen(bytes.data(), kTextBytes));
  }

  std::vector<char> bytes;
};

Peers::Peers(Transport &all, Transport &group,
             std::chrono::duration<double> timeout, const Schedule &schedule)
    : Waiter(group,
             timeout - std::min(std::chrono::duration<double>(1), timeout / 4)),
      world(all), schedule(schedule), grace(timeout - this->timeout),
      steps(world.size(), -1), tickets(world.size(), 0),
      hasReported(world.size(), false) {
  for (int rank = 0; rank < world.size(); ++rank) {
    reports.push_back(std::make_unique<Report>(world.size()));
    std::vector<char> &bytes = reports.back()->bytes;
    if (rank != world.rank())
      tickets[rank] = world.receive(rank, kReportTag, bytes.data(),
                                    static_cast<int64_t>(bytes.size()));
  }
}

Peers::~Peers() = default;

void Peers::heard(int from, int step) {
  int &last = steps[transport.numberOf(from)];
  last = std::max(last, step);
}

void Peers::send(int kind, const std::string &why) {
  auto own = std::make_unique<Report>(world.size());
  std::strncpy(own->bytes.data(), why.c_str(), kTextBytes - 1);
  own->number(0) = kind;
  own->number(1) = place;
  for (int rank = 0; rank < world.size(); ++rank)
    own->number(2 + rank) = steps[rank];
  for (int rank = 0; rank < world.size(); ++rank)
    if (rank != world.rank())
      sent.emplace_back(rank,
                        world.send(rank, kReportTag, own->bytes.data(),
                                   static_cast<int64_t>(own->bytes.size())));
  // An earlier one may be on its way still.
  earlier.push_back(std::move(reports[world.rank()]));
  reports[world.rank()] = std::move(own);
}

const Peers::Report *Peers::reportOf(int rank) {
  if (rank == world.rank())
    return reports[rank].get();
  std::string error;
  if (tickets[rank] && world.isDone(tickets[rank], error)) {
    tickets[rank] = 0;
    hasReported[rank] = true;
  }
  if (!error.empty()) // it is gone
    tickets[rank] = 0;
  return hasReported[rank] ? reports[rank].get() : nullptr;
}

std::string Peers::look() {
  if (isToEnd)
    return "was told to end, as mpirun does when another rank has died";
  for (int rank = 0; rank < world.size(); ++rank) {
    if (rank == world.rank())
      continue;
    const Report *report = reportOf(rank);
    if (report && report->kind() != Done)
      return "rank " + std::to_string(rank) + " has stopped";
  }
  return "";
}

std::string Peers::actionAt(int rank, int step) const {
  const Row &row = schedule.rows[rank];
  if (step < 0)
    return "before its first action";
  if (step >= static_cast<int>(row.size()))
    return "after its last action";
  return "at " + (row[step] ? format(*row[step]) : std::string("a bubble")) +
         " (step " + std::to_string(step) + ")";
}

/// What is known of where a rank is.
int Peers::lastStepOf(int rank, const std::vector<const Report *> &all) const {
  if (all[rank])
    return all[rank]->step();
  int step = -1;
  for (const Report *report : all)
    if (report)
      step = std::max(step, report->heard(rank));
  return step;
}

/// The rank where it began: that with an error of its own, a silent one, or the
/// first that waited.
int Peers::guilty(const std::vector<const Report *> &all) const {
  auto find = [&](auto &&isWanted) {
    auto found = std::find_if(all.begin(), all.end(), isWanted);
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
  };
  int rank =
      find([](const Report *one) { return one && one->kind() == Failed; });
  if (rank < 0)
    rank = find([](const Report *one) { return !one; });
  if (rank < 0)
    rank = find([](const Report *one) { return one->kind() == Waited; });
  return std::max(rank, 0);
}

std::string Peers::describe(const std::vector<const Report *> &all) const {
  int guilt = guilty(all);
  const Report *first = all[guilt];
  std::string text = "rank " + std::to_string(guilt) + " ";
  if (!first)
    text += "does not answer";
  else
    text += first->text();
  text += "\n";
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    int step = lastStepOf(rank, all);
    text += "  rank " + std::to_string(rank) + ": ";
    if (!all[rank])
      text += "no answer; last heard of " + actionAt(rank, step) + "\n";
    else if (all[rank]->kind() == Done)
      text += "done\n";
    else
      text += actionAt(rank, step) +
              (rank == guilt ? "" : ", " + all[rank]->text()) + "\n";
  }
  // Of a silent rank the action after the last one that is known.
  int step = lastStepOf(guilt, all) + (first ? 0 : 1);
  return text + formatGrid(schedule, guilt, std::max(step, 0));
}

Peers::End Peers::stop(const std::string &why, bool isOwn) {
  bool isTold = !isOwn && !look().empty();
  send(isOwn ? Failed : isTold ? Told : Waited, why);
  // Who was told to end is killed a second later.
  if (isToEnd)
    grace = std::min(grace, std::chrono::duration<double>(0.3));
  auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(grace);
  std::vector<const Report *> all(world.size(), nullptr);
  for (unsigned rounds = 0; Clock::now() < end; ++rounds) {
    for (int rank = 0; rank < world.size(); ++rank)
      all[rank] = reportOf(rank);
    if (std::find(all.begin(), all.end(), nullptr) == all.end())
      break;
    world.pause(rounds);
  }
  int speaker = 0;
  while (!all[speaker] || all[speaker]->kind() == Done)
    ++speaker;
  return {speaker == world.rank() ? describe(all) : ""};
}

std::string Peers::finish() {
  send(Done, "");
  std::unique_ptr<Waiter> waiter = over(world);
  auto waitFor = [&](int rank, Transport::Ticket ticket) {
    return waiter->wait(ticket, "the end of rank " + std::to_string(rank));
  };
  std::string error;
  for (int rank = 0; rank < world.size() && error.empty(); ++rank)
    if (tickets[rank] != 0) {
      error = waitFor(rank, tickets[rank]);
      tickets[rank] = 0;
      hasReported[rank] = error.empty();
    }
  if (error.empty())
    error = look();
  for (const auto &[rank, ticket] : sent)
    if (error.empty())
      error = waitFor(rank, ticket);
  return error;
}

std::unique_ptr<Waiter> Peers::over(Transport &group) {
  class Other : public Waiter {
  public:
    Other(Transport &group, Peers &peers)
        : Waiter(group, peers.timeout), peers(peers) {}

  protected:
    std::string look() override { return peers.look(); }

  private:
    Peers &peers;
  };
  return std::make_unique<Other>(group, *this);
}
