// RUN: opt-tool %s -p convert-tile-to-kernel --split-input-file --check=each | filecheck %s

// Two tiles of D side by side are the elements of A that a lane holds: nothing is shared.

// CHECK-LABEL: @held
// CHECK:         kernel.comment "elementwise"
// CHECK-NOT:     kernel.{{shared|barrier}}
// CHECK:         kernel.comment "16x16 outputs, sum over k, 32 steps"
// CHECK:           scf.for %k =
// CHECK-NEXT:        %a = kernel.registers : memref<8xbf16, 5 : i64>
// CHECK-NEXT:        kernel.unroll %element in 8 {
// CHECK-NEXT:          %[[VALUE:.*]] = loop.load %half[%k, %element floordiv 4, (%element floordiv 2) mod 2, %element mod 2] : memref<2x2x2x2xbf16, 5 : i64>
// CHECK-NEXT:          loop.store %[[VALUE]], %a[%element] : memref<8xbf16, 5 : i64>
// CHECK-NEXT:        }
// CHECK:             kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[%sn{{.*}}, 0], %o[%sn{{.*}}, 0, 0]
loop.kernel @held(%x: memref<16x32xf32>, %v: memref<32x16xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %uk = register 2, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %vs = tile.stage (%i, %j) in [32, 16] {
      %0 = loop.load %v[%i, %j] : memref<32x16xbf16>
      loop.yield %0 : bf16
    } : memref<32x16xbf16, 3 : i64>
    %1 = loop.load %x[%rm * 8 + %lm, %uk * 16 + %sn * 8 + %ln * 2 + %vn] : memref<16x32xf32>
    %half = arith.truncf %1 : f32 to bf16
    %ps = tile.share %half at [%rm * 8 + %lm, %uk * 16 + %sn * 8 + %ln * 2 + %vn] : memref<16x32xbf16, 3 : i64>
    %o = loop.reduce %k in 32 with add by(m16n8k16_bf16) {
      %2 = loop.load %ps[%rm * 8 + %lm, %k] : memref<16x32xbf16, 3 : i64>
      %3 = loop.load %vs[%k, %sn * 8 + %ln * 2 + %vn] : memref<32x16xbf16, 3 : i64>
      %4 = arith.extf %2 : bf16 to f32
      %5 = arith.extf %3 : bf16 to f32
      %6 = arith.mulf %4, %5 : f32
      loop.yield %6 : f32
    } : f32
    loop.store %o, %out[%rm * 8 + %lm, %sn * 8 + %ln * 2 + %vn] : memref<16x16xf32>
  }
}

// -----

// A lane needs other columns than those it holds.

// CHECK-LABEL: @other_columns
// CHECK:         %ps = kernel.shared
// CHECK:         kernel.load_matrix %ps
loop.kernel @other_columns(%x: memref<16x32xf32>, %v: memref<32x16xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %uk = register 2, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %vs = tile.stage (%i, %j) in [32, 16] {
      %0 = loop.load %v[%i, %j] : memref<32x16xbf16>
      loop.yield %0 : bf16
    } : memref<32x16xbf16, 3 : i64>
    %1 = loop.load %x[%rm * 8 + %lm, %sn * 16 + %uk * 8 + %vn * 4 + %ln] : memref<16x32xf32>
    %half = arith.truncf %1 : f32 to bf16
    %ps = tile.share %half at [%rm * 8 + %lm, %sn * 16 + %uk * 8 + %vn * 4 + %ln] : memref<16x32xbf16, 3 : i64>
    %o = loop.reduce %k in 32 with add by(m16n8k16_bf16) {
      %2 = loop.load %ps[%rm * 8 + %lm, %k] : memref<16x32xbf16, 3 : i64>
      %3 = loop.load %vs[%k, %sn * 8 + %ln * 2 + %vn] : memref<32x16xbf16, 3 : i64>
      %4 = arith.extf %2 : bf16 to f32
      %5 = arith.extf %3 : bf16 to f32
      %6 = arith.mulf %4, %5 : f32
      loop.yield %6 : f32
    } : f32
    loop.store %o, %out[%rm * 8 + %lm, %sn * 8 + %ln * 2 + %vn] : memref<16x16xf32>
  }
}

// -----

// A lane needs other rows than those it holds.

// CHECK-LABEL: @other_rows
// CHECK:         %ps = kernel.shared
// CHECK:         kernel.load_matrix %ps
loop.kernel @other_rows(%x: memref<16x32xf32>, %v: memref<32x16xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %uk = register 2, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %vs = tile.stage (%i, %j) in [32, 16] {
      %0 = loop.load %v[%i, %j] : memref<32x16xbf16>
      loop.yield %0 : bf16
    } : memref<32x16xbf16, 3 : i64>
    %1 = loop.load %x[%lm * 2 + %rm, %uk * 16 + %sn * 8 + %ln * 2 + %vn] : memref<16x32xf32>
    %half = arith.truncf %1 : f32 to bf16
    %ps = tile.share %half at [%lm * 2 + %rm, %uk * 16 + %sn * 8 + %ln * 2 + %vn] : memref<16x32xbf16, 3 : i64>
    %o = loop.reduce %k in 32 with add by(m16n8k16_bf16) {
      %2 = loop.load %ps[%rm * 8 + %lm, %k] : memref<16x32xbf16, 3 : i64>
      %3 = loop.load %vs[%k, %sn * 8 + %ln * 2 + %vn] : memref<32x16xbf16, 3 : i64>
      %4 = arith.extf %2 : bf16 to f32
      %5 = arith.extf %3 : bf16 to f32
      %6 = arith.mulf %4, %5 : f32
      loop.yield %6 : f32
    } : f32
    loop.store %o, %out[%rm * 8 + %lm, %sn * 8 + %ln * 2 + %vn] : memref<16x16xf32>
  }
}
