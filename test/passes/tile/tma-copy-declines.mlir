// RUN: opt-tool %s -p tma-copy --remarks --check=each 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'tma-copy{slabs=hs}' 2>&1 | filecheck %s --check-prefix=COMPUTED

// Slabs without a ring, and rows that are no multiples of 16 bytes.
// CHECK: skipped at row: no slab has a ring
// CHECK: skipped at odd: %xs is not a box: rows of the tensor are 396 bytes, not a multiple of 16
loop.kernel @row(%x: memref<3x100xf32>) -> (%out: memref<3x100xf32>) {
  tile.launch (%b = block 3 row, %t = thread 100) {
    %s = tile.stage (%i) in [100] {
      %0 = loop.load %x[%b, %i] : memref<3x100xf32>
      loop.yield %0 : f32
    } : memref<100xf32, 3 : i64>
    %0 = loop.load %s[99 - %t] : memref<100xf32, 3 : i64>
    loop.store %0, %out[%b, %t] : memref<3x100xf32>
  }
}

loop.kernel @odd(%x: memref<64x99xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 7 with add {
      %xs = tile.stage (%i, %k) in [64, 16] ring(depth 2) {
        %0 = loop.load %x[%i, %ko * 16 + %k] where [98 - %ko * 16 - %k] : memref<64x99xf32>
        loop.yield %0 : f32
      } : memref<64x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %xs[%t, %ki] : memref<64x16xf32, 3 : i64>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// An inner loop with a lower bound.
// CHECK: skipped at late: %xs is filled in a nested loop that leaves out steps: fills cannot be counted
loop.kernel @late(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 4, %t = thread 16) {
    %all = loop.reduce %h in 3 with add {
      %sum = loop.reduce %ko in 4 from [%b - 1] with add {
        %xs = tile.stage (%i, %k) in [16, 16] ring(depth 2) {
          %0 = loop.load %x[%b * 16 + %i, %ko * 16 + %k] : memref<64x64xf32>
          loop.yield %0 : f32
        } : memref<16x16xf32, 3 : i64>
        %chunk = loop.reduce %ki in 16 with add {
          %0 = loop.load %xs[%t, %ki] : memref<16x16xf32, 3 : i64>
          loop.yield %0 : f32
        } : f32
        loop.yield %chunk : f32
      } : f32
      loop.yield %sum : f32
    } : f32
    loop.store %all, %out[%b * 16 + %t] : memref<64xf32>
  }
}

// Threads compute one of two slabs, so that they would wait for two kinds of copies.
// CHECK: skipped at mixed: no loop has only rings that TMA can fill, with long rows and large piles
// CHECK: skipped at strided: %xs is not a box: an axis of the tensor does not run along one axis of the slab
// CHECK: loop.kernel @mixed
// CHECK-NOT: transport
// COMPUTED: error: pass 'tma-copy': cannot do 'tma-copy{slabs=hs}' in @
loop.kernel @mixed(%x: memref<32x32xf32>, %y: memref<32x32xf32>) -> (%out: memref<32x32xf32>) {
  tile.launch (%tm = thread 32 m, %tn = thread 32 n) {
    %sum = loop.reduce %ko in 2 with add {
      %hs = tile.stage (%i, %k) in [32, 16] ring(depth 2) {
        %0 = loop.load %x[%i, %ko * 16 + %k] : memref<32x32xf32>
        %1 = math.exp %0 : f32
        loop.yield %1 : f32
      } : memref<32x16xf32, 3 : i64>
      %ys = tile.stage (%k, %j) in [16, 32] ring(depth 2) {
        %0 = loop.load %y[%ko * 16 + %k, %j] : memref<32x32xf32>
        loop.yield %0 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %hs[%tm, %ki] : memref<32x16xf32, 3 : i64>
        %1 = loop.load %ys[%ki, %tn] : memref<16x32xf32, 3 : i64>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%tm, %tn] : memref<32x32xf32>
  }
}

// Positions of a convolution with stride 2 lie two elements apart.
loop.kernel @strided(%x: memref<16x8x16xf32>) -> (%out: memref<4x8xf32>) {
  tile.launch (%tm = thread 32) {
    %sum = loop.reduce %ko in 2 with add {
      %xs = tile.stage (%k, %i) in [8, 32] ring(depth 2) {
        %0 = loop.load %x[%ko * 8 + %k, %i floordiv 8 * 2, %i mod 8 * 2] : memref<16x8x16xf32>
        loop.yield %0 : f32
      } : memref<8x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 8 with add {
        %0 = loop.load %xs[%ki, %tm] : memref<8x32xf32, 3 : i64>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%tm floordiv 8, %tm mod 8] : memref<4x8xf32>
  }
}
