// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter is a compiler's, thirty megabytes with MLIR, and this runtime
// is small: so it is loaded where a step has calls for it, and where the
// program does not have it already. All that it is asked by is three functions
// of the C interface (cutback-c/Calls.h).

#include "cutback/Runtime/CallRunner.h"

#include "cutback-c/Calls.h"

#include <cstdlib>
#include <dlfcn.h>
#include <type_traits>
#include <vector>

using namespace cutback;

CallRunner::~CallRunner() = default;

static MakeCallRunner ownRunner = nullptr;

void cutback::setCallRunner(MakeCallRunner make) { ownRunner = make; }

namespace {

/// That of libcutback.so.
class LoadedRunner : public CallRunner {
public:
  ~LoadedRunner() override {
    if (calls)
      destroy(calls);
  }

  /// False where `path` is no such library.
  bool load(const std::string &path) {
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          ::dlsym(library, name));
      return function != nullptr;
    };
    return library && find(create, "cutbackCallsCreate") &&
           find(runCall, "cutbackCallsRun") &&
           find(destroy, "cutbackCallsDestroy");
  }

  std::string read(const std::string &text) {
    const char *error = nullptr;
    calls = create(text.data(), text.size(), &error);
    return calls ? "" : error ? error : "there is no memory";
  }

  std::string run(const std::string &name, void *const *operands) override {
    const char *error = runCall(calls, name.c_str(), operands);
    return error ? error : "";
  }

private:
  decltype(&cutbackCallsCreate) create = nullptr;
  decltype(&cutbackCallsRun) runCall = nullptr;
  decltype(&cutbackCallsDestroy) destroy = nullptr;
  CutbackCalls *calls = nullptr;
};

} // namespace

/// Where the library may be.
static std::vector<std::string> placesOfLibrary() {
  std::vector<std::string> places;
  if (const char *given = std::getenv("CUTBACK_LIBRARY"))
    places.emplace_back(given);
  Dl_info found;
  if (::dladdr(reinterpret_cast<void *>(&setCallRunner), &found) &&
      found.dli_fname) {
    std::string file = found.dli_fname;
    size_t end = file.rfind('/');
    std::string folder = end == std::string::npos ? "." : file.substr(0, end);
    for (const char *place : {"/libcutback.so", "/../lib/libcutback.so",
                              "/libcutback.so.1", "/../lib/libcutback.so.1"})
      places.push_back(folder + place);
  }
  return places;
}

/// Reads `text`, by the program's own interpreter or that of a library.
static std::unique_ptr<CallRunner> readCalls(const std::string &text,
                                             std::string &error) {
  if (ownRunner)
    return ownRunner(text, error);
  auto runner = std::make_unique<LoadedRunner>();
  for (const std::string &place : placesOfLibrary())
    if (runner->load(place)) {
      error = runner->read(text);
      return error.empty() ? std::move(runner) : nullptr;
    }
  error = "libcutback.so, whose interpreter runs them, is not found: put it "
          "beside this program, or name it in CUTBACK_LIBRARY";
  return nullptr;
}

std::unique_ptr<CallRunner> cutback::openCalls(const std::string &text,
                                               std::string &error) {
  std::unique_ptr<CallRunner> runner = readCalls(text, error);
  if (!runner)
    error = "has calls without machine code, and " + error;
  return runner;
}
