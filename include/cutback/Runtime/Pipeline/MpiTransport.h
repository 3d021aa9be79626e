// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as processes that an mpirun started.
#ifndef CUTBACK_RUNTIME_PIPELINE_MPITRANSPORT_H
#define CUTBACK_RUNTIME_PIPELINE_MPITRANSPORT_H

#include "cutback/Runtime/Pipeline/Transport.h"

#include <memory>
#include <string>

namespace cutback::pipeline {

/// "openmpi", "mpich": which of the two started this process, by its
/// environment; empty for none.
std::string mpiOfEnvironment();

/// Loads libcutback-mpi-NAME.so, which is looked for in the folder that
/// $CUTBACK_MPI names, beside the file that this is in and in ../lib, and
/// begins. One a process. `name` is that of mpiOfEnvironment(). Null, with
/// `error` and `next` set, if that fails.
std::unique_ptr<Transport> openMpi(const std::string &name, std::string &error,
                                   std::string &next);

} // namespace cutback::pipeline

#endif // CUTBACK_RUNTIME_PIPELINE_MPITRANSPORT_H
