// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Products and attention that the verifier refuses, as PyTorch does.

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf16>) {
  // CHECK: torch.mm of f32 and f16: cast the operands to one dtype
  %0 = torch.mm %a, %b : (tensor<4x8xf32>, tensor<8x4xf16>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi1>, %b: tensor<8x4xi1>) {
  // CHECK: torch.mm is not defined for bool: cast the operands
  %0 = torch.mm %a, %b : (tensor<4x8xi1>, tensor<8x4xi1>) -> tensor<4x4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // CHECK: 4x8 times 4x1: the inner sizes 8 and 4 differ
  %0 = torch.mv %a, %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: input has rank 1, not the shape 4x8
  %0 = torch.dot %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x6xf32>) {
  // CHECK: the last sizes of 4x8 and 4x6 differ
  %0 = torch.inner %a, %b : (tensor<4x8xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // CHECK: input has one dimension, not the shape 4x8
  %0 = torch.outer %a, %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi64>, %b: tensor<4xi64>, %c: tensor<8xi64>) {
  // CHECK: beta and alpha of i64 are integers
  %0 = torch.addr %a, %b, %c beta 0.5 : (tensor<4x8xi64>, tensor<4xi64>, tensor<8xi64>) -> tensor<4x8xi64>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi1>, %b: tensor<4xi1>, %c: tensor<8xi1>) {
  // CHECK: addr of bools is not supported: cast them
  %0 = torch.addr %a, %b, %c : (tensor<4x8xi1>, tensor<4xi1>, tensor<8xi1>) -> tensor<4x8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x6xf32>, %c: tensor<5x6x8xf32>) {
  // CHECK: inputs of 4x8 and 4x6 do not fit a weight of 5x6x8
  %0 = torch.bilinear %a, %b, %c : (tensor<4x8xf32>, tensor<4x6xf32>, tensor<5x6x8xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: the equation 'ij,kl,mn' is for 3 operand(s), not for 2
  %0 = torch.einsum %a, %b equation "ij,kl,mn" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: 'j' is both 8 and 4: they do not broadcast
  %0 = torch.einsum %a, %b equation "ij,jk" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: 'i' is both 4 and 8 in one operand
  %0 = torch.einsum %a, %b equation "ii,ij" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: 'i' appears twice in the result of 'ij,ij->ii'
  %0 = torch.einsum %a, %b equation "ij,ij->ii" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: 'k' of the result of 'ij,ij->k' is in no operand
  %0 = torch.einsum %a, %b equation "ij,ij->k" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: 'i' is no operand of 2 dimension
  %0 = torch.einsum %a, %b equation "ij,i" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: '1' in 'i1': dimensions are letters, with one '...' for all others
  %0 = torch.einsum %a, %b equation "ij,i1" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: path [0, 2] does not combine 2 operands pair by pair
  %0 = torch.einsum %a, %b equation "ij,ij" path [0, 2] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x8xf64>) {
  // CHECK: einsum of f32 and f64: cast all to one number type
  %0 = torch.einsum %a, %b equation "ij,ij->i" : (tensor<4x8xf32>, tensor<4x8xf64>) -> tensor<4xf64>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<5x7xf32>) {
  // CHECK: 4x8 and 5x7 are not two sets of rows of one length
  %0 = torch._cdist_forward %a, %b p 2.0 : (tensor<4x8xf32>, tensor<5x7xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %b: tensor<2x5x8xf32>, %c: tensor<2x6x8xf32>) {
  // CHECK: query 2x4x8, key 2x5x8 and value 2x6x8 do not fit
  %0 = torch.scaled_dot_product_attention %a, %b, %c : (tensor<2x4x8xf32>, tensor<2x5x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<2x4x8xf32>) {
  // CHECK: dropout_p is 0 in inference
  %0 = torch.scaled_dot_product_attention %a, %b, %c dropout_p 0.5 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<2x4x8xf32>, %d: tensor<4x4xf32>) {
  // CHECK: attn_mask and is_causal exclude each other
  %0 = torch.scaled_dot_product_attention %a, %b, %c attn_mask %d is_causal true : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<4x4xf32>) -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<2x4x8xf32>, %d: tensor<4x3xf32>) {
  // CHECK: attn_mask of shape 4x3 does not expand to 2x4x4
  %0 = torch.scaled_dot_product_attention %a, %b, %c attn_mask %d : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<4x3xf32>) -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<2x4x8xf32>, %d: tensor<4x4xi64>) {
  // CHECK: attn_mask holds bool, float32 or f32, not i64
  %0 = torch.scaled_dot_product_attention %a, %b, %c attn_mask %d : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<4x4xi64>) -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<3x4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<2x4x8xf32>) {
  // CHECK: 3 heads cannot share 2 and 2 evenly
  %0 = torch.scaled_dot_product_attention %a, %b, %c enable_gqa true : (tensor<3x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<3x4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x4x8xf32>, %b: tensor<2x4x8xf32>, %c: tensor<2x4x8xf16>) {
  // CHECK: query, key and value have one float dtype: cast them
  %0 = torch.scaled_dot_product_attention %a, %b, %c : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf16>) -> tensor<2x4x8xf32>
  func.return
}
