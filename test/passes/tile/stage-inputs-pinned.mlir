// RUN: opt-tool %s -p 'stage-inputs{raw=a transposed=a}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'stage-inputs{computed=b}' --check=each | filecheck %s --check-prefix=COMPUTED
// RUN: opt-tool %s -p 'stage-inputs{none=a,b}' | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'stage-inputs{raw=c}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not opt-tool %s -p 'stage-inputs{computed=a}' 2>&1 | filecheck %s --check-prefix=LOADED
// RUN: not opt-tool %s -p 'stage-inputs{raw=a,b computed=b}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not opt-tool %s -p 'stage-inputs{none=a transposed=a}' 2>&1 | filecheck %s --check-prefix=FLAT
// RUN: not opt-tool %s -p 'stage-inputs{raw=a,b target=sm_86}' 2>&1 | filecheck %s --check-prefix=LARGE

// UNKNOWN: error: pass 'stage-inputs': cannot do 'stage-inputs{{.*}}' in @mm: it has no operand 'c'; it has a, b
// LOADED: error: pass 'stage-inputs': cannot do 'stage-inputs{{.*}}' in @mm: a is only loaded; use 'raw=a'
// TWICE: error: pass 'stage-inputs': cannot do 'stage-inputs{{.*}}' in @mm: b is listed 2 times; list it once
// FLAT: in @mm: a has no slab with two axes to exchange
// LARGE: in @mm: its slabs take 131072 bytes of shared memory, and a block of sm_86 has 101376; stage fewer operands, or smaller chunks (bk of chunk-matmul-k)

// An operand can be transposed in its slab. Operands that are not listed are staged as in the best
// choice that agrees with the listed ones.
// CHECK:      %as = tile.stage (%i, %k) in [64, 128] {
// CHECK:      } : memref<64x128xf64, #tile.layout<order [1, 0]>, 3 : i64>
// CHECK:      } schedule "stage-inputs{raw=a computed=b transposed=a}"

// COMPUTED:      %as = tile.stage (%i, %k) in [64, 128] {
// COMPUTED:      %bs = tile.stage (%k_1, %j) in [128, 64] {
// COMPUTED-NEXT:   %y = loop.load %b
// COMPUTED-NEXT:   %two = arith.constant
// COMPUTED-NEXT:   %1 = arith.mulf %y, %two
// COMPUTED-NEXT:   loop.yield %1
// COMPUTED:      } schedule "stage-inputs{raw=a computed=b}"

// NONE-NOT: tile.stage
// NONE:     } schedule "stage-inputs{none=a,b}"
loop.kernel @mm(%a: memref<64x256xf64>, %b: memref<256x64xf64>) -> (%out: memref<64x64xf64>) {
  tile.launch (%tm = thread 16 m, %tn = thread 16 n, %rm = register 4 m, %rn = register 4 n) {
    %sum = loop.reduce %ko in 2 with add {
      %chunk = loop.reduce %ki in 128 with add {
        %x = loop.load %a[%tm * 4 + %rm, %ko * 128 + %ki] : memref<64x256xf64>
        %y = loop.load %b[%ko * 128 + %ki, %tn * 4 + %rn] : memref<256x64xf64>
        %two = arith.constant 2.0 : f64
        %z = arith.mulf %y, %two : f64
        %xz = arith.mulf %x, %z : f64
        loop.yield %xz : f64
      } : f64
      loop.yield %chunk : f64
    } : f64
    loop.store %sum, %out[%tm * 4 + %rm, %tn * 4 + %rn] : memref<64x64xf64>
  }
}
