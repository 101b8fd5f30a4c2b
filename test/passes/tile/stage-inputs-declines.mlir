// RUN: opt-tool %s -p stage-inputs --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p stage-inputs --check=each

// CHECK: --- t:007_stage_inputs skipped at whole: its contraction is not done in chunks (chunk-matmul-k)
// CHECK: --- t:007_stage_inputs skipped at once: a block reads nothing more than once
// CHECK: --- t:007_stage_inputs skipped at alone: a block is one thread, which shares nothing
// CHECK: --- t:007_stage_inputs skipped at staged: its operands are staged already
// CHECK: --- t:007_stage_inputs skipped at alike: s: plain loads, which the cache serves as well, or too long for a slab
// CHECK: --- t:007_stage_inputs skipped at long: x: plain loads, which the cache serves as well, or too long for a slab
// CHECK: --- t:007_stage_inputs skipped at running: a block reads nothing more than once
// CHECK: --- t:007_stage_inputs skipped at full: joins and shares take 262144 bytes of shared memory already, and a block of sm_90a has 232448

// A slab of the whole K would not fit in shared memory.
loop.kernel @whole(%a: memref<32x999xf32>, %b: memref<999x32xf32>) -> (%out: memref<32x32xf32>) {
  tile.launch (%bm = block 4 m, %tm = thread 8 m, %tn = thread 32 n) {
    %sum = loop.reduce %k in 999 with add {
      %x = loop.load %a[%bm * 8 + %tm, %k] : memref<32x999xf32>
      %y = loop.load %b[%k, %tn] : memref<999x32xf32>
      %xy = arith.mulf %x, %y : f32
      loop.yield %xy : f32
    } : f32
    loop.store %sum, %out[%bm * 8 + %tm, %tn] : memref<32x32xf32>
  }
}

// Each thread sums a part of a row, and no other thread reads it again.
loop.kernel @once(%x: memref<8x256xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8 row, %t = thread 32 k) {
    %p = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%b, %k * 32 + %t] : memref<8x256xf32>
      loop.yield %0 : f32
    } : f32
    %sum = tile.combine %p across %t with add : f32
    loop.store %sum, %out[%b] where [0 - %t] : memref<8xf32>
  }
}

loop.kernel @alone(%a: memref<8x20xf32>, %b: memref<20x8xf32>) -> (%out: memref<8x8xf32>) {
  tile.launch (%i = block 8 m, %j = block 8 n) {
    %sum = loop.reduce %ko in 5 with add {
      %chunk = loop.reduce %ki in 4 with add {
        %x = loop.load %a[%i, %ko * 4 + %ki] : memref<8x20xf32>
        %y = loop.load %b[%ko * 4 + %ki, %j] : memref<20x8xf32>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<8x8xf32>
  }
}

loop.kernel @staged(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %xs = tile.stage (%i) in [64] {
      %0 = loop.load %x[%i] : memref<64xf32>
      loop.yield %0 : f32
    } : memref<64xf32, 3 : i64>
    %1 = loop.load %xs[63 - %t] : memref<64xf32, 3 : i64>
    loop.store %1, %out[%t] : memref<64xf32>
  }
}

// All threads load the same element of the row at a time.
loop.kernel @alike(%s: memref<3x50xf32>, %v: memref<50x32xf32>) -> (%out: memref<3x32xf32>) {
  tile.launch (%i = block 3 row, %t = thread 32 k) {
    %o = loop.reduce %k in 50 with add {
      %0 = loop.load %s[%i, %k] : memref<3x50xf32>
      %1 = loop.load %v[%k, %t] : memref<50x32xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %o, %out[%i, %t] : memref<3x32xf32>
  }
}

// A row of 40000 bytes leaves too little shared memory for other blocks.
loop.kernel @long(%x: memref<2x10000xf32>) -> (%out: memref<2x10000xf32>) {
  tile.launch (%b = block 2 row, %t = thread 32 k) {
    %p = loop.reduce %k in 313 with max {
      %0 = loop.load %x[%b, %k * 32 + %t] where [9999 - %k * 32 - %t] : memref<2x10000xf32>
      loop.yield %0 where [9999 - %k * 32 - %t] : f32
    } : f32
    %max = tile.combine %p across %t with max : f32
    loop.for %j in 313 {
      %1 = loop.load %x[%b, %j * 32 + %t] where [9999 - %j * 32 - %t] : memref<2x10000xf32>
      %2 = arith.subf %1, %max : f32
      loop.store %2, %out[%b, %j * 32 + %t] where [9999 - %j * 32 - %t] : memref<2x10000xf32>
    }
  }
}

// The value that a scan passes from step to step cannot be computed elsewhere.
loop.kernel @running(%x: memref<64x40xf32>) -> (%out: memref<64x40xf32>) {
  tile.launch (%b = block 2 row, %t = thread 32 row) {
    loop.scan %k in 40 {
      %0 = loop.load %x[%b * 32 + %t, %k] : memref<64x40xf32>
      %1 = loop.prefix %0 with add : f32
      loop.store %1, %out[%b * 32 + %t, %k] : memref<64x40xf32>
    }
  }
}

// The values that a block shares with its cluster exceed the shared memory.
loop.kernel @full(%a: memref<256x64xf32>, %b: memref<64x256xf32>) -> (%out: memref<256x256xf32>) {
  tile.launch (%s = block 2 split, %tm = thread 256 m, %tn = thread 256 n) {
    %p = loop.reduce %ko in 2 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %a[%tm, %s * 32 + %ko * 16 + %ki] : memref<256x64xf32>
        %y = loop.load %b[%s * 32 + %ko * 16 + %ki, %tn] : memref<64x256xf32>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %sum = tile.combine %p across %s with add join(cluster) : f32
    loop.store %sum, %out[%tm, %tn] : memref<256x256xf32>
  }
}
