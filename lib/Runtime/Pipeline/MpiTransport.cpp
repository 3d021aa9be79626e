// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An MPI by a library that knows its binary interface (Mpi/Shim.c), loaded when
// ranks begin: this program is built and runs where there is no MPI.
//
// An MPI counts bytes as int: a larger message goes in pieces with one tag,
// which arrive in their order. Global symbols, because Open MPI loads plugins
// that look for its own.

#include "cutback/Runtime/Pipeline/MpiTransport.h"

#include "Mpi/Shim.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <unistd.h>
#include <vector>

using namespace cutback::pipeline;

static constexpr int64_t kPiece = int64_t(1) << 30;

std::string cutback::pipeline::mpiOfEnvironment() {
  auto has = [](const char *name) { return std::getenv(name) != nullptr; };
  if (has("OMPI_COMM_WORLD_SIZE"))
    return "openmpi";
  return has("PMI_SIZE") || has("PMI_RANK") || has("PMI_FD") ? "mpich" : "";
}

/// Both mpiruns count the processes that they start on a machine.
static int localRankOfEnvironment(int rank) {
  for (const char *name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"})
    if (const char *number = std::getenv(name))
      return static_cast<int>(std::strtol(number, nullptr, 10));
  return rank;
}

namespace {

class MpiTransport : public Transport {
public:
  ~MpiTransport() override;
  /// An empty string, or what is wrong with the library at `path`.
  std::string load(const std::string &path);
  std::string start();

  std::string name() const override { return title; }
  int localRank() const override { return localRankOfEnvironment(own); }
  int64_t largestTag() const override { return mostTag; }
  Ticket send(int to, int64_t tag, const char *bytes, int64_t count) override;
  Ticket receive(int from, int64_t tag, char *bytes, int64_t count) override;
  bool isDone(Ticket ticket, std::string &error) override;
  void abort(int code) override { callAbort(code); }

private:
  struct Pending {
    std::vector<void *> requests; ///< of its pieces
    int other = 0;
    bool isSend = false;
    int64_t wanted = 0, received = 0;
    std::string error; ///< as it began
  };
  Ticket keep(Pending pending);

  decltype(&cutbackMpiVersion) callVersion = nullptr;
  decltype(&cutbackMpiStart) callStart = nullptr;
  decltype(&cutbackMpiError) callError = nullptr;
  decltype(&cutbackMpiLibrary) callLibrary = nullptr;
  decltype(&cutbackMpiSend) callSend = nullptr;
  decltype(&cutbackMpiReceive) callReceive = nullptr;
  decltype(&cutbackMpiTest) callTest = nullptr;
  decltype(&cutbackMpiCancel) callCancel = nullptr;
  decltype(&cutbackMpiAbort) callAbort = nullptr;
  decltype(&cutbackMpiFinish) callFinish = nullptr;

  bool hasStarted = false;
  std::string title;
  int64_t mostTag = 0;
  std::map<Ticket, Pending> pending;
  Ticket last = 0;
};

} // namespace

std::string MpiTransport::load(const std::string &path) {
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return ::dlerror();
  std::string missing;
  auto find = [&](auto &call, const char *name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(
        ::dlsym(library, name));
    if (!call && missing.empty())
      missing = std::string("it has no '") + name + "'";
  };
  find(callVersion, "cutbackMpiVersion");
  find(callStart, "cutbackMpiStart");
  find(callError, "cutbackMpiError");
  find(callLibrary, "cutbackMpiLibrary");
  find(callSend, "cutbackMpiSend");
  find(callReceive, "cutbackMpiReceive");
  find(callTest, "cutbackMpiTest");
  find(callCancel, "cutbackMpiCancel");
  find(callAbort, "cutbackMpiAbort");
  find(callFinish, "cutbackMpiFinish");
  if (missing.empty() && callVersion() != CUTBACK_MPI_VERSION)
    missing = "it is of another version of cutback";
  return missing;
}

std::string MpiTransport::start() {
  if (callStart(&own, &all, &mostTag))
    return callError();
  hasStarted = true;
  title = callLibrary();
  title = title.substr(0, title.find_first_of(",\n"));
  return "";
}

MpiTransport::~MpiTransport() {
  if (!hasStarted)
    return;
  for (auto &[ticket, one] : pending)
    if (!one.isSend)
      for (void *request : one.requests)
        callCancel(request);
  callFinish();
}

Transport::Ticket MpiTransport::keep(Pending one) {
  pending[++last] = std::move(one);
  return last;
}

Transport::Ticket MpiTransport::send(int to, int64_t tag, const char *bytes,
                                     int64_t count) {
  Pending one;
  one.other = to;
  one.isSend = true;
  int64_t at = 0;
  do {
    void *request = nullptr;
    if (callSend(bytes + at, std::min(kPiece, count - at), to,
                 static_cast<int>(tag), &request))
      one.error = callError();
    one.requests.push_back(request);
    at += kPiece;
  } while (at < count && one.error.empty());
  return keep(std::move(one));
}

Transport::Ticket MpiTransport::receive(int from, int64_t tag, char *bytes,
                                        int64_t count) {
  Pending one;
  one.other = from;
  one.wanted = count;
  int64_t at = 0;
  do {
    void *request = nullptr;
    if (callReceive(bytes + at, std::min(kPiece, count - at), from,
                    static_cast<int>(tag), &request))
      one.error = callError();
    one.requests.push_back(request);
    at += kPiece;
  } while (at < count && one.error.empty());
  return keep(std::move(one));
}

bool MpiTransport::isDone(Ticket ticket, std::string &error) {
  auto found = pending.find(ticket);
  if (found == pending.end())
    return true;
  Pending &one = found->second;
  std::string with = one.isSend ? "to rank " : "from rank ";
  with += std::to_string(one.other);
  error = one.error;
  while (error.empty() && !one.requests.empty()) {
    int isOver = 0;
    int64_t received = 0;
    if (callTest(one.requests.front(), &isOver, &received))
      error = std::string("a message ") + with + " failed: " + callError();
    else if (!isOver)
      return false;
    one.received += received;
    one.requests.erase(one.requests.begin());
  }
  if (error.empty() && !one.isSend && one.received != one.wanted)
    error = "rank " + std::to_string(one.other) + " sent " +
            std::to_string(one.received) + " bytes in place of " +
            std::to_string(one.wanted);
  pending.erase(found);
  return error.empty();
}

/// Where the library may be.
static std::vector<std::string> foldersOfLibrary() {
  std::vector<std::string> folders;
  if (const char *given = std::getenv("CUTBACK_MPI"))
    folders.push_back(std::string(given) + "/");
  auto addBeside = [&](const std::string &file) {
    std::string folder = file.substr(0, file.rfind('/') + 1);
    folders.push_back(folder);
    folders.push_back(folder + "../lib/");
  };
  Dl_info found;
  if (::dladdr(reinterpret_cast<void *>(&mpiOfEnvironment), &found) &&
      found.dli_fname && std::strchr(found.dli_fname, '/'))
    addBeside(found.dli_fname);
  // Of a program that was found in PATH there is no folder above.
  char program[4096];
  ssize_t length = ::readlink("/proc/self/exe", program, sizeof program);
  if (length > 0)
    addBeside(std::string(program, length));
  return folders;
}

std::unique_ptr<Transport> cutback::pipeline::openMpi(const std::string &name,
                                                      std::string &error,
                                                      std::string &next) {
  auto transport = std::make_unique<MpiTransport>();
  std::string file = "libcutback-mpi-" + name + ".so";
  next = "build cutback where the headers of this MPI are "
         "(tools/dev/bootstrap --with-mpi), or name the folder of the library "
         "in CUTBACK_MPI";
  for (const std::string &folder : foldersOfLibrary()) {
    error = transport->load(folder + file);
    if (error.empty()) {
      next = "start it with the mpirun of " + name;
      error = transport->start();
      if (error.empty())
        return transport;
      break;
    }
  }
  error = file + ": " + error;
  return nullptr;
}
