// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pages made by hand: what their data says, what their text says, and that no
// name gets out of its place.

#include "cutback/Report/Page.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

using namespace cutback;
using llvm::StringRef;

namespace {

/// Two plans over four items; the second saves less.
Page examplePage(const std::string &name = "addmm_1") {
  Page page;
  page.texts = {"addmm",  "blocks.0.attn", "blocks.1.attn", "f32[8]",
                "m.py:3", "expensive",     "cheap",         "mul"};
  for (uint32_t i = 0; i < 4; ++i) {
    PageItem item;
    item.name = i == 1 ? name : "value_" + std::to_string(i);
    item.op = i == 3 ? 7 : 0;
    item.module = i % 2 ? 2 : 1;
    item.place = 4;
    item.type = 3;
    item.bytes = 1000 * (i + 1);
    item.order = 3 - i; // the last item is the first of the model
    item.first = i;
    page.items.push_back(item);
  }
  page.items[3].needs = {2};
  PagePlan fast;
  fast.name = {PagePlanName::Price, "byte price 0", ""};
  fast.savedBytes = 6000;
  fast.peakBytes = 9000;
  fast.pricedPs = 2'000'000;
  fast.verified = true;
  fast.saved = {{0, 5, 1000}, {1, 5, 2000}, {2, 6, 3000}};
  fast.forwardOps = 2;
  fast.numOps = 4;
  for (uint32_t step = 0; step < 4; ++step) {
    PageMoment moment;
    moment.step = step;
    moment.item = step;
    moment.bytes = {step < 2 ? 1000 : 3000, 0, 10 * step};
    fast.moments.push_back(moment);
  }
  fast.spans = {{0, 0, 4, 1000}, {3, 2, 4, 2000}};
  fast.arena.bytes = 9216;
  fast.arena.alignment = 512;
  fast.arena.placed = {{0, 0, 4, 0, 1024, LiveKind::Saved},
                       {3, 0, 1, 1024, 8192, LiveKind::Temporary},
                       {3, 2, 4, 1024, 4096, LiveKind::Recomputed}};
  fast.arena.numSmall = 2;
  fast.arena.largestSmall = 500;
  fast.arena.small = {{1, 0, 2}, {3, 1, 4}};
  PagePlan small = fast;
  small.name = {PagePlanName::Strategy, "eager", "--strategy=eager"};
  small.saved = {{0, 5, 1000}, {2, 5, 3000}};
  small.recomputed = {3};
  small.recomputedOps = 1;
  small.peakBytes = 18000;
  small.verified = false;
  page.plans = {fast, small};
  return page;
}

std::vector<int64_t> numbers(const llvm::json::Array *array) {
  std::vector<int64_t> out;
  for (const llvm::json::Value &value : *array)
    out.push_back(value.getAsInteger().value_or(-1));
  return out;
}

using Numbers = std::vector<int64_t>;

} // namespace

TEST(Page, itemsStandInTheOrderOfTheModel) {
  auto json = llvm::json::parse(examplePage().data());
  ASSERT_TRUE(bool(json));
  const auto *items = json->getAsObject()->getObject("items");
  EXPECT_EQ(numbers(items->getArray("bytes")),
            Numbers({4000, 3000, 2000, 1000}));
  EXPECT_EQ((*items->getArray("name"))[0].getAsString(), StringRef("value_3"));
  EXPECT_EQ(numbers((*items->getArray("needs"))[0].getAsArray()), Numbers({1}));
}

TEST(Page, plansAreDifferencesFromTheOneBefore) {
  auto json = llvm::json::parse(examplePage().data());
  ASSERT_TRUE(bool(json));
  const auto *plans = json->getAsObject()->getArray("plans");
  const auto *first = (*plans)[0].getAsObject();
  const auto *saved = first->getObject("saved");
  EXPECT_EQ(numbers(saved->getArray("drop")), Numbers());
  EXPECT_EQ(numbers(saved->getArray("add")), Numbers({1, 1, 1})); // 1, 2, 3
  EXPECT_EQ(numbers(saved->getArray("own")), Numbers({3000, 2000, 1000}));
  EXPECT_EQ(numbers(saved->getArray("reason")), Numbers({6, 5, 5}));
  const auto *second = (*plans)[1].getAsObject();
  saved = second->getObject("saved");
  EXPECT_EQ(numbers(saved->getArray("drop")), Numbers({2}));
  // Saved as before, for another reason.
  EXPECT_EQ(numbers(saved->getArray("add")), Numbers({1}));
  const auto *recomputed = second->getObject("recomputed");
  EXPECT_EQ(numbers(recomputed->getArray("add")), Numbers({0}));
  EXPECT_EQ(second->getInteger("recomputed_ops"), 1);
  EXPECT_EQ(second->getString("kind"), StringRef("strategy"));
}

