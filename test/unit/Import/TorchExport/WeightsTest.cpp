// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors beside a program: raw ones, pickled ones, shared and empty ones, and
// everything that a directory of them can get wrong.

#include "../ExportText.h"
#include "../ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

ExportText twoWeights() {
  ExportText text;
  text.param("a", "p_a", "f32[2, 2]!")
      .param("b", "p_b", "f32[2, 2]!")
      .buffer("c", "b_c", "f32[2]")
      .input("x", "f32[2, 2]")
      .output("x");
  return text;
}

std::string entry(const std::string &name, const std::string &file,
                  const std::string &type, int offset = 0,
                  const char *more = "") {
  std::string meta = tensorMeta(type);
  std::string zero = "\"storage_offset\": {\"as_int\": 0}";
  meta.replace(meta.find(zero), zero.size(),
               "\"storage_offset\": {\"as_int\": " + std::to_string(offset) +
                   "}");
  return "\"" + name + "\": {\"path_name\": \"" + file +
         "\", \"is_param\": true, \"use_pickle\": false, \"tensor_meta\": " +
         meta + more + "}";
}

ZipWriter withConfig(const std::string &entries, const std::string &data,
                     const char *config = "model_weights_config.json") {
  ZipWriter zip = twoWeights().archive();
  zip.add("model/data/weights/weight_0", data);
  zip.add("model/data/weights/" + std::string(config),
          "{\"config\": {" + entries + "}}");
  zip.add("model/data/constants/model_constants_config.json",
          "{\"config\": {}}");
  return zip;
}

std::string errorOf(ZipWriter zip) {
  Imported in(zip.str());
  EXPECT_FALSE(in.isGood);
  return in.errors();
}

std::string floats(std::initializer_list<float> values) {
  return std::string(reinterpret_cast<const char *>(values.begin()),
                     values.size() * sizeof(float));
}

//===----------------------------------------------------------------------===//
// Pickles, opcode by opcode
//===----------------------------------------------------------------------===//

std::string text(const std::string &value) {
  std::string out = "X";
  for (unsigned i = 0; i < 4; ++i)
    out += static_cast<char>(value.size() >> (8 * i));
  return out + value;
}
std::string number(int value) { return "K" + std::string(1, char(value)); }
std::string name(const std::string &module, const std::string &what) {
  return "c" + module + "\n" + what + "\n";
}
std::string storage(const std::string &type, const std::string &key) {
  return "(" + text("storage") + name("torch", type) + text(key) + text("cpu") +
         number(4) + "tQ";
}
/// A 2×2 tensor.
std::string tensor(const std::string &key,
                   const std::string &type = "FloatStorage") {
  return name("torch._utils", "_rebuild_tensor_v2") + "(" + storage(type, key) +
         number(0) + number(2) + number(2) + "\x86" + number(2) + number(1) +
         "\x86\x89" + name("collections", "OrderedDict") + ")RtR";
}
std::string pickle(const std::string &items) {
  return std::string("\x80\x02}q\0(", 6) + items + "u.";
}
/// A flat archive of torch 2.7 around torch.save's archive of `data`.
ZipWriter pickled(const std::string &data) {
  ZipWriter inner;
  inner.add("archive/data.pkl", data);
  inner.add("archive/byteorder", "little");
  inner.add("archive/data/0", floats({1, 2, 3, 4}));
  ZipWriter zip;
  zip.add("serialized_exported_program.json", twoWeights().json());
  zip.add("serialized_state_dict.pt", inner.str());
  return zip;
}

} // namespace

TEST(RawWeights, AreViewsOfMappedFiles) {
  std::string bytes =
      withConfig(entry("a", "weight_0", "f32[2, 2]") + ", " +
                     entry("b", "weight_0", "f32[2, 2]") + ", " +
                     entry("c", "weight_0", "f32[2][2]", 1),
                 floats({1, 2, 3, 4}))
          .str();
  Imported in(bytes);
  ASSERT_TRUE(in.isGood) << in.errors();
  WeightFile *weights = in.module.weights.get();
  ASSERT_TRUE(weights);
  ASSERT_EQ(weights->all().size(), 3u);
  const WeightTensor *a = weights->find("a"), *c = weights->find("c");
  ASSERT_TRUE(a && c);
  EXPECT_TRUE(a->elementType.isF32());
  EXPECT_EQ(a->getNumElements(), 4);
  EXPECT_EQ(a->storage->size(), 16u);
  const char *data = a->storage->content().data();
  EXPECT_GE(data, bytes.data());
  EXPECT_LT(data, bytes.data() + bytes.size());
  EXPECT_EQ(c->offset, 1);
  EXPECT_EQ(c->strides.front(), 2);
  EXPECT_EQ(a->payload, c->payload);
  EXPECT_TRUE(a->isSameView(*weights->find("b")));
  EXPECT_FALSE(a->isSameView(*c));
  EXPECT_FALSE(weights->find("d"));
  EXPECT_TRUE(has(in.ir(), "%p_b: tensor<2x2xf32> {joint.requires_grad, "
                           "joint.role = #joint.role<param \"b\">, joint.tied "
                           "= \"a\"}"));
}

