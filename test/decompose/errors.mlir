// RUN: not opt-tool %s -p decompose 2>&1 | filecheck %s

// Programs are compiled for f32 alone; whatever else a tensor holds is an error that names the op.
// CHECK: @main: '%r = torch.relu %x : (tensor<4xf64>) -> tensor<4xf64>': error: pass 'decompose': 'torch.relu' is compiled for f32 only, and tensor<4xf64> holds f64
// CHECK-NOT: Traceback
func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
  %r = torch.relu %x : (tensor<4xf64>) -> tensor<4xf64>
  func.return %r : tensor<4xf64>
}