TEST(Page, memoryIsDividedByKindAndByModule) {
  auto json = llvm::json::parse(examplePage().data());
  ASSERT_TRUE(bool(json));
  const auto *object = json->getAsObject();
  // The larger first; blocks are one place.
  EXPECT_EQ((*object->getArray("kinds"))[0].getAsString(), StringRef("mul"));
  EXPECT_EQ((*object->getArray("kinds"))[1].getAsString(), StringRef("addmm"));
  ASSERT_EQ(object->getArray("places")->size(), 1u);
  EXPECT_EQ((*object->getArray("places"))[0].getAsString(),
            StringRef("blocks.*.attn"));
  const auto *moments =
      (*object->getArray("plans"))[0].getAsObject()->getObject("moments");
  const auto *kinds = moments->getArray("saved_by_kind");
  EXPECT_EQ(numbers((*kinds)[0].getAsArray()), Numbers({0, 0, 2000, 0}));
  EXPECT_EQ(numbers((*kinds)[1].getAsArray()), Numbers({1000, 0, 0, 0}));
  EXPECT_EQ(numbers(moments->getArray("gradient")), Numbers({0, 10, 10, 10}));
}

TEST(Page, theArenaIsColumns) {
  auto json = llvm::json::parse(examplePage().data());
  ASSERT_TRUE(bool(json));
  const auto *plans = json->getAsObject()->getArray("plans");
  const auto *arena = (*plans)[0].getAsObject()->getObject("arena");
  EXPECT_EQ(arena->getInteger("bytes"), 9216);
  // The items are 3, 0, 0 in the order of the model.
  EXPECT_EQ(numbers(arena->getArray("item")), Numbers({3, -3, 0}));
  EXPECT_EQ(numbers(arena->getArray("begin")), Numbers({0, 0, 2}));
  EXPECT_EQ(numbers(arena->getArray("steps")), Numbers({4, 1, 2}));
  EXPECT_EQ(numbers(arena->getArray("offsets")), Numbers({0, 2}));
  EXPECT_EQ(numbers(arena->getArray("place")), Numbers({0, 1, 1}));
  EXPECT_EQ(arena->getString("kind"), StringRef("043"));
  // 1,000 bytes take 1,024, and 4,000 take 4,096; 8,192 must be said.
  const auto *sizes = arena->getArray("sizes");
  ASSERT_EQ(sizes->size(), 1u);
  EXPECT_EQ(numbers((*sizes)[0].getAsArray()), Numbers({1, 8192}));
  EXPECT_EQ(arena->getInteger("num_small"), 2);
  EXPECT_EQ(numbers(arena->getArray("small_row")), Numbers({1, 2}));
  EXPECT_EQ(numbers(arena->getArray("small_end")), Numbers({2, 2}));
}

TEST(Page, withoutAnArenaThePageSaysWhy) {
  Page page = examplePage();
  page.plans[0].arena = PageArena();
  page.plans[0].arena.problem = "the size of 'x' is not known";
  page.plans[0].moments[0].largest = {2};
  auto json = llvm::json::parse(page.data());
  ASSERT_TRUE(bool(json));
  const auto *plan = (*json->getAsObject()->getArray("plans"))[0].getAsObject();
  EXPECT_EQ(plan->getObject("arena")->getString("problem"),
            StringRef("the size of 'x' is not known"));
  const auto *largest = plan->getObject("moments")->getArray("largest");
  EXPECT_EQ(numbers((*largest)[0].getAsArray()), Numbers({1}));
}

TEST(Page, tracesStandInThePageAsFarAsThereIsRoom) {
  Page page = examplePage();
  auto traces = [&] {
    std::vector<bool> out;
    auto json = llvm::json::parse(page.data());
    for (const auto &plan : *json->getAsObject()->getArray("plans"))
      out.push_back(plan.getAsObject()->getString("trace").has_value());
    return out;
  };
  EXPECT_EQ(traces(), std::vector<bool>({false, false}));
  page.addTrace("{}");
  EXPECT_EQ(traces(), std::vector<bool>({false, true}));
  // That of the plan that was asked for comes first.
  page.plans[0].trace = std::string(1000, 'x');
  page.plans[1].trace = std::string(Page::kTraceBytes, 'x');
  EXPECT_EQ(traces(), std::vector<bool>({true, false}));
}

