// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback verify`: the certificate on stored results, whoever made them. It
// trusts nothing but the three functions.
//
// Three files, a folder that `compile` wrote, or a trace log that holds all
// three graphs.

#include "ArtifactProof.h"

#include "cutback/Report/Report.h"
#include "cutback/Support/Text.h"

namespace cutback {

CommandSpec verifySpec() {
  CommandSpec spec;
  spec.name = "verify";
  spec.arguments = "DIR | LOG | JOINT FORWARD BACKWARD";
  spec.summary =
      "Prove that two halves compute what a joint graph computes.\n"
      "\nOf a folder that `compile` wrote, also that every part belongs to "
      "the\n"
      "others: the plan is made again from joint.mlir, and each fact of\n"
      "plan.json and both halves must be what comes of it, and so must be\n"
      "kernels.mlir, manifest.json and the files of a target, if they are "
      "there;\n"
      "files that other compilers made have the checksums of the manifest.\n"
      "\nExit code 3 if not.";
  spec.options = inputOptions();
  spec.minArguments = 1;
  spec.maxArguments = 3;
  spec.examples = {
      "verify out",
      "verify trace.log",
      "verify joint.txt forward.txt backward.txt",
  };
  return spec;
}

/// What a compiler computes in another order is said.
static std::string roundedText(uint64_t rounded) {
  return rounded ? "equal but for rounding: the halves take off the largest "
                   "element before the scale, " +
                       formatCount(rounded, "time") + "\n"
                 : "";
}

int runVerify(const CommandLine &line) {
  Session session("verify", line);
  StoredHalves halves;
  if (line.arguments.size() == 1 && isStoredPlan(line.arguments[0]))
    if (int code = refusePlanOptions(session, session.line))
      return code;
  if (int code = halves.load(session, line.arguments, importOptionsOf(line)))
    return code;
  if (int code = halves.verify(session))
    return code;
  std::string compiled;
  if (halves.plan)
    if (int code = proveArtifact(session, line.arguments[0], halves, compiled))
      return code;
  return session.write(
      std::nullopt,
      "verified: " + formatCount(halves.stats.classes) + " value classes, " +
          formatCount(halves.signature.saved.size(), "saved value") + ", " +
          formatCount(halves.stats.recomputedOps, "op") + " recomputed\n" +
          roundedText(halves.stats.rounded) +
          (halves.plan
               ? "plan: " + planText(*halves.plan) +
                     "; plan.json is what its files say" + compiled + "\n"
               : ""));
}

} // namespace cutback
