// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names that say nothing about a model, in place of those that do.
#ifndef CUTBACK_SUPPORT_NEUTRALNAMES_H
#define CUTBACK_SUPPORT_NEUTRALNAMES_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// One anonymization: equal texts get equal replacements, different texts
/// different ones, numbered by first appearance. So the same questions in the
/// same order give the same answers, and the answers hold nothing but that
/// order.
class NeutralNames {
public:
  /// A qualified name: "blocks.3.attn.weight" → "m0.3.m1.p0". Numbers stay, so
  /// that repeated blocks are seen; the last component becomes "p…".
  std::string path(std::string_view path);
  /// The same for a module, whose last component is one, too.
  std::string modulePath(std::string_view path);

  /// The name of a value, after what computes it: "mul", "mul_1", …
  std::string value(std::string_view name, std::string_view kind);

  /// A symbolic size: "s0", "s1", …
  std::string symbol(std::string_view name);
  /// A size expression with its symbols replaced: "2*s34 + 1" → "2*s0 + 1".
  std::string sizeExpr(std::string_view text);

  /// The target of a call: as it is in a namespace of PyTorch, else
  /// "custom.op0.default".
  std::string callee(std::string_view callee);

  /// An argument that is text: as it is if it is one of the words that calls
  /// of PyTorch take ("cpu", "strided", "tanh"); an einsum equation with
  /// letters in order of appearance; anything else "text0", "text1", …
  std::string text(std::string_view text);
  /// Any other word (a keyword, a symbol of a module): `kind` and a number.
  std::string word(std::string_view kind, std::string_view word);

  /// A line of source: its number in the order of appearance, from 1.
  unsigned line(std::string_view file, unsigned line);

  /// Says which numbers there are, before the first is asked for.
  void addNumbers(std::vector<double> numbers);
  /// A number with as few digits as keep it apart from all others and from
  /// whole numbers; whole numbers as they are. 0.08838 → 0.09.
  double number(double number) const;

private:
  std::string counted(std::string_view kind, std::string_view key,
                      std::string_view prefix);
  std::string components(std::string_view path, bool lastIsLeaf);

  std::map<std::string, std::map<std::string, std::string, std::less<>>,
           std::less<>>
      known; ///< by kind, by text
  std::map<std::string, unsigned, std::less<>> valuesOfKind;
  std::set<std::string, std::less<>> takenValues;
  std::map<uint64_t, double> numbers; ///< by bits
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_NEUTRALNAMES_H
