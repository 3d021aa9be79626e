// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each fault of a schedule, with its place.

#include "cutback/Schedule/Check.h"

#include "cutback/Schedule/Csv.h"
#include "cutback/Schedule/Generate.h"

#include <gtest/gtest.h>

using namespace cutback::pipeline;

namespace {

struct Refused {
  const char *text, *message, *note = "";
};

/// The note without the grid.
std::string firstLine(const std::string &note) {
  return note.substr(0, note.find('\n'));
}

std::optional<ScheduleError> check(const char *text, ListForm form,
                                   Transfers transfers = Transfers::Posted) {
  ScheduleError error;
  auto schedule = readCsv(text, "f.csv", error);
  EXPECT_TRUE(schedule) << error.message;
  return checkActions(*schedule, chainOf(schedule->stages), form, transfers);
}

TEST(CheckTest, FaultsOfComputeActionsAreNamed) {
  const Refused cases[] = {
      {"0F0,0B0\n\n", "rank 1 has no actions", "each of 2 ranks needs a stage"},
      {"0F0,0B0\n0F1,0B1\n",
       "rank 1, step 0: stage 0 is on rank 0 and, by 0F1, on rank 1",
       "move 0F1 to rank 0"},
      {"0F0,0SEND_F0,0B0\n1F0,1B0\n",
       "rank 0, step 1: 0SEND_F0 is communication, in a list of compute "
       "actions",
       "leave it out, it is added; or give the list as one with communication"},
      {"0F0,0F0,0B0\n",
       "rank 0, step 1: 0F0 comes after itself: each is made once",
       "leave one of them out"},
      {"0F0,0I0,0B0\n",
       "rank 0, step 2: 0B0 comes after the input gradients "
       "were made: each is made once",
       "leave one of them out"},
      {"0F0,0I0,0W0,,0W0\n",
       "rank 0, step 4: 0W0 comes after itself: each is made once",
       "leave one of them out"},
      {"0B0,0F0\n", "rank 0, step 0: 0B0 comes without 0F0 before it",
       "put 0F0 before it"},
      {"0F0,,0F1,0I0,0I1,0W0,0W1\n,1F0,1I1,1W1,1F1,1I0,1W0\n",
       "rank 1, step 2: 1I1 comes without 1F1 before it", "put 1F1 before it"},
      {"0F0,0W0,0I0\n", "rank 0, step 1: 0W0 comes without 0I0 before it",
       "put 0I0 before it"},
      {"0F0,0B0,0F1\n", "rank 0, step 3: the list ends without 0B1 or 0I1",
       "each of 2 micro-batches goes through each of 1 stages"},
      {"0F0,0I0\n", "rank 0, step 2: the list ends without 0W0",
       "each of 1 micro-batches goes through each of 1 stages"},
      {"0F0,0B0,0F1,0B1\n1F1,1B1\n",
       "rank 1, step 2: the list ends without 1F0",
       "each of 2 micro-batches goes through each of 2 stages"},
      {"0F0,0B0\n2F0,2B0\n", "stage 1 is on no rank",
       "stages are counted from 0 without gaps; there are 3"},
      {"(0F0;1RECV_F0)OVERLAP_F_B\n",
       "rank 0, step 0: 1RECV_F0 is in an overlap, which takes F, B, I and W",
       "put it before or after the overlap"},
      {"0F0,0F1,0B0,0B1\n1F1,1B1,1F0,1B0\n", ""},
      {"0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n",
       "rank 0, step 1: 0B0 waits forever: the lists make no progress",
       "what it waits for comes later in a list that waits for it"},
      {"0F0,0F1\n1F0,1F1\n", ""},
  };
  for (const Refused &refused : cases) {
    auto error = check(refused.text, ListForm::Compute);
    EXPECT_EQ(error ? error->message : "", refused.message) << refused.text;
    EXPECT_EQ(error ? firstLine(error->note) : "", refused.note)
        << refused.text;
  }
}

TEST(CheckTest, NumbersBeyondTheScheduleAreRefused) {
  ScheduleError error;
  auto schedule = readCsv("0F0,0F1\n1F0,1F1\n", "f.csv", error);
  schedule->microBatches = 1;
  EXPECT_EQ(checkActions(*schedule, chainOf(2), ListForm::Compute)->message,
            "rank 0, step 1: 0F1 is of no micro-batch: there are 1");
  EXPECT_EQ(
      firstLine(checkActions(*schedule, chainOf(2), ListForm::Compute)->note),
      "micro-batches are counted from 0");
  schedule->rows[0][1]->stage = 7;
  EXPECT_EQ(checkActions(*schedule, chainOf(2), ListForm::Compute)->message,
            "rank 0, step 1: 7F1 is of no stage: there are 2");
  EXPECT_EQ(
      firstLine(checkActions(*schedule, chainOf(2), ListForm::Compute)->note),
      "stages are counted from 0");
  schedule->rows[0][1] = Action();
  schedule->rows[0][1]->kind = ActionKind::Overlap;
  EXPECT_EQ(checkActions(*schedule, chainOf(2), ListForm::Compute)->message,
            "rank 0, step 1: an overlap of nothing");
  EXPECT_EQ(
      firstLine(checkActions(*schedule, chainOf(2), ListForm::Compute)->note),
      "write its parts: (0F1;1B0)OVERLAP_F_B");
}

TEST(CheckTest, MoreStagesThanAnyPipelineHasAreRefused) {
  auto error = check("0F0,99999F0\n", ListForm::Compute);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "100,000 ranks or stages are more than 16,384");
  EXPECT_EQ(error->note, "take fewer; stages are counted from 0 without gaps");
}

