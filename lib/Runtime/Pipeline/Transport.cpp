// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting without a thread of its own: who waits asks, yields, and from some
// rounds on sleeps for longer and longer, up to a fifth of a millisecond. Where
// ranks are more than processors a rank that spins would take the time of the
// one it waits for. An MPI makes progress while it is asked.

#include "cutback/Runtime/Pipeline/Transport.h"

#include <algorithm>
#include <cstdio>
#include <thread>

using namespace cutback::pipeline;

Transport::~Transport() = default;
Waiter::~Waiter() = default;

void Transport::pause(unsigned rounds) {
  if (rounds < 32) {
    std::this_thread::yield();
    return;
  }
  unsigned microseconds = std::min(200u, rounds - 31);
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

std::string Waiter::wait(Transport::Ticket ticket, const std::string &what) {
  std::string error;
  auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  for (unsigned rounds = 0; !transport.isDone(ticket, error); ++rounds) {
    if (error.empty())
      error = look();
    if (error.empty() && Clock::now() > end) {
      char text[40];
      std::snprintf(text, sizeof text, "%.3g s", timeout.count());
      error = std::string("has waited ") + text + " for " + what;
    }
    if (!error.empty())
      return error;
    transport.pause(rounds);
  }
  return error;
}
