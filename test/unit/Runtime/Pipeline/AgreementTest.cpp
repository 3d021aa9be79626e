// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks that have something else than others, and what ranks of a group may
// have apart.

#include "cutback/Runtime/Pipeline/Agreement.h"

#include "cutback/Runtime/Pipeline/ThreadTransport.h"

#include "gtest/gtest.h"

using namespace cutback;
using namespace cutback::pipeline;

namespace {

/// What all say where rank r has these fields.
std::string say(const std::vector<Fields> &fields,
                const std::vector<Fields> &ofMembers, int width) {
  std::vector<Verdict> all(fields.size());
  ThreadRanks ranks(static_cast<int>(fields.size()));
  ranks.run([&](Transport &transport) {
    Waiter waiter(transport, std::chrono::seconds(20));
    int rank = transport.rank();
    all[rank] = agree(waiter, 0, {}, fields[rank], ofMembers[rank], width);
  });
  for (const Verdict &one : all) {
    EXPECT_EQ(one.code, all[0].code);
    EXPECT_EQ(one.why.what, all[0].why.what);
  }
  return all[0].why.what;
}

TEST(AgreementTest, RanksOfAGroupMayHaveFilesOfTheirOwn) {
  std::vector<Fields> same(6, {{"schedule", "1"}});
  std::vector<Fields> files;
  for (int rank = 0; rank < 6; ++rank)
    files.push_back({{"--weights", std::to_string(rank % 2)}});
  EXPECT_EQ(say(same, files, 2), "");
  EXPECT_EQ(say(same, files, 1), "rank 1 has another --weights than rank 0");
  files[5] = {{"--weights", "0"}};
  EXPECT_EQ(say(same, files, 2), "rank 5 has another --weights than rank 1");
}

TEST(AgreementTest, AllElseIsTheSameInAGroupToo) {
  std::vector<Fields> files(4, Fields{{"--weights", "0"}});
  for (int other : {1, 2, 3}) {
    std::vector<Fields> fields(4, {{"schedule", "1"}, {"--seed", "7"}});
    fields[other][1].second = "8";
    EXPECT_EQ(say(fields, files, 2), "rank " + std::to_string(other) +
                                         " has another --seed than rank " +
                                         (other == 3 ? "1" : "0"));
    fields[other].pop_back();
    EXPECT_EQ(say(fields, files, 1), "rank " + std::to_string(other) +
                                         " has another --seed than rank 0");
  }
}

} // namespace
