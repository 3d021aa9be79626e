// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which parameters get their gradients from the same place of the backward of
// a pipeline's stage (`get_param_groups` of torch.distributed.pipelining).
#ifndef CUTBACK_ANALYSIS_PARAMETERGROUPS_H
#define CUTBACK_ANALYSIS_PARAMETERGROUPS_H

#include "cutback/Analysis/GraphSets.h"

namespace cutback {

/// Parameters, and the forward ops at which what they compute meets what the
/// inputs compute. The gradient of an input runs through the backward of those
/// ops anyway; the gradients of the parameters follow from there.
struct ParameterGroup {
  std::vector<uint32_t> parameters;    ///< arguments, ascending
  std::vector<uint32_t> intermediates; ///< op numbers, ascending
};

/// The groups of a joint graph, ordered by their first parameter: two
/// parameters are in one if they share an intermediate, or each does with a
/// third. Inputs are arguments with role input that have a gradient, parameters
/// all others that have one. A parameter that meets no input is a group of its
/// own without intermediates; PyTorch's function leaves it out, and so its
/// gradient. O(parameters × ops) at worst, mostly linear.
std::vector<ParameterGroup> findParameterGroups(const GraphView &view,
                                                const GraphSets &sets);

} // namespace cutback

#endif // CUTBACK_ANALYSIS_PARAMETERGROUPS_H
