// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of actions: round trips, each message, damaged files.

#include "cutback/Schedule/Csv.h"

#include "cutback/Schedule/Check.h"
#include "cutback/Schedule/Generate.h"
#include "cutback/Schedule/Lower.h"

#include <gtest/gtest.h>

#include <random>

using namespace cutback::pipeline;

namespace {

Schedule make(std::string_view name, int ranks, int stagesPerRank,
              int microBatches) {
  Shape shape;
  shape.ranks = ranks;
  shape.stagesPerRank = stagesPerRank;
  shape.microBatches = microBatches;
  ScheduleError error;
  auto schedule = generate(name, shape, error);
  EXPECT_TRUE(schedule) << error.message;
  return schedule.value_or(Schedule());
}

TEST(CsvTest, WhatIsWrittenIsReadAgain) {
  for (std::string_view name : scheduleNames()) {
    Schedule schedule = make(name, 4, usualStagesPerRank(name), 8);
    std::vector<Crossing> crossings = chainOf(schedule.stages);
    crossings.push_back({0, 3, 0, true, 0});
    LowerOptions options;
    options.gatheredStages = 3;
    ScheduleError error;
    auto lists = lower(schedule, crossings, options, error);
    ASSERT_TRUE(lists);
    for (const Schedule &written : {schedule, *lists}) {
      auto read = readCsv(writeCsv(written), "f.csv", error);
      ASSERT_TRUE(read) << error.message;
      EXPECT_EQ(read->rows, written.rows);
      EXPECT_EQ(read->rankOfStage, written.rankOfStage);
      EXPECT_EQ(read->microBatches, 8);
      EXPECT_EQ(read->stages, written.stages);
    }
  }
}

TEST(CsvTest, BubblesSpacesQuotesAndLinesOfWindowsAreRead) {
  ScheduleError error;
  auto read =
      readCsv("\xEF\xBB\xBF 0F0 ,,\"0B0\"\r\n,1F0,1B0,\r\n", "f.csv", error);
  ASSERT_TRUE(read) << error.message;
  EXPECT_EQ(writeCsv(*read), "0F0,,0B0\n,1F0,1B0,\n");
  EXPECT_FALSE(checkActions(*read, chainOf(2), ListForm::Compute));
  // A line without its end, and one without anything.
  read = readCsv("0F0\n\n1F0", "f.csv", error);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ranks, 3);
  EXPECT_TRUE(read->rows[1].empty());
}

struct Refused {
  const char *text, *message;
};

TEST(CsvTest, OtherCellsAreRefusedWithTheirPlace) {
  const Refused cases[] = {
      {"0F0\n1F0,2F0x\n", "f.csv, line 2, cell 2: '2F0x' goes on after its "
                          "end: 'x'"},
      {"F0", "f.csv, line 1, cell 1: 'F0' does not begin with the number of a "
             "stage"},
      {"0F0,0X1", "f.csv, line 1, cell 2: '0X1' has no kind of action after "
                  "its stage"},
      {"0OVERLAP_F_B", "'0OVERLAP_F_B' has no kind of action after its stage"},
      {"0F", "'0F' has no number of a micro-batch at its end"},
      {"0REDUCE_GRAD1", "'0REDUCE_GRAD1' goes on after its end: '1'"},
      {"0F1234567", "'0F1234567' has a number of more than six digits"},
      {"1234567F0", "'1234567F0' has a number of more than six digits"},
      {"0SEND_F1>", "'0SEND_F1>' names no stage at its other end"},
      {"0SEND_F1<3", "'0SEND_F1<3' goes on after its end: '<3'"},
      {"(0F1;1B0)", "'(0F1;1B0)' does not end with )OVERLAP_F_B"},
      {"(0F1;1B0", "'(0F1;1B0' does not end with )OVERLAP_F_B"},
      {"()OVERLAP_F_B", "'' does not begin with the number of a stage"},
      {"(0F1;)OVERLAP_F_B", "'' does not begin with the number of a stage"},
      {"((0F1;1B0)OVERLAP_F_B;1F0)OVERLAP_F_B", "does not end with"},
      {"-1F0", "'-1F0' does not begin with the number of a stage"},
      {"0f0", "'0f0' has no kind of action after its stage"},
      {"0F0\x01", "'0F0?' goes on after its end: '?'"},
      {"", "f.csv has no line: a schedule has one for each rank"},
  };
  for (const Refused &refused : cases) {
    ScheduleError error;
    EXPECT_FALSE(readCsv(refused.text, "f.csv", error)) << refused.text;
    EXPECT_NE(error.message.find(refused.message), std::string::npos)
        << error.message;
    EXPECT_EQ(error.note.substr(0, 22), "a cell is a stage, F, ");
  }
  ScheduleError error;
  EXPECT_FALSE(readCsv(std::string(1000, 'x'), "f.csv", error));
  EXPECT_LT(error.message.size(), 150u);
}

