// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views, casts and data movement against finite differences.

#include "VjpCases.h"

using namespace mlir;
using namespace cutback::test;

static void outputAll(VjpCheck &c, ArrayRef<Value> values) {
  for (Value value : values)
    c.output(value);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static void plain(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3})}));
}
static void asOther(VjpCheck &c, const char *name) {
  c.output(
      c.b.call(name, {c.input({2, 3}), c.constant({6}, {1, 2, 3, 4, 5, 6})}));
}
static void toSizes(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 6}), {3, 4}}));
}
static void swap(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3, 4}), 0, -1}));
}
static void lists(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3, 4}), {0, 1}, {-1, 0}}));
}
static void dim(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3}), -2}));
}

TEST(ViewVjp, Views) {
  checkCases({{"aten.view.default", toSizes},
              {"aten._unsafe_view.default", toSizes},
              {"aten.reshape.default", toSizes},
              {"aten.view_as.default", asOther},
              {"aten.reshape_as.default", asOther},
              {"aten.flatten.using_ints", plain},
              {"aten.ravel.default", plain},
              {"aten.unsqueeze.default", dim},
              {"aten.t.default", plain},
              {"aten.numpy_T.default", plain},
              {"aten.mT.default", plain},
              {"aten.adjoint.default", plain},
              {"aten.transpose.int", swap},
              {"aten.swapaxes.default", swap},
              {"aten.swapdims.default", swap},
              {"aten.movedim.int", swap},
              {"aten.moveaxis.int", swap},
              {"aten.movedim.intlist", lists},
              {"aten.moveaxis.intlist", lists},
              {"aten.alias.default", plain},
              {"aten.lift_fresh.default", plain},
              {"aten.contiguous.default", plain},
              {"aten.resolve_conj.default", plain},
              {"aten.resolve_neg.default", plain},
              {"aten.clone.default", plain},
              {"aten.lift_fresh_copy.default", plain},
              {"aten.tril.default", plain},
              {"aten.triu.default", plain}});
}

TEST(ViewVjp, ViewsWithArguments) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 3, 4});
    c.output(c.b.call("aten.permute.default", {x, {2, 0, -2}}));
    c.output(c.b.call("aten.unflatten.int", {x, -1, {2, 2}}));
    c.output(c.b.call("aten.slice.Tensor", {x, 1, 1, 3}));
    c.output(c.b.call("aten.slice.Tensor", {x, 2, -3, Arg(), 2}));
    c.output(c.b.call("aten.select.int", {x, -1, -1}));
    c.output(c.b.call("aten.narrow.default", {x, 1, 1, 2}));
    c.output(c.b.call("aten.narrow.default", {x, 1, -2, 1}));
    c.output(c.b.call("aten.diagonal.default", {x, 1, 0, 2}));
    c.output(c.b.call("aten.unfold.default", {x, 2, 2, 1}));
    c.output(c.b.call("aten.flip.default", {x, {0, -1}}));
    c.output(c.b.call("aten.roll.default", {x, {1, -1}, {0, 2}}));
    c.output(c.b.call("aten.repeat.default", {x, {2, 1, 2, 1}}));
    c.output(c.b.call("aten.tile.default", {x, {2, 1}}));
    c.output(c.b.call("aten.repeat_interleave.self_int", {x, 2, 1}));
    c.output(c.b.call("aten.repeat_interleave.self_int", {x, 3}));
    c.output(c.b.call("aten.constant_pad_nd.default", {x, {1, 2, 0, -1}, 5.0}));
  });
}

TEST(ViewVjp, SizesOfOne) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({1, 3, 1});
        c.output(c.b.call("aten.squeeze.default", {x}));
        c.output(c.b.call("aten.squeeze.dim", {x, 0}));
        c.output(c.b.call("aten.squeeze.dims", {x, {0, 2}}));
        c.output(c.b.call("aten.expand.default", {x, {2, 4, -1, 5}}));
        c.output(c.b.call("aten.expand_as.default",
                          {x, c.constant({1, 3, 2}, {1, 2, 3, 4, 5, 6})}));
        c.output(c.b.call("aten.as_strided.default", {x, {2, 2}, {1, 1}}));
        c.output(c.b.call("aten.as_strided.default", {x, {2}, {2}, 0}));
      },
      {/*dynamic=*/false});
}

static void broadcast(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({3, 1}), {2, 3, 4}}));
}
static void sumTo(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3}), {1, 3}}));
}

TEST(ViewVjp, BroadcastsAndTheirOpposite) {
  checkCases({{"aten.broadcast_to.default", broadcast, {false}},
              {"aten.sum_to_size.default", sumTo, {false}}});
}

