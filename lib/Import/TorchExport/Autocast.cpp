// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that was exported under `torch.autocast` says where a region
// begins and ends, and nothing of the casts in it. PyTorch's rules, by device:
// an op has one policy, and only floating tensors of the region's device that
// are not f64 are cast. The lists are those of torch 2.13, as it answers for
// the dispatch keys AutocastCPU and AutocastCUDA.
//
// Ops that are not in the lists take what they get. A few of those are made of
// listed ones when they run (`cross_entropy_loss` on CUDA, `einsum` on the
// CPU), and have the policy of their parts here.
//
// A parameter that is cast to the region's type is cast once: PyTorch keeps it
// until the outermost region ends. So is it here, apart for both gradient
// modes.

#include "Autocast.h"

#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

namespace {

constexpr const char *kCpuLower[] = {"_convolution",
                                     "_convolution.deprecated",
                                     "addbmm",
                                     "addmm",
                                     "baddbmm",
                                     "bmm",
                                     "conv1d",
                                     "conv1d.padding",
                                     "conv2d",
                                     "conv2d.padding",
                                     "conv3d",
                                     "conv3d.padding",
                                     "conv_tbc",
                                     "conv_transpose1d",
                                     "conv_transpose2d.input",
                                     "conv_transpose3d.input",
                                     "convolution",
                                     "linalg_vecdot",
                                     "linear",
                                     "matmul",
                                     "mm",
                                     "prelu",
                                     "scaled_dot_product_attention"};

constexpr const char *kCpuFloat32[] = {"adaptive_avg_pool3d",
                                       "adaptive_max_pool3d",
                                       "avg_pool3d",
                                       "binary_cross_entropy",
                                       "binary_cross_entropy_with_logits",
                                       "cdist",
                                       "cosine_embedding_loss",
                                       "cross_entropy_loss",
                                       "ctc_loss.IntList",
                                       "ctc_loss.Tensor",
                                       "fake_quantize_per_tensor_affine",
                                       "fft_fft",
                                       "fft_fft2",
                                       "fft_fftn",
                                       "fft_hfft",
                                       "fft_ifft",
                                       "fft_ifft2",
                                       "fft_ifftn",
                                       "fft_ihfft",
                                       "fft_irfft",
                                       "fft_irfft2",
                                       "fft_irfftn",
                                       "fft_rfft",
                                       "fft_rfft2",
                                       "fft_rfftn",
                                       "grid_sampler",
                                       "grid_sampler_2d",
                                       "grid_sampler_3d",
                                       "hinge_embedding_loss",
                                       "huber_loss",
                                       "inverse",
                                       "kl_div",
                                       "l1_loss",
                                       "linalg_cholesky",
                                       "linalg_inv",
                                       "linalg_qr",
                                       "linalg_solve",
                                       "linalg_svd",
                                       "margin_ranking_loss",
                                       "max_pool3d",
                                       "mse_loss",
                                       "multi_margin_loss",
                                       "multilabel_margin_loss",
                                       "nanquantile",
                                       "nll_loss",
                                       "nll_loss2d",
                                       "nll_loss_nd",
                                       "poisson_nll_loss",
                                       "polar",
                                       "prod",
                                       "prod.dim_int",
                                       "quantile",
                                       "reflection_pad1d",
                                       "reflection_pad2d",
                                       "replication_pad1d",
                                       "replication_pad2d",
                                       "replication_pad3d",
                                       "smooth_l1_loss",
                                       "soft_margin_loss",
                                       "stft",
                                       "stft.center",
                                       "trace",
                                       "triplet_margin_loss",
                                       "view_as_complex"};

// Made of products, which are cast, or of multiplications, which are not; of
// one kind of padding or another.
constexpr const char *kCpuResult[] = {
    "einsum",         "tensordot",     "gru.input",
    "gru_cell",       "lstm.input",    "lstm_cell",
    "rnn_relu.input", "rnn_relu_cell", "rnn_tanh.input",
    "rnn_tanh_cell",  "pad",
};

constexpr const char *kCpuWidest[] = {"cat", "concat", "stack", "index_copy"};

constexpr const char *kCudaLower[] = {"_convolution",
                                      "_convolution.deprecated",
                                      "_scaled_dot_product_flash_attention",
                                      "addbmm",
                                      "addmm",
                                      "addmv",
                                      "addr",
                                      "baddbmm",
                                      "bmm",
                                      "chain_matmul",
                                      "conv1d",
                                      "conv1d.padding",
                                      "conv2d",
                                      "conv2d.padding",
                                      "conv3d",
                                      "conv3d.padding",
                                      "conv_tbc",
                                      "conv_transpose1d",
                                      "conv_transpose2d.input",
                                      "conv_transpose3d.input",
                                      "convolution",
                                      "einsum",
                                      "gru_cell",
                                      "linalg_multi_dot",
                                      "linalg_vecdot",
                                      "linear",
                                      "lstm_cell",
                                      "matmul",
                                      "mm",
                                      "mv",
                                      "prelu",
                                      "rnn_relu_cell",
                                      "rnn_tanh_cell",
                                      "scaled_dot_product_attention"};

constexpr const char *kCudaFloat32[] = {"_upsample_bicubic2d_aa",
                                        "_upsample_bilinear2d_aa",
                                        "acos",
                                        "asin",
                                        "binary_cross_entropy_with_logits",
                                        "cdist",
                                        "cosh",
                                        "cosine_embedding_loss",
                                        "cosine_similarity",
                                        "cross_entropy_loss",
                                        "dist",
                                        "erfinv",
                                        "exp",
                                        "expm1",
                                        "frobenius_norm.dim",
                                        "group_norm",
                                        "hinge_embedding_loss",
                                        "huber_loss",
                                        "kl_div",
                                        "l1_loss",
                                        "layer_norm",
                                        "log",
                                        "log10",
                                        "log1p",
                                        "log2",
                                        "logsumexp",
                                        "margin_ranking_loss",
                                        "mse_loss",
                                        "multi_margin_loss",
                                        "multilabel_margin_loss",
                                        "native_layer_norm",
                                        "nll_loss",
                                        "nll_loss2d",
                                        "nll_loss_nd",
                                        "nuclear_norm",
                                        "nuclear_norm.dim",
                                        "pdist",
                                        "poisson_nll_loss",
                                        "pow.Scalar",
                                        "pow.Tensor_Scalar",
                                        "pow.Tensor_Tensor",
                                        "reciprocal",
                                        "renorm",
                                        "rms_norm",
                                        "rsqrt",
                                        "sinh",
                                        "smooth_l1_loss",
                                        "soft_margin_loss",
                                        "softplus",
                                        "tan",
                                        "triplet_margin_loss",
                                        "upsample_bicubic2d",
                                        "upsample_bicubic2d.vec",
                                        "upsample_bilinear2d",
                                        "upsample_bilinear2d.vec",
                                        "upsample_linear1d",
                                        "upsample_linear1d.vec",
                                        "upsample_nearest1d",
                                        "upsample_nearest1d.vec",
                                        "upsample_nearest2d",
                                        "upsample_nearest2d.vec",
                                        "upsample_nearest3d",
                                        "upsample_nearest3d.vec",
                                        "upsample_trilinear3d",
                                        "upsample_trilinear3d.vec"};

constexpr const char *kCudaFirst[] = {"cumprod",
                                      "cumsum",
                                      "linalg_matrix_norm",
                                      "linalg_matrix_norm.str_ord",
                                      "linalg_vector_norm",
                                      "log_softmax.int",
                                      "norm.Scalar",
                                      "norm.ScalarOpt_dim",
                                      "prod",
                                      "prod.dim_int",
                                      "softmax.int",
                                      "sum",
                                      "sum.dim_IntList"};

constexpr const char *kCudaWidest[] = {
    "addcdiv",      "addcmul",   "atan2",       "bilinear",  "cross", "dot",
    "grid_sampler", "index_put", "scatter_add", "tensordot", "vdot"};

using PolicyTable = llvm::StringMap<CastPolicy>;

template <size_t N>
void addAll(PolicyTable &table, const char *const (&names)[N],
            CastPolicy policy) {
  for (const char *name : names)
    table[name] = policy;
}

PolicyTable makeTable(bool isCpu) {
  PolicyTable table;
  if (isCpu) {
    addAll(table, kCpuLower, CastPolicy::Lower);
    addAll(table, kCpuFloat32, CastPolicy::Float32);
    addAll(table, kCpuWidest, CastPolicy::Widest);
    addAll(table, kCpuResult, CastPolicy::Result);
    return table;
  }
  addAll(table, kCudaLower, CastPolicy::Lower);
  addAll(table, kCudaFloat32, CastPolicy::Float32);
  addAll(table, kCudaFirst, CastPolicy::FirstFloat32);
  addAll(table, kCudaWidest, CastPolicy::Widest);
  return table;
}

} // namespace

