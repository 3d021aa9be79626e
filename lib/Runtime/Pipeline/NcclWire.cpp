// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One communicator of all ranks, and one stream for it: NCCL matches messages
// of two ranks by their order, and so does who calls this.
//
//   1. What is sent is copied to memory of the GPU at once, what is received
//      from there when it has come, on a stream of their own: a copy to or from
//      memory that is not page-locked holds up the caller, who must not wait
//      for a message. Blocks of stages on a GPU are there, and copied there.
//   2. NCCL connects two ranks with their first message, and waits for both: so
//      before the first one all pairs are connected together.
//   3. Memory of the GPU is kept for the next message until the end. Giving it
//      back waits for all that the GPU does, also for a message of a rank that
//      waits for this one.
//
// A kernel of NCCL that waits for the other rank takes few of the GPU's
// processors; phases run beside it.

#include "cutback/Runtime/Pipeline/NcclWire.h"

#include "cutback/Runtime/Cuda/CheckedCalls.h"
#include "cutback/Runtime/Cuda/Nccl.h"
#include "cutback/Runtime/Pipeline/Collectives.h"
#include "cutback/Support/ExitCode.h"

#include <unistd.h>

using namespace cutback;
using namespace cutback::cuda;
using namespace cutback::pipeline;

namespace {

class NcclWire : public Wire {
public:
  ~NcclWire() override;
  /// What one rank can do alone. False, with `error` set, if that fails.
  bool start(int localRank, StepError &error);
  std::string makeId(NcclId &id) const {
    std::string error;
    nccl->run(error, nccl->ncclGetUniqueId, &id);
    return error;
  }
  /// Waits for the others.
  std::string join(int size, const NcclId &id, int rank);
  std::string version() const { return nccl->version(); }
  /// Machine and GPU.
  const std::string &gpu() const { return place; }

  std::string name() const override { return "NCCL " + version(); }
  std::string connect(const std::vector<Direction> &directions) override;
  Ticket begin(int other, bool isSend, const std::vector<Message> &messages,
               std::string &error) override;
  bool isDone(Ticket ticket, std::string &error) override;
  void abort() override;

private:
  /// Memory of the GPU.
  struct Room {
    Address at = 0;
    int64_t bytes = 0;
  };
  struct Pending {
    Room room;
    Handle event = nullptr;
    std::vector<Message> messages; ///< of a receive: they go out of the room
  };

  CheckedCalls calls(std::string &error) const { return {*driver, error}; }
  bool enter(std::string &error) const {
    return calls(error).run(driver->cuCtxSetCurrent, context);
  }
  Room takeRoom(int64_t bytes, std::string &error);
  void giveBack(const Pending &one);
  std::string copyOut(const Pending &one);
  template <typename Body> void group(std::string &error, Body &&body);
  std::string findFault() const;

