// RUN: opt-tool %s -p stage-inputs --check=each | filecheck %s
// RUN: opt-tool %s -p stage-inputs | opt-tool | filecheck %s

// 16 threads read the same elements of each operand. The slabs have the order of their sources in
// memory, and the loads of the inner loop read them.
// CHECK:      loop.kernel @matmul(%a: memref<64x128xf32>, %b: memref<128x96xf32>) -> (%out: memref<64x96xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 4 m, %bn = block 6 n, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 8 with add {
// CHECK-NEXT:       %as = tile.stage (%i, %k) in [16, 16] {
// CHECK-NEXT:         %0 = loop.load %a[%bm * 16 + %i, %ko * 16 + %k] : memref<64x128xf32>
// CHECK-NEXT:         loop.yield %0 : f32
// CHECK-NEXT:       } : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:       %bs = tile.stage (%k_1, %j) in [16, 16] {
// CHECK-NEXT:         %1 = loop.load %b[%ko * 16 + %k_1, %bn * 16 + %j] : memref<128x96xf32>
// CHECK-NEXT:         loop.yield %1 : f32
// CHECK-NEXT:       } : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %x = loop.load %as[%tm, %ki] : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:         %y = loop.load %bs[%ki, %tn] : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:         %xy = arith.mulf %x, %y : f32
// CHECK-NEXT:         loop.yield %xy : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%bm * 16 + %tm, %bn * 16 + %tn] : memref<64x96xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "stage-inputs{raw=a,b}"
loop.kernel @matmul(%a: memref<64x128xf32>, %b: memref<128x96xf32>) -> (%out: memref<64x96xf32>) {
  tile.launch (%bm = block 4 m, %bn = block 6 n, %tm = thread 16 m, %tn = thread 16 n) {
    %sum = loop.reduce %ko in 8 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %a[%bm * 16 + %tm, %ko * 16 + %ki] : memref<64x128xf32>
        %y = loop.load %b[%ko * 16 + %ki, %bn * 16 + %tn] : memref<128x96xf32>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%bm * 16 + %tm, %bn * 16 + %tn] : memref<64x96xf32>
  }
}

// The sizes are no multiples of the tiles: a slab holds zeros beyond the matrix.
// CHECK:      loop.kernel @odd(%a: memref<50x100xf32>, %b: memref<100x70xf32>) -> (%out: memref<50x70xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 4 m, %bn = block 5 n, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:     %sum = loop.reduce %ko in 7 with add {
// CHECK-NEXT:       %as = tile.stage (%i, %k) in [16, 16] {
// CHECK-NEXT:         %0 = loop.load %a[%bm * 16 + %i, %ko * 16 + %k] where [49 - %bm * 16 - %i, 99 - %ko * 16 - %k] : memref<50x100xf32>
// CHECK-NEXT:         loop.yield %0 : f32
// CHECK-NEXT:       } : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:       %bs = tile.stage (%k_1, %j) in [16, 16] {
// CHECK-NEXT:         %1 = loop.load %b[%ko * 16 + %k_1, %bn * 16 + %j] where [99 - %ko * 16 - %k_1, 69 - %bn * 16 - %j] : memref<100x70xf32>
// CHECK-NEXT:         loop.yield %1 : f32
// CHECK-NEXT:       } : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %x = loop.load %as[%tm, %ki] : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:         %y = loop.load %bs[%ki, %tn] : memref<16x16xf32, 3 : i64>
// CHECK-NEXT:         %xy = arith.mulf %x, %y : f32
// CHECK-NEXT:         loop.yield %xy : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%bm * 16 + %tm, %bn * 16 + %tn] where [49 - %bm * 16 - %tm, 69 - %bn * 16 - %tn] : memref<50x70xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "stage-inputs{raw=a,b}"
loop.kernel @odd(%a: memref<50x100xf32>, %b: memref<100x70xf32>) -> (%out: memref<50x70xf32>) {
  tile.launch (%bm = block 4 m, %bn = block 5 n, %tm = thread 16 m, %tn = thread 16 n) {
    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %a[%bm * 16 + %tm, %ko * 16 + %ki] where [49 - %bm * 16 - %tm, 99 - %ko * 16 - %ki] : memref<50x100xf32>
        %y = loop.load %b[%ko * 16 + %ki, %bn * 16 + %tn] where [99 - %ko * 16 - %ki, 69 - %bn * 16 - %tn] : memref<100x70xf32>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%bm * 16 + %tm, %bn * 16 + %tn] where [49 - %bm * 16 - %tm, 69 - %bn * 16 - %tn] : memref<50x70xf32>
  }
}