/// `count` of two parameters of one storage are read.
static std::string irOfShared(int count, int offset) {
  ExportText text;
  text.param("a", "p_a", "f32[2]!").param("b", "p_b", "f32[2]!");
  if (count > 0)
    text.node("aten.neg.default", {{"self", tensorArg("p_b")}},
              {{"r", "f32[2]"}});
  if (count > 1)
    text.node("aten.neg.default", {{"self", tensorArg("p_a")}},
              {{"s", "f32[2]"}});
  text.output(count > 0 ? "r" : "p_b");
  ZipWriter zip = text.archive();
  zip.add("model/data/weights/weight_0", floats({1, 2, 3, 4}));
  zip.add("model/data/weights/model_weights_config.json",
          "{\"config\": {" + entry("a", "weight_0", "f32[2]") + ", " +
              entry("b", "weight_0", "f32[2]", offset) + "}}");
  Imported in(zip.str());
  EXPECT_TRUE(in.isGood) << in.errors();
  return in.ir();
}

// Of one Parameter with two names one placeholder is read. Two that are read
// are two Parameters, with two gradients.
TEST(RawWeights, ParametersOfOneStorageThatAreBothReadAreNotTied) {
  EXPECT_TRUE(has(irOfShared(1, 0), "joint.tied = \"a\""));
  EXPECT_FALSE(has(irOfShared(1, 0), "joint.shares"));
  EXPECT_FALSE(has(irOfShared(2, 0), "joint.tied"));
  EXPECT_TRUE(has(irOfShared(2, 0), "joint.shares = \"a\""));
  EXPECT_TRUE(has(irOfShared(2, 1), "joint.shares = \"a\""));
  EXPECT_FALSE(has(irOfShared(2, 2), "joint.shares")); // they do not overlap
}

TEST(RawWeights, WithoutDataNothingIsTied) {
  Imported in(withConfig(entry("a", "weight_0", "f32[2, 2]") + ", " +
                             entry("b", "weight_0", "f32[2, 2]") + ", " +
                             entry("c", "weight_0", "f32[2]"),
                         "", "model_model_param_config.json")
                  .str());
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_FALSE(in.module.weights->find("a")->hasData());
  EXPECT_FALSE(llvm::StringRef(in.ir()).contains("joint.tied"));
}

TEST(RawWeights, ErrorsNameTheTensor) {
  std::string a = entry("a", "weight_0", "f32[2, 2]");
  std::string data = floats({1, 2, 3, 4});
  EXPECT_TRUE(has(errorOf(withConfig(a, floats({1, 2, 3}))),
                  "tensor 'a' does not lie inside of its storage of 12 bytes"));
  EXPECT_TRUE(
      has(errorOf(withConfig(entry("a", "weight_0", "f32[2, 2]", 1), data)),
          "tensor 'a' does not lie inside of its storage of 16 bytes"));
  EXPECT_TRUE(
      has(errorOf(withConfig(entry("a", "weight_0", "f32[2, 2]", -1), data)),
          "tensor 'a' does not lie inside"));
  EXPECT_TRUE(has(
      errorOf(withConfig(
          entry("a", "weight_0", "f32[2, 2][9223372036854775807, 1]"), data)),
      "tensor 'a' does not lie inside"));
  EXPECT_TRUE(has(errorOf(withConfig(entry("a", "weight_9", "f32[2]"), data)),
                  "tensor 'a' is in 'model/data/weights/weight_9', which the "
                  "archive does not have"));
  EXPECT_TRUE(has(errorOf(withConfig(a + ", " + a, data)),
                  "tensor 'a' is stored twice"));
  std::string subclass = a;
  subclass.replace(subclass.find("\"use_pickle\": false"), 19,
                   "\"use_pickle\": true");
  EXPECT_TRUE(has(errorOf(withConfig(subclass, data)),
                  "tensor 'a' is a tensor subclass | its class is not known; "
                  "convert it to a plain tensor before the export"));
  EXPECT_TRUE(has(errorOf(withConfig(entry("a", "weight_0", "f32[s0]"), data)),
                  "a stored tensor has a size that is no number"));
  EXPECT_TRUE(has(errorOf(withConfig(entry("a", "weight_0", "q7[2]"), data)),
                  "this is not an element type that is known"));
  std::string short1 = a;
  short1.replace(short1.find("\"strides\": ["), 12,
                 "\"strides\": [{\"as_int\": 1}, ");
  EXPECT_TRUE(has(errorOf(withConfig(short1, data)),
                  "tensor 'a' has 2 sizes and 3 strides"));
  EXPECT_TRUE(has(errorOf(withConfig(a + "]", data)), "this is not JSON"));
  EXPECT_TRUE(has(errorOf(withConfig("\"a\": 3", data)),
                  "expected an object with 'path_name', found a number"));
}

