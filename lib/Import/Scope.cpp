// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of a graph. Python would allow a name to be assigned again, but an FX
// graph never does: a second definition means that the text is not one graph,
// so it is an error, and so is a use before the definition. That leaves no
// cycles to look for.

#include "Scope.h"
#include "NextSteps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

bool cutback::fx::isBackwardInput(StringRef name, StringRef descriptor) {
  // A part of a tensor subclass is what the whole is.
  for (StringRef part :
       {"SubclassGetAttrAOTInput(base=", "SubclassSizeAOTInput(base=",
        "SubclassStrideAOTInput(base="})
    while (descriptor.consume_front(part))
      ;
  if (!descriptor.empty())
    return descriptor.starts_with("TangentAOTInput") ||
           descriptor.starts_with("PhiloxBackward") ||
           descriptor.starts_with("BackwardToken");
  return name.contains("tangents") || name.contains("bwd_seed") ||
         name.contains("bwd_base_offset");
}

LogicalResult Scope::failRedefined(StringRef name) const {
  StringRef first = names.table.name(names.table.find(name));
  auto [line, column] = source.lineAndColumn(first.begin());
  return fail(name.begin(), quoted(name) + " is defined twice",
              "its first definition is in line " + Twine(line) + ", column " +
                  Twine(column) + "; a graph defines each name once");
}

LogicalResult Scope::failUndefined(StringRef name) const {
  return fail(name.begin(), quoted(name) + " is not defined before its use",
              nextSteps(source).cut);
}

const DeclaredType *Scope::readType(StringRef text) {
  std::string error;
  const DeclaredType *type = types.get(text, error);
  if (!type)
    (void)fail(
        text.begin(), error,
        text.starts_with("DTensor(")
            ? "distributed tensors are not read: dump the graph of one "
              "rank below them, whose tensors are plain (aot_joint_graph "
              "of a model whose parameters are local)"
            : "an annotation is an element type with sizes, like "
              "'f32[8, s0][s0, 1]cpu', or 'Sym(s0)'");
  return type;
}

LogicalResult Scope::addArgument(const Argument &argument) {
  Binding binding;
  binding.isBackward = isBackwardInput(argument.name, argument.descriptor);
  binding.value = block().addArgument(
      argument.type->type,
      source.locate(context, argument.name.begin(), cursor));
  types.bindSymbols(*argument.type);
  arguments.push_back(argument);
  return define(argument.name, binding);
}

LogicalResult Scope::insertObject(size_t place, StringRef name) {
  object.type = NoneType::get(context);
  Binding binding;
  binding.value =
      block().insertArgument(static_cast<unsigned>(place), object.type,
                             source.locate(context, name.begin()));
  arguments.insert(arguments.begin() + static_cast<ptrdiff_t>(place),
                   {name, StringRef(), &object});
  return define(name, binding);
}

void Scope::addConstant(StringRef name, Binding &binding,
                        const DeclaredType &type) {
  binding.kind = Binding::Value;
  // The text of a nested graph is read once a call: not in ascending order.
  binding.value = block().addArgument(
      type.type, names.prefix.empty()
                     ? source.locate(context, name.begin(), cursor)
                     : source.locate(context, name.begin()));
  arguments.push_back(
      {valueName(name), StringRef(), &type, /*isConstant=*/true});
}
