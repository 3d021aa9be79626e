// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that are wrong: each error says where and what to do, and nothing
// that a damaged file holds leads to anything but an error.

#include "../ExportText.h"
#include "../ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

const std::string kX = tensorArg("x");

std::string errorOf(const std::string &text) {
  ImportOptions options;
  options.strict = true; // what contradicts is not taken as declared
  Imported in(text, options);
  EXPECT_FALSE(in.isGood);
  return in.errors();
}
std::string errorOf(const ExportText &text) { return errorOf(text.json()); }

/// The program of one layer with `from` replaced.
std::string edited(const std::string &from, const std::string &to) {
  std::string text = linearProgram().json();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? "" : text.replace(at, from.size(), to);
}

ExportText oneInput() {
  ExportText text;
  return text.input("x", "f32[2]");
}

} // namespace

TEST(ExportErrors, Versions) {
  ExportText text = linearProgram();
  text.version = R"({"major": 9, "minor": 0})";
  EXPECT_TRUE(has(errorOf(text),
                  "this program has schema version 9, and 8 is the newest that "
                  "is known | export it with torch 2.14 or before, or use a "
                  "newer cutback"));
  text.version = R"({"minor": 0})";
  EXPECT_TRUE(has(errorOf(text),
                  "this program does not say its schema version | a program "
                  "that torch.export wrote has 'schema_version'; check the "
                  "file"));
  text.version = R"({"major": 8, "minor": 4000})";
  EXPECT_TRUE(Imported(text.json()).isGood);
}

TEST(ExportErrors, PlacesAreThoseOfTheText) {
  std::string text = linearProgram().json();
  std::string other = edited("aten.mean.default", "aten.\nmean");
  EXPECT_TRUE(has(errorOf(other), "this is not JSON: a string has a control "
                                  "character | the file is damaged or was "
                                  "edited; export and save the program again"));
  std::string lines = edited("\"nodes\"", "\n\n\"nodes\"");
  std::string wrong = lines;
  size_t at = wrong.find("torch.ops.aten.mean.default");
  wrong.replace(at, 5, "tarch");
  EXPECT_TRUE(has(errorOf(wrong), "3:"));
}

TEST(ExportErrors, WrongTypesOfFields) {
  EXPECT_TRUE(has(errorOf(edited("\"nodes\": [", "\"nodes\": 3, \"n\": [")),
                  "'nodes' must be an array, and is a number"));
  EXPECT_TRUE(has(errorOf(edited("\"nodes\"", "\"noodles\"")),
                  "there is no 'nodes' here"));
  EXPECT_TRUE(has(errorOf(edited("{\"as_tensor\": {\"name\": \"x\"}}, \"kind\"",
                                 "[], \"kind\"")),
                  "'arg' must be an object, and is an array"));
  EXPECT_TRUE(has(errorOf(edited("{\"as_tensor\": {\"name\": \"x\"}}, \"kind\"",
                                 "{}, \"kind\"")),
                  "expected an object with one member, found an object"));
  EXPECT_TRUE(has(errorOf(edited("{\"as_tensor\": {\"name\": \"x\"}}, \"kind\"",
                                 "{\"as_tensor\": {\"name\": 7}}, \"kind\"")),
                  "expected the name of a value, found a number"));
  EXPECT_TRUE(has(errorOf(edited("\"tensor_values\": {",
                                 "\"sym_int_values\": 3, \"tensor_values\": "
                                 "{")),
                  "'sym_int_values' must be an object, and is a number"));
  EXPECT_TRUE(has(errorOf(edited("\"tensor_values\": {",
                                 "\"tensor_values\": {\"x\": {}, ")),
                  "'x' is declared twice"));
  EXPECT_TRUE(has(errorOf(edited("\"dtype\": 7", "\"dtype\": 99")),
                  "this is not an element type that is known"));
  EXPECT_TRUE(
      has(errorOf(edited("\"layout\": 7", "\"layout\": 2")),
          "'p_fc_weight' is not strided | sparse and opaque layouts are not "
          "read; convert it to a dense tensor in the model"));
  EXPECT_TRUE(has(errorOf(edited("{\"as_int\": 3}", "{\"as_word\": 3}")),
                  "a size is neither a number nor an expression"));
  EXPECT_TRUE(
      has(errorOf(edited("{\"as_int\": 3}",
                         "{\"as_expr\": {\"expr_str\": \"Add(Symbol(\"}}")),
          "size 'Add(Symbol(' does not read"));
  EXPECT_TRUE(has(errorOf(edited("{\"as_int\": 3}", "{\"as_int\": -3}")),
                  "size -3 is negative"));
}