static void half(VjpCheck &c, const char *name) {
  outputAll(c, c.b.callMany(name, {c.input({2, 4, 6}), 2}));
}
static void rows(VjpCheck &c, const char *name) {
  outputAll(c, c.b.callMany(name, {c.input({2, 3})}));
}
static void places(VjpCheck &c, const char *name) {
  outputAll(c, c.b.callMany(name, {c.input({2, 4, 6}), {1}}));
}

TEST(ViewVjp, Pieces) {
  checkCases({{"aten.split.Tensor", half, {false}},
              {"aten.chunk.default", half, {false}},
              {"aten.unsafe_split.Tensor", half, {false}},
              {"aten.unsafe_chunk.default", half, {false}},
              {"aten.tensor_split.sections", half, {false}},
              {"aten.tensor_split.indices", places, {false}},
              {"aten.hsplit.int", half, {false}},
              {"aten.hsplit.array", places, {false}},
              {"aten.vsplit.int", half, {false}},
              {"aten.vsplit.array", places, {false}},
              {"aten.dsplit.int", half, {false}},
              {"aten.dsplit.array", places, {false}},
              {"aten.unbind.int", rows, {false}}});
}

TEST(ViewVjp, PiecesThatNobodyUsesAreZeros) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({4, 3});
        c.output(
            c.b.callMany("aten.split_with_sizes.default", {x, {1, 2, 1}})[1]);
        c.output(c.b.callMany("aten.split.sizes", {x, {1, 2}, 1})[0]);
        c.output(c.b.callMany("aten.unbind.int", {x, 1})[2]);
      },
      {/*dynamic=*/false});
}

TEST(ViewVjp, WindowsOfComplexNumbers) {
  checkVjp([](VjpCheck &c) {
    c.output(
        c.b.call("aten.unfold.default", {c.complexInput({2, 5}), 1, 3, 1}));
  });
}

TEST(ViewVjp, ComplexViews) {
  checkVjp([](VjpCheck &c) {
    Value x = c.complexInput({2, 2});
    c.output(c.b.call("aten.view_as_real.default", {x}));
    c.output(c.b.call("aten.real.default", {x}));
    c.output(c.b.call("aten.imag.default", {x}));
  });
  if (canRun("aten.sgn.default"))
    checkVjp([](VjpCheck &c) {
      c.output(c.b.call("aten.abs.default", {c.complexInput({2, 2})}));
    });
  checkVjp(
      [](VjpCheck &c) {
        c.output(c.b.call("aten.view_as_complex.default", {c.input({3, 2})}));
      },
      {/*dynamic=*/false});
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

TEST(DataVjp, Concatenation) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({2, 3}), y = c.input({2, 3}), z = c.input({1, 3});
    c.output(c.b.call("aten.cat.default", {{x, z, y}}));
    c.output(c.b.call("aten.cat.default", {{x, y, x}, -1}));
    c.output(c.b.call("aten.stack.default", {{x, y}, 1}));
  });
}

TEST(DataVjp, GridsAndBroadcasts) {
  checkVjp(
      [](VjpCheck &c) {
        Value x = c.input({2}), y = c.input({3}), z = c.input({2, 1});
        outputAll(c, c.b.callMany("aten.meshgrid.default", {{x, y}}));
        outputAll(c, c.b.callMany("aten.meshgrid.indexing", {{x, y, x}},
                                  {{"indexing", "xy"}}));
        outputAll(c, c.b.callMany("aten.broadcast_tensors.default", {{y, z}}));
      },
      {/*dynamic=*/false});
}

TEST(DataVjp, WrittenPieces) {
  checkVjp([](VjpCheck &c) {
    Value x = c.input({3, 4}), row = c.input({4}), part = c.input({3, 2}),
          diagonal = c.input({3});
    c.output(c.b.call("aten.slice_scatter.default", {x, part, 1, 1, 3}));
    c.output(c.b.call("aten.select_scatter.default", {x, row, 0, -1}));
    c.output(c.b.call("aten.diagonal_scatter.default", {x, diagonal}));
    c.output(c.b.call("aten.copy.default", {x, row}));
  });
}