TEST(Page, manyKindsAreSixAndOthers) {
  Page page = examplePage();
  page.plans.resize(1);
  page.plans[0].spans.clear();
  for (uint32_t i = 0; i < 9; ++i) {
    page.texts.push_back("kind" + std::to_string(i));
    PageItem item;
    item.name = "more_" + std::to_string(i);
    item.op = page.texts.size() - 1;
    item.order = 10 + i;
    item.first = page.items.size();
    page.items.push_back(item);
    page.plans[0].spans.push_back({item.first, 0, 4, 100 - i});
  }
  auto json = llvm::json::parse(page.data());
  ASSERT_TRUE(bool(json));
  const auto *kinds = json->getAsObject()->getArray("kinds");
  ASSERT_EQ(kinds->size(), 7u);
  EXPECT_EQ((*kinds)[0].getAsString(), StringRef("kind0"));
  EXPECT_EQ((*kinds)[6].getAsString(), StringRef("others"));
}

TEST(Page, headlineComparesWithSavingEverything) {
  Page page = examplePage();
  EXPECT_EQ(page.headline(0),
            "This plan’s peak is 8.8 KiB, 8.8 KiB (50 %) below strategy "
            "eager; saving and recomputing take 2.00 us of a step (strategy "
            "eager: 2.00 us); verified: the two halves compute what the "
            "graph computes.");
  EXPECT_EQ(page.headline(1), "This plan’s peak is 17.6 KiB; saving and "
                              "recomputing take 2.00 us of a step; not "
                              "verified.");
  page.plans[1].peakBytes = 9000;
  PagePlan rules = page.plans[0];
  rules.name = {PagePlanName::Rules, "PyTorch 2.13’s rules", ""};
  rules.peakBytes = 8500;
  page.plans.push_back(rules);
  EXPECT_EQ(StringRef(page.headline(0)).split(';').first,
            "This plan’s peak is 8.8 KiB, as high as strategy eager and 500 "
            "B (5.9 %) above PyTorch’s rules");
}

TEST(Page, noNameGetsOutOfItsPlace) {
  for (std::string name :
       {std::string("</script><script>alert(1)</script>"),
        std::string("<!--<script>"), std::string("\"'&<>\\ {{data}} {{rows}}"),
        std::string("\xff\xfe\x80"), std::string(10000, 'x'),
        std::string("\u2028 \u202e \U0001f600 \0 \n", 16)}) {
    Page page = examplePage(name);
    page.plans[0].name.label = name;
    page.addNote(name);
    std::string html = page.html();
    size_t begin = html.find("<script id=\"data\"");
    ASSERT_NE(begin, std::string::npos);
    begin = html.find('>', begin) + 1;
    size_t end = html.find("</script>", begin);
    auto json = llvm::json::parse(StringRef(html).slice(begin, end));
    ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
    std::string found;
    for (const auto &value :
         *json->getAsObject()->getObject("items")->getArray("name"))
      if (!value.getAsString()->starts_with("value_"))
        found = value.getAsString()->str();
    EXPECT_EQ(found,
              llvm::json::isUTF8(name) ? name : llvm::json::fixUTF8(name));
    // Two script elements, whatever the names are.
    size_t scripts = 0;
    for (size_t at = 0; (at = html.find("<script", at)) != std::string::npos;)
      scripts += html.compare(at++, 8, "<script>") == 0 ||
                 html.compare(at - 1, 11, "<script id=") == 0;
    EXPECT_EQ(scripts, 2u) << name.substr(0, 50);
    EXPECT_EQ(html.find("alert(1)</script><"), std::string::npos);
    EXPECT_TRUE(llvm::json::isUTF8(html));
    EXPECT_EQ(html, page.html());
  }
}

TEST(Page, policyAllowsItsOwnStyleAndScriptAlone) {
  std::string html = examplePage().html();
  EXPECT_NE(html.find("default-src 'none'; style-src 'sha256-"),
            std::string::npos);
  EXPECT_NE(html.find("script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(html.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(html.find("{{"), std::string::npos);
  for (const char *never : {"innerHTML", "fetch(", "XMLHttp", "eval(",
                            "src=\"http", "href=\"http", "@import", "url("})
    EXPECT_EQ(html.find(never), std::string::npos) << never;
}
