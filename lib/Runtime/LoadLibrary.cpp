// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader takes files. Between a check of one and its loading another may
// have taken its name, so the bytes that were checked go to a file in memory,
// and that is loaded.
//
// The loader goes by names before it looks at files: each load has a name that
// no other one had, the path of the descriptor with steps that lead nowhere. A
// library stays: kernels may be running when others are loaded. One with the
// same bytes is found again, so that opening a folder many times costs nothing.

#include "cutback/Runtime/LoadLibrary.h"

#include "cutback/Support/SafeFile.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace cutback;

/// A file in memory, from which code may be loaded.
static int makeMemoryFile(const std::string &name) {
#ifdef MFD_EXEC
  int file = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_EXEC);
  if (file >= 0 || errno != EINVAL)
    return file;
#endif
  return ::memfd_create(name.c_str(), MFD_CLOEXEC);
}

/// A path to an open file that no load before it had.
static std::string uniquePath(int file, uint64_t number) {
  std::string path = "/proc/self/fd/";
  for (; number; number >>= 1)
    path += number & 1 ? "./" : ".//";
  return path + std::to_string(file);
}

static void *load(const ArtifactFile &file, uint64_t number,
                  std::string &error) {
  auto fail = [&](const std::string &what) -> void * {
    error = "cannot load '" + file.name + "': " + what;
    return nullptr;
  };
  int memory = makeMemoryFile(file.name);
  if (memory < 0)
    return fail(std::strerror(errno));
  std::string what = writeAll(memory, *file.contents);
  void *library = nullptr;
  if (what.empty()) {
    library =
        ::dlopen(uniquePath(memory, number).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      what = ::dlerror();
  }
  ::close(memory);
  return library ? library : fail(what);
}

void *cutback::loadLibrary(const ArtifactFile &file, std::string &error) {
  static std::mutex mutex;
  static auto *loaded = new std::map<std::pair<std::string, int64_t>, void *>();
  static uint64_t number = 0;
  std::lock_guard<std::mutex> lock(mutex);
  std::pair<std::string, int64_t> key = {file.checksum, file.bytes};
  if (auto found = loaded->find(key); found != loaded->end())
    return found->second;
  void *library = load(file, ++number, error);
  if (library)
    loaded->emplace(key, library);
  return library;
}
