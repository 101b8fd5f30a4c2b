// RUN: opt-tool %s -p lift,fuse-outputs,fuse-reduction{keep=true},fuse-epilogue{keep=true} --check=each | filecheck %s
// RUN: opt-tool %s -p lift,fuse-outputs,fuse-reduction{keep=true},fuse-epilogue{keep=true} --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// A kernel that computes a value for itself also writes it for other readers.

// REMARK:     --- f:011_fuse_outputs skipped at twice: no reader loads each of its elements in steps of free axes
// REMARK:     --- f:002_fuse_epilogue skipped at kdiv_ksum: kneg does not read each of its elements once
// REMARK:     --- f:002_fuse_epilogue skipped at f3_f2_f1_f0: with the output of f4 it would have more than 4 outputs

// A residual and its norm: one kernel writes both.
// CHECK:      func.func @residual(%x: memref<5x33xf32>, %y: memref<5x33xf32>) -> (memref<5x33xf32>, memref<5x33xf32>) {
// CHECK-NEXT:   %res = memref.alloc() : memref<5x33xf32>
// CHECK-NEXT:   %rdiv = memref.alloc() : memref<5x33xf32>
// CHECK-NEXT:   loop.launch @rdiv_res_rsum(%x, %y) -> (%rdiv, %res) : (memref<5x33xf32>, memref<5x33xf32>) -> (memref<5x33xf32>, memref<5x33xf32>)
// CHECK-NEXT:   func.return %res, %rdiv : memref<5x33xf32>, memref<5x33xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @rdiv_res_rsum(%x: memref<5x33xf32>, %y: memref<5x33xf32>) -> (%out: memref<5x33xf32>, %out_1: memref<5x33xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       %1 = loop.load %y[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 33 {
// CHECK-NEXT:       %3 = loop.load %x[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:       %4 = loop.load %y[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:       %5 = arith.addf %3, %4 : f32
// CHECK-NEXT:       loop.store %5, %out_1[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:       %6 = arith.divf %5, %sum : f32
// CHECK-NEXT:       loop.store %6, %out[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @residual(%x: tensor<5x33xf32>, %y: tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5x33xf32>) {
  %res = prim.elementwise add(%x, %y) : tensor<5x33xf32>
  %rsum = prim.reduce add(%res) dims [1] : (tensor<5x33xf32>) -> tensor<5xf32>
  %rb = prim.index_map %rsum by affine_map<(i, j) -> (i)> : tensor<5xf32> -> tensor<5x33xf32>
  %rdiv = prim.elementwise div(%res, %rb) : tensor<5x33xf32>
  func.return %res, %rdiv : tensor<5x33xf32>, tensor<5x33xf32>
}

// Only a reduction reads the exponentials: a separate loop writes a row.
// CHECK:      func.func @own_loop(%x: memref<5x33xf32>) -> (memref<5x33xf32>, memref<5xf32>) {
// CHECK-NEXT:   %oexp = memref.alloc() : memref<5x33xf32>
// CHECK-NEXT:   %omax = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @omax_oexp(%x) -> (%omax, %oexp) : (memref<5x33xf32>) -> (memref<5xf32>, memref<5x33xf32>)
// CHECK-NEXT:   func.return %oexp, %omax : memref<5x33xf32>, memref<5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @omax_oexp(%x: memref<5x33xf32>) -> (%out: memref<5xf32>, %out_1: memref<5x33xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %maximum = loop.reduce %k in 33 with max {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       %1 = math.exp %0 : f32
// CHECK-NEXT:       loop.yield %1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %maximum, %out[%i] : memref<5xf32>
// CHECK-NEXT:     loop.for %i_1 in 33 {
// CHECK-NEXT:       %2 = loop.load %x[%i, %i_1] : memref<5x33xf32>
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.store %3, %out_1[%i, %i_1] : memref<5x33xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @own_loop(%x: tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5xf32>) {
  %oexp = prim.elementwise exp(%x) : tensor<5x33xf32>
  %omax = prim.reduce max(%oexp) dims [1] : (tensor<5x33xf32>) -> tensor<5xf32>
  func.return %oexp, %omax : tensor<5x33xf32>, tensor<5xf32>
}

