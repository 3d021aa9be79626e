// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names are those of files of tensors: `input.N`, `tangent.N`, `param.NAME`,
// `buffer.NAME`. An argument that no file has may be known all the same: the
// gradient of a loss is one, buffers of kernels begin as zeros, random ops draw
// from the seed. One element is made and repeated; memory is little-endian.

#include "cutback/Runtime/Arguments.h"

#include <algorithm>
#include <cstring>

using namespace cutback;

bool cutback::isInputName(std::string_view name) {
  return name.rfind("input.", 0) == 0 || name.rfind("tangent.", 0) == 0;
}

bool cutback::takesArgument(const Artifact &artifact, std::string_view name) {
  return std::any_of(
      artifact.arguments.begin(), artifact.arguments.end(),
      [&](const ArtifactArgument &argument) { return argument.name == name; });
}

/// The bits of one element of what nobody gave, from the lowest byte on.
static uint64_t elementOf(const ArtifactArgument &argument, int64_t seed) {
  if (argument.fill != ArtifactArgument::Ones)
    return argument.fill == ArtifactArgument::Seed ? seed : 0;
  return argument.dtype == "f64"    ? 0x3FF0000000000000
         : argument.dtype == "f32"  ? 0x3F800000
         : argument.dtype == "bf16" ? 0x3F80
         : argument.dtype == "f16"  ? 0x3C00
                                    : 1;
}

void cutback::fillArgument(const ArtifactArgument &argument, int64_t seed,
                           char *bytes) {
  int64_t item = bytesOfType(argument.dtype);
  uint64_t element = elementOf(argument, seed);
  for (int64_t at = 0, all = bytesOf(argument); at < all; at += item)
    std::memcpy(bytes + at, &element, item);
}
