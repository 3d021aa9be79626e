// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's batch norm in training writes its running statistics without
// saying so in its schema. `_native_batch_norm_legit_functional` gives them as
// results. An instance norm is a batch norm of one sample, with a channel for
// each channel of each sample; its statistics are the mean over the samples.

#include "Statistics.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

bool cutback::updatesStatistics(CallOp op) {
  if (!llvm::is_contained(
          {"aten.batch_norm", "aten.instance_norm", "aten.native_batch_norm",
           "aten._native_batch_norm_legit", "aten._batch_norm_with_update"},
          op.getSchema().packet))
    return false;
  CallReader reader(op);
  if (op.getSchema().packet == "aten._batch_norm_with_update")
    return true;
  const char *flag =
      op.getSchema().find("training") >= 0 ? "training" : "use_input_stats";
  return reader.boolean(flag).value_or(true) &&
         reader.value(optional("running_mean")) &&
         reader.value(optional("running_var"));
}

/// By the op that says so in its schema: its last results are the statistics.
static Normalized normalize(CallBuilder &b, const CallReader &reader,
                            ArrayRef<Arg> tensors, bool keepsReserve = false) {
  SmallVector<Arg> args(tensors);
  if (!keepsReserve)
    args.push_back(Arg(true));
  for (const Arg &arg : {reader.arg("momentum"), reader.arg("eps")})
    args.push_back(arg);
  Normalized done;
  done.results =
      b.callMany(keepsReserve ? op::_batch_norm_with_update_functional
                              : op::_native_batch_norm_legit_functional,
                 args);
  if (done.results.empty())
    return {};
  done.variance = done.results.pop_back_val();
  done.mean = done.results.pop_back_val();
  return done;
}

static Normalized normalizeInstances(CallBuilder &b, const CallReader &reader) {
  Value input = reader.value("input");
  Arg samples = b.size(input, 0), channels = b.size(input, 1);
  std::vector<Arg> sizes = b.sizes(input).getList().vec(), flat = sizes;
  flat[0] = Arg(int64_t(1));
  flat[1] = b.times(samples, channels);
  SmallVector<Arg> tensors = {b.call(op::view, {input, flat})};
  for (const char *name : {"weight", "bias", "running_mean", "running_var"}) {
    Value value = reader.value(name);
    tensors.push_back(value ? b.call(op::repeat, {value, std::vector{samples}})
                            : Value());
  }
  Normalized done = normalize(b, reader, tensors);
  if (done.results.empty())
    return {};
  done.results = {b.call(op::view, {done.results.front(), sizes})};
  for (Value *statistic : {&done.mean, &done.variance})
    *statistic = b.call(
        op::mean_dim,
        {b.call(op::view, {*statistic, std::vector{samples, channels}}), {0}});
  return done;
}

Normalized cutback::buildNormalized(CallBuilder &b, CallOp op) {
  CallReader reader(op);
  if (op.getSchema().packet == "aten.instance_norm")
    return normalizeInstances(b, reader);
  SmallVector<Arg> tensors;
  for (const char *name :
       {"input", "weight", "bias", "running_mean", "running_var"})
    tensors.push_back(reader.arg(name));
  Normalized done =
      normalize(b, reader, tensors,
                op.getSchema().packet == "aten._batch_norm_with_update");
  if (!done.results.empty())
    done.results.resize(op.getOperation()->getNumResults());
  return done;
}
