// RUN: opt-tool %s -p stage-rows --check=each | filecheck %s
// RUN: opt-tool %s -p stage-rows --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: --- t:017_stage_rows skipped at long: a row of 36000 bytes does not fit beside those of other blocks

// The weights of a row are computed once, by all threads of the block, and kept for all columns.
// CHECK:      func.func @attention(%s: memref<3x50xf32>, %v: memref<50x70xf32>) -> memref<3x70xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<3x70xf32>
// CHECK-NEXT:   loop.launch @row(%s, %v) -> (%out) : (memref<3x50xf32>, memref<50x70xf32>) -> (memref<3x70xf32>)
// CHECK-NEXT:   func.return %out : memref<3x70xf32>
// CHECK-NEXT: }
func.func @attention(%s: memref<3x50xf32>, %v: memref<50x70xf32>) -> memref<3x70xf32> {
  %out = memref.alloc() : memref<3x70xf32>
  loop.launch @row(%s, %v) -> (%out) : (memref<3x50xf32>, memref<50x70xf32>) -> (memref<3x70xf32>)
  func.return %out : memref<3x70xf32>
}
// CHECK:      loop.kernel @row(%s: memref<3x50xf32>, %v: memref<50x70xf32>) -> (%out: memref<3x70xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 3 row, %t = thread 32 k) {
// CHECK-NEXT:     %p = loop.reduce %k in 2 with max {
// CHECK-NEXT:       %0 = loop.load %s[%i, %k * 32 + %t] where [49 - %k * 32 - %t] : memref<3x50xf32>
// CHECK-NEXT:       loop.yield %0 where [49 - %k * 32 - %t] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %m = tile.combine %p across %t with max : f32
// CHECK-NEXT:     %row = tile.stage (%k_1) in [50] {
// CHECK-NEXT:       %1 = loop.load %s[%i, %k_1] : memref<3x50xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %m : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.yield %3 : f32
// CHECK-NEXT:     } : memref<50xf32, 3 : i64>
// CHECK-NEXT:     loop.for %e in 3 {
// CHECK-NEXT:       %o = loop.reduce %k_2 in 50 with add {
// CHECK-NEXT:         %4 = loop.load %row[%k_2] : memref<50xf32, 3 : i64>
// CHECK-NEXT:         %5 = loop.load %v[%k_2, %e * 32 + %t] where [69 - %e * 32 - %t] : memref<50x70xf32>
// CHECK-NEXT:         %6 = arith.mulf %4, %5 : f32
// CHECK-NEXT:         loop.yield %6 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.store %o, %out[%i, %e * 32 + %t] where [69 - %e * 32 - %t] : memref<3x70xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @row(%s: memref<3x50xf32>, %v: memref<50x70xf32>) -> (%out: memref<3x70xf32>) {
  tile.launch (%i = block 3 row, %t = thread 32 k) {
    %p = loop.reduce %k in 2 with max {
      %0 = loop.load %s[%i, %k * 32 + %t] where [49 - %k * 32 - %t] : memref<3x50xf32>
      loop.yield %0 where [49 - %k * 32 - %t] : f32
    } : f32
    %m = tile.combine %p across %t with max : f32
    loop.for %e in 3 {
      %o = loop.reduce %k in 50 with add {
        %1 = loop.load %s[%i, %k] : memref<3x50xf32>
        %2 = arith.subf %1, %m : f32
        %3 = math.exp %2 : f32
        %4 = loop.load %v[%k, %e * 32 + %t] where [69 - %e * 32 - %t] : memref<50x70xf32>
        %5 = arith.mulf %3, %4 : f32
        loop.yield %5 : f32
      } : f32
      loop.store %o, %out[%i, %e * 32 + %t] where [69 - %e * 32 - %t] : memref<3x70xf32>
    }
  }
}