  std::unique_ptr<Driver> driver;
  std::unique_ptr<Nccl> nccl;
  std::string place;
  int device = -1;
  bool hasContext = false;
  Handle context = nullptr, ranks = nullptr;
  Handle stream = nullptr, copies = nullptr;
  Room greetings;                       ///< of connect()
  std::multimap<int64_t, Address> free; ///< rooms by size
  std::vector<Handle> events;           ///< that are free
  std::map<Ticket, Pending> pending;
  Ticket last = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Begin and end
//===----------------------------------------------------------------------===//

bool NcclWire::start(int localRank, StepError &error) {
  nccl = Nccl::open(error.what, error.next);
  if (!nccl)
    return false;
  driver = Driver::open(error.what, error.next);
  if (!driver)
    return false;
  error.next = kMayBeInUse;
  device = driver->deviceOf(localRank, error.what);
  CheckedCalls made = calls(error.what);
  char text[32] = "";
  made.run(driver->cuDeviceGetPCIBusId, text, int(sizeof text), device);
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  place = std::string(host) + " " + text;
  hasContext = made.run(driver->cuDevicePrimaryCtxRetain, &context, device);
  if (hasContext && enter(error.what)) {
    made.run(driver->cuStreamCreate, &stream, kNonBlocking);
    made.run(driver->cuStreamCreate, &copies, kNonBlocking);
  }
  return error.what.empty();
}

std::string NcclWire::join(int size, const NcclId &id, int rank) {
  std::string error;
  if (enter(error))
    nccl->run(error, nccl->ncclCommInitRank, &ranks, size, id, rank);
  return error;
}

void NcclWire::abort() {
  std::string error;
  if (ranks && enter(error))
    (void)nccl->ncclCommAbort(ranks);
  ranks = nullptr;
}

NcclWire::~NcclWire() {
  std::string error; // dropped: no caller is left
  if (!hasContext || !enter(error))
    return;
  if (!pending.empty())
    abort();
  CheckedCalls last = calls(error);
  if (stream)
    last.runAnyway(driver->cuStreamSynchronize, stream);
  if (ranks)
    (void)nccl->ncclCommDestroy(ranks);
  for (auto &[ticket, one] : pending)
    giveBack(one);
  if (greetings.at)
    free.emplace(greetings.bytes, greetings.at);
  for (Handle event : events)
    last.runAnyway(driver->cuEventDestroy_v2, event);
  for (const auto &[bytes, at] : free)
    last.runAnyway(driver->cuMemFree_v2, at);
  for (Handle one : {stream, copies})
    if (one)
      last.runAnyway(driver->cuStreamDestroy_v2, one);
  last.runAnyway(driver->cuDevicePrimaryCtxRelease_v2, device);
}

/// Calls that NCCL runs together.
template <typename Body> void NcclWire::group(std::string &error, Body &&body) {
  if (!nccl->run(error, nccl->ncclGroupStart))
    return;
  body();
  // Else later calls of this thread would be of the group.
  std::string end;
  if (!nccl->run(end, nccl->ncclGroupEnd) && error.empty())
    error = end;
}

/// All that is needed together: a byte each.
std::string NcclWire::connect(const std::vector<Direction> &directions) {
  std::string error;
  if (!enter(error))
    return error;
  auto bytes = static_cast<int64_t>(directions.size()) * kAlignment;
  // Of no message: these are not over when that is copied.
  greetings = takeRoom(bytes, error);
  group(error, [&] {
    Address at = greetings.at;
    for (const Direction &one : directions) {
      nccl->run(error, one.isSend ? nccl->ncclSend : nccl->ncclRecv, at, 1,
                kNcclBytes, one.other, ranks, stream);
      at += kAlignment;
    }
  });
  return error;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Of rooms that are free the smallest that is large enough, and at most twice
/// as large.
NcclWire::Room NcclWire::takeRoom(int64_t bytes, std::string &error) {
  Room room;
  auto found = free.lower_bound(bytes);
  if (found != free.end() && found->first <= 2 * bytes) {
    room = {found->second, found->first};
    free.erase(found);
  } else if (bytes && calls(error).run(driver->cuMemAlloc_v2, &room.at,
                                       static_cast<size_t>(bytes))) {
    room.bytes = bytes;
  }
  return room;
}

void NcclWire::giveBack(const Pending &one) {
  if (one.event)
    events.push_back(one.event);
  if (one.room.at)
    free.emplace(one.room.bytes, one.room.at);
}

Wire::Ticket NcclWire::begin(int other, bool isSend,
                             const std::vector<Message> &messages,
                             std::string &error) {
  Pending &one = pending[++last];
  int64_t bytes = 0;
  for (const Message &message : messages)
    bytes += roundUp(message.count);
  if (!enter(error))
    return last;
  one.room = takeRoom(bytes, error);
  CheckedCalls made = calls(error);
  Address at = one.room.at;
  for (const Message &message : messages) {
    if (isSend && message.count)
      made.run(driver->cuMemcpyAsync, at,
               reinterpret_cast<Address>(message.bytes), message.count, copies);
    at += roundUp(message.count);
  }
  made.run(driver->cuStreamSynchronize, copies);
  group(error, [&] {
    Address place = one.room.at;
    for (const Message &message : messages) {
      if (message.count)
        nccl->run(error, isSend ? nccl->ncclSend : nccl->ncclRecv, place,
                  message.count, kNcclBytes, other, ranks, stream);
      place += roundUp(message.count);
    }
  });
  if (events.empty()) {
    made.run(driver->cuEventCreate, &one.event, kWithoutTiming);
  } else {
    one.event = events.back();
    events.pop_back();
  }
  made.run(driver->cuEventRecord, one.event, stream);
  if (!isSend)
    one.messages = messages;
  return last;
}

std::string NcclWire::copyOut(const Pending &one) {
  std::string error;
  CheckedCalls made = calls(error);
  Address at = one.room.at;
  for (const Message &message : one.messages) {
    if (message.count)
      made.run(driver->cuMemcpyAsync, reinterpret_cast<Address>(message.bytes),
               at, message.count, copies);
    at += roundUp(message.count);
  }
  if (!one.messages.empty())
    made.run(driver->cuStreamSynchronize, copies);
  return error;
}

/// What has gone wrong beside calls: another rank is gone, a cable is out.
std::string NcclWire::findFault() const {
  Status status = 0;
  std::string error;
  if (!ranks)
    return "NCCL was ended";
  nccl->run(error, nccl->ncclCommGetAsyncError, ranks, &status);
  return error.empty() && status != kNcclInProgress
             ? nccl->explain(status, "NCCL")
             : error;
}

bool NcclWire::isDone(Ticket ticket, std::string &error) {
  auto found = pending.find(ticket);
  if (found == pending.end())
    return true;
  Pending &one = found->second;
  if (!enter(error))
    return false;
  Status status = driver->cuEventQuery(one.event);
  if (status == kNotReady) {
    error = findFault();
    return false;
  }
  error = driver->explain(status, driver->cuEventQuery.name);
  if (error.empty())
    error = copyOut(one);
  if (!error.empty())
    return false;
  giveBack(one);
  pending.erase(found);
  return true;
}

/// On rank 0: two ranks that have one GPU, which NCCL refuses without a name.
static std::string findShared(const std::vector<std::string> &gpus) {
  for (size_t second = 0; second < gpus.size(); ++second)
    for (size_t first = 0; first < second; ++first)
      if (gpus[first] == gpus[second])
        return "ranks " + std::to_string(first) + " and " +
               std::to_string(second) + " have one GPU, " + gpus[first];
  return "";
}

std::unique_ptr<Wire> pipeline::openNccl(Waiter &waiter, Verdict &verdict) {
  Transport &transport = waiter.transport;
  auto wire = std::make_unique<NcclWire>();
  StepError error;
  auto agreed = [&](const Fields &fields) {
    verdict = agree(waiter, error.what.empty() ? Done : NoPlan, error, fields);
    return verdict.code == Done;
  };
  bool isStarted = wire->start(transport.localRank(), error);
  if (!agreed({{"NCCL", isStarted ? wire->version() : ""}}))
    return nullptr;
  std::vector<std::string> gpus;
  error = {gather(waiter, 0, wire->gpu(), gpus),
           "see what the other ranks say"};
  NcclId id = {};
  if (error.what.empty() && transport.rank() == 0) {
    error = {findShared(gpus),
             "NCCL takes a GPU of its own for each rank: start as many ranks "
             "on a machine as it has, or leave --transport out"};
    if (error.what.empty())
      error = {wire->makeId(id), "see what NCCL says"};
  }
  if (!agreed({}))
    return nullptr;
  error = {broadcast(waiter, 0, id.bytes, sizeof id.bytes),
           "see what the other ranks say"};
  if (error.what.empty())
    error = {wire->join(transport.size(), id, transport.rank()),
             "leave --transport out: messages go over MPI or threads then"};
  if (!agreed({}))
    return nullptr;
  return wire;
}
