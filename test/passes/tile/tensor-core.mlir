// RUN: opt-tool %s -p tensor-core --check=each | filecheck %s
// RUN: opt-tool %s -p 'tensor-core{instr=m16n8k16_bf16}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'tensor-core,tensor-core,permute-register-tile' --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: opt-tool %s -p 'tensor-core,double-buffer{depth=2},async-copy,pad-smem,pipeline-k-outer,mark-unroll' --check=each | filecheck %s --check-prefix=PADS
// RUN: opt-tool %s -p 'tensor-core,mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL

// a @ b: two warps share the columns, and each lane owns 4 by 4 elements, as the instruction arranges
// them. No extent is a multiple of its tile: elements beyond the ends are masked as before.
//
// CHECK:      tile.launch (%bm = block 2 m, %bn = block 2 n, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %sm = register 2 m, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
// CHECK:      %chunk = loop.reduce %ki in 32 with add by(m16n8k16_bf16) {
// CHECK-NEXT:   loop.load %as[%sm * 16 + %rm * 8 + %lm, %ki]
// CHECK:        loop.load %bs[%ki, %sn * 16 + %wn * 8 + %ln * 2 + %vn]
// CHECK:      loop.store {{.*}} %out[%bm * 32 + %sm * 16 + %rm * 8 + %lm, %bn * 32 + %sn * 16 + %wn * 8 + %ln * 2 + %vn] where [32 - %bm * 32 - %sm * 16 - %rm * 8 - %lm, 39 - %bn * 32 - %sn * 16 - %wn * 8 - %ln * 2 - %vn]
// CHECK:      } schedule "tensor-core{instr=m16n8k16_bf16}"
//
// TWICE:      skipped at mm: its register tile is arranged already
// TWICE:      skipped at mm: its register tile is arranged already
//
// Rows of 16 bytes are read at once: only a pad of 8 elements keeps them.
//
// PADS:       memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
// PADS:       memref<32x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
//
// A fragment of A is one load of four matrices; two fragments of B are another, across K.
//
// KERNEL:     %a_1 = kernel.registers : memref<2x8xbf16, 5 : i64>
// KERNEL:     kernel.load_matrix %as[%sm_1 * 16 + %thread mod 16, %ki * 16 + (%thread floordiv 16) mod 2 * 8] to %a_1[%sm_1, 0] count 4
// KERNEL:     kernel.load_matrix %bs[%ki * 16 + %thread mod 16, (%thread floordiv 16) mod 2 * 16 + %wn * 8] to %b_1[{{.*}}] count 4 transposed
// KERNEL:     kernel.matrix_multiply m16n8k16_bf16 %a_1[%sm_2, 0], %b_1[%sn_1, 0], %acc[%sm_2, %sn_1, 0, 0]
loop.kernel @mm(%a: memref<33x36xbf16>, %b: memref<36x40xbf16>) -> (%out: memref<33x40xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
    %acc = loop.reduce %ko in 2 with add {
      %as = tile.stage (%i, %k) in [32, 32] {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 32 + %k] where [32 - %bm * 32 - %i, 35 - %ko * 32 - %k] : memref<33x36xbf16>
        loop.yield %0 : bf16
      } : memref<32x32xbf16, 3 : i64>
      %bs = tile.stage (%k, %j) in [32, 32] {
        %0 = loop.load %b[%ko * 32 + %k, %bn * 32 + %j] where [39 - %bn * 32 - %j, 35 - %ko * 32 - %k] : memref<36x40xbf16>
        loop.yield %0 : bf16
      } : memref<32x32xbf16, 3 : i64>
      %chunk = loop.reduce %ki in 32 with add {
        %x = loop.load %as[%tm * 4 + %vm, %ki] : memref<32x32xbf16, 3 : i64>
        %xf = arith.extf %x : bf16 to f32
        %y = loop.load %bs[%ki, %tn * 4 + %vn] : memref<32x32xbf16, 3 : i64>
        %yf = arith.extf %y : bf16 to f32
        %xy = arith.mulf %xf, %yf : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %tm * 4 + %vm, %bn * 32 + %tn * 4 + %vn] where [32 - %bm * 32 - %tm * 4 - %vm, 39 - %bn * 32 - %tn * 4 - %vn] : memref<33x40xf32>
  }
}
