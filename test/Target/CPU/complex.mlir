// Complex numbers and transforms, by their parts: a rotary embedding whose
// angles are learned, and a transform of what it gives. Values and gradients of
// the interpreter, which has complex numbers; the same bits for other plans.

// RUN: rm -rf %t && mkdir %t
// RUN: %python -B %S/../CUDA/Inputs/random-inputs.py %t/in.safetensors \
// RUN:   f32:5x6x8 f32:6x4
// RUN: cutback run %s --reference --inputs=%t/in.safetensors \
// RUN:   --outputs=%t/expected.safetensors
// RUN: cutback compile %s --target=cpu -o %t/cpu
// RUN: cutback run %t/cpu --inputs=%t/in.safetensors --check-memory --threads=3 \
// RUN:   --outputs=%t/one.safetensors --check=%t/expected.safetensors \
// RUN:   --rtol=1e-5 | FileCheck %s
// RUN: cutback compile %s --target=cpu -o %t/all --strategy=recompute-all
// RUN: cutback run %t/all --inputs=%t/in.safetensors --outputs=%t/two.safetensors
// RUN: cmp %t/one.safetensors %t/two.safetensors
// RUN: cutback compile %s --target=cuda-host -o %t/host
// RUN: cutback run %t/host --inputs=%t/in.safetensors \
// RUN:   --check=%t/expected.safetensors --rtol=1e-5 | FileCheck %s
// CHECK: all 3 tensors agree

joint.graph @rotated(%x: tensor<5x6x8xf32> {joint.role = #joint.role<input>, joint.requires_grad},
    %angles: tensor<6x4xf32> {joint.role = #joint.role<input>, joint.requires_grad}) -> (tensor<f32>) gradients () {
  %pairs = aten.view(%x, [5, 6, 4, 2]) : (tensor<5x6x8xf32>) -> tensor<5x6x4x2xf32>
  %z = aten.view_as_complex(%pairs) : (tensor<5x6x4x2xf32>) -> tensor<5x6x4xcomplex<f32>>
  %length = aten.ones_like(%angles) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %turn = aten.polar(%length, %angles) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xcomplex<f32>>
  %turned = aten.mul.Tensor(%z, %turn) : (tensor<5x6x4xcomplex<f32>>, tensor<6x4xcomplex<f32>>) -> tensor<5x6x4xcomplex<f32>>
  %spectrum = aten._fft_c2c(%turned, [1], 0, true) : (tensor<5x6x4xcomplex<f32>>) -> tensor<5x6x4xcomplex<f32>>
  %back = aten._fft_c2r(%spectrum, [2], 2, 7) : (tensor<5x6x4xcomplex<f32>>) -> tensor<5x6x7xf32>
  %size = aten.abs(%spectrum) : (tensor<5x6x4xcomplex<f32>>) -> tensor<5x6x4xf32>
  %a = aten.sum(%size) : (tensor<5x6x4xf32>) -> tensor<f32>
  %sine = aten.sin(%back) : (tensor<5x6x7xf32>) -> tensor<5x6x7xf32>
  %b = aten.sum(%sine) : (tensor<5x6x7xf32>) -> tensor<f32>
  %loss = aten.add.Tensor(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  joint.output %loss gradients() : tensor<f32>
}