TEST(ExportErrors, Values) {
  EXPECT_TRUE(has(
      errorOf(oneInput().node("aten.relu.default", {{"self", tensorArg("y")}},
                              {{"r", "f32[2]"}})),
      "'y' is not defined before its use"));
  EXPECT_TRUE(has(
      errorOf(
          oneInput()
              .node("aten.relu.default", {{"self", kX}}, {{"r", "f32[2]"}})
              .node("aten.relu.default", {{"self", kX}}, {{"r", "f32[2]"}})),
      "'r' is declared twice"));
  std::string twice =
      oneInput()
          .node("aten.relu.default", {{"self", kX}}, {{"r", "f32[2]"}})
          .node("aten.relu.default", {{"self", kX}}, {{"s", "f32[2]"}})
          .json();
  twice.replace(twice.find("{\"name\": \"s\"}"), 13, "{\"name\": \"r\"}");
  EXPECT_TRUE(has(errorOf(twice), "'r' is defined twice"));
  EXPECT_TRUE(has(errorOf(oneInput().rawInput(kX, R"({"user_input": {"arg": )" +
                                                      kX + "}}")),
                  "'x' is defined twice"));
  ExportText undeclared;
  undeclared.rawInput(kX, R"({"user_input": {"arg": )" + kX + "}}");
  EXPECT_TRUE(has(errorOf(undeclared), "input 'x' has no type"));
  std::string size = arg("as_sym_int", R"({"as_name": "n"})");
  ExportText unsized1;
  unsized1.rawInput(size, R"({"user_input": {"arg": )" + size + "}}");
  EXPECT_TRUE(has(errorOf(unsized1), "input 'n' has no type"));
  EXPECT_TRUE(has(errorOf(oneInput().rawNode(
                      R"({"target": "torch.ops.aten.relu.default", "inputs": )"
                      R"([{"name": "self", "arg": {"as_tensor": {"name": "x"}})"
                      R"(}], "outputs": [{"as_tensor": {"name": "r"}}], )"
                      R"("metadata": {}})")),
                  "'r' has no type"));
  EXPECT_TRUE(
      has(errorOf(oneInput().rawNode(
              R"({"target": "torch.ops.aten.relu.default", "inputs": )"
              R"([{"name": "self", "arg": {"as_tensor": {"name": "x"}})"
              R"(}], "outputs": [{"as_tensor": {}}], "metadata": {}})")),
          "expected the name of a value, found nothing"));
  EXPECT_TRUE(
      has(errorOf(oneInput().rawNode(
              R"({"target": "torch.ops.aten.relu.default", "inputs": )"
              R"([{"name": "self", "arg": {"as_tensor": {"name": "x"}})"
              R"(}], "outputs": [{"as_future": {}}], "metadata": {}})")),
          "a result of kind 'as_future' is not read | it is of a "
          "release that is not known, or was edited; export it with "
          "torch 2.2 to 2.14"));
}

