// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which output of a model is its loss, as users of PyTorch's pipelines say it.
#ifndef CUTBACK_PIPELINING_LOSSSPEC_H
#define CUTBACK_PIPELINING_LOSSSPEC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace cutback {

/// Reads "1", "output.1", or a nesting of tuples, lists and dictionaries as in
/// Python with a truth value for each output, in the order of `outputs` (which
/// are flat, as a .pt2 has them): the first that is True. Nothing, with a
/// sentence in `error`, for a text that is none of these, a number or name that
/// no output has, a value that is no truth value, another number of values than
/// of outputs, and where none is True.
std::optional<unsigned> findLoss(llvm::StringRef spec,
                                 llvm::ArrayRef<std::string> outputs,
                                 std::string &error);

} // namespace cutback

#endif // CUTBACK_PIPELINING_LOSSSPEC_H
