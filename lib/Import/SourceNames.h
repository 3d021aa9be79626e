// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Dynamo calls the place that an input came from.
#ifndef CUTBACK_LIB_IMPORT_SOURCENAMES_H
#define CUTBACK_LIB_IMPORT_SOURCENAMES_H

#include "cutback/Dialect/Joint/Joint.h"

#include <string>

namespace cutback::fx {

/// "L['self']._modules['fc1']._parameters['weight']" is param "fc1.weight".
struct SourceName {
  joint::RoleKind kind = joint::RoleKind::Input;
  std::string name; ///< empty if the source has another form
};
SourceName parseSourceName(llvm::StringRef source);

/// The name that Dynamo gives a graph's input for `source`, without the suffix
/// that makes it unique: "L_self_modules_fc1_parameters_weight_".
std::string placeholderName(llvm::StringRef source);

} // namespace cutback::fx

#endif // CUTBACK_LIB_IMPORT_SOURCENAMES_H