TEST(ExportErrors, Calls) {
  auto relu = [](const ExportText::Named &args, const char *type) {
    return oneInput().node("aten.relu.default", args, {{"r", type}});
  };
  EXPECT_TRUE(has(errorOf(relu({{"self", kX}}, "f32[3]")),
                  "'r' is declared as tensor<3xf32>, but aten.relu gives "
                  "tensor<2xf32>"));
  EXPECT_TRUE(
      has(errorOf(relu({}, "f32[2]")), "aten.relu lacks its argument 'self'"));
  EXPECT_TRUE(has(errorOf(relu({{"self", arg("as_int", "true")}}, "f32[2]")),
                  "'as_int' cannot be a boolean true"));
  EXPECT_TRUE(has(errorOf(relu({{"self", arg("as_ints", "3")}}, "f32[2]")),
                  "expected a list, found a number"));
  EXPECT_TRUE(
      has(errorOf(relu({{"self", arg("as_custom_obj", "{}")}}, "f32[2]")),
          "an argument of kind 'as_custom_obj' is not read"));
  EXPECT_TRUE(has(errorOf(oneInput().node("_operator.spin", {{"a", kX}},
                                          {{"r", "f32[2]"}})),
                  "'_operator.spin' is not an op that a program has | call "
                  "run_decompositions() on the program before it is saved; if "
                  "that does not help, write the model without it"));
  std::string vmap = R"({"target": )"
                     R"("torch._functorch.predispatch._add_batch_dim", )"
                     R"("inputs": [], "outputs": [], "metadata": {}})";
  EXPECT_TRUE(has(errorOf(oneInput().rawNode(vmap)),
                  "'torch._functorch.predispatch._add_batch_dim' is a step of "
                  "torch.vmap or torch.func that the export has left in the "
                  "program | call run_decompositions() on the program before "
                  "it is saved: that takes it apart"));
  EXPECT_TRUE(
      has(errorOf(oneInput().node("aten.spin.out", {{"self", kX}, {"out", kX}},
                                  {{"r", "f32[2]"}})),
          "'aten.spin.out' writes to a tensor that it is given, and "
          "the op without that is not known"));
  std::string list = arg("as_tensors", R"([{"name": "x"}, {"name": "x"}])");
  std::string shorter = arg("as_tensors", R"([{"name": "x"}])");
  const ExportText::Named wrong[] = {{{"self", list}},
                                     {{"self", list}, {"other", shorter}},
                                     {{"self", kX}, {"other", list}},
                                     {}};
  for (const ExportText::Named &args : wrong)
    for (const char *op : {"spin", "add", "maximum_"})
      EXPECT_TRUE(has(
          errorOf(oneInput().node(std::string("aten._foreach_") + op + ".List",
                                  args, {{"r", "f32[2]"}})),
          "is a call on lists of tensors, and the op on one of them is "
          "not known | call the op on each tensor, in a loop"));
  EXPECT_TRUE(
      has(errorOf(oneInput().node("higher_order.with_effects",
                                  {{"", kX}, {"", kX}}, {{"t", "f32[0]"}})),
          "does not say its op, or gives no token"));
  EXPECT_TRUE(
      has(errorOf(oneInput().rawNode(
              R"({"target": "torch.ops.higher_order.with_effects", "inputs": )"
              R"([{"name": "", "arg": )" +
              kX + R"(, "kind": 1}, {"name": "", "arg": )" +
              arg("as_operator", "\"torch.ops.aten.relu.default\"") +
              R"(, "kind": 1}], "outputs": [)" + kX +
              R"(], "metadata": {}, "name": "e"})")),
          "'x' is defined twice"));
  EXPECT_TRUE(
      has(errorOf(relu({{"self", arg("as_complex", R"({"real": 1.0})")}},
                       "f32[2]")),
          "a complex number has the members 'real' and 'imag'"));
  EXPECT_TRUE(has(errorOf(oneInput().node("aten.relu.default", {{"self", kX}},
                                          {{"r", "f32[2]"}, {"s", "f32[2]"}})),
                  "'r' is declared with 2 results, but aten.relu gives 1"));
  EXPECT_TRUE(has(errorOf(oneInput().node("aten._assert_async.msg",
                                          {{"assert_msg", kX}, {"b", kX}}, {})),
                  "a check takes a condition and a message"));
}