// The columns of a transpose are the rows of its input.
// CHECK:      func.func @columns(%x: memref<5x33xf32>) -> (memref<5x33xf32>, memref<33xf32>) {
// CHECK-NEXT:   %cexp = memref.alloc() : memref<5x33xf32>
// CHECK-NEXT:   %cmax = memref.alloc() : memref<33xf32>
// CHECK-NEXT:   loop.launch @cmax_cexp(%x) -> (%cmax, %cexp) : (memref<5x33xf32>) -> (memref<33xf32>, memref<5x33xf32>)
// CHECK-NEXT:   func.return %cexp, %cmax : memref<5x33xf32>, memref<33xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @cmax_cexp(%x: memref<5x33xf32>) -> (%out: memref<33xf32>, %out_1: memref<5x33xf32>) {
// CHECK-NEXT:   loop.for %i in 33 {
// CHECK-NEXT:     %maximum = loop.reduce %k in 5 with max {
// CHECK-NEXT:       %0 = loop.load %x[%k, %i] : memref<5x33xf32>
// CHECK-NEXT:       %1 = math.exp %0 : f32
// CHECK-NEXT:       loop.yield %1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %maximum, %out[%i] : memref<33xf32>
// CHECK-NEXT:     loop.for %i_1 in 5 {
// CHECK-NEXT:       %2 = loop.load %x[%i_1, %i] : memref<5x33xf32>
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.store %3, %out_1[%i_1, %i] : memref<5x33xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @columns(%x: tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<33xf32>) {
  %cexp = prim.elementwise exp(%x) : tensor<5x33xf32>
  %cmax = prim.reduce max(%cexp) dims [0] : (tensor<5x33xf32>) -> tensor<33xf32>
  func.return %cexp, %cmax : tensor<5x33xf32>, tensor<33xf32>
}

// A sum that is a result too, and that two launches read: the first of them writes it.
// CHECK:      func.func @sum_kept(%x: memref<5x33xf32>) -> (memref<5xf32>, memref<5x33xf32>, memref<33x5xf32>) {
// CHECK-NEXT:   %ksum = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   %kdiv = memref.alloc() : memref<5x33xf32>
// CHECK-NEXT:   loop.launch @kdiv_ksum(%x) -> (%kdiv, %ksum) : (memref<5x33xf32>) -> (memref<5x33xf32>, memref<5xf32>)
// CHECK-NEXT:   %kneg = memref.alloc() : memref<33x5xf32>
// CHECK-NEXT:   loop.launch @kneg(%ksum) -> (%kneg) : (memref<5xf32>) -> (memref<33x5xf32>)
// CHECK-NEXT:   func.return %ksum, %kdiv, %kneg : memref<5xf32>, memref<5x33xf32>, memref<33x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @kdiv_ksum(%x: memref<5x33xf32>) -> (%out: memref<5x33xf32>, %out_1: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out_1[%i] : memref<5xf32>
// CHECK-NEXT:     loop.for %j in 33 {
// CHECK-NEXT:       %1 = loop.load %x[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:       %2 = arith.divf %1, %sum : f32
// CHECK-NEXT:       loop.store %2, %out[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @kneg(%ksum: memref<5xf32>) -> (%out: memref<33x5xf32>) {
// CHECK-NEXT:   loop.for %i in 33, %j in 5 {
// CHECK-NEXT:     %0 = loop.load %ksum[%j] : memref<5xf32>
// CHECK-NEXT:     %1 = arith.negf %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i, %j] : memref<33x5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @sum_kept(%x: tensor<5x33xf32>) -> (tensor<5xf32>, tensor<5x33xf32>, tensor<33x5xf32>) {
  %ksum = prim.reduce add(%x) dims [1] : (tensor<5x33xf32>) -> tensor<5xf32>
  %kb = prim.index_map %ksum by affine_map<(i, j) -> (i)> : tensor<5xf32> -> tensor<5x33xf32>
  %kdiv = prim.elementwise div(%x, %kb) : tensor<5x33xf32>
  %kc = prim.index_map %ksum by affine_map<(i, j) -> (j)> : tensor<5xf32> -> tensor<33x5xf32>
  %kneg = prim.elementwise neg(%kc) : tensor<33x5xf32>
  func.return %ksum, %kdiv, %kneg : tensor<5xf32>, tensor<5x33xf32>, tensor<33x5xf32>
}

