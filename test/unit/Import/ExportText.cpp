// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON of torch.export 2.13, written by hand.

#include "ExportText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

using namespace cutback;
using namespace cutback::test;
using llvm::StringRef;

static void append(std::string &list, const std::string &entry) {
  list += (list.empty() ? "" : ", ") + entry;
}

std::string test::arg(const std::string &kind, const std::string &json) {
  return "{\"" + kind + "\": " + json + "}";
}

std::string test::tensorArg(const std::string &name) {
  return arg("as_tensor", "{\"name\": \"" + name + "\"}");
}

static std::string sizeOf(StringRef text) {
  text = text.trim();
  int64_t number = 0;
  if (!text.getAsInteger(10, number))
    return arg("as_int", text.str());
  bool isSymbol = llvm::all_of(text, llvm::isAlnum);
  std::string expression =
      isSymbol ? "Symbol('" + text.str() + "', positive=True, integer=True)"
               : text.str();
  return arg("as_expr", "{\"expr_str\": \"" + expression + "\", \"hint\": " +
                            (isSymbol ? "{\"as_int\": 24}" : "null") + "}");
}

std::string test::tensorMeta(const std::string &type) {
  StringRef text = type;
  bool wantsGradient = text.consume_back("!");
  auto [layout, offset] = text.split('@');
  text = layout;
  StringRef element = text.take_until([](char c) { return c == '['; });
  text = text.drop_front(element.size() + 1);
  StringRef sizes = text.take_until([](char c) { return c == ']'; });
  StringRef strides = text.drop_front(sizes.size() + 1);
  llvm::SmallVector<StringRef> dims, steps;
  if (!sizes.empty())
    sizes.split(dims, ',');
  if (strides.consume_front("["))
    strides.drop_back().split(steps, ',');
  int dtype = llvm::StringSwitch<int>(element)
                  .Case("f32", 7)
                  .Case("f64", 8)
                  .Case("f16", 6)
                  .Case("bf16", 13)
                  .Case("i32", 4)
                  .Case("i64", 5)
                  .Case("c64", 10)
                  .Case("b8", 12)
                  .Default(0);
  std::string sizeList, strideList;
  for (size_t i = 0; i < dims.size(); ++i) {
    append(sizeList, sizeOf(dims[i]));
    if (!steps.empty()) {
      append(strideList, sizeOf(steps[i]));
      continue;
    }
    int64_t stride = 1;
    std::string product;
    for (StringRef dim : llvm::ArrayRef(dims).drop_front(i + 1)) {
      int64_t size = 0;
      if (!dim.trim().getAsInteger(10, size))
        stride *= size;
      else
        product += (product.empty() ? "" : "*") + dim.trim().str();
    }
    append(strideList,
           sizeOf(product.empty() ? std::to_string(stride)
                  : stride == 1   ? product
                                  : std::to_string(stride) + "*" + product));
  }
  return "{\"dtype\": " + std::to_string(dtype) + ", \"sizes\": [" + sizeList +
         "], \"requires_grad\": " + (wantsGradient ? "true" : "false") +
         ", \"device\": {\"type\": \"cpu\", \"index\": null}, \"strides\": [" +
         strideList +
         "], \"storage_offset\": " + sizeOf(offset.empty() ? "0" : offset) +
         ", \"layout\": 7}";
}

ExportText &ExportText::declare(const std::string &name,
                                const std::string &type) {
  StringRef scalar = type;
  if (scalar.consume_front("Sym(")) {
    append(symbols, "\"" + name + "\": " + sizeOf(scalar.drop_back()));
    return *this;
  }
  append(tensors, "\"" + name + "\": " + tensorMeta(type));
  return *this;
}

ExportText &ExportText::rawInput(const std::string &argument,
                                 const std::string &spec) {
  append(inputs, argument);
  append(inputSpecs, spec);
  return *this;
}

static std::string spec(const std::string &kind, const std::string &name,
                        const std::string &key, const std::string &value) {
  return "{\"" + kind + "\": {\"arg\": {\"name\": \"" + name + "\"}, \"" + key +
         "\": \"" + value + "\"}}";
}

ExportText &ExportText::param(const std::string &fqn, const std::string &name,
                              const std::string &type) {
  declare(name, type);
  return rawInput(tensorArg(name),
                  spec("parameter", name, "parameter_name", fqn));
}

ExportText &ExportText::buffer(const std::string &fqn, const std::string &name,
                               const std::string &type) {
  declare(name, type);
  return rawInput(tensorArg(name), spec("buffer", name, "buffer_name", fqn));
}

ExportText &ExportText::constant(const std::string &fqn,
                                 const std::string &name,
                                 const std::string &type) {
  declare(name, type);
  return rawInput(tensorArg(name),
                  spec("tensor_constant", name, "tensor_constant_name", fqn));
}