// Two rows a block: the statistic of a row is not the same for all threads.
// CHECK:      loop.kernel @two_rows(%s: memref<4x50xf32>, %v: memref<50x32xf32>) -> (%out: memref<4x32xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 2 row, %r = thread 2 row, %t = thread 32 k) {
// CHECK-NEXT:     %m = loop.load %s[%b * 2 + %r, 0] : memref<4x50xf32>
// CHECK-NEXT:     loop.for %e in 1 {
// CHECK-NEXT:       %o = loop.reduce %k in 50 with add {
// CHECK-NEXT:         %0 = loop.load %s[%b * 2 + %r, %k] : memref<4x50xf32>
// CHECK-NEXT:         %1 = arith.subf %0, %m : f32
// CHECK-NEXT:         %2 = loop.load %v[%k, %t] : memref<50x32xf32>
// CHECK-NEXT:         %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:         loop.yield %3 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.store %o, %out[%b * 2 + %r, %t] : memref<4x32xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @two_rows(%s: memref<4x50xf32>, %v: memref<50x32xf32>) -> (%out: memref<4x32xf32>) {
  tile.launch (%b = block 2 row, %r = thread 2 row, %t = thread 32 k) {
    %m = loop.load %s[%b * 2 + %r, 0] : memref<4x50xf32>
    loop.for %e in 1 {
      %o = loop.reduce %k in 50 with add {
        %1 = loop.load %s[%b * 2 + %r, %k] : memref<4x50xf32>
        %2 = arith.subf %1, %m : f32
        %4 = loop.load %v[%k, %t] : memref<50x32xf32>
        %5 = arith.mulf %2, %4 : f32
        loop.yield %5 : f32
      } : f32
      loop.store %o, %out[%b * 2 + %r, %t] : memref<4x32xf32>
    }
  }
}

// A load alone is as cheap where it is; a row that is too long does not fit.
// CHECK:      loop.kernel @long(%s: memref<3x9000xf32>, %v: memref<9000x32xf32>) -> (%out: memref<3x32xf32>, %sums: memref<3x32xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 3 row, %t = thread 32 k) {
// CHECK-NEXT:     loop.for %e in 1 {
// CHECK-NEXT:       %o = loop.reduce %k in 9000 with add {
// CHECK-NEXT:         %0 = loop.load %s[%i, %k] : memref<3x9000xf32>
// CHECK-NEXT:         %1 = math.exp %0 : f32
// CHECK-NEXT:         %2 = loop.load %v[%k, %t] : memref<9000x32xf32>
// CHECK-NEXT:         %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:         loop.yield %3 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.store %o, %out[%i, %t] : memref<3x32xf32>
// CHECK-NEXT:       %q = loop.reduce %k_1 in 50 with add {
// CHECK-NEXT:         %4 = loop.load %s[%i, %k_1] : memref<3x9000xf32>
// CHECK-NEXT:         %5 = loop.load %v[%k_1, %t] : memref<9000x32xf32>
// CHECK-NEXT:         %6 = arith.mulf %4, %5 : f32
// CHECK-NEXT:         loop.yield %6 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.store %q, %sums[%i, %t] : memref<3x32xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @long(%s: memref<3x9000xf32>, %v: memref<9000x32xf32>) -> (%out: memref<3x32xf32>, %sums: memref<3x32xf32>) {
  tile.launch (%i = block 3 row, %t = thread 32 k) {
    loop.for %e in 1 {
      %o = loop.reduce %k in 9000 with add {
        %1 = loop.load %s[%i, %k] : memref<3x9000xf32>
        %2 = math.exp %1 : f32
        %3 = loop.load %v[%k, %t] : memref<9000x32xf32>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 : f32
      } : f32
      loop.store %o, %out[%i, %t] : memref<3x32xf32>
      %q = loop.reduce %k in 50 with add {
        %5 = loop.load %s[%i, %k] : memref<3x9000xf32>
        %6 = loop.load %v[%k, %t] : memref<9000x32xf32>
        %7 = arith.mulf %5, %6 : f32
        loop.yield %7 : f32
      } : f32
      loop.store %q, %sums[%i, %t] : memref<3x32xf32>
    }
  }
}
