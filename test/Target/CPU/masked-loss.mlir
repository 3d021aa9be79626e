// A masked loss of bf16 numbers: a select between a computed number and zero.
// What narrows numbers must be the kernel's own, there is no library for it.

// RUN: rm -rf %t && cutback compile %s --target=cpu -o %t 2>&1 | count 0
// RUN: %llvm_tools/llvm-nm --undefined-only --dynamic %t/libstep.so | FileCheck %s --allow-empty
// CHECK-NOT: trunc{{.*}}bf

joint.graph @masked_loss(%x: tensor<5x4x64xbf16> {joint.role = #joint.role<param "x">, joint.requires_grad}, %w: tensor<4xbf16> {joint.role = #joint.role<input>},
    %c: tensor<5x1x64xi64> {joint.role = #joint.role<input>}) -> (tensor<f32>) gradients () {
  %l = aten._log_softmax(%x, 1, false) : (tensor<5x4x64xbf16>) -> tensor<5x4x64xbf16>
  %i = aten.squeeze.dim(%c, 1) : (tensor<5x1x64xi64>) -> tensor<5x64xi64>
  %n, %tw = aten.nll_loss2d_forward(%l, %i, %w, 1, -100) : (tensor<5x4x64xbf16>, tensor<5x64xi64>, tensor<4xbf16>) -> (tensor<bf16>, tensor<bf16>)
  %f = aten._to_copy(%n, dtype = f32) : (tensor<bf16>) -> tensor<f32>
  joint.output %f gradients() : tensor<f32>
}
