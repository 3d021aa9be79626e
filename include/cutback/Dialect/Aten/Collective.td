// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functional collectives: every rank runs them, in the same order.
#ifndef CUTBACK_DIALECT_ATEN_COLLECTIVE_TD
#define CUTBACK_DIALECT_ATEN_COLLECTIVE_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Collective<string name, string schema, string rule>
    : Aten_C10dOp<name, schema> {
  let family = "A collective: all ranks run it, in one order, exactly once.";
  let infer = rule;
  let flags = ["kOrdered"];
}

class Aten_Marker<string name, string schema, string rule>
    : Aten_PipeOp<name, schema> {
  let family = "Between two pipeline stages; no operands, no results.";
  let infer = rule;
  let flags = ["kOrdered", "kNotDifferentiable"];
}

def Aten_C10dAllReduceOp : Aten_Collective<"all_reduce",
    "(Tensor input, str reduce_op, str group_name) -> Tensor", "sameAsSelf">,
    Vjp<"allReduce">;
def Aten_C10dWaitTensorOp : Aten_Collective<"wait_tensor",
    "(Tensor tensor) -> Tensor", "sameAsSelf">, Vjp<"waitTensor">;
def Aten_C10dBroadcastOp : Aten_Collective<"broadcast",
    "(Tensor input, int src, str group_name) -> Tensor", "sameAsSelf">,
    Vjp<"broadcastOfGroup">;
def Aten_C10dAllGatherIntoTensorOp : Aten_Collective<"all_gather_into_tensor",
    "(Tensor input, int group_size, str group_name) -> Tensor", "allGather">,
    Vjp<"allGather">;
def Aten_C10dReduceScatterTensorOp : Aten_Collective<"reduce_scatter_tensor",
    "(Tensor input, str reduce_op, int group_size, str group_name) -> "
    "Tensor", "reduceScatter">, Vjp<"reduceScatter">;
def Aten_C10dAllToAllSingleOp : Aten_Collective<"all_to_all_single",
    "(Tensor input, SymInt[] output_split_sizes, "
    "SymInt[] input_split_sizes, str group_name) -> Tensor", "allToAll">,
    Vjp<"allToAll">;
def Aten_PipeSplitOp : Aten_Marker<"pippy._pipe_split", "() -> ()", "nothing">,
    Kernel<"mark">;

#endif // CUTBACK_DIALECT_ATEN_COLLECTIVE_TD