// A product that is a result, its relu and a transpose of its exponential: three outputs of one kernel.
// CHECK:      func.func @epilogues(%x: memref<5x9xf32>, %w: memref<9x7xf32>) -> (memref<5x7xf32>, memref<5x7xf32>, memref<7x5xf32>) {
// CHECK-NEXT:   %ep = memref.alloc() : memref<5x9x7xf32>
// CHECK-NEXT:   loop.launch @ep(%x, %w) -> (%ep) : (memref<5x9xf32>, memref<9x7xf32>) -> (memref<5x9x7xf32>)
// CHECK-NEXT:   %emm = memref.alloc() : memref<5x7xf32>
// CHECK-NEXT:   %erelu = memref.alloc() : memref<5x7xf32>
// CHECK-NEXT:   %eexp = memref.alloc() : memref<7x5xf32>
// CHECK-NEXT:   loop.launch @eexp_erelu_emm(%ep) -> (%erelu, %emm, %eexp) : (memref<5x9x7xf32>) -> (memref<5x7xf32>, memref<5x7xf32>, memref<7x5xf32>)
// CHECK-NEXT:   func.return %emm, %erelu, %eexp : memref<5x7xf32>, memref<5x7xf32>, memref<7x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @ep(%x: memref<5x9xf32>, %w: memref<9x7xf32>) -> (%out: memref<5x9x7xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 9, %l in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<5x9xf32>
// CHECK-NEXT:     %1 = loop.load %w[%j, %l] : memref<9x7xf32>
// CHECK-NEXT:     %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i, %j, %l] : memref<5x9x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @eexp_erelu_emm(%ep: memref<5x9x7xf32>) -> (%out: memref<5x7xf32>, %out_1: memref<5x7xf32>, %out_2: memref<7x5xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 7 {
// CHECK-NEXT:     %sum = loop.reduce %k in 9 with add {
// CHECK-NEXT:       %0 = loop.load %ep[%i, %k, %j] : memref<5x9x7xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out_1[%i, %j] : memref<5x7xf32>
// CHECK-NEXT:     %1 = math.exp %sum : f32
// CHECK-NEXT:     loop.store %1, %out_2[%j, %i] : memref<7x5xf32>
// CHECK-NEXT:     %2 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %3 = arith.maximumf %sum, %2 : f32
// CHECK-NEXT:     loop.store %3, %out[%i, %j] : memref<5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @epilogues(%x: tensor<5x9xf32>, %w: tensor<9x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<7x5xf32>) {
  %l = prim.index_map %x by affine_map<(i, k, j) -> (i, k)> : tensor<5x9xf32> -> tensor<5x9x7xf32>
  %r = prim.index_map %w by affine_map<(i, k, j) -> (k, j)> : tensor<9x7xf32> -> tensor<5x9x7xf32>
  %ep = prim.elementwise mul(%l, %r) : tensor<5x9x7xf32>
  %emm = prim.reduce add(%ep) dims [1] : (tensor<5x9x7xf32>) -> tensor<5x7xf32>
  %zero = prim.constant 0.000000e+00 : f32 -> tensor<5x7xf32>
  %erelu = prim.elementwise maximum(%emm, %zero) : tensor<5x7xf32>
  %et = prim.index_map %emm by affine_map<(j, i) -> (i, j)> : tensor<5x7xf32> -> tensor<7x5xf32>
  %eexp = prim.elementwise exp(%et) : tensor<7x5xf32>
  func.return %emm, %erelu, %eexp : tensor<5x7xf32>, tensor<5x7xf32>, tensor<7x5xf32>
}

