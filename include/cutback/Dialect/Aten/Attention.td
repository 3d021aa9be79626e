// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fused attention. With a dropout probability that is not the number 0 it
// draws random numbers.
#ifndef CUTBACK_DIALECT_ATEN_ATTENTION_TD
#define CUTBACK_DIALECT_ATEN_ATTENTION_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Attention<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Scaled dot-product attention; random unless its dropout is "
               "the number 0.";
  let infer = rule;
  let flops = "attention";
  let flags = ["kComputeIntensive", "kMatrixUnits", "kRandomWithDropout"];
}

class Aten_AttentionBackward<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "Gradients of attention. Dropout repeats the forward's random "
               "numbers from its saved state.";
  let infer = rule;
  let flops = "attentionBackward";
  let flags = ["kComputeIntensive", "kMatrixUnits"];
}

def Aten_ScaledDotProductAttentionOp : Aten_Attention<
    "scaled_dot_product_attention",
    "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0., bool is_causal=False, *, float? scale=None, "
    "bool enable_gqa=False) -> Tensor", "sdpa">,
    Kernel<"scaledDotProductAttention">, Decomposition<"attention">;
def Aten_InternalScaledDotProductFlashAttentionForCpuOp : Aten_Attention<
    "_scaled_dot_product_flash_attention_for_cpu",
    "(Tensor query, Tensor key, Tensor value, float dropout_p=0., "
    "bool is_causal=False, *, Tensor? attn_mask=None, "
    "float? scale=None) -> (Tensor output, Tensor logsumexp)", "sdpaFlashCpu">,
    Vjp<"flashForCpu">, Kernel<"flashForCpu">;
def Aten_InternalScaledDotProductFlashAttentionOp : Aten_Attention<
    "_scaled_dot_product_flash_attention",
    "(Tensor query, Tensor key, Tensor value, float dropout_p=0., "
    "bool is_causal=False, bool return_debug_mask=False, *, "
    "float? scale=None) -> (Tensor output, Tensor logsumexp, "
    "Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, "
    "Tensor rng_state, Tensor unused, Tensor debug_attn_mask)", "sdpaFlash">,
    Vjp<"flash">, Kernel<"scaledDotProductFlashAttention"> {
  // Seed and offset of the random numbers, in 2023.
  let otherReleases = "6: i64[], 7: i64[]";
}
def Aten_InternalScaledDotProductEfficientAttentionOp : Aten_Attention<
    "_scaled_dot_product_efficient_attention",
    "(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, "
    "bool compute_log_sumexp, float dropout_p=0., bool is_causal=False, *, "
    "float? scale=None) -> (Tensor output, Tensor log_sumexp, "
    "Tensor philox_seed, Tensor philox_offset)", "sdpaEfficient">,
    Vjp<"efficient">, Kernel<"efficient">;
def Aten_InternalScaledDotProductCudnnAttentionOp : Aten_Attention<
    "_scaled_dot_product_cudnn_attention",
    "(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, "
    "bool compute_log_sumexp, float dropout_p=0., bool is_causal=False, "
    "bool return_debug_mask=False, *, float? scale=None) -> "
    "(Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, "
    "SymInt max_q, SymInt max_k, Tensor philox_seed, Tensor philox_offset, "
    "Tensor debug_attn_mask)", "sdpaCudnn">, Vjp<"cudnn">,
    Kernel<"scaledDotProductCudnnAttention">;
def Aten_InternalScaledDotProductAttentionMathOp : Aten_Attention<
    "_scaled_dot_product_attention_math",
    "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, "
    "*, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
    "sdpaMath">, Kernel<"scaledDotProductAttentionMath">,
    Decomposition<"attentionByMath">;
def Aten_InternalScaledDotProductFlashAttentionForCpuBackwardOp
    : Aten_AttentionBackward<"_scaled_dot_product_flash_attention_for_cpu_backward",
    "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, "
    "Tensor logsumexp, float dropout_p, bool is_causal, *, "
    "Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, "
    "Tensor grad_key, Tensor grad_value)", "sdpaBackward">,
    Vjp<"attentionBackward">, Kernel<"flashForCpuBackward">;
def Aten_InternalScaledDotProductFlashAttentionBackwardOp
    : Aten_AttentionBackward<"_scaled_dot_product_flash_attention_backward",
    "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, "
    "Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, "
    "SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, "
    "Tensor philox_offset, *, float? scale=None) -> (Tensor grad_query, "
    "Tensor grad_key, Tensor grad_value)", "sdpaBackward">,
    Vjp<"attentionBackward">, Kernel<"flashBackward">;
def Aten_InternalScaledDotProductCudnnAttentionBackwardOp
    : Aten_AttentionBackward<"_scaled_dot_product_cudnn_attention_backward",
    "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, "
    "Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, "
    "Tensor? attn_bias, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, "
    "SymInt max_k, float dropout_p, bool is_causal, *, "
    "float? scale=None) -> (Tensor, Tensor, Tensor)", "sdpaBackward">,
    Vjp<"attentionBackward">, Kernel<"cudnnBackward">;
def Aten_InternalScaledDotProductEfficientAttentionBackwardOp
    : Aten_AttentionBackward<"_scaled_dot_product_efficient_attention_backward",
    "(Tensor grad_out_, Tensor query, Tensor key, Tensor value, "
    "Tensor? attn_bias, Tensor out, Tensor logsumexp, Tensor philox_seed, "
    "Tensor philox_offset, float dropout_p, bool[4] grad_input_mask, "
    "bool is_causal=False, *, float? scale=None) -> (Tensor, Tensor, "
    "Tensor, Tensor)", "sdpaEfficientBackward">, Vjp<"attentionBackward">,
    Kernel<"efficientBackward">;

#endif // CUTBACK_DIALECT_ATEN_ATTENTION_TD
