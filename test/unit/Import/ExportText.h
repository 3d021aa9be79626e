// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes small exported programs, and archives around them.
#ifndef CUTBACK_TEST_UNIT_IMPORT_EXPORTTEXT_H
#define CUTBACK_TEST_UNIT_IMPORT_EXPORTTEXT_H

#include "../Support/ZipWriter.h"

#include <string>
#include <utility>
#include <vector>

namespace cutback::test {

/// {"as_tensor": {"name": "x"}}
std::string tensorArg(const std::string &name);
/// {"as_int": 3} and its kin; `json` is the value as JSON.
std::string arg(const std::string &kind, const std::string &json);
/// The TensorMeta of "f32[2, s0]", or of "f32[2, s0][1, 2]" with strides; one
/// that wants a gradient ends in "!".
std::string tensorMeta(const std::string &type);

/// One program or graph, put together from pieces of JSON.
struct ExportText {
  using Named = std::vector<std::pair<std::string, std::string>>;

  ExportText &param(const std::string &fqn, const std::string &name,
                    const std::string &type);
  ExportText &buffer(const std::string &fqn, const std::string &name,
                     const std::string &type);
  ExportText &constant(const std::string &fqn, const std::string &name,
                       const std::string &type);
  ExportText &input(const std::string &name, const std::string &type);
  /// An input of which both parts are given.
  ExportText &rawInput(const std::string &argument, const std::string &spec);
  /// `target` without "torch.ops."; `args` are names with JSON, `results` names
  /// with types ("Sym(s0)" is a size).
  ExportText &node(const std::string &target, const Named &args,
                   const Named &results, const std::string &metadata = "{}");
  ExportText &rawNode(const std::string &json);
  ExportText &output(const std::string &name);
  ExportText &loss(const std::string &name);
  ExportText &gradient(const std::string &name, const std::string &fqn);
  ExportText &inputGradient(const std::string &name, const std::string &input);
  ExportText &mutation(const std::string &name, const std::string &fqn);
  ExportText &rawOutput(const std::string &argument, const std::string &spec);
  ExportText &declare(const std::string &name, const std::string &type);

  /// The graph alone, as `as_graph` holds it.
  std::string graph() const;
  std::string graphArg() const;
  /// The whole program.
  std::string json() const;
  /// An archive of today's form without weights.
  ZipWriter archive() const;

  std::string version = R"({"major": 8, "minor": 20})", ranges = "{}";
  std::string inputs, inputSpecs, outputs, outputSpecs, nodes, tensors, symbols;
};

/// A program of one linear layer and its mean: param "fc.weight", input x.
ExportText linearProgram();

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_IMPORT_EXPORTTEXT_H