TEST(RawWeights, PackedOnesAreUnpackedForWhatTheirTensorsUse) {
  ExportText program;
  program.param("a", "p_a", "f32[2, 2]!").output("p_a");
  auto pack = [&](const std::string &data) {
    ZipWriter zip;
    zip.add("r/archive_format", "pt2");
    zip.add("r/models/model.json", program.json(), /*deflated=*/true);
    zip.add("r/data/weights/model_weights_config.json",
            "{\"config\": {" + entry("a", "weight_0", "f32[2, 2]") + "}}");
    zip.add("r/data/weights/weight_0", data, /*deflated=*/true);
    return zip;
  };
  Imported small(pack(floats({1, 2, 3, 4, 5})).str());
  ASSERT_TRUE(small.isGood) << small.errors();
  EXPECT_EQ(small.module.weights->unpack(), "");
  EXPECT_EQ(small.module.weights->find("a")->storage->content().size(), 20u);
  Imported huge(pack(std::string((65 << 20) + 16, '\0')).str());
  ASSERT_TRUE(huge.isGood) << huge.errors();
  EXPECT_TRUE(has(huge.module.weights->unpack(),
                  "r/data/weights/weight_0: a packed storage of 68157456 "
                  "bytes, of which tensors use 16"));
  EXPECT_TRUE(huge.module.weights->find("a")->storage->content().empty());
}

TEST(RawWeights, DamagedPackedOnesAreNamedWhenTheyAreUnpacked) {
  ExportText program;
  program.param("a", "p_a", "f32[2, 2]!").output("p_a");
  ZipWriter zip;
  zip.add("r/archive_format", "pt2");
  zip.add("r/models/model.json", program.json());
  zip.add("r/data/weights/model_weights_config.json",
          "{\"config\": {" + entry("a", "weight_0", "f32[2, 2]") + "}}");
  std::string data;
  for (int i = 0; i < 4000; ++i)
    data += static_cast<char>(i * i / 7);
  zip.add("r/data/weights/weight_0", data, /*deflated=*/true);
  std::string bytes = zip.str();
  bytes[bytes.find("r/data/weights/weight_0") + 500] ^= 0x55;
  Imported in(bytes);
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(has(in.module.weights->unpack(), "r/data/weights/weight_0: "));
}

TEST(RawWeights, ATextThatUnpacksToFarMoreIsRefused) {
  ExportText program;
  program.param("a", "p_a", "f32[2, 2]!").output("p_a");
  ZipWriter zip;
  zip.add("r/archive_format", "pt2");
  zip.add("r/models/model.json",
          program.json() + std::string(size_t(65) << 20, ' '),
          /*deflated=*/true);
  EXPECT_TRUE(has(errorOf(zip), "this entry would unpack from "));
  EXPECT_TRUE(has(errorOf(zip), "no program packs like this; if the file is to "
                                "be trusted, unpack it and pack it again "
                                "without compression (zip -0)"));
}

TEST(RawWeights, MissingOnesAreNamed) {
  EXPECT_TRUE(has(errorOf(withConfig(entry("a", "weight_0", "f32[2, 2]"),
                                     floats({1, 2, 3, 4}))),
                  "the archive has no data for 'b' | the file is damaged or "
                  "was edited"));
  EXPECT_TRUE(
      has(errorOf(withConfig(entry("a", "weight_0", "f32[4]"),
                             floats({1, 2, 3, 4}))),
          "'a' is a tensor<2x2xf32> in the program, and a tensor<4xf32> in the "
          "archive"));
}

TEST(PickledWeights, AreReadWhereTheyLie) {
  std::string bytes = pickled(pickle(text("a") + tensor("0") + text("b") +
                                     tensor("0") + text("c") + tensor("0")))
                          .str();
  // `c` is larger here than in the program, which is an error of its own.
  Imported wrong(bytes);
  EXPECT_FALSE(wrong.isGood);
  ExportText program;
  program.param("a", "p_a", "f32[2, 2]!").param("b", "p_b", "f32[2, 2]!");
  program.output("p_a");
  ZipWriter inner;
  inner.add("archive/data.pkl",
            pickle(text("a") + tensor("0") + text("b") + tensor("0")));
  inner.add("archive/data/0", floats({1, 2, 3, 4}), /*deflated=*/true);
  ZipWriter zip;
  zip.add("r/models/model.json", program.json());
  zip.add("r/archive_format", "pt2");
  zip.add("r/data/weights/model.pt", inner.str(), /*deflated=*/true);
  Imported in(zip.str());
  ASSERT_TRUE(in.isGood) << in.errors();
  const WeightTensor *a = in.module.weights->find("a");
  ASSERT_TRUE(a);
  // Reading the graph leaves packed storages as they are.
  EXPECT_EQ(a->storage->size(), 16u);
  EXPECT_TRUE(a->storage->content().empty());
  EXPECT_EQ(in.module.weights->unpack(), "");
  llvm::ArrayRef<char> content = a->storage->content();
  EXPECT_EQ(std::string(content.data(), content.size()), floats({1, 2, 3, 4}));
  EXPECT_TRUE(has(in.ir(), "joint.tied = \"a\""));
}