// silu(g) * u is computed once, while it is staged; operands in half precision stay in half precision in
// their slabs. The threads already have several elements each: three axes of rows form one coordinate.
// CHECK:      loop.kernel @gated(%g: memref<64x48xf32>, %u: memref<64x48xf32>, %w: memref<48x32xf16>) -> (%out: memref<64x32xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 2 m, %tm = thread 4 m, %tn = thread 4 n, %sm = register 2 m, %vm = register 4 m, %sn = register 2 n, %vn = register 4 n) {
// CHECK-NEXT:     %acc = loop.reduce %ko in 3 with add {
// CHECK-NEXT:       %gs = tile.stage (%i, %k) in [32, 16] {
// CHECK-NEXT:         %0 = loop.load %g[%bm * 32 + %i, %ko * 16 + %k] : memref<64x48xf32>
// CHECK-NEXT:         %1 = loop.load %u[%bm * 32 + %i, %ko * 16 + %k] : memref<64x48xf32>
// CHECK-NEXT:         %2 = arith.negf %0 : f32
// CHECK-NEXT:         %3 = math.exp %2 : f32
// CHECK-NEXT:         %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:         %4 = arith.addf %3, %one : f32
// CHECK-NEXT:         %5 = arith.divf %0, %4 : f32
// CHECK-NEXT:         %6 = arith.mulf %5, %1 : f32
// CHECK-NEXT:         loop.yield %6 : f32
// CHECK-NEXT:       } : memref<32x16xf32, 3 : i64>
// CHECK-NEXT:       %ws = tile.stage (%k_1, %j) in [16, 32] {
// CHECK-NEXT:         %7 = loop.load %w[%ko * 16 + %k_1, %j] : memref<48x32xf16>
// CHECK-NEXT:         loop.yield %7 : f16
// CHECK-NEXT:       } : memref<16x32xf16, 3 : i64>
// CHECK-NEXT:       %chunk = loop.reduce %ki in 4 with add unroll {
// CHECK-NEXT:         %four = loop.reduce %kv in 4 with add unroll {
// CHECK-NEXT:           %8 = loop.load %gs[%sm * 16 + %tm * 4 + %vm, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
// CHECK-NEXT:           %9 = loop.load %ws[%ki * 4 + %kv, %sn * 16 + %tn * 4 + %vn] : memref<16x32xf16, 3 : i64>
// CHECK-NEXT:           %10 = arith.extf %9 : f16 to f32
// CHECK-NEXT:           %11 = arith.mulf %8, %10 : f32
// CHECK-NEXT:           loop.yield %11 : f32
// CHECK-NEXT:         } : f32
// CHECK-NEXT:         loop.yield %four : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %acc, %out[%bm * 32 + %sm * 16 + %tm * 4 + %vm, %sn * 16 + %tn * 4 + %vn] : memref<64x32xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "stage-inputs{raw=w computed=g}"
loop.kernel @gated(%g: memref<64x48xf32>, %u: memref<64x48xf32>, %w: memref<48x32xf16>) -> (%out: memref<64x32xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 4 m, %tn = thread 4 n, %sm = register 2 m, %vm = register 4 m, %sn = register 2 n, %vn = register 4 n) {
    %acc = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 4 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %0 = loop.load %g[%bm * 32 + %sm * 16 + %tm * 4 + %vm, %ko * 16 + %ki * 4 + %kv] : memref<64x48xf32>
          %1 = loop.load %u[%bm * 32 + %sm * 16 + %tm * 4 + %vm, %ko * 16 + %ki * 4 + %kv] : memref<64x48xf32>
          %2 = arith.negf %0 : f32
          %3 = math.exp %2 : f32
          %one = arith.constant 1.0 : f32
          %4 = arith.addf %3, %one : f32
          %5 = arith.divf %0, %4 : f32
          %6 = arith.mulf %5, %1 : f32
          %7 = loop.load %w[%ko * 16 + %ki * 4 + %kv, %sn * 16 + %tn * 4 + %vn] : memref<48x32xf16>
          %8 = arith.extf %7 : f16 to f32
          %9 = arith.mulf %6, %8 : f32
          loop.yield %9 : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %sm * 16 + %tm * 4 + %vm, %sn * 16 + %tn * 4 + %vn] : memref<64x32xf32>
  }
}

