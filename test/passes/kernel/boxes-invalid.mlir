// RUN: opt-tool %s -p convert-tile-to-kernel --split-input-file --verify-diagnostics | filecheck %s

// Slabs that the tensor memory accelerator cannot copy.

// CHECK: an axis of the tensor does not run along one axis of the slab; use transport(cp_async)
loop.kernel @strided(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i * 2, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x16xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: the slab's axes are not axes of the tensor, in its order; use transport(cp_async)
loop.kernel @transposed(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%k, %ko * 16 + %i] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x16xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: its mask is not the bounds of the tensor; use transport(cp_async)
loop.kernel @masked(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i, %ko * 16 + %k] where [%i - %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x16xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: a box has up to 5 axes of 1 to 256 elements, not {{\[}}512, 16]; use transport(cp_async)
loop.kernel @large(%x: memref<512x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [512, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i, %ko * 16 + %k] : memref<512x64xf32>
        loop.yield %0 : f32
      } : memref<512x16xf32, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<512x16xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: rows of the tensor are 260 bytes, not a multiple of 16; use transport(cp_async)
loop.kernel @rows_of_65(%x: memref<64x65xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i, %ko * 16 + %k] : memref<64x65xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x16xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: the inner axis of a box is a multiple of 16 bytes, not 24; use transport(cp_async)
loop.kernel @rows_of_6(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 6] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x6xf32, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x6xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: the inner axis of a box is a multiple of 16 bytes, not 8; use transport(cp_async)
loop.kernel @pieces_of_2(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, #tile.layout<inner 2>, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x16xf32, #tile.layout<inner 2>, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: a box is stored without padding; use transport(cp_async)
loop.kernel @padded(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// CHECK: a box keeps its innermost axis, and its rows are not dealt out in another order; use transport(cp_async)
loop.kernel @ordered(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %sum = loop.reduce %ko in 2 with add {
      %s = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%i, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, #tile.layout<order [1, 0]>, 3 : i64>
      %1 = loop.load %s[0, 0] : memref<16x16xf32, #tile.layout<order [1, 0]>, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<64xf32>
  }
}

// -----

// A slab in pieces that the tensor memory accelerator cannot store: three rows of 32 bytes are less
// than the alignment of its boxes.

// CHECK: transport(tma) copies boxes, not this slab: pieces of a box begin at multiples of 128 bytes, but are 96 bytes apart; use transport(cp_async)
loop.kernel @k(%x: memref<64x256xf32>) -> (%out: memref<256xf32>) {
  tile.launch (%t = thread 256) {
    %sum = loop.reduce %k in 16 with add {
      %s = tile.stage (%i, %j) in [3, 256] ring(depth 2, lookahead 1) transport(tma) {
        %0 = loop.load %x[%k * 3 + %i, %j] : memref<64x256xf32>
        loop.yield %0 : f32
      } : memref<3x256xf32, #tile.layout<inner 8, swizzle 32>, 3 : i64>
      %1 = loop.load %s[0, %t] : memref<3x256xf32, #tile.layout<inner 8, swizzle 32>, 3 : i64>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<256xf32>
  }
}

// -----

// Fills are counted. In a loop within a loop that begins late, the number of earlier fills is
// unknown.
// CHECK: transport(tma) needs a fixed number of fills, but this inner loop skips steps; use transport(cp_async)
loop.kernel @late(%x: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 4, %t = thread 16) {
    %all = loop.reduce %h in 3 with add {
      %sum = loop.reduce %ko in 4 from [%b - 1] with add {
        %xs = tile.stage (%i, %k) in [16, 16] ring(depth 2, lookahead 1) transport(tma) {
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