// Only two readers need the product: it is not written.
// CHECK:      func.func @not_written(%x: memref<5x9xf32>) -> (memref<5xf32>, memref<5xf32>) {
// CHECK-NEXT:   %nexp = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   %nneg = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @nneg_nexp_nsum(%x) -> (%nexp, %nneg) : (memref<5x9xf32>) -> (memref<5xf32>, memref<5xf32>)
// CHECK-NEXT:   func.return %nexp, %nneg : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @nneg_nexp_nsum(%x: memref<5x9xf32>) -> (%out: memref<5xf32>, %out_1: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 9 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x9xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %1 = arith.negf %sum : f32
// CHECK-NEXT:     loop.store %1, %out_1[%i] : memref<5xf32>
// CHECK-NEXT:     %2 = math.exp %sum : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @not_written(%x: tensor<5x9xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %nsum = prim.reduce add(%x) dims [1] : (tensor<5x9xf32>) -> tensor<5xf32>
  %nexp = prim.elementwise exp(%nsum) : tensor<5xf32>
  %nneg = prim.elementwise neg(%nsum) : tensor<5xf32>
  func.return %nexp, %nneg : tensor<5xf32>, tensor<5xf32>
}

// A sum of rows is read by each column: a reader that is not row by row cannot write it.
// CHECK:      func.func @each_column(%x: memref<5x33xf32>, %v: memref<33xf32>) -> (memref<33xf32>, memref<5x33xf32>) {
// CHECK-NEXT:   %twice = memref.alloc() : memref<33xf32>
// CHECK-NEXT:   loop.launch @twice(%v) -> (%twice) : (memref<33xf32>) -> (memref<33xf32>)
// CHECK-NEXT:   %tmul = memref.alloc() : memref<5x33xf32>
// CHECK-NEXT:   loop.launch @tmul(%x, %twice) -> (%tmul) : (memref<5x33xf32>, memref<33xf32>) -> (memref<5x33xf32>)
// CHECK-NEXT:   func.return %twice, %tmul : memref<33xf32>, memref<5x33xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @twice(%v: memref<33xf32>) -> (%out: memref<33xf32>) {
// CHECK-NEXT:   loop.for %i in 33 {
// CHECK-NEXT:     %0 = loop.load %v[%i] : memref<33xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @tmul(%x: memref<5x33xf32>, %twice: memref<33xf32>) -> (%out: memref<5x33xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 33 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:     %1 = loop.load %twice[%j] : memref<33xf32>
// CHECK-NEXT:     %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<5x33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @each_column(%x: tensor<5x33xf32>, %v: tensor<33xf32>) -> (tensor<33xf32>, tensor<5x33xf32>) {
  %twice = prim.elementwise exp(%v) : tensor<33xf32>
  %tb = prim.index_map %twice by affine_map<(i, j) -> (j)> : tensor<33xf32> -> tensor<5x33xf32>
  %tmul = prim.elementwise mul(%x, %tb) : tensor<5x33xf32>
  func.return %twice, %tmul : tensor<33xf32>, tensor<5x33xf32>
}

// An argument that is a result, and a result that is returned twice.
// CHECK:      func.func @arguments(%x: memref<7xf32>) -> (memref<7xf32>, memref<7xf32>, memref<7xf32>, memref<7xf32>) {
// CHECK-NEXT:   %aexp = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   %aneg = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @aneg_aexp(%x) -> (%aneg, %aexp) : (memref<7xf32>) -> (memref<7xf32>, memref<7xf32>)
// CHECK-NEXT:   func.return %x, %aexp, %aexp, %aneg : memref<7xf32>, memref<7xf32>, memref<7xf32>, memref<7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @aneg_aexp(%x: memref<7xf32>) -> (%out: memref<7xf32>, %out_1: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out_1[%i] : memref<7xf32>
// CHECK-NEXT:     %2 = arith.negf %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @arguments(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
  %aexp = prim.elementwise exp(%x) : tensor<7xf32>
  %aneg = prim.elementwise neg(%aexp) : tensor<7xf32>
  func.return %x, %aexp, %aexp, %aneg : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

