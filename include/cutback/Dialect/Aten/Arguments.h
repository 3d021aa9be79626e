// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the arguments of a call stand: which entry of `args` belongs to a
// parameter, and which operand it starts at. The one way that inference, rules,
// kernels and element formulas find an argument; each shows what it found in
// its own terms (InferCall: types, CallReader: values, KernelCall: numbers).
#ifndef CUTBACK_DIALECT_ATEN_ARGUMENTS_H
#define CUTBACK_DIALECT_ATEN_ARGUMENTS_H

#include "cutback/Dialect/Aten/Schema.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string_view>

namespace cutback::aten {

/// True of the name of some parameter of some op.
constexpr bool isParameter(std::string_view name) {
  constexpr std::string_view sorted[] = {
#define ATEN_PARAMETER(name) name,
#include "cutback/Dialect/Aten/AtenParameters.inc"
  };
  size_t low = 0, high = std::size(sorted);
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sorted[middle] < name)
      low = middle + 1;
    else
      high = middle;
  }
  return low < std::size(sorted) && sorted[low] == name;
}

/// Clang looks at literals while it compiles.
#if defined(__clang__)
#define CUTBACK_PARAMETER_NAME(name)                                           \
  __attribute__((diagnose_if(!::cutback::aten::isParameter(name),              \
                             "no op has a parameter of this name", "error")))
#else
#define CUTBACK_PARAMETER_NAME(name)
#endif

/// A parameter by name or by position in the schema.
class ParamRef {
public:
  ParamRef(unsigned index) : index(static_cast<int>(index)) {}
  ParamRef(int index) : index(index) {}
  ParamRef(const char *name) CUTBACK_PARAMETER_NAME(name) : name(name) {}
  ParamRef(llvm::StringRef name) : name(name) {}

  /// Empty of a parameter by position.
  llvm::StringRef getName() const { return name; }
  /// Position in `schema`, -1 if it lacks the parameter.
  int resolve(const Schema &schema) const;
  /// It may be lacking.
  bool isOptional() const { return mayLack; }
  void print(llvm::raw_ostream &os) const;

private:
  friend ParamRef optional(const char *name);

  int index = -1;
  llvm::StringRef name;
  bool mayLack = false;
};

/// A parameter that only some of the ops have which a shared rule serves: None
/// for the others.
ParamRef optional(const char *name) CUTBACK_PARAMETER_NAME(name);

/// The arguments of one call. Who reads a parameter that is not optional and
/// that the schema lacks is wrong about the op: that is an error, and what is
/// made of the call must not be used (hasMisread).
class Arguments {
public:
  /// One argument, or one entry of a list.
  struct Item {
    int param = -1;        ///< position in the schema; -1 if it lacks it
    mlir::Attribute value; ///< null where the schema lacks the parameter
    unsigned operand = 0;  ///< first operand that it asks for

    /// None, or no such parameter.
    bool isNone() const;
    /// An SSA operand stands here.
    bool isOperand() const;
  };

  /// Without a location nothing is said of errors.
  Arguments(const Schema &schema, mlir::ArrayAttr args,
            std::optional<mlir::Location> loc);

  Item item(ParamRef param) const;
  /// The entries of a list; of another value that is not None, it alone.
  llvm::SmallVector<Item> entries(ParamRef param) const;
  /// How many operands all arguments ask for.
  unsigned operandsAsked() const { return numOperands; }
  /// A parameter was asked for that there is not.
  bool hasMisread() const { return misread; }

protected:
  const Schema &schema;
  mlir::ArrayAttr args;
  std::optional<mlir::Location> loc;

private:
  llvm::SmallVector<unsigned, 12> firstOperand; ///< of each argument
  unsigned numOperands = 0;
  mutable bool misread = false;
};

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_ARGUMENTS_H