ExportText &ExportText::input(const std::string &name,
                              const std::string &type) {
  declare(name, type);
  bool isSize = StringRef(type).starts_with("Sym(");
  std::string argument =
      isSize ? arg("as_sym_int", "{\"as_name\": \"" + name + "\"}")
             : tensorArg(name);
  return rawInput(argument, "{\"user_input\": {\"arg\": " + argument + "}}");
}

ExportText &ExportText::rawNode(const std::string &json) {
  append(nodes, json);
  return *this;
}

ExportText &ExportText::node(const std::string &target, const Named &args,
                             const Named &results,
                             const std::string &metadata) {
  std::string list, outs;
  for (const auto &[name, value] : args)
    append(list,
           "{\"name\": \"" + name + "\", \"arg\": " + value + ", \"kind\": 1}");
  for (const auto &[name, type] : results) {
    if (type.empty()) {
      append(outs, arg("as_none", "true"));
      continue;
    }
    declare(name, type);
    bool isSize = StringRef(type).starts_with("Sym(");
    append(outs, isSize ? arg("as_sym_int", "{\"as_name\": \"" + name + "\"}")
                        : tensorArg(name));
  }
  bool isTorchOp = target[0] != '_' && !StringRef(target).starts_with("torch.");
  return rawNode("{\"target\": \"" +
                 (isTorchOp ? "torch.ops." : std::string()) + target +
                 "\", \"inputs\": [" + list + "], \"outputs\": [" + outs +
                 "], \"metadata\": " + metadata + ", \"name\": \"" +
                 (results.empty() ? "node" : results.front().first) + "\"}");
}

ExportText &ExportText::rawOutput(const std::string &argument,
                                  const std::string &spec) {
  append(outputs, argument);
  append(outputSpecs, spec);
  return *this;
}

ExportText &ExportText::output(const std::string &name) {
  return rawOutput(tensorArg(name),
                   "{\"user_output\": {\"arg\": " + tensorArg(name) + "}}");
}

ExportText &ExportText::loss(const std::string &name) {
  return rawOutput(tensorArg(name),
                   "{\"loss_output\": {\"arg\": {\"name\": \"" + name +
                       "\"}}}");
}

ExportText &ExportText::gradient(const std::string &name,
                                 const std::string &fqn) {
  return rawOutput(tensorArg(name),
                   spec("gradient_to_parameter", name, "parameter_name", fqn));
}

ExportText &ExportText::inputGradient(const std::string &name,
                                      const std::string &input) {
  return rawOutput(tensorArg(name), spec("gradient_to_user_input", name,
                                         "user_input_name", input));
}

ExportText &ExportText::mutation(const std::string &name,
                                 const std::string &fqn) {
  return rawOutput(tensorArg(name),
                   spec("buffer_mutation", name, "buffer_name", fqn));
}

std::string ExportText::graph() const {
  return "{\"inputs\": [" + inputs + "], \"outputs\": [" + outputs +
         "], \"nodes\": [" + nodes + "], \"tensor_values\": {" + tensors +
         "}, \"sym_int_values\": {" + symbols +
         "}, \"sym_bool_values\": {}, \"is_single_tensor_return\": false, "
         "\"custom_obj_values\": {}, \"sym_float_values\": {}}";
}

std::string ExportText::graphArg() const {
  return arg("as_graph",
             "{\"name\": \"submod_1\", \"graph\": " + graph() + "}");
}

std::string ExportText::json() const {
  return "{\"graph_module\": {\"graph\": " + graph() +
         ", \"signature\": {\"input_specs\": [" + inputSpecs +
         "], \"output_specs\": [" + outputSpecs +
         "]}, \"module_call_graph\": [], \"metadata\": {}}, "
         "\"opset_version\": {\"aten\": 10}, \"range_constraints\": " +
         ranges + ", \"schema_version\": " + version +
         ", \"verifiers\": [\"TRAINING\"], \"torch_version\": \"2.13.0\"}";
}

ZipWriter ExportText::archive() const {
  ZipWriter zip;
  zip.add("model/models/model.json", json());
  zip.add("model/archive_format", "pt2");
  zip.add("model/archive_version", "0");
  zip.add("model/byteorder", "little");
  return zip;
}

ExportText test::linearProgram() {
  ExportText text;
  text.param("fc.weight", "p_fc_weight", "f32[3, 4]!")
      .input("x", "f32[2, 4]")
      .node("aten.linear.default",
            {{"input", tensorArg("x")}, {"weight", tensorArg("p_fc_weight")}},
            {{"linear", "f32[2, 3]"}})
      .node("aten.mean.default", {{"self", tensorArg("linear")}},
            {{"mean", "f32[]"}})
      .output("mean");
  return text;
}