static void writtenByStrides(VjpCheck &c, const char *name) {
  c.output(
      c.b.call(name, {c.input({3, 4}), c.input({2, 2}), {2, 2}, {4, 1}, 1}));
}
static void reverse(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3}), {0, 1}}));
}
static void repeatRows(VjpCheck &c, const char *name) {
  Value counts = c.indices({3}, {2, 0, 3});
  c.output(c.b.call(name, {c.input({3, 2}), counts, 0}));
}
static void linalgDiagonal(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3, 3})}, {{"offset", 1}}));
}
static void reflect(VjpCheck &c, const char *name) {
  Value x = c.input({1, 2, 4});
  c.output(c.b.call(name, {x, {1, 2}, "constant", 0.5}));
  c.output(c.b.call(name, {x, {1, 2}, "reflect"}));
  c.output(c.b.call(name, {x, {1, 2}, "replicate"}));
}

TEST(DataVjp, OddOnes) {
  checkCases({{"aten.as_strided_scatter.default", writtenByStrides, {false}},
              {"prims.rev.default", reverse},
              {"aten.repeat_interleave.self_Tensor", repeatRows, {false}},
              {"aten.linalg_diagonal.default", linalgDiagonal},
              {"aten.pad.default", reflect}});
}

TEST(DataVjp, BackwardsOfViews) {
  checkVjp(
      [](VjpCheck &c) {
        c.output(c.b.call("aten.slice_backward.default",
                          {c.input({2, 2}), {2, 4}, 1, 0, 3, 2}));
        c.output(c.b.call("aten.select_backward.default",
                          {c.input({2}), {2, 4}, 1, 3}));
        c.output(c.b.call("aten.diagonal_backward.default",
                          {c.input({2}), {2, 2}, 0, 0, 1}));
        c.output(c.b.call("aten.unfold_backward.default",
                          {c.input({3, 2}), {4}, 0, 2, 1}));
      },
      {/*dynamic=*/false});
}

TEST(DataVjp, Casts) {
  // Run it is not: the tangents of the checks are f64.
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.input({2});
    c.output(c.b.call("aten.to.dtype", {x, c.b.f32()}));
    c.output(c.b.call("prims.convert_element_type.default", {x, c.b.f32()}));
    c.output(c.b.call("aten._to_copy.default", {x}, {{"dtype", c.b.f32()}}));
  });
  size_t count = 0;
  for (size_t at = 0; (at = text.find("dtype = f64", at)) != std::string::npos;
       ++at)
    ++count;
  EXPECT_EQ(count, 3u) << text;
}

//===----------------------------------------------------------------------===//
// Dropout and pooling of prims
//===----------------------------------------------------------------------===//

static void identityDropout(VjpCheck &c, const char *name) {
  c.output(c.b.call(name, {c.input({2, 3}), 0.5, false}));
}

TEST(DropoutVjp, OutsideOfTrainingItIsTheIdentity) {
  checkCases({{"aten.dropout.default", identityDropout},
              {"aten.feature_dropout.default", identityDropout},
              {"aten.alpha_dropout.default", identityDropout},
              {"aten.feature_alpha_dropout.default", identityDropout}});
}

TEST(DropoutVjp, TheMaskIsReadAndNothingElse) {
  std::string text = backwardOf([](VjpCheck &c) {
    Value x = c.b.call("aten.neg.default", {c.input({2})});
    c.output(c.b.callMany("aten.native_dropout.default", {x, 0.25, true})[0]);
  });
  EXPECT_NE(text.find("aten.native_dropout_backward("), std::string::npos);
  EXPECT_NE(text.find("1.3333333333333333"), std::string::npos) << text;
}

TEST(DropoutVjp, RandomOnesMustBeDecomposed) {
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              c.output(
                  c.b.call("aten.dropout.default", {c.input({2}), 0.5, true}));
            }),
            "a random mask that is no result of the op has no gradient; "
            "decompose the op first");
}

TEST(DropoutVjp, TheBackwardIsLinear) {
  checkVjp([](VjpCheck &c) {
    c.output(c.b.call("aten.native_dropout_backward.default",
                      {c.input({2}), c.mask({2}, {1, 0}), 2.0}));
  });
}

TEST(PoolVjp, OffsetsInTheWindow) {
  checkVjp(
      [](VjpCheck &c) {
        c.output(c.b.callMany(
            "prims._low_memory_max_pool_with_offsets.default",
            {c.input({1, 2, 4, 4}), {2, 2}, {2, 2}, {0, 0}, {1, 1}, false})[0]);
      },
      {/*dynamic=*/false});
}

TEST(DataVjp, CircularPaddingHasNoRule) {
  EXPECT_EQ(errorOf([](VjpCheck &c) {
              c.output(c.b.call("aten.pad.default",
                                {c.input({1, 1, 3}), {1, 1}, "circular"}));
            }),
            "no rule for the gradient of padding of mode 'circular'");
}
