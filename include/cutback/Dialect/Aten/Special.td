// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bessel functions and orthogonal polynomials. PyTorch has no gradients of
// them.
#ifndef CUTBACK_DIALECT_ATEN_SPECIAL_TD
#define CUTBACK_DIALECT_ATEN_SPECIAL_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Bessel<string name, string param = "self">
    : Aten_AtenOp<name, "(Tensor " # param # ") -> Tensor"> {
  let family = "Elementwise function of one tensor; integers become float. It "
               "has no gradient.";
  let infer = "unaryFloat";
  let weight = 30;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

class Aten_Polynomial<string name, string params = "Tensor x, Tensor n">
    : Aten_AtenOp<name, "(" # params # ") -> Tensor"> {
  let family = "A polynomial of degree n at x. It has no gradient.";
  let infer = "broadcastFloat";
  let weight = 30;
  let fusion = "Pointwise";
  let loops = "pointwise";
  let flops = "perOutput";
}

def Aten_SpecialBesselJ0Op : Aten_Bessel<
    "special_bessel_j0">, Kernel<"specialBesselJ0">;
def Aten_SpecialBesselJ1Op : Aten_Bessel<
    "special_bessel_j1">, Kernel<"specialBesselJ1">;
def Aten_SpecialBesselY0Op : Aten_Bessel<
    "special_bessel_y0">, Kernel<"specialBesselY0">;
def Aten_SpecialBesselY1Op : Aten_Bessel<
    "special_bessel_y1">, Kernel<"specialBesselY1">;
def Aten_SpecialModifiedBesselI0Op : Aten_Bessel<
    "special_modified_bessel_i0">, SecondName<"aten.i0.default">;
def Aten_SpecialModifiedBesselI1Op : Aten_Bessel<
    "special_modified_bessel_i1">, SecondName<"aten.special_i1.default">;
def Aten_SpecialModifiedBesselK0Op : Aten_Bessel<
    "special_modified_bessel_k0">, Kernel<"specialModifiedBesselK0">;
def Aten_SpecialModifiedBesselK1Op : Aten_Bessel<
    "special_modified_bessel_k1">, Kernel<"specialModifiedBesselK1">;
def Aten_SpecialScaledModifiedBesselK0Op : Aten_Bessel<
    "special_scaled_modified_bessel_k0", "x">,
    Kernel<"specialScaledModifiedBesselK0">;
def Aten_SpecialScaledModifiedBesselK1Op : Aten_Bessel<
    "special_scaled_modified_bessel_k1", "x">,
    Kernel<"specialScaledModifiedBesselK1">;
def Aten_SpecialSphericalBesselJ0Op : Aten_Bessel<
    "special_spherical_bessel_j0", "x">, Kernel<"specialSphericalBesselJ0">;
def Aten_SpecialAiryAiOp : Aten_Bessel<
    "special_airy_ai", "x">, Kernel<"specialAiryAi">;
def Aten_SpecialChebyshevPolynomialTOp : Aten_Polynomial<
    "special_chebyshev_polynomial_t">, Kernel<"specialChebyshevPolynomialT">;
def Aten_SpecialChebyshevPolynomialTNScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_t.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_chebyshev_polynomial_t.default">;
def Aten_SpecialChebyshevPolynomialTXScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_t.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_chebyshev_polynomial_t.default">;
def Aten_SpecialChebyshevPolynomialUOp : Aten_Polynomial<
    "special_chebyshev_polynomial_u">, Kernel<"specialChebyshevPolynomialU">;
def Aten_SpecialChebyshevPolynomialUNScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_u.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_chebyshev_polynomial_u.default">;
def Aten_SpecialChebyshevPolynomialUXScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_u.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_chebyshev_polynomial_u.default">;
def Aten_SpecialChebyshevPolynomialVOp : Aten_Polynomial<
    "special_chebyshev_polynomial_v">, Kernel<"specialChebyshevPolynomialV">;
def Aten_SpecialChebyshevPolynomialVNScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_v.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_chebyshev_polynomial_v.default">;
def Aten_SpecialChebyshevPolynomialVXScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_v.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_chebyshev_polynomial_v.default">;
def Aten_SpecialChebyshevPolynomialWOp : Aten_Polynomial<
    "special_chebyshev_polynomial_w">, Kernel<"specialChebyshevPolynomialW">;
