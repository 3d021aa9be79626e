// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types of convolutions.
// Calls and results as in InferHarness.h. The results for known sizes were
// compared with torch 2.13's, one by one.

#include "InferHarness.h"

using namespace cutback::aten::test;

namespace {

TEST(InferTest, ConvolutionAsTorchDoes) {
  checkInference({
      {"aten.convolution.default(f32[8,3,224,224], f32[64,3,7,7], none, [2,2], "
       "[3,3], [1,1], false, [0,0], 1)",
       "f32[8,64,112,112]"},
      {"aten.convolution.default(f32[2,8,9,9], f32[8,1,3,3], f32[8], [1,1], "
       "[1,1], [2,2], false, [0,0], 8)",
       "f32[2,8,7,7]"},
      {"aten.convolution.default(f32[2,8,9,9], f32[8,4,3,3], f32[4], [2,2], "
       "[1,1], [1,1], true, [1,1], 1)",
       "f32[2,4,18,18]"},
      {"aten.convolution.default(f32[2,8,9], f32[8,2,3], none, [3], [1], [1], "
       "true, [0], 4)",
       "f32[2,8,25]"},
      {"aten.convolution_backward.default(f32[8,64,112,112], f32[8,3,224,224], "
       "f32[64,3,7,7], [0], [2,2], [3,3], [1,1], false, [0,0], 1, "
       "[false,true,false])",
       "none f32[64,3,7,7] none"},
      {"aten.convolution_backward.default(f32[2,4,6,6], f32[2,3,8,8], "
       "f32[4,3,3,3], [4], [1,1], [0,0], [1,1], false, [0,0], 1, "
       "[true,true,true])",
       "f32[2,3,8,8] f32[4,3,3,3] f32[4]"},
      {"aten.conv2d.default(f32[4,3,32,32], f32[16,3,3,3], none, [1,1], [1,1])",
       "f32[4,16,32,32]"},
      {"aten.conv2d.default(f32[3,32,32], f32[16,3,3,3], f32[16])",
       "f32[16,30,30]"},
      {"aten.conv1d.default(f32[2,6,20], f32[8,3,5], none, [2], [0], [1], 2)",
       "f32[2,8,8]"},
      {"aten.conv3d.default(f32[1,2,5,6,7], f32[4,2,3,3,3])", "f32[1,4,3,4,5]"},
      {"aten.conv2d.padding(f32[4,3,32,32], f32[16,3,4,4], none, [1,1], "
       "'same')",
       "f32[4,16,32,32]"},
      {"aten.conv2d.padding(f32[4,3,32,32], f32[16,3,4,4], none, [2,2], "
       "'valid')",
       "f32[4,16,15,15]"},
      {"aten.conv_transpose2d.input(f32[2,8,9,9], f32[8,4,3,3], none, [2,2], "
       "[1,1], [1,1], 1)",
       "f32[2,4,18,18]"},
      {"aten.conv_transpose1d.default(f32[2,8,9], f32[8,4,3], none, [2])",
       "f32[2,4,19]"},
  });
}

TEST(InferTest, ConvolutionOfUnknownSizes) {
  checkInference({
      {"aten.convolution.default(f32[?,3,?,224], f32[64,3,7,7], none, [2,2], "
       "[3,3], [1,1], false, [0,0], 1)",
       "f32[?,64,?,112]"},
      {"aten.convolution.default(f32[2,8,?,9], f32[8,4,3,3], none, [2,2], "
       "[1,1], [1,1], true, [1,1], 1)",
       "f32[2,4,?,18]"},
  });
}

TEST(InferTest, ConvolutionErrorsNameTheValues) {
  checkInference({
      {"aten.conv1d.default(c64[2,3,8], c64[4,3,3])", "c64[2,4,6]"},
      {"aten.convolution.default(c64[2,3,8], c64[4,3,3], none, [1], [0], [1], "
       "false, [0], 1)",
       "error: aten.convolution: complex numbers are convolved by their parts: "
       "take the convolutions of real() and imag()"},
      {"aten.convolution.default(f32[8], f32[4,3,3], none, [1], [0], [1], "
       "false, [0], 1)",
       "error: aten.convolution: input of rank 1 and window of rank 3 are not "
       "a convolution"},
      {"aten.convolution.default(f32[2,3,8], f16[4,3,3], none, [1], [0], [1], "
       "false, [0], 1)",
       "error: aten.convolution: element types of input and weight differ: "
       "'f32' and 'f16'"},
      {"aten.convolution.default(f32[2,5,8], f32[4,3,3], none, [1], [0], [1], "
       "false, [0], 1)",
       "error: aten.convolution: channels of input and weight differ: 5 and 3"},
      {"aten.convolution.default(f32[2,6,8], f32[5,3,3], none, [1], [0], [1], "
       "false, [0], 2)",
       "error: aten.convolution: 5 output channels cannot be divided in 2 "
       "groups"},
      {"aten.convolution.default(f32[2,3,8], f32[4,3,3], none, [0], [0], [1], "
       "false, [0], 1)",
       "error: aten.convolution: the stride must be positive, not 0"},
      {"aten.convolution.default(f32[2,3,8], f32[4,3,3], none, [1], [0], [1], "
       "false, [0], 0)",
       "error: aten.convolution: groups must be positive, not 0"},
      {"aten.convolution.default(f32[2,3,8], f32[4,3,3], none, [1,2], [0], "
       "[1], false, [0], 1)",
       "error: aten.convolution: argument 'stride' must have 1 values, not 2"},
      {"aten.convolution.default(f32[2,3,8], f32[4,3,9], none, [1], [0], [1], "
       "false, [0], 1)",
       "error: aten.convolution: a window that reaches over 9 elements does "
       "not fit in 8"},
      {"aten.convolution.default(f32[2,3,8], f32[4,3,3], f32[5], [1], [0], "
       "[1], false, [0], 1)",
       "error: aten.convolution: the bias does not have 4 elements, one an "
       "output channel"},
      {"aten.conv1d.padding(f32[2,3,8], f32[4,3,3], none, [1], 'full')",
       "error: aten.conv1d: padding 'full' is neither 'same' nor 'valid'"},
      {"aten.convolution_backward.default(f32[2,4,6], f32[2,3,8], f32[4,3,3], "
       "[4], [1], [0], [1], false, [0], 1, [true])",
       "error: aten.convolution_backward: output_mask has 1 entries, not 3"},
      {"aten.convolution_backward.default(f32[2], f32[2,3,8], f32[4,3,3], [4], "
       "[1], [0], [1], false, [0], 1, [true,true,true])",
       "error: aten.convolution_backward: the gradient has rank 1, but needs "
       "channels"},
  });
}

} // namespace