TEST(PickledWeights, NothingButTensorsIsRead) {
  auto error = [&](const std::string &data) { return errorOf(pickled(data)); };
  std::string a = text("a");
  EXPECT_TRUE(
      has(error(pickle(a + name("posix", "system") + text("true") + "\x85R")),
          "the pickle asks for 'posix.system', which tensors do not "
          "need (at byte "));
  EXPECT_TRUE(has(error(pickle(a + "ios\nsystem\n")),
                  "the pickle has opcode 0x69, which tensors do not need"));
  EXPECT_TRUE(has(error("\x80\x05."), "the pickle is of protocol 5, and 4 is "
                                      "the last known"));
  EXPECT_TRUE(has(error("]."), "the pickle is not a dictionary of tensors"));
  EXPECT_TRUE(has(error("N"), "the pickle is cut off"));
  EXPECT_TRUE(has(error("R"), "the pickle takes a value that is not there"));
  EXPECT_TRUE(has(error("NbN."), "the pickle sets attributes of something else "
                                 "than an OrderedDict"));
  EXPECT_TRUE(has(error("\x8a\x09" + std::string(9, '1')),
                  "the pickle has a number of more than 64 bits"));
  EXPECT_TRUE(has(error("N)R"), "the pickle calls what is no function"));
  EXPECT_TRUE(has(error("NQ"), "the pickle refers to something else than a "
                               "storage"));
  EXPECT_TRUE(has(error(name("torch._utils", "_rebuild_tensor_v2") + ")R"),
                  "the pickle makes a tensor of something else than a storage, "
                  "an offset, sizes and strides"));
  EXPECT_TRUE(has(error(name("torch._utils", "_rebuild_parameter") + "N\x85R"),
                  "the pickle makes a parameter of something else than a "
                  "tensor"));
  EXPECT_TRUE(has(error(pickle(a + tensor("7"))),
                  "tensor 'a' is in 'archive/data/7', which the archive does "
                  "not have"));
  EXPECT_TRUE(has(error(pickle(a + tensor("0", "QUInt8Storage"))),
                  "tensor 'a' has a storage 'QUInt8Storage' of unknown "
                  "elements"));
  EXPECT_TRUE(has(error(pickle(a + tensor("0", "DoubleStorage"))),
                  "tensor 'a' does not lie inside of its storage of 16 bytes"));
  EXPECT_TRUE(has(error(pickle(a + tensor("0") + a + tensor("0"))),
                  "tensor 'a' is stored twice"));
}

TEST(PickledWeights, WhatIsNoArchiveOfTensors) {
  ZipWriter zip;
  zip.add("serialized_exported_program.json", twoWeights().json());
  zip.add("serialized_state_dict.pt", "\x80\x02}.");
  EXPECT_TRUE(has(errorOf(zip), "this is not an archive of torch.save | only "
                                "tensors are read, never other objects; save "
                                "the program again with plain tensors, or with "
                                "torch 2.9 or later, which stores them raw"));
  ZipWriter inner;
  inner.add("archive/version", "3");
  zip.entries.pop_back();
  zip.add("serialized_state_dict.pt", inner.str());
  EXPECT_TRUE(has(errorOf(zip), "there is no data.pkl in this archive of "
                                "torch.save"));
  inner.add("archive/data.pkl", pickle(""));
  inner.add("archive/byteorder", "big");
  zip.entries.pop_back();
  zip.add("serialized_state_dict.pt", inner.str());
  EXPECT_TRUE(has(errorOf(zip), "these tensors are not little-endian | save "
                                "the program on a little-endian machine"));
}

TEST(PickledWeights, EveryPrefixOfAPickleIsAnError) {
  std::string whole = pickle(text("a") + tensor("0"));
  mlir::MLIRContext context;
  for (size_t size = 0; size < whole.size(); ++size) {
    Imported in(pickled(whole.substr(0, size)).str(), {}, &context);
    EXPECT_FALSE(in.isGood) << size;
  }
}