TEST(CheckTest, TheGridMarksThePlace) {
  auto error = check("0F0,0B0,0F1\n1F0,1B0,1F1,1B1\n", ListForm::Compute);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->note,
            "each of 2 micro-batches goes through each of 2 stages\n"
            "  step    0    1    2    3\n"
            "  rank 0  0F0  0B0  0F1  >.<\n"
            "  rank 1  1F0  1B0  1F1  1B1\n");
}

TEST(CheckTest, GridsOfLargePipelinesAreCutOut) {
  Shape shape;
  shape.ranks = 40;
  shape.microBatches = 100;
  ScheduleError error;
  Schedule schedule = *generate("GPipe", shape, error);
  std::string grid = formatGrid(schedule, 30, 150);
  EXPECT_NE(grid.find(">30B50<"), std::string::npos) << grid;
  EXPECT_EQ(std::count(grid.begin(), grid.end(), '\n'), 17);
  EXPECT_EQ(grid.find("29B0 "), std::string::npos) << grid;
}

TEST(CheckTest, FaultsOfTransfersAreNamed) {
  const Refused cases[] = {
      {"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", ""},
      {"0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
       "rank 0, step 2: 0B0 comes without 0RECV_B0 before it",
       "put 0RECV_B0 before it"},
      {"0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
       "rank 1, step 0: 1RECV_F0 has no send: rank 0 never does 0SEND_F0",
       "put 0SEND_F0 after the action that makes it"},
      {"0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
       "rank 0, step 0: 0SEND_F0 comes before what it sends is made",
       "put it after the action of its stage and micro-batch"},
      {"0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
       "rank 0, step 2: 0SEND_F0 comes twice", "leave one of them out"},
      {"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0,1SEND_F0\n",
       "rank 1, step 4: 1SEND_F0: nothing crosses between stages 1 and 2",
       "leave it out, or name the stage at its other end: 0SEND_F1>3, "
       "3RECV_F1<0"},
      {"0F0,0SEND_F0,1RECV_F0,1F0,1B0,0B0\n",
       "rank 0, step 1: 0SEND_F0: both stages are on rank 0",
       "leave it out: what stays on a rank is handed over"},
      {"0F0,0SEND_F0,0RECV_B0,0B0,0F1,0SEND_F1,0RECV_B1,0B1\n"
       "1RECV_F1,1F1,1B1,1SEND_B1,1RECV_F0,1F0,1B0,1SEND_B0\n",
       "rank 0, step 3: 0B0 waits forever: the lists make no progress",
       "put what it waits for earlier in its list"},
      {"(0F0;1F0)OVERLAP_F_B,(0F1;1F1)OVERLAP_F_B\n", ""},
  };
  for (const Refused &refused : cases) {
    auto error = check(refused.text, ListForm::WithTransfers);
    EXPECT_EQ(error ? error->message : "", refused.message) << refused.text;
    EXPECT_EQ(error ? firstLine(error->note) : "", refused.note)
        << refused.text;
  }
}

TEST(CheckTest, RanksThatWaitAtEachMessageNeedMoreOrder) {
  const char *crossed = "0F0,0SEND_F0,0F1,0SEND_F1\n"
                        "1RECV_F1,1RECV_F0,1F0,1F1\n";
  EXPECT_FALSE(check(crossed, ListForm::WithTransfers));
  auto error = check(crossed, ListForm::WithTransfers, Transfers::Blocking);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "rank 0, step 1: 0SEND_F0 waits forever: the lists "
                            "make no progress");
}

} // namespace
