// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL by its names: nothing of it is needed to build, and only who asks for it
// loads it. It has no version of its interface to ask for: a library that lacks
// a name is too old. Where the system does not find the library,
// LD_LIBRARY_PATH says where it is (that of PyTorch is in
// site-packages/nvidia/nccl/lib).

#include "cutback/Runtime/Cuda/Nccl.h"

#include <dlfcn.h>

using namespace cutback::cuda;

static constexpr const char *kLibrary = "libnccl.so.2";

std::unique_ptr<Nccl> Nccl::open(std::string &error, std::string &next) {
  next = "install NCCL 2.7 or newer, or name the folder of the library in "
         "LD_LIBRARY_PATH; without --transport=nccl messages go over MPI or "
         "threads";
  void *library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    error = std::string("there is no NCCL: ") + ::dlerror();
    return nullptr;
  }
  auto nccl = std::make_unique<Nccl>();
  std::string missing;
  auto address = [&](const char *name) {
    void *found = ::dlsym(library, name);
    if (!found && missing.empty())
      missing = name;
    return found;
  };
  auto find = [&](auto &call) { call.setAddress(address(call.name)); };
  find(nccl->ncclGetVersion);
  find(nccl->ncclGetUniqueId);
  find(nccl->ncclCommInitRank);
  find(nccl->ncclCommDestroy);
  find(nccl->ncclCommAbort);
  find(nccl->ncclCommGetAsyncError);
  find(nccl->ncclGroupStart);
  find(nccl->ncclGroupEnd);
  find(nccl->ncclSend);
  find(nccl->ncclRecv);
  nccl->ncclGetErrorString =
      reinterpret_cast<const char *(*)(Status)>(address("ncclGetErrorString"));
  if (missing.empty())
    return nccl;
  error = std::string("the ") + kLibrary + " that is there lacks " + missing;
  return nullptr;
}

std::string Nccl::version() const {
  int number = 0;
  if (ncclGetVersion(&number) != 0)
    return "of an unknown version";
  // Until 2.8 the major number was counted in thousands.
  int major = number < 10000 ? number / 1000 : number / 10000;
  int rest = number < 10000 ? number % 1000 : number % 10000;
  return std::to_string(major) + "." + std::to_string(rest / 100) + "." +
         std::to_string(rest % 100);
}

std::string Nccl::explain(Status status, const char *call) const {
  if (status == 0)
    return "";
  const char *text = ncclGetErrorString(status);
  return std::string(call) + ": " + (text ? text : "failed") + " (" +
         std::to_string(status) + "); NCCL_DEBUG=WARN lets NCCL say more";
}
