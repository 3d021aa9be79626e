// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of the generator as values: a draw behind a mark that sets a state
// gives the numbers of the draw that the state was taken for.

#include "RunHarness.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class RandomStateTest : public RunTest {
protected:
  /// Two draws with their states, and one of another name with `state`.
  std::vector<RuntimeValue> draw(const std::string &state) {
    return run("%x: tensor<64xf32>",
               R"(-> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %s = joint.opaque "higher_order.run_and_save_rng_state"() {effects} : () -> tensor<?xui8>
    %a = aten.rand_like(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %t = joint.opaque "higher_order.run_and_save_rng_state"() {effects} : () -> tensor<?xui8>
    %b = aten.rand_like(%x) : (tensor<64xf32>) -> tensor<64xf32>
    joint.opaque "higher_order.run_with_rng_state"()" +
                   state + R"() {effects} : (tensor<?xui8>) -> ()
    %c = aten.rand_like(%x) : (tensor<64xf32>) -> tensor<64xf32>
    return %a, %b, %c : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  })",
               {counting({64})});
  }
};

TEST_F(RandomStateTest, ADrawBeginsWhereTheStateSays) {
  for (size_t of : {0, 1}) {
    auto results = draw(of ? "%t" : "%s");
    ASSERT_EQ(results.size(), 3u) << message;
    EXPECT_FALSE(equalBits(results[0], results[1]));
    EXPECT_TRUE(equalBits(results[2], results[of]));
    EXPECT_FALSE(equalBits(results[2], results[1 - of]));
  }
}

TEST_F(RandomStateTest, AStateHasSixteenBytes) {
  auto results = run("%s: tensor<?xui8>, %x: tensor<4xf32>",
                     R"(-> tensor<4xf32> {
    joint.opaque "higher_order.run_with_rng_state"(%s) {effects} : (tensor<?xui8>) -> ()
    %c = aten.rand_like(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %c : tensor<4xf32>
  })",
                     {Tensor::zeros(DType::U8, {8}), counting({4})});
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(StringRef(message).split('\n').first,
            "needs the state of a generator: 16 bytes here");
}

TEST_F(RandomStateTest, ASeedIsOneNumber) {
  auto results = run("%s: tensor<2xi64>, %x: tensor<4xf32>",
                     R"(-> tensor<4xf32> {
    %c = joint.poisson %s stream 0 of %x : (tensor<2xi64>, tensor<4xf32>) -> tensor<4xf32>
    return %c : tensor<4xf32>
  })",
                     {Tensor::zeros(DType::I64, {2}), counting({4})});
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(StringRef(message).split('\n').first,
            "needs a seed of one element, and rates");
  results = run("%s: tensor<2xi64>, %x: tensor<4xf32>",
                R"(-> tensor<4xf32> {
    %c = joint.binomial %s stream 0 of %x, %x : (tensor<2xi64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %c : tensor<4xf32>
  })",
                {Tensor::zeros(DType::I64, {2}), counting({4})});
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(StringRef(message).split('\n').first,
            "needs a seed of one element, trials, and a chance for each");
}

} // namespace