CastPolicy pt2::castPolicyOf(StringRef device, StringRef op) {
  static const PolicyTable cpu = makeTable(true), cuda = makeTable(false);
  return (device == "cpu" ? cpu : cuda).lookup(op);
}

void Autocast::leave() {
  regions.pop_back();
  if (!regions.empty())
    return;
  cache[0].clear();
  cache[1].clear();
}

const AutocastRegion *Autocast::regionFor(StringRef device) const {
  for (const AutocastRegion &region : llvm::reverse(regions))
    if (region.device == device)
      return &region;
  return nullptr;
}

bool Autocast::isKept(const Operand &operand, Type to) const {
  // The innermost region says whether there is a cache, whatever its device.
  return operand.isLeaf && regions.back().hasCache && !to.isF32() &&
         getElementTypeOrSelf(operand.value.getType()).isF32();
}

SmallVector<Type> Autocast::casts(const aten::Schema &schema, ArrayAttr args,
                                  ArrayRef<Operand> operands,
                                  Type declared) const {
  SmallVector<Type> result(operands.size());
  const AutocastRegion *region = nullptr;
  for (const Operand &operand : operands)
    if (!region && !operand.device.empty())
      region = regionFor(operand.device);
  StringRef op = schema.packet;
  if (!region || !region->isEnabled || !op.consume_front("aten."))
    return result;
  std::string name = op.str();
  if (!schema.overload.empty() && schema.overload != "default")
    name += "." + schema.overload.str();
  CastPolicy policy = castPolicyOf(region->device, name);
  Type f32 = Float32Type::get(args.getContext());
  Type to = policy == CastPolicy::Float32 || policy == CastPolicy::FirstFloat32
                ? f32
                : region->dtype;
  if (policy == CastPolicy::None)
    return result;
  if (policy == CastPolicy::Result && declared)
    to = getElementTypeOrSelf(declared);
  if (int dtype = schema.find("dtype"); policy == CastPolicy::FirstFloat32 &&
                                        dtype >= 0 &&
                                        !isa<joint::NoneAttr>(args[dtype]))
    return result;
  auto eligible = [&](const Operand &operand) -> Type {
    Type type = getElementTypeOrSelf(operand.value.getType());
    bool isCast = operand.device == region->device && isa<FloatType>(type) &&
                  !type.isF64();
    return isCast ? type : Type();
  };
  if (policy == CastPolicy::Widest)
    for (const Operand &operand : operands)
      if (Type type = eligible(operand); type && type.isF32())
        to = f32;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (policy == CastPolicy::FirstFloat32 && i > 0)
      break;
    if (Type type = eligible(operand); type && type != to)
      result[i] = to;
  }
  return result;
}
