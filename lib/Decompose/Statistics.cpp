// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's batch norm in training writes its running statistics without
// saying so in its schema. `_native_batch_norm_legit_functional` gives them as
// results. An instance norm is a batch norm of one sample, with a channel for
// each channel of each sample; its statistics are the mean over the samples.
// Observers of quantization have such a twin, too, and say what they write.

#include "Statistics.h"

#include "cutback/Dialect/Aten/CallReader.h"
#include "cutback/Dialect/Aten/OpNames.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

static bool isObserver(CallOp op) {
  return llvm::is_contained({"aten.fused_moving_avg_obs_fake_quant",
                             "aten._fused_moving_avg_obs_fq_helper"},
                            op.getSchema().packet);
}

bool cutback::updatesStatistics(CallOp op) {
  if (isObserver(op))
    return true;
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
static Updated normalize(CallBuilder &b, const CallReader &reader,
                         ArrayRef<Arg> tensors, bool keepsReserve = false) {
  SmallVector<Arg> args(tensors);
  if (!keepsReserve)
    args.push_back(Arg(true));
  for (const Arg &arg : {reader.arg("momentum"), reader.arg("eps")})
    args.push_back(arg);
  Updated done;
  done.results =
      b.callMany(keepsReserve ? op::_batch_norm_with_update_functional
                              : op::_native_batch_norm_legit_functional,
                 args);
  if (done.results.empty())
    return {};
  Value variance = done.results.pop_back_val();
  Value mean = done.results.pop_back_val();
  // Of no elements there are no statistics: PyTorch leaves the running ones.
  if (!llvm::is_contained(shapeOf(reader.value("input")), 0))
    done.statistics = {{"running_mean", mean}, {"running_var", variance}};
  return done;
}

static Updated normalizeInstances(CallBuilder &b, const CallReader &reader) {
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
  Updated done = normalize(b, reader, tensors);
  if (done.results.empty())
    return {};
  done.results = {b.call(op::view, {done.results.front(), sizes})};
  for (auto &[name, statistic] : done.statistics)
    statistic = b.call(
        op::mean_dim,
        {b.call(op::view, {statistic, std::vector{samples, channels}}), {0}});
  return done;
}

static Updated observe(CallBuilder &b, CallOp op) {
  CallReader reader(op);
  SmallVector<Arg> args;
  for (unsigned i = 0; i < op.getSchema().params.size(); ++i)
    args.push_back(reader.arg(i));
  Updated done;
  done.results =
      b.callMany(op::_fused_moving_avg_obs_fq_helper_functional, args);
  if (done.results.empty())
    return {};
  for (const char *name : {"zero_point", "scale", "running_max", "running_min"})
    done.statistics.emplace_back(name, done.results.pop_back_val());
  done.results.resize(op.getOperation()->getNumResults());
  return done;
}

Updated cutback::buildUpdated(CallBuilder &b, CallOp op) {
  if (isObserver(op))
    return observe(b, op);
  CallReader reader(op);
  if (op.getSchema().packet == "aten.instance_norm")
    return normalizeInstances(b, reader);
  SmallVector<Arg> tensors;
  for (const char *name :
       {"input", "weight", "bias", "running_mean", "running_var"})
    tensors.push_back(reader.arg(name));
  Updated done =
      normalize(b, reader, tensors,
                op.getSchema().packet == "aten._batch_norm_with_update");
  if (!done.results.empty())
    done.results.resize(op.getOperation()->getNumResults());
  return done;
}
