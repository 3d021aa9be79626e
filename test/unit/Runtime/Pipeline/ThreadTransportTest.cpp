// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages between threads, and how a wait for one ends that never comes.

#include "cutback/Runtime/Pipeline/ThreadTransport.h"

#include "gtest/gtest.h"

#include <vector>

using namespace cutback::pipeline;

namespace {

constexpr int64_t kTag = Transport::kFirstTag;

TEST(ThreadTransportTest, MessagesOfOneTagKeepTheirOrder) {
  ThreadRanks::Options options;
  options.delayMicroseconds = 200;
  ThreadRanks ranks(2, options);
  std::vector<int> got;
  ranks.run([&](Transport &transport) {
    Waiter waiter(transport, std::chrono::seconds(20));
    for (int i = 0; i < 50; ++i) {
      int number = i;
      auto *bytes = reinterpret_cast<char *>(&number);
      Transport::Ticket ticket =
          transport.rank() == 0
              ? transport.send(1, kTag, bytes, sizeof number)
              : transport.receive(0, kTag, bytes, sizeof number);
      EXPECT_EQ(waiter.wait(ticket, "a number"), "");
      if (transport.rank() == 1)
        got.push_back(number);
    }
  });
  ASSERT_EQ(got.size(), 50u);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(got[i], i);
}

TEST(ThreadTransportTest, ASynchronousSendIsDoneWhenItWasReceived) {
  ThreadRanks::Options options;
  options.isSynchronous = true;
  ThreadRanks ranks(2, options);
  auto sender = ranks.open(0), receiver = ranks.open(1);
  char sent = 'a', received = 0;
  std::string error;
  auto send = sender->send(1, kTag, &sent, 1);
  EXPECT_FALSE(sender->isDone(send, error));
  auto receive = receiver->receive(0, kTag, &received, 1);
  EXPECT_TRUE(receiver->isDone(receive, error));
  EXPECT_TRUE(sender->isDone(send, error));
  EXPECT_EQ(error, "");
  EXPECT_EQ(received, 'a');
}

TEST(ThreadTransportTest, AnotherLengthIsAnError) {
  ThreadRanks ranks(2);
  auto sender = ranks.open(0), receiver = ranks.open(1);
  char bytes[4] = {};
  sender->send(1, kTag, bytes, 3);
  Waiter waiter(*receiver, std::chrono::seconds(1));
  EXPECT_EQ(waiter.wait(receiver->receive(0, kTag, bytes, 4), "four"),
            "rank 0 sent 3 bytes in place of 4");
}

TEST(ThreadTransportTest, AWaitEndsInTime) {
  ThreadRanks ranks(2);
  auto receiver = ranks.open(1);
  char byte = 0;
  Waiter waiter(*receiver, std::chrono::milliseconds(20));
  EXPECT_EQ(waiter.wait(receiver->receive(0, kTag, &byte, 1), "a byte"),
            "has waited 0.02 s for a byte");
}

TEST(ThreadTransportTest, ARankThatIsGoneIsNamed) {
  ThreadRanks ranks(3);
  auto receiver = ranks.open(1);
  char byte = 0;
  Waiter waiter(*receiver, std::chrono::seconds(20));
  ranks.leave(2);
  EXPECT_EQ(waiter.wait(receiver->receive(2, kTag, &byte, 1), "a byte"),
            "rank 2 is gone");
  ranks.open(0)->abort(3);
  EXPECT_EQ(waiter.wait(receiver->receive(0, kTag, &byte, 1), "a byte"),
            "rank 0 has ended all");
}

} // namespace
