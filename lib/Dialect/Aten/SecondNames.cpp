// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch gives many ops a second name, mostly NumPy's or that of
// torch.special.
//
// Decomposition replaces the second name by the first, argument by argument;
// the interpreter runs the first one's kernel. Each has further names of its
// own: where parameters are not the same, or which only joint texts can have.
// What stands here is what both need, so it is said once.

#include "cutback/Dialect/Aten/SecondNames.h"

using namespace cutback::aten;

llvm::ArrayRef<SecondName> cutback::aten::getSecondNames() {
  static constexpr SecondName names[] = {
      {"aten._efficientzerotensor.default", "aten.zeros.default"},
      {"aten.subtract.Tensor", "aten.sub.Tensor"},
      {"aten.subtract.Scalar", "aten.sub.Scalar"},
      {"aten.multiply.Tensor", "aten.mul.Tensor"},
      {"aten.multiply.Scalar", "aten.mul.Scalar"},
      {"aten.divide.Tensor", "aten.div.Tensor"},
      {"aten.divide.Scalar", "aten.div.Scalar"},
      {"aten.divide.Tensor_mode", "aten.div.Tensor_mode"},
      {"aten.divide.Scalar_mode", "aten.div.Scalar_mode"},
      {"aten.clip.default", "aten.clamp.default"},
      {"aten.clip.Tensor", "aten.clamp.Tensor"},
      {"aten.negative.default", "aten.neg.default"},
      {"aten.fix.default", "aten.trunc.default"},
      {"aten.absolute.default", "aten.abs.default"},
      {"aten.arctan2.default", "aten.atan2.default"},
      {"aten.arccos.default", "aten.acos.default"},
      {"aten.arccosh.default", "aten.acosh.default"},
      {"aten.arcsin.default", "aten.asin.default"},
      {"aten.arcsinh.default", "aten.asinh.default"},
      {"aten.arctan.default", "aten.atan.default"},
      {"aten.arctanh.default", "aten.atanh.default"},
      {"aten.greater.Tensor", "aten.gt.Tensor"},
      {"aten.greater.Scalar", "aten.gt.Scalar"},
      {"aten.greater_equal.Tensor", "aten.ge.Tensor"},
      {"aten.greater_equal.Scalar", "aten.ge.Scalar"},
      {"aten.less.Tensor", "aten.lt.Tensor"},
      {"aten.less.Scalar", "aten.lt.Scalar"},
      {"aten.less_equal.Tensor", "aten.le.Tensor"},
      {"aten.less_equal.Scalar", "aten.le.Scalar"},
      {"aten.not_equal.Tensor", "aten.ne.Tensor"},
      {"aten.not_equal.Scalar", "aten.ne.Scalar"},
      {"aten.special_xlogy.default", "aten.xlogy.Tensor"},
      {"aten.special_round.default", "aten.round.decimals"},
      {"aten.special_exp2.default", "aten.exp2.default"},
      {"aten.special_expit.default", "aten.sigmoid.default"},
      {"aten.special_expm1.default", "aten.expm1.default"},
      {"aten.special_erf.default", "aten.erf.default"},
      {"aten.special_erfc.default", "aten.erfc.default"},
      {"aten.special_log1p.default", "aten.log1p.default"},
      {"aten.special_sinc.default", "aten.sinc.default"},
      {"aten.special_logit.default", "aten.logit.default"},
      {"aten.special_digamma.default", "aten.digamma.default"},
      {"aten.special_psi.default", "aten.digamma.default"},
      {"aten.special_gammaln.default", "aten.lgamma.default"},
      {"aten.special_logsumexp.default", "aten.logsumexp.default"},
  };
  return names;
}
