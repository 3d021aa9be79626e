// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan.json against the plan that was made again: every value of it counts.
// That the commands look is tested in test/Tools/cutback/stored-plan.test.

#include "cutback/Report/PartitionFiles.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

using namespace cutback;
using llvm::json::Value;

namespace {

const char *const kPlan =
    R"({"schema":1,"strategy":"min-cut","byte_price_ps":0.5,"verified":true,)"
    R"("none":null,"saved":[{"value":"a","bytes":4},{"value":"b","bytes":8}],)"
    R"("recomputed":["mul","add"],"symbols":{"s0":3},"empty":[],"odd":{},)"
    R"("deep":{"list":[[1,2],[3]]}})";

/// What is said of `stored` where `kPlan` is right, or "".
std::string messageOf(llvm::StringRef stored) {
  std::optional<PartMismatch> mismatch = comparePlans(stored, kPlan);
  if (!mismatch)
    return "";
  EXPECT_EQ(mismatch->file, "plan.json");
  return mismatch->message;
}

std::string textOf(const Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Values that may stand in place of one.
std::vector<Value> othersOf(const Value &value) {
  if (auto number = value.getAsInteger())
    return {*number + 1, -*number - 1, std::to_string(*number), nullptr};
  if (auto number = value.getAsNumber())
    return {*number + 1, 7};
  if (auto flag = value.getAsBoolean())
    return {!*flag, int(*flag)};
  if (auto text = value.getAsString())
    return {text->str() + "x", text->drop_front().str(), 1};
  if (value.getAsNull())
    return {0, std::string(), false};
  if (const llvm::json::Array *list = value.getAsArray()) {
    std::vector<Value> others = {llvm::json::Object()};
    llvm::json::Array longer(*list), shorter(*list), turned(*list);
    longer.push_back(1);
    others.emplace_back(std::move(longer));
    if (!list->empty()) {
      shorter.pop_back();
      others.emplace_back(std::move(shorter));
    }
    std::reverse(turned.begin(), turned.end());
    if (list->size() > 1)
      others.emplace_back(std::move(turned));
    return others;
  }
  llvm::json::Object more(*value.getAsObject());
  more["mine"] = 1;
  return {Value(std::move(more)), llvm::json::Array(), nullptr};
}

/// Puts every other value in the place of each value below `value`, which is a
/// part of `root`.
void changeEach(const Value &root, Value &value, const std::string &path,
                unsigned &count) {
  auto visit = [&](Value &inner, const std::string &name) {
    for (Value &other : std::vector<Value>(othersOf(inner))) {
      std::swap(inner, other);
      std::string text = textOf(root);
      EXPECT_NE(messageOf(text).find(name), std::string::npos)
          << name << " in " << text << "\n"
          << messageOf(text);
      std::swap(inner, other);
      ++count;
    }
    changeEach(root, inner, name, count);
  };
  if (llvm::json::Array *list = value.getAsArray())
    for (size_t i = 0; i < list->size(); ++i)
      visit((*list)[i], path + "[" + std::to_string(i) + "]");
  if (llvm::json::Object *object = value.getAsObject())
    for (auto &member : *object)
      visit(member.second,
            (path.empty() ? "" : path + ".") + member.first.str());
}

} // namespace

TEST(PlanFile, everyValueIsCompared) {
  Value root = llvm::cantFail(llvm::json::parse(kPlan));
  EXPECT_EQ(messageOf(textOf(root)), "");
  unsigned count = 0;
  changeEach(root, root, "", count);
  EXPECT_GT(count, 60u);
}

TEST(PlanFile, layoutAndTheOrderOfKeysSayNothing) {
  EXPECT_EQ(messageOf(kPlan), "");
  std::string spread =
      llvm::formatv("{0:2}", llvm::cantFail(llvm::json::parse(kPlan)));
  EXPECT_EQ(messageOf(spread), "");
  std::string escaped = kPlan;
  escaped.replace(escaped.find("mul"), 3, "m\\u0075l");
  EXPECT_EQ(messageOf(escaped), "");
  std::string price = kPlan;
  price.replace(price.find("0.5"), 3, "5e-1");
  EXPECT_EQ(messageOf(price), "");
}

TEST(PlanFile, theFirstDifferenceIsNamedWithBothValues) {
  auto with = [](llvm::StringRef what, llvm::StringRef other) {
    std::string text = kPlan;
    text.replace(text.find(what.str()), what.size(), other.str());
    return messageOf(text);
  };
  EXPECT_EQ(with("\"min-cut\"", "\"save-all\""),
            "'strategy' is \"save-all\"; computed again, it is \"min-cut\"");
  EXPECT_EQ(with("\"bytes\":8", "\"bytes\":9"),
            "'saved[1].bytes' is 9; computed again, it is 8");
  EXPECT_EQ(with("\"schema\":1,", ""), "'schema' is missing");
  EXPECT_EQ(with("\"schema\":1,", "\"schema\":1,\"schema\":1,"),
            "'schema' is there twice");
  EXPECT_EQ(with("\"s0\":3", "\"s0\":3,\"s1\":3"),
            "'symbols.s1' is no part of this plan");
  EXPECT_EQ(with("[\"mul\",\"add\"]", "[\"mul\"]"),
            "'recomputed' has 1 entries; computed again, it has 2");
  EXPECT_EQ(messageOf("[]"),
            "its value is an array; computed again, it is an object");
  EXPECT_EQ(with("null", "\"" + std::string(100, 'x') + "\""),
            "'none' is \"" + std::string(60, 'x') +
                "...\"; computed again, it is null");
}

TEST(PlanFile, whatIsNoJsonIsSaidWithItsPlace) {
  std::optional<PartMismatch> mismatch =
      comparePlans(llvm::StringRef(kPlan).drop_back(3), kPlan);
  ASSERT_TRUE(mismatch);
  EXPECT_TRUE(mismatch->isUnreadable);
  EXPECT_NE(mismatch->message.find("no JSON at byte "), std::string::npos);
  mismatch = comparePlans(kPlan, "{");
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->message, "the plan made again is no JSON: the text ends "
                               "inside an object");
}