TEST(ExportErrors, Signatures) {
  EXPECT_TRUE(has(errorOf(linearProgram().rawInput(kX, "{\"odd\": {}}")),
                  "an input of kind 'odd' is not read | custom objects have no "
                  "place in a training graph; export the model without them"));
  EXPECT_TRUE(has(errorOf(linearProgram().rawInput(
                      kX, R"({"token": {"arg": {"name": "x"}}})")),
                  "'x' is defined twice"));
  std::string object = arg("as_custom_obj", "{}");
  EXPECT_TRUE(has(errorOf(linearProgram().rawInput(
                      object, R"({"user_input": {"arg": )" + object + "}}")),
                  "an input of kind 'as_custom_obj' is not read"));
  ExportText extra = linearProgram();
  extra.inputs += ", " + kX;
  EXPECT_TRUE(has(errorOf(extra), "the graph has 3 inputs, its signature 2"));
  extra = linearProgram();
  extra.outputs += ", " + kX;
  EXPECT_TRUE(has(errorOf(extra), "the graph has 2 outputs, its signature 1"));
  EXPECT_TRUE(has(errorOf(linearProgram().param("fc.weight", "p2", "f32[1]")),
                  "'fc.weight' is two inputs"));
  EXPECT_TRUE(has(errorOf(linearProgram().gradient("mean", "fc.bias")),
                  "there is no input 'fc.bias'"));
  EXPECT_TRUE(has(errorOf(linearProgram().gradient("mean", "fc.weight")),
                  "the gradient of input 'p_fc_weight' has type tensor<f32>, "
                  "the input tensor<3x4xf32>"));
  EXPECT_TRUE(
      has(errorOf(oneInput().inputGradient("x", "x").inputGradient("x", "x")),
          "input 'x' has two gradients"));
  EXPECT_TRUE(has(errorOf(linearProgram().mutation("mean", "fc.weight")),
                  "the new value of 'fc.weight' has another shape than it"));
  EXPECT_TRUE(has(errorOf(linearProgram().rawOutput(
                      kX, R"({"odd": {"arg": {"name": "x"}}})")),
                  "an output of kind 'odd' is not read"));
}

TEST(ExportErrors, UnusedDeclarationsAreNoBurden) {
  ExportText text = oneInput();
  std::string meta = tensorMeta("f32[2]");
  for (int i = 0; i < 100000; ++i)
    text.tensors += ", \"v" + std::to_string(i) + "\": " + meta;
  text.output("x");
  Imported in(text.json());
  EXPECT_TRUE(in.isGood) << in.errors();
}

TEST(ExportErrors, DeepTextIsAnError) {
  std::string text = linearProgram().json();
  size_t at = text.find("\"metadata\": {}");
  text.replace(at + 12, 2, std::string(100000, '['));
  EXPECT_TRUE(has(errorOf(text), "values nest deeper than 512 levels"));
}

TEST(ExportErrors, AsStridedOutsideOfItsOperand) {
  auto read = [](const std::string &type, const std::string &offset) {
    ExportText text;
    text.input("x", type);
    text.node("aten.as_strided.default",
              {{"self", kX},
               {"size", arg("as_ints", "[2, 2]")},
               {"stride", arg("as_ints", "[2, 1]")},
               {"storage_offset", offset}},
              {{"y", "f32[2, 2][2, 1]"}});
    return text.output("y");
  };
  const char *message =
      "'aten.as_strided' leaves its operand | it names places of a storage, of "
      "which the operand has a part or has them in another order; take parts "
      "with slices, `unfold` or `view`";
  const std::string none = arg("as_none", "true"), zero = arg("as_int", "0");
  EXPECT_TRUE(has(errorOf(read("f32[2, 2][4, 1]", none)), message));
  EXPECT_TRUE(has(errorOf(read("f32[2, 2]@4", zero)), message));
  EXPECT_TRUE(has(errorOf(read("f32[3]", none)), message));
  EXPECT_TRUE(Imported(read("f32[2, 3]", zero).json()).isGood);
}

TEST(ExportErrors, EveryPrefixAndManyChangesAreReadOrRefused) {
  std::string text = linearProgram().json();
  mlir::MLIRContext context;
  for (size_t size = 40; size < text.size(); size += 3)
    EXPECT_FALSE(Imported(text.substr(0, size), {}, &context).isGood) << size;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = "3}\"x[,"[i % 6];
    Imported in(changed, {}, &context);
    EXPECT_TRUE(in.isGood || !in.diagnostics.empty()) << i;
  }
}

TEST(ExportErrors, EveryFieldMayBeOfAnyKind) {
  std::string text = linearProgram().json();
  mlir::MLIRContext context;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != ':')
      continue;
    for (const char *value :
         {"null", "3", "\"x\"", "[]", "{}", "{\"as_int\": \"x\"}", "[[]]"}) {
      // The old value becomes that of another key.
      std::string changed = text;
      changed.insert(i + 1, std::string(value) + ", \"old\": ");
      Imported in(changed, {}, &context);
      EXPECT_TRUE(in.isGood || !in.diagnostics.empty()) << i;
    }
  }
}
