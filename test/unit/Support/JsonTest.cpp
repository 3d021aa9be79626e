// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON as Python writes it, with its NaN and Infinity, and texts that are none.

#include "cutback/Support/Json.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace cutback;

namespace {

/// "message at offset", or "" if `text` is JSON.
std::string errorOf(const std::string &text) {
  JsonDocument document;
  auto error = JsonDocument::parse(text, document);
  return error ? error->message + " at " + std::to_string(error->offset) : "";
}

std::string rawAt(const JsonDocument &document, std::string_view key) {
  return std::string(document.root().find(key).raw());
}

} // namespace

TEST(Json, ValuesKnowTheirTextAndTheirNeighbours) {
  std::string text = R"( {"a": [1, 2.5e3, "x"], "b": {"c": null, "d": true},
                          "e": {}, "f": [], "a2": false} )";
  JsonDocument document;
  ASSERT_FALSE(JsonDocument::parse(text, document));
  JsonValue root = document.root();
  EXPECT_TRUE(root.isObject());
  EXPECT_EQ(root.size(), 5u);
  EXPECT_EQ(rawAt(document, "a"), R"([1, 2.5e3, "x"])");
  EXPECT_EQ(rawAt(document, "b"), R"({"c": null, "d": true})");
  EXPECT_EQ(root.find("a").size(), 3u);
  EXPECT_TRUE(root.find("b").find("c").isNull());
  EXPECT_TRUE(root.find("b").find("d").isBool());
  EXPECT_EQ(root.find("e").size(), 0u);
  EXPECT_EQ(root.find("a2").kind(), JsonKind::False);
  EXPECT_FALSE(root.find("zz"));
  EXPECT_FALSE(root.find("a").find("b"));
  std::string all;
  for (JsonValue value : root.find("a").children())
    all += std::string(value.raw()) + ";";
  EXPECT_EQ(all, "1;2.5e3;x;");
}

TEST(Json, Numbers) {
  std::string text = "[0, -9223372036854775808, 9223372036854775807, "
                     "9223372036854775808, 1.5, -2e-3, NaN, Infinity, "
                     "-Infinity, \"Infinity\", \"-Infinity\", \"NaN\", \"1\"]";
  JsonDocument document;
  ASSERT_FALSE(JsonDocument::parse(text, document));
  std::vector<JsonValue> values;
  for (JsonValue value : document.root().children())
    values.push_back(value);
  EXPECT_EQ(values[0].asInt(), 0);
  EXPECT_EQ(values[1].asInt(), INT64_MIN);
  EXPECT_EQ(values[2].asInt(), INT64_MAX);
  EXPECT_FALSE(values[3].asInt());
  EXPECT_FALSE(values[4].asInt());
  EXPECT_EQ(values[4].asDouble(), 1.5);
  EXPECT_EQ(values[5].asDouble(), -0.002);
  EXPECT_TRUE(std::isnan(*values[6].asDouble()));
  EXPECT_EQ(values[7].asDouble(), INFINITY);
  EXPECT_EQ(values[8].asDouble(), -INFINITY);
  EXPECT_EQ(values[9].asDouble(), INFINITY);
  EXPECT_EQ(values[10].asDouble(), -INFINITY);
  EXPECT_TRUE(std::isnan(*values[11].asDouble()));
  EXPECT_FALSE(values[12].asDouble());
}

TEST(Json, StringsKeepTheirEscapesUntilTheyAreAskedFor) {
  std::string text =
      R"(["plain text", "a\n\t\"\\\/b", "\u00e9\u20ac", "\ud83d\ude00", "\ud83d"])";
  JsonDocument document;
  ASSERT_FALSE(JsonDocument::parse(text, document));
  std::vector<JsonValue> values;
  for (JsonValue value : document.root().children())
    values.push_back(value);
  EXPECT_FALSE(values[0].hasEscapes());
  EXPECT_EQ(values[0].decoded(), "plain text");
  EXPECT_TRUE(values[1].hasEscapes());
  EXPECT_EQ(values[1].decoded(), "a\n\t\"\\/b");
  EXPECT_EQ(values[2].decoded(), "\xc3\xa9\xe2\x82\xac");
  EXPECT_EQ(values[3].decoded(), "\xf0\x9f\x98\x80");
  EXPECT_EQ(values[4].decoded(), "\xed\xa0\xbd");
}

TEST(Json, ErrorsSayWhere) {
  EXPECT_EQ(errorOf(""), "the text ends where a value should be at 0");
  EXPECT_EQ(errorOf("[1, 2"), "the text ends inside an array at 5");
  EXPECT_EQ(errorOf("{\"a\": 1"), "the text ends inside an object at 7");
  EXPECT_EQ(errorOf("{"), "the text ends inside an object at 1");
  EXPECT_EQ(errorOf("{1: 2}"), "expected the name of a member in quotes at 1");
  EXPECT_EQ(errorOf("{\"a\" 2}"), "expected ':' behind the name of a member at "
                                  "5");
  EXPECT_EQ(errorOf("[1 2]"), "expected ',' or ']' in an array at 3");
  EXPECT_EQ(errorOf("{\"a\": 1 2}"), "expected ',' or '}' in an object at 8");
  EXPECT_EQ(errorOf("[1,]"), "expected a value at 3");
  EXPECT_EQ(errorOf("nul"), "expected a value at 0");
  EXPECT_EQ(errorOf("[-]"), "this is not a number at 2");
  EXPECT_EQ(errorOf("[1.]"), "this is not a number at 3");
  EXPECT_EQ(errorOf("[-Inf]"), "this is not a number at 2");
  EXPECT_EQ(errorOf("\"abc"), "the text ends inside a string at 4");
  EXPECT_EQ(errorOf("\"a\nb\""), "a string has a control character at 2");
  EXPECT_EQ(errorOf("\"\\x\""), "a string has an unknown escape at 2");
  EXPECT_EQ(errorOf("\"\\u12g4\""), "a string has an unknown escape at 5");
  EXPECT_EQ(errorOf("1 2"), "the text goes on behind its value at 2");
}

TEST(Json, DepthIsLimited) {
  std::string deep(512, '[');
  EXPECT_EQ(errorOf(deep + std::string(512, ']')), "");
  EXPECT_EQ(errorOf(deep + "["), "values nest deeper than 512 levels at 512");
  EXPECT_EQ(errorOf(std::string(1 << 20, '[')),
            "values nest deeper than 512 levels at 512");
}

TEST(Json, LengthIsLimited) {
  // The length is looked at before the text is.
  JsonDocument document;
  auto error =
      JsonDocument::parse(std::string_view("", size_t(1) << 32), document);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "the text is longer than 4 GiB");
}

TEST(Json, EveryPrefixIsAnError) {
  std::string text = R"({"a": [1, "x\n", {"b": -1.5e3}], "c": [true, null]})";
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(errorOf(text.substr(0, size)), "") << size;
}

TEST(Json, KindsHaveNames) {
  EXPECT_STREQ(describe(JsonKind::Missing), "nothing");
  EXPECT_STREQ(describe(JsonKind::Null), "null");
  EXPECT_STREQ(describe(JsonKind::True), "a boolean");
  EXPECT_STREQ(describe(JsonKind::Number), "a number");
  EXPECT_STREQ(describe(JsonKind::String), "a string");
  EXPECT_STREQ(describe(JsonKind::Array), "an array");
  EXPECT_STREQ(describe(JsonKind::Object), "an object");
}