// RMSNorm reads each row twice, both times from its slab: for the sum, and for the result.
// CHECK:      loop.kernel @rms_norm(%x: memref<32x2048xf32>, %w: memref<2048xf32>) -> (%out: memref<32x2048xf32>) {
// CHECK-NEXT:   %eps = arith.constant 1.000000e-05 : f32
// CHECK-NEXT:   %n = arith.constant 2.048000e+03 : f32
// CHECK-NEXT:   tile.launch (%b = block 32 row, %t = thread 256 k) {
// CHECK-NEXT:     %xs = tile.stage (%i) in [2048] {
// CHECK-NEXT:       %0 = loop.load %x[%b, %i] : memref<32x2048xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : memref<2048xf32, 3 : i64>
// CHECK-NEXT:     %p = loop.reduce %k in 8 with add {
// CHECK-NEXT:       %1 = loop.load %xs[%k * 256 + %t] : memref<2048xf32, 3 : i64>
// CHECK-NEXT:       %2 = arith.mulf %1, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = tile.combine %p across %t with add : f32
// CHECK-NEXT:     %3 = arith.divf %sum, %n : f32
// CHECK-NEXT:     %4 = arith.addf %3, %eps : f32
// CHECK-NEXT:     %5 = math.rsqrt %4 : f32
// CHECK-NEXT:     loop.for %j in 8 {
// CHECK-NEXT:       %6 = loop.load %xs[%j * 256 + %t] : memref<2048xf32, 3 : i64>
// CHECK-NEXT:       %7 = arith.mulf %6, %5 : f32
// CHECK-NEXT:       %8 = loop.load %w[%j * 256 + %t] : memref<2048xf32>
// CHECK-NEXT:       %9 = arith.mulf %7, %8 : f32
// CHECK-NEXT:       loop.store %9, %out[%b, %j * 256 + %t] : memref<32x2048xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "stage-inputs{raw=x}"
loop.kernel @rms_norm(%x: memref<32x2048xf32>, %w: memref<2048xf32>) -> (%out: memref<32x2048xf32>) {
  %eps = arith.constant 1.0e-5 : f32
  %n = arith.constant 2048.0 : f32
  tile.launch (%b = block 32 row, %t = thread 256 k) {
    %p = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%b, %k * 256 + %t] : memref<32x2048xf32>
      %1 = arith.mulf %0, %0 : f32
      loop.yield %1 : f32
    } : f32
    %sum = tile.combine %p across %t with add : f32
    %2 = arith.divf %sum, %n : f32
    %3 = arith.addf %2, %eps : f32
    %4 = math.rsqrt %3 : f32
    loop.for %j in 8 {
      %5 = loop.load %x[%b, %j * 256 + %t] : memref<32x2048xf32>
      %6 = arith.mulf %5, %4 : f32
      %7 = loop.load %w[%j * 256 + %t] : memref<2048xf32>
      %8 = arith.mulf %6, %7 : f32
      loop.store %8, %out[%b, %j * 256 + %t] : memref<32x2048xf32>
    }
  }
}

