// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stand-in of a driver has: streams, memory, folders that machine code
// is of.
#ifndef CUTBACK_TEST_STANDIN_STANDINDEVICE_H
#define CUTBACK_TEST_STANDIN_STANDINDEVICE_H

#include "StandIn.h"

#include "cutback/Runtime/Artifact.h"
#include "cutback/Runtime/Cuda/Driver.h"
#include "cutback/Runtime/Executor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace cutback::cuda {

using Run = void (*)(int, const unsigned *, const unsigned *, unsigned,
                     void **);

using Node = std::function<void()>;

struct Event {
  size_t recorded = 0, done = 0;
  std::chrono::steady_clock::time_point at; ///< of the last time it was done
};
struct Work {
  Node run;
  StandInTry tries; ///< until it is done, by what is elsewhere
  Event *records = nullptr, *awaits = nullptr;
  size_t count = 0; ///< of records, that it waits for
};
struct Stream {
  std::deque<Work> work;
};

/// A folder that machine code is of.
struct Program;
struct Function {
  Program *program = nullptr;
  const ArtifactKernel *kernel = nullptr;
};
struct Program {
  Artifact artifact;
  Run run = nullptr;
  bool hasGraphs = false;
  size_t segment = 0, numLaunched = 0; ///< of its launches
  std::map<std::string, Function> functions;

  explicit Program(const std::string &folder) {
    std::ifstream file(folder + "/" + kManifestFile);
    std::stringstream text;
    text << file.rdbuf();
    std::string error = readManifest(text.str(), artifact);
    if (!error.empty())
      refuse("the manifest in CUTBACK_STAND_IN " + error);
    void *library = ::dlopen((folder + "/libstep.so").c_str(), RTLD_NOW);
    if (!library)
      refuse(::dlerror());
    run = reinterpret_cast<Run>(::dlsym(library, "cutback_launch"));
  }

  /// The next launch of the segment at work; at its begin that of the next
  /// segment whose first launch fits.
  template <typename Fits> const ArtifactLaunch *expected(Fits fits) {
    const std::vector<ArtifactSegment> &all = artifact.segments;
    if (numLaunched > 0)
      return &all[segment].launches[numLaunched];
    for (size_t i = 0; i < all.size(); ++i) {
      const auto &launches = all[(segment + i) % all.size()].launches;
      if (launches.empty() || !fits(launches.front()))
        continue;
      segment = (segment + i) % all.size();
      return &launches.front();
    }
    return nullptr;
  }
};

struct Allocation {
  size_t bytes = 0;
  int device = 0;
};

/// Of each thread: the device of its context, what it records, and whether it
/// asked how much memory is free.
inline thread_local int current = -1;
inline thread_local std::vector<Node> *recorded = nullptr;
inline thread_local bool isArenaNext = false;

struct Device {
  std::map<std::string, std::unique_ptr<Program>> programs; ///< by folder
  std::map<Address, Allocation> allocated;
  std::set<Address> arenas;      ///< of steps, of these
  std::set<Address> shared;      ///< with the machine, of these
  std::vector<Stream *> streams; ///< in the order in which they were made
  std::set<void *> handles;      ///< that must be given back
  size_t numOwners = 0;          ///< of contexts
  bool waitsElsewhere = false;   ///< a stream that was asked to go on

  Program &programIn(const std::string &folder) {
    std::unique_ptr<Program> &program = programs[folder];
    if (!program)
      program = std::make_unique<Program>(setting("", "") +
                                          (folder.empty() ? "" : "/") + folder);
    return *program;
  }
  void open() {
    if (::access((setting("", "") + "/pipeline.json").c_str(), F_OK) != 0)
      programIn("");
  }

  /// A launch, to a graph or to a stream.
  void add(Program &program, Handle stream, const std::string &name,
           Node node) {
    if (!recorded && program.hasGraphs && !program.artifact.hasHooks())
      refuse("'" + name + "' is launched outside of a graph");
    if (recorded) {
      recorded->push_back(std::move(node));
      program.hasGraphs = true;
    } else {
      put(stream, {std::move(node), nullptr});
    }
    size_t &segment = program.segment;
    if (++program.numLaunched <
        program.artifact.segments[segment].launches.size())
      return;
    program.numLaunched = 0;
    segment = (segment + 1) % program.artifact.segments.size();
  }

  /// The legacy default stream is there without being made.
  Stream *streamOf(Handle handle) {
    static Stream legacy;
    if (handle)
      return reinterpret_cast<Stream *>(handle);
    if (std::find(streams.begin(), streams.end(), &legacy) == streams.end())
      streams.push_back(&legacy);
    return &legacy;
  }

  void put(Handle stream, Work work) {
    streamOf(stream)->work.push_back(std::move(work));
  }

  bool isInStep(Address address) const {
    return std::any_of(arenas.begin(), arenas.end(), [&](Address arena) {
      return arena <= address && address < arena + allocated.at(arena).bytes;
    });
  }

  bool isInArena(Address address, int64_t at) const {
    return arenas.count(address - at) || shared.count(address - at);
  }

  /// The first piece of work of `stream`, if nothing holds it up.
  bool step(Stream *stream) {
    if (stream->work.empty())
      return false;
    Work &first = stream->work.front();
    if (first.awaits && first.awaits->done < first.count)
      return false;
    if (first.tries && !first.tries()) {
      waitsElsewhere = true;
      return false;
    }
    if (first.run)
      first.run();
    if (first.records) {
      ++first.records->done;
      first.records->at = std::chrono::steady_clock::now();
    }
    stream->work.pop_front();
    return true;
  }

  /// One of the streams goes on, if one can.
  bool stepAny() {
    std::vector<Stream *> order = streams;
    if (setting("_ORDER", "launches") == "copies")
      order.assign(streams.rbegin(), streams.rend());
    waitsElsewhere = false;
    return std::any_of(order.begin(), order.end(),
                       [this](Stream *stream) { return step(stream); });
  }

  /// All streams go on until `last` has nothing to do.
  void wait(Stream *last, std::unique_lock<std::mutex> &lock) {
    while (!last->work.empty()) {
      if (stepAny())
        continue;
      if (!waitsElsewhere)
        refuse("a stream waits for what nobody does");
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      lock.lock();
    }
  }

  /// A copy is of memory of the device at work.
  void checkOwner(Address address) {
    auto found = allocated.upper_bound(address);
    if (setting("_CALLER", "") != "anywhere" && found != allocated.begin() &&
        (--found, address < found->first + found->second.bytes) &&
        found->second.device != current)
      refuse("a copy is of memory of another device");
  }

  void checkRoom(Address address, size_t bytes, const std::string &whose) {
    auto found = allocated.upper_bound(address);
    if (setting("_CALLER", "") == "anywhere" && !isInStep(address))
      return;
    if (found != allocated.begin() &&
        (--found, address + bytes <= found->first + found->second.bytes))
      return;
    refuse(whose + " has an operand outside of what was allocated");
  }
};

inline Device &device() {
  static Device one;
  return one;
}

/// Of all that is above: ranks may be threads.
inline std::mutex &mutex() {
  static std::mutex one;
  return one;
}

} // namespace cutback::cuda

#endif // CUTBACK_TEST_STANDIN_STANDINDEVICE_H