// Five results of one value: a kernel has four outputs at most.
// CHECK:      func.func @five(%x: memref<7xf32>) -> (memref<7xf32>, memref<7xf32>, memref<7xf32>, memref<7xf32>, memref<7xf32>) {
// CHECK-NEXT:   %f0 = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   %f1 = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   %f2 = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   %f3 = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @f3_f2_f1_f0(%x) -> (%f1, %f0, %f2, %f3) : (memref<7xf32>) -> (memref<7xf32>, memref<7xf32>, memref<7xf32>, memref<7xf32>)
// CHECK-NEXT:   %f4 = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @f4(%f0) -> (%f4) : (memref<7xf32>) -> (memref<7xf32>)
// CHECK-NEXT:   func.return %f0, %f1, %f2, %f3, %f4 : memref<7xf32>, memref<7xf32>, memref<7xf32>, memref<7xf32>, memref<7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @f3_f2_f1_f0(%x: memref<7xf32>) -> (%out: memref<7xf32>, %out_1: memref<7xf32>, %out_2: memref<7xf32>, %out_3: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out_1[%i] : memref<7xf32>
// CHECK-NEXT:     %2 = math.absf %1 : f32
// CHECK-NEXT:     loop.store %2, %out_3[%i] : memref<7xf32>
// CHECK-NEXT:     %3 = math.tanh %1 : f32
// CHECK-NEXT:     loop.store %3, %out_2[%i] : memref<7xf32>
// CHECK-NEXT:     %4 = arith.negf %1 : f32
// CHECK-NEXT:     loop.store %4, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @f4(%f0: memref<7xf32>) -> (%out: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %f0[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = math.sin %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @five(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
  %f0 = prim.elementwise exp(%x) : tensor<7xf32>
  %f1 = prim.elementwise neg(%f0) : tensor<7xf32>
  %f2 = prim.elementwise tanh(%f0) : tensor<7xf32>
  %f3 = prim.elementwise abs(%f0) : tensor<7xf32>
  %f4 = prim.elementwise sin(%f0) : tensor<7xf32>
  func.return %f0, %f1, %f2, %f3, %f4 : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

// Each row is read under a mask, and written without one: in a step of its nest, without a loop.
// CHECK:      func.func @masked(%x: memref<2x3xf32>) -> (memref<2x3xf32>, memref<2x3xf32>) {
// CHECK-NEXT:   %n = memref.alloc() : memref<2x3xf32>
// CHECK-NEXT:   %first = memref.alloc() : memref<2x3xf32>
// CHECK-NEXT:   loop.launch @first_n(%x) -> (%first, %n) : (memref<2x3xf32>) -> (memref<2x3xf32>, memref<2x3xf32>)
// CHECK-NEXT:   func.return %n, %first : memref<2x3xf32>, memref<2x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @first_n(%x: memref<2x3xf32>) -> (%out: memref<2x3xf32>, %out_1: memref<2x3xf32>) {
// CHECK-NEXT:   loop.for %i in 2, %j in 3 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] where [0 - %i] : memref<2x3xf32>
// CHECK-NEXT:     %1 = arith.negf %0 : f32
// CHECK-NEXT:     %2 = loop.predicate [0 - %i] : i1
// CHECK-NEXT:     %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %4 = arith.select %2, %1, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%i, %j] : memref<2x3xf32>
// CHECK-NEXT:     %5 = loop.load %x[%i, %j] : memref<2x3xf32>
// CHECK-NEXT:     %6 = arith.negf %5 : f32
// CHECK-NEXT:     loop.store %6, %out_1[%i, %j] : memref<2x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @masked(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %n = prim.elementwise neg(%x) : tensor<2x3xf32>
  %first = prim.index_map %n by affine_map<(d0, d1) -> (d0, d1)>
      where affine_map<(d0, d1) -> (d0 * -1)> else 0.0 : f32 : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return %n, %first : tensor<2x3xf32>, tensor<2x3xf32>
}
