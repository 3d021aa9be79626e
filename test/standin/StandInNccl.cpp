// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL without a GPU, for ranks that are threads or processes of one machine: a
// message is a file in a folder of the communicator, whose name is the unique
// id.
//
//   1. Messages of a group begin when their stream comes to them, and the
//      stream goes on when all of them are done. One that is sent is done when
//      it was taken.
//   2. The k-th message from one rank to another is the k-th receive there; if
//      it has another size, the process ends with a message and exit code 86,
//      as it does for memory that is not there, for a call with the context of
//      another device, and for a communicator that is given back while messages
//      go on.
//   3. Two ranks on one device are an error, as NCCL has it.
//
// Messages are in $TMPDIR; the environment is that of the driver's stand-in.

#include "StandIn.h"

#include "cutback/Runtime/Cuda/Nccl.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace cutback::cuda;

namespace {

/// A function of the stand-in driver.
template <typename Function> Function *ofDriver(const char *name) {
  return reinterpret_cast<Function *>(
      ::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), name));
}

int deviceAtWork() {
  return ofDriver<decltype(cutbackStandInDevice)>("cutbackStandInDevice")();
}

struct Communicator {
  std::string folder;
  int rank = 0, size = 0, device = 0;
  std::map<std::pair<int, int>, int> counts; ///< of messages, from and to
  std::shared_ptr<int> open = std::make_shared<int>(0); ///< groups that go on
  std::shared_ptr<bool> isAborted = std::make_shared<bool>(false);
};

bool exists(const std::string &path) {
  return ::access(path.c_str(), F_OK) == 0;
}

bool write(const std::string &path, const std::string &bytes) {
  std::ofstream(path + ".part", std::ios::binary) << bytes;
  return std::rename((path + ".part").c_str(), path.c_str()) == 0;
}

std::string read(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Message {
  std::string folder, path;
  bool isSend = false, hasBegun = false, isDone = false;
  char *memory = nullptr;
  size_t bytes = 0;

  void goOn() {
    // Where another rank has ended all, nothing is over any more.
    if (isSend && !hasBegun)
      hasBegun = write(path, std::string(memory, bytes));
    else if (isSend)
      isDone = !exists(path) && exists(folder);
    if (isSend || !exists(path))
      return;
    std::string taken = read(path);
    if (!exists(folder))
      return;
    if (taken.size() != bytes)
      refuse("a message of " + std::to_string(taken.size()) +
             " bytes is received as one of " + std::to_string(bytes));
    std::memcpy(memory, taken.data(), bytes);
    ::unlink(path.c_str());
    isDone = true;
  }
};

struct Group {
  std::vector<Message> messages;
  Communicator *ranks = nullptr;
  Handle stream = nullptr;
};
thread_local Group group;
thread_local int depth = 0;

void launch() {
  Group begun = std::exchange(group, Group());
  if (begun.messages.empty())
    return;
  ++*begun.ranks->open;
  auto put = ofDriver<decltype(cutbackStandInWork)>("cutbackStandInWork");
  put(begun.stream, [messages = begun.messages, open = begun.ranks->open,
                     isAborted = begun.ranks->isAborted]() mutable {
    bool isDone = true;
    for (Message &message : messages) {
      if (!message.isDone && !*isAborted)
        message.goOn();
      isDone &= message.isDone || *isAborted;
    }
    *open -= isDone;
    return isDone;
  });
}

Status add(bool isSend, Address memory, size_t count, int type, int peer,
           Handle handle, Handle stream) {
  auto *ranks = reinterpret_cast<Communicator *>(handle);
  if (type != kNcclBytes || peer < 0 || peer >= ranks->size ||
      peer == ranks->rank)
    return 4; // ncclInvalidArgument
  if (deviceAtWork() != ranks->device)
    refuse("a communicator is used with the context of another device");
  if (group.ranks && (group.ranks != ranks || group.stream != stream))
    refuse("a group is of two communicators or streams");
  ofDriver<decltype(cutbackStandInCheckMemory)>("cutbackStandInCheckMemory")(
      memory, count, "a message");
  std::pair<int, int> ends = {isSend ? ranks->rank : peer,
                              isSend ? peer : ranks->rank};
  Message message;
  message.isSend = isSend;
  message.folder = ranks->folder;
  message.path = ranks->folder + "/" + std::to_string(ends.first) + "-" +
                 std::to_string(ends.second) + "-" +
                 std::to_string(ranks->counts[ends]++);
  message.memory = reinterpret_cast<char *>(memory);
  message.bytes = count;
  group.messages.push_back(std::move(message));
  group.ranks = ranks;
  group.stream = stream;
  if (depth == 0)
    launch();
  return 0;
}

Status giveBack(Communicator *ranks) {
  ::unlink((ranks->folder + "/rank-" + std::to_string(ranks->rank)).c_str());
  ::rmdir(ranks->folder.c_str()); // the last one
  delete ranks;
  return 0;
}

} // namespace

extern "C" {

Status ncclGetVersion(int *version) {
  *version = 22703;
  return 0;
}

const char *ncclGetErrorString(Status) { return "asked to fail"; }

Status ncclGetUniqueId(NcclId *id) {
  FAIL_IF_ASKED;
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/nccl-XXXXXX";
  if (path.size() >= sizeof id->bytes)
    path = "/tmp/nccl-XXXXXX";
  std::strcpy(id->bytes, path.c_str());
  return ::mkdtemp(id->bytes) ? 0 : 2;
}

Status ncclCommInitRank(Handle *ranks, int size, NcclId id, int rank) {
  FAIL_IF_ASKED;
  auto made = std::make_unique<Communicator>();
  made->folder = id.bytes;
  made->rank = rank;
  made->size = size;
  made->device = deviceAtWork();
  auto pathOf = [&](int one) {
    return made->folder + "/rank-" + std::to_string(one);
  };
  if (!write(pathOf(rank), std::to_string(made->device)))
    return 2; // ncclSystemError
  for (int other = 0; other < size; ++other) {
    while (!exists(pathOf(other)))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (other != rank && read(pathOf(other)) == std::to_string(made->device))
      return 5; // ncclInvalidUsage
  }
  *ranks = reinterpret_cast<Handle>(made.release());
  return 0;
}

Status ncclCommDestroy(Handle handle) {
  auto *ranks = reinterpret_cast<Communicator *>(handle);
  if (*ranks->open > 0)
    refuse("a communicator is given back while messages go on");
  return giveBack(ranks);
}

Status ncclCommAbort(Handle handle) {
  auto *ranks = reinterpret_cast<Communicator *>(handle);
  *ranks->isAborted = true;
  std::error_code ignored;
  std::filesystem::remove_all(ranks->folder, ignored);
  return giveBack(ranks);
}

Status ncclCommGetAsyncError(Handle, Status *status) {
  *status = statusOf(__func__);
  return 0;
}

Status ncclGroupStart() {
  FAIL_IF_ASKED;
  ++depth;
  return 0;
}

Status ncclGroupEnd() {
  FAIL_IF_ASKED;
  if (--depth == 0)
    launch();
  return 0;
}

Status ncclSend(Address from, size_t count, int type, int rank, Handle ranks,
                Handle stream) {
  FAIL_IF_ASKED;
  return add(true, from, count, type, rank, ranks, stream);
}

Status ncclRecv(Address to, size_t count, int type, int rank, Handle ranks,
                Handle stream) {
  FAIL_IF_ASKED;
  return add(false, to, count, type, rank, ranks, stream);
}

} // extern "C"
