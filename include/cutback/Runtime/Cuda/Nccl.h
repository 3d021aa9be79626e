// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of NCCL's interface that messages between ranks need, found at run
// time: names, numbers and sizes as NVIDIA documents them, the same from
// version 2.7 on.
#ifndef CUTBACK_RUNTIME_CUDA_NCCL_H
#define CUTBACK_RUNTIME_CUDA_NCCL_H

#include "cutback/Runtime/Cuda/Driver.h"

#include <utility>

namespace cutback::cuda {

/// ncclUniqueId, by which ranks find each other.
struct NcclId {
  char bytes[128];
};
/// ncclDataType_t
enum : int { kNcclBytes = 0 };
/// ncclResult_t of ncclCommGetAsyncError while a call goes on.
inline constexpr Status kNcclInProgress = 7;

/// Statuses are ncclResult_t; 0 is success.
struct NcclCalls {
  DriverCall<Status(int *version)> ncclGetVersion{"ncclGetVersion"};
  DriverCall<Status(NcclId *id)> ncclGetUniqueId{"ncclGetUniqueId"};
  DriverCall<Status(Handle *ranks, int size, NcclId id, int rank)>
      ncclCommInitRank{"ncclCommInitRank"};
  DriverCall<Status(Handle ranks)> ncclCommDestroy{"ncclCommDestroy"};
  DriverCall<Status(Handle ranks)> ncclCommAbort{"ncclCommAbort"};
  DriverCall<Status(Handle ranks, Status *status)> ncclCommGetAsyncError{
      "ncclCommGetAsyncError"};
  DriverCall<Status()> ncclGroupStart{"ncclGroupStart"};
  DriverCall<Status()> ncclGroupEnd{"ncclGroupEnd"};
  DriverCall<Status(Address from, size_t count, int type, int rank,
                    Handle ranks, Handle stream)>
      ncclSend{"ncclSend"};
  DriverCall<Status(Address to, size_t count, int type, int rank, Handle ranks,
                    Handle stream)>
      ncclRecv{"ncclRecv"};
};

class Nccl : public NcclCalls {
public:
  /// Loads `libnccl.so.2`. Null, with `error` and `next` (what to do) set,
  /// where there is none, or one that lacks a call.
  static std::unique_ptr<Nccl> open(std::string &error, std::string &next);

  /// "2.27.3"
  std::string version() const;
  /// Why `call` failed; empty for success.
  std::string explain(Status status, const char *call) const;

  /// Makes a call if nothing has gone wrong; `error` gets what does.
  template <typename... Parameters, typename... Given>
  bool run(std::string &error, const DriverCall<Status(Parameters...)> &call,
           Given &&...given) const {
    if (error.empty())
      error = explain(call(std::forward<Given>(given)...), call.name);
    return error.empty();
  }

private:
  const char *(*ncclGetErrorString)(Status status) = nullptr;
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_NCCL_H