/// What a file comes to: an error, or a schedule that runs.
std::string outcome(const std::string &text, ListForm form) {
  ScheduleError error;
  auto read = readCsv(text, "f.csv", error);
  if (!read)
    return error.message;
  auto wrong = checkActions(*read, chainOf(read->stages), form);
  return wrong ? wrong->message : "";
}

/// One edit: a byte changed, taken out or put in, a cell or a line twice or
/// gone, two cells in each other's place.
std::string damage(std::string text, std::mt19937 &random) {
  auto draw = [&](size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random);
  };
  size_t at = draw(text.size());
  auto cellAt = [&](size_t place) {
    size_t first = text.find_last_of(",\n", place);
    first = first == std::string::npos ? 0 : first + 1;
    size_t last = std::min(text.find_first_of(",\n", place), text.size());
    return std::pair(first, last < first ? 0 : last - first);
  };
  auto [first, size] = cellAt(at);
  std::string cell = text.substr(first, size);
  switch (draw(7)) {
  case 0:
    text[at] = "0123456789FBIW,;()_\n xSENDRCV"[draw(29)];
    return text;
  case 1:
    return text.erase(at, 1);
  case 2:
    return text.insert(at, 1, "09FBIW,;()\nx"[draw(12)]);
  case 3:
    return text.insert(first, cell + ",");
  case 4:
    return text.erase(first, size + 1);
  case 5: {
    size_t line = std::min(text.find('\n', at), text.size() - 1) + 1;
    return text.substr(line) + text.substr(0, line);
  }
  default: {
    auto [other, length] = cellAt(draw(text.size()));
    if (other < first + size + 1)
      return text.erase(first, size);
    std::string second = text.substr(other, length);
    text.replace(other, length, cell);
    return text.replace(first, size, second);
  }
  }
}

TEST(CsvTest, DamagedFilesAreRefusedOrStillRun) {
  int refused = 0;
  for (unsigned i = 0; i < 800; ++i) {
    std::mt19937 random(i + 1);
    std::string_view name = scheduleNames()[i % scheduleNames().size()];
    Schedule schedule = make(name, 2, usualStagesPerRank(name), 4);
    ListForm form = ListForm::Compute;
    if (i % 2 == 1) {
      ScheduleError error;
      LowerOptions options;
      options.gatheredStages = 3;
      schedule = *lower(schedule, chainOf(schedule.stages), options, error);
      form = ListForm::WithTransfers;
    }
    std::string text = writeCsv(schedule);
    EXPECT_EQ(outcome(text, form), "") << name;
    std::string damaged = damage(text, random);
    std::string message = outcome(damaged, form);
    refused += !message.empty();
    if (!message.empty())
      continue;
    // What is taken runs: all of it, on ranks that there are.
    ScheduleError error;
    auto read = readCsv(damaged, "f.csv", error);
    ASSERT_TRUE(simulate(*read, equalCosts(read->stages), error)) << damaged;
  }
  // The others are the same lists in another text, or in another order.
  EXPECT_GT(refused, 500);
}

} // namespace