// Attention weights times values. The threads of a row share its maximum with the threads that compute
// the weights, each once for the block. The statistics read the scores too, but not from the slab, since
// a loop that ends early does not load the whole row.
// CHECK:      loop.kernel @attention(%s: memref<4x40x40xf32>, %v: memref<2x40x24xf32>) -> (%out: memref<4x40x24xf32>) {
// CHECK-NEXT:   tile.launch (%h = block 4 batch, %bm = block 5 m, %tm = thread 8 m, %tn = thread 24 n) {
// CHECK-NEXT:     %p = loop.reduce %kc in 2 below [%bm + 1] with max {
// CHECK-NEXT:       %0 = loop.load %s[%h, %bm * 8 + %tm, %kc * 24 + %tn] where [39 - %kc * 24 - %tn] : memref<4x40x40xf32>
// CHECK-NEXT:       loop.yield %0 where [%bm * 8 + %tm - %kc * 24 - %tn] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %max = tile.combine %p across %tn with max : f32
// CHECK-NEXT:     %maxs = tile.share %max at [%tm] : memref<8xf32, 3 : i64>
// CHECK-NEXT:     %q = loop.reduce %kc_1 in 2 below [%bm + 1] with add {
// CHECK-NEXT:       %1 = loop.load %s[%h, %bm * 8 + %tm, %kc_1 * 24 + %tn] where [39 - %kc_1 * 24 - %tn] : memref<4x40x40xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %max : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.yield %3 where [%bm * 8 + %tm - %kc_1 * 24 - %tn] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = tile.combine %q across %tn with add : f32
// CHECK-NEXT:     %acc = loop.reduce %ko in 5 below [%bm + 1] with add {
// CHECK-NEXT:       %ss = tile.stage (%i, %k) in [8, 8] {
// CHECK-NEXT:         %4 = loop.load %maxs[%i] : memref<8xf32, 3 : i64>
// CHECK-NEXT:         %5 = loop.load %s[%h, %bm * 8 + %i, %ko * 8 + %k] : memref<4x40x40xf32>
// CHECK-NEXT:         %6 = arith.subf %5, %4 : f32
// CHECK-NEXT:         %7 = math.exp %6 : f32
// CHECK-NEXT:         loop.yield %7 : f32
// CHECK-NEXT:       } : memref<8x8xf32, 3 : i64>
// CHECK-NEXT:       %vs = tile.stage (%k_1, %j) in [8, 24] {
// CHECK-NEXT:         %8 = loop.load %v[%h floordiv 2, %ko * 8 + %k_1, %j] : memref<2x40x24xf32>
// CHECK-NEXT:         loop.yield %8 : f32
// CHECK-NEXT:       } : memref<8x24xf32, 3 : i64>
// CHECK-NEXT:       %chunk = loop.reduce %ki in 8 with add {
// CHECK-NEXT:         %9 = loop.load %ss[%tm, %ki] : memref<8x8xf32, 3 : i64>
// CHECK-NEXT:         %10 = loop.load %vs[%ki, %tn] : memref<8x24xf32, 3 : i64>
// CHECK-NEXT:         %11 = arith.mulf %9, %10 : f32
// CHECK-NEXT:         loop.yield %11 where [%bm * 8 + %tm - %ko * 8 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %12 = arith.divf %acc, %sum : f32
// CHECK-NEXT:     loop.store %12, %out[%h, %bm * 8 + %tm, %tn] : memref<4x40x24xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "stage-inputs{raw=v computed=s}"
loop.kernel @attention(%s: memref<4x40x40xf32>, %v: memref<2x40x24xf32>) -> (%out: memref<4x40x24xf32>) {
  tile.launch (%h = block 4 batch, %bm = block 5 m, %tm = thread 8 m, %tn = thread 24 n) {
    %p = loop.reduce %kc in 2 below [%bm + 1] with max {
      %0 = loop.load %s[%h, %bm * 8 + %tm, %kc * 24 + %tn] where [39 - %kc * 24 - %tn] : memref<4x40x40xf32>
      loop.yield %0 where [%bm * 8 + %tm - %kc * 24 - %tn] : f32
    } : f32
    %max = tile.combine %p across %tn with max : f32
    %q = loop.reduce %kc in 2 below [%bm + 1] with add {
      %0 = loop.load %s[%h, %bm * 8 + %tm, %kc * 24 + %tn] where [39 - %kc * 24 - %tn] : memref<4x40x40xf32>
      %1 = arith.subf %0, %max : f32
      %2 = math.exp %1 : f32
      loop.yield %2 where [%bm * 8 + %tm - %kc * 24 - %tn] : f32
    } : f32
    %sum = tile.combine %q across %tn with add : f32
    %acc = loop.reduce %ko in 5 below [%bm + 1] with add {
      %chunk = loop.reduce %ki in 8 with add {
        %3 = loop.load %s[%h, %bm * 8 + %tm, %ko * 8 + %ki] : memref<4x40x40xf32>
        %4 = arith.subf %3, %max : f32
        %5 = math.exp %4 : f32
        %6 = loop.load %v[%h floordiv 2, %ko * 8 + %ki, %tn] : memref<2x40x24xf32>
        %7 = arith.mulf %5, %6 : f32
        loop.yield %7 where [%bm * 8 + %tm - %ko * 8 - %ki] : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %8 = arith.divf %acc, %sum : f32
    loop.store %8, %out[%h, %bm * 8 + %tm, %tn] : memref<4x40x24xf32>
  }
}

// Two operands are computed from one load, which is itself an operand: it is replaced once.
// CHECK-LABEL: loop.kernel @shared(
// CHECK:       %as = tile.stage
// CHECK:       %bs = tile.stage
// CHECK-NOT:   tile.stage
// CHECK:       %x = loop.load %as[%tm, %ki]
// CHECK-NEXT:  %y = loop.load %bs[%ki, %tn]
// CHECK-NEXT:  %xy = arith.muli %x, %y : i64
// CHECK-NEXT:  %x1 = arith.trunci %x : i64 to i32
// CHECK:       } schedule "stage-inputs{raw=a,b,a-1,b-1}"
loop.kernel @shared(%a: memref<16x16xi64>, %b: memref<16x16xi64>) -> (%out: memref<16x16xi64>, %out_1: memref<16x16xi32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 16 n) {
    %sum, %sum_1 = loop.reduce %ki in 16 with add {
      %x = loop.load %a[%tm, %ki] : memref<16x16xi64>
      %y = loop.load %b[%ki, %tn] : memref<16x16xi64>
      %xy = arith.muli %x, %y : i64
      %x1 = arith.trunci %x : i64 to i32
      %y1 = arith.trunci %y : i64 to i32
      %xy1 = arith.muli %x1, %y1 : i32
      loop.yield %xy, %xy1 : i64, i32
    } : i64, i32
    loop.store %sum, %out[%tm, %tn] : memref<16x16xi64>
    loop.store %sum_1, %out_1[%tm, %tn] : memref<16x16xi32>
  }
}
