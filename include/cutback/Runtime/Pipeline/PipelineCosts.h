// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a pipeline that was cut costs a schedule.
#ifndef CUTBACK_RUNTIME_PIPELINE_PIPELINECOSTS_H
#define CUTBACK_RUNTIME_PIPELINE_PIPELINECOSTS_H

#include "cutback/Runtime/Pipeline/Pipeline.h"
#include "cutback/Schedule/Simulate.h"

namespace cutback {

/// Times, arenas and slots of the phases as the manifest has them, bytes that
/// cross, and for each stage the bytes of its parameters, of the sums of their
/// gradients and the largest of these, and of its buffers. States of an
/// optimizer are not known to it. Of a stage that has a `backward` alone, I is
/// all of it and W nothing; of one that has `input` and `weight` alone, B is
/// both. The link costs nothing. Of two sizes of a micro-batch it is the most
/// of both: times and bytes are upper bounds then.
pipeline::Costs costsOf(const Pipeline &pipeline);

/// Nothing, or why `pipeline` has not what `schedule` does: other stages, or
/// phases of its actions that there are not.
std::optional<pipeline::ScheduleError>
checkPhases(const pipeline::Schedule &schedule, const Pipeline &pipeline);

} // namespace cutback

#endif // CUTBACK_RUNTIME_PIPELINE_PIPELINECOSTS_H