def Aten_SpecialChebyshevPolynomialWNScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_w.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_chebyshev_polynomial_w.default">;
def Aten_SpecialChebyshevPolynomialWXScalarOp : Aten_Polynomial<
    "special_chebyshev_polynomial_w.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_chebyshev_polynomial_w.default">;
def Aten_SpecialHermitePolynomialHOp : Aten_Polynomial<
    "special_hermite_polynomial_h">, Kernel<"specialHermitePolynomialH">;
def Aten_SpecialHermitePolynomialHNScalarOp : Aten_Polynomial<
    "special_hermite_polynomial_h.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_hermite_polynomial_h.default">;
def Aten_SpecialHermitePolynomialHXScalarOp : Aten_Polynomial<
    "special_hermite_polynomial_h.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_hermite_polynomial_h.default">;
def Aten_SpecialHermitePolynomialHeOp : Aten_Polynomial<
    "special_hermite_polynomial_he">, Kernel<"specialHermitePolynomialHe">;
def Aten_SpecialHermitePolynomialHeNScalarOp : Aten_Polynomial<
    "special_hermite_polynomial_he.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_hermite_polynomial_he.default">;
def Aten_SpecialHermitePolynomialHeXScalarOp : Aten_Polynomial<
    "special_hermite_polynomial_he.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_hermite_polynomial_he.default">;
def Aten_SpecialLaguerrePolynomialLOp : Aten_Polynomial<
    "special_laguerre_polynomial_l">, Kernel<"laguerre">;
def Aten_SpecialLaguerrePolynomialLNScalarOp : Aten_Polynomial<
    "special_laguerre_polynomial_l.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_laguerre_polynomial_l.default">;
def Aten_SpecialLaguerrePolynomialLXScalarOp : Aten_Polynomial<
    "special_laguerre_polynomial_l.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_laguerre_polynomial_l.default">;
def Aten_SpecialLegendrePolynomialPOp : Aten_Polynomial<
    "special_legendre_polynomial_p">, Kernel<"legendre">;
def Aten_SpecialLegendrePolynomialPNScalarOp : Aten_Polynomial<
    "special_legendre_polynomial_p.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_legendre_polynomial_p.default">;
def Aten_SpecialLegendrePolynomialPXScalarOp : Aten_Polynomial<
    "special_legendre_polynomial_p.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_legendre_polynomial_p.default">;
def Aten_SpecialShiftedChebyshevPolynomialTOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_t">,
    Kernel<"specialShiftedChebyshevPolynomialT">;
def Aten_SpecialShiftedChebyshevPolynomialTNScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_t.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_t.default">;
def Aten_SpecialShiftedChebyshevPolynomialTXScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_t.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_t.default">;
def Aten_SpecialShiftedChebyshevPolynomialUOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_u">,
    Kernel<"specialShiftedChebyshevPolynomialU">;
def Aten_SpecialShiftedChebyshevPolynomialUNScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_u.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_u.default">;
def Aten_SpecialShiftedChebyshevPolynomialUXScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_u.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_u.default">;
def Aten_SpecialShiftedChebyshevPolynomialVOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_v">,
    Kernel<"specialShiftedChebyshevPolynomialV">;
def Aten_SpecialShiftedChebyshevPolynomialVNScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_v.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_v.default">;
def Aten_SpecialShiftedChebyshevPolynomialVXScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_v.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_v.default">;
def Aten_SpecialShiftedChebyshevPolynomialWOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_w">,
    Kernel<"specialShiftedChebyshevPolynomialW">;
def Aten_SpecialShiftedChebyshevPolynomialWNScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_w.n_scalar", "Tensor x, Scalar n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_w.default">;
def Aten_SpecialShiftedChebyshevPolynomialWXScalarOp : Aten_Polynomial<
    "special_shifted_chebyshev_polynomial_w.x_scalar", "Scalar x, Tensor n">,
    SecondName<"aten.special_shifted_chebyshev_polynomial_w.default">;

#endif // CUTBACK_DIALECT_ATEN_SPECIAL_TD
