// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals: windows, short-time transforms, frequencies.
#ifndef CUTBACK_DIALECT_ATEN_SIGNAL_TD
#define CUTBACK_DIALECT_ATEN_SIGNAL_TD

include "cutback/Dialect/Aten/AtenBase.td"

class Aten_Window<string name, string params>
    : Aten_AtenOp<name, "(int window_length, " # params # "*, ScalarType? "
                        "dtype=None, Layout? layout=None, Device? device=None, "
                        "bool? pin_memory=None) -> Tensor"> {
  let family = "A window function; decomposition computes it.";
  let infer = "window";
  let flags = ["kNotDifferentiable"];
}

class Aten_Frequencies<string name>
    : Aten_AtenOp<name, "(int n, float d=1., *, ScalarType? dtype=None, Layout? "
                        "layout=None, Device? device=None, bool? "
                        "pin_memory=None) -> Tensor"> {
  let family = "Frequencies of a transform; decomposition computes them.";
  let infer = "window";
  let flags = ["kNotDifferentiable"];
}

class Aten_Signal<string name, string schema, string rule>
    : Aten_AtenOp<name, schema> {
  let family = "A transform of pieces of a signal; decomposition replaces it.";
  let infer = rule;
}

def Aten_HannWindowOp : Aten_Window<"hann_window", "">,
    Decomposition<"raisedCosine">;
def Aten_HannWindowPeriodicOp : Aten_Window<"hann_window.periodic",
    "bool periodic, ">, Decomposition<"raisedCosine">;
def Aten_HammingWindowOp : Aten_Window<"hamming_window", "">,
    Decomposition<"raisedCosine">;
def Aten_HammingWindowPeriodicOp : Aten_Window<"hamming_window.periodic",
    "bool periodic, ">, Decomposition<"raisedCosine">;
def Aten_HammingWindowPeriodicAlphaOp : Aten_Window<
    "hamming_window.periodic_alpha", "bool periodic, float alpha, ">,
    Decomposition<"raisedCosine">;
def Aten_HammingWindowPeriodicAlphaBetaOp : Aten_Window<
    "hamming_window.periodic_alpha_beta",
    "bool periodic, float alpha, float beta, ">, Decomposition<"raisedCosine">;
def Aten_BlackmanWindowOp : Aten_Window<"blackman_window", "">,
    Decomposition<"blackman">;
def Aten_BlackmanWindowPeriodicOp : Aten_Window<"blackman_window.periodic",
    "bool periodic, ">, Decomposition<"blackman">;
def Aten_BartlettWindowOp : Aten_Window<"bartlett_window", "">,
    Decomposition<"bartlett">;
def Aten_BartlettWindowPeriodicOp : Aten_Window<"bartlett_window.periodic",
    "bool periodic, ">, Decomposition<"bartlett">;
def Aten_KaiserWindowOp : Aten_Window<"kaiser_window", "">,
    Decomposition<"kaiser">;
def Aten_KaiserWindowPeriodicOp : Aten_Window<"kaiser_window.periodic",
    "bool periodic, ">, Decomposition<"kaiser">;
def Aten_KaiserWindowBetaOp : Aten_Window<"kaiser_window.beta",
    "bool periodic, float beta, ">, Decomposition<"kaiser">;
def Aten_FftFftfreqOp : Aten_Frequencies<"fft_fftfreq">,
    Decomposition<"frequencies">;
def Aten_FftRfftfreqOp : Aten_Frequencies<"fft_rfftfreq">,
    Decomposition<"frequencies">;
def Aten_FftHfftOp : Aten_Signal<"fft_hfft",
    "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
    "fftComposite">, Decomposition<"inverseRealTransform">;
def Aten_FftIhfftOp : Aten_Signal<"fft_ihfft",
    "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
    "fftComposite">, Decomposition<"halfInverse">;
def Aten_StftOp : Aten_Signal<"stft",
    "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool normalized=False, bool? onesided=None, bool? "
    "return_complex=None, bool? align_to_window=None) -> Tensor", "stft">,
    Decomposition<"stft">;
def Aten_StftCenterOp : Aten_Signal<"stft.center",
    "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, str pad_mode='reflect', bool "
    "normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
    "align_to_window=None) -> Tensor", "stft">, Decomposition<"stft">;
def Aten_IstftOp : Aten_Signal<"istft",
    "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, bool normalized=False, bool? "
    "onesided=None, int? length=None, bool return_complex=False) -> Tensor",
    "istft">, Decomposition<"istft">;

#endif // CUTBACK_DIALECT_ATEN_SIGNAL_TD
