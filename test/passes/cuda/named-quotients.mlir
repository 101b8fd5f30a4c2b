// RUN: opt-tool %s -p to-kernel,to-cuda -t cuda | filecheck %s

// Where a quotient or a remainder of the thread's number has a name, subscripts use the name.
// CHECK:      const int t = thread / 8;
// CHECK-NEXT: const int rw = thread % 8;
// CHECK:      partial[w * 8 + rw]
loop.kernel @column_sums(%x: memref<64x16xf32>) -> (%out: memref<16xf32>) {
  tile.launch (%rb = block 2 row, %t = thread 8 k, %rw = thread 8 row) {
    %s = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%k * 8 + %t, %rb * 8 + %rw] : memref<64x16xf32>
      loop.yield %0 : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[%rb * 8 + %rw] where [0 - %t] : memref<16xf32>
  }
}

// A dividend of several subscripts has a name, and so has a quotient that occurs more than once.
// The offset of %out is the dividend itself, though its subscripts are quotients.
// CHECK-LABEL: rolled(
// CHECK:      const int i = b * 256 + t;
// CHECK-NEXT: const int i1 = i / 33;
// CHECK-NEXT: x[i1 * 33 + (i % 33 + 28) % 33]
// CHECK-NEXT: y[i1]
// CHECK-NEXT: out[i] =
loop.kernel @rolled(%x: memref<256x33xf32>, %y: memref<256xf32>) -> (%out: memref<256x33xf32>) {
  tile.launch (%b = block 33 free, %t = thread 256 free) {
    %0 = loop.load %x[(%b * 256 + %t) floordiv 33, ((%b * 256 + %t) mod 33 + 28) mod 33] : memref<256x33xf32>
    %1 = loop.load %y[(%b * 256 + %t) floordiv 33] : memref<256xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[(%b * 256 + %t) floordiv 33, (%b * 256 + %t) mod 33] : memref<256x33xf32>
  }
}

// A dividend that may be negative is raised by whole divisors, so that C++ rounds as Loop IR does.
// CHECK-LABEL: strided(
// CHECK:      const int i = (t + 1) / 2;
// CHECK-NEXT: i >= 1 && (t + 1) % 2 == 0 ? x[i - 1] : 0.0f
loop.kernel @strided(%x: memref<64xf32>) -> (%out: memref<128xf32>) {
  tile.launch (%t = thread 128 free) {
    %0 = loop.load %x[(%t - 1) floordiv 2] where [(%t - 1) floordiv 2, 0 - (%t - 1) mod 2] : memref<64xf32>
    loop.store %0, %out[%t] : memref<128xf32>
  }
}
