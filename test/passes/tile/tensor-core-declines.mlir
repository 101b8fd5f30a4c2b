// RUN: opt-tool %s -p tensor-core --remarks --check=each 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'tensor-core{instr=m16n8k16_f16}' 2>&1 | filecheck %s --check-prefix=TYPES
// RUN: not opt-tool %s -p 'tensor-core{instr=m16n8k4}' 2>&1 | filecheck %s --check-prefix=WORD

// TYPES: cannot do 'tensor-core{instr=m16n8k16_f16}' in @steps: instructions for its types: m16n8k16_bf16 or m64nNk16_bf16; not m16n8k16_f16
// WORD: cannot do 'tensor-core{instr=m16n8k4}' in @steps: instructions for its types: m16n8k16_bf16 or m64nNk16_bf16; not m16n8k4
// CHECK: skipped at line: no contraction: no reduction loads one operand along m and another along n
loop.kernel @line(%x: memref<500xf32>) -> (%out: memref<500xf32>) {
  tile.launch (%b = block 4, %t = thread 32, %v = register 4) {
    %0 = loop.load %x[%b * 128 + %t * 4 + %v] where [499 - %b * 128 - %t * 4 - %v] : memref<500xf32>
    loop.store %0, %out[%b * 128 + %t * 4 + %v] where [499 - %b * 128 - %t * 4 - %v] : memref<500xf32>
  }
}

// CHECK: skipped at mixed: no matrix instruction multiplies elements of bf16 and f16
loop.kernel @mixed(%a: memref<16x16xbf16>, %b: memref<16x16xf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xf16>
      loop.yield %0 : f16
    } : memref<16x16xf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x16xf16, 3 : i64>
      %yf = arith.extf %y : f16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<16x16xf32>
  }
}

// CHECK: skipped at steps: 24 steps of K are not divisible by 16
loop.kernel @steps(%a: memref<16x24xbf16>, %b: memref<24x16xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 24] {
      %0 = loop.load %a[%i, %k] : memref<16x24xbf16>
      loop.yield %0 : bf16
    } : memref<16x24xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [24, 16] {
      %0 = loop.load %b[%k, %j] : memref<24x16xbf16>
      loop.yield %0 : bf16
    } : memref<24x16xbf16, 3 : i64>
    %acc = loop.reduce %ki in 24 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x24xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<24x16xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<16x16xf32>
  }
}

// CHECK: skipped at odd_rows: 8 threads with 3 rows each are no multiple of 8 with 2
loop.kernel @odd_rows(%a: memref<24x16xbf16>, %b: memref<16x16xbf16>) -> (%out: memref<24x16xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 3 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [24, 16] {
      %0 = loop.load %a[%i, %k] : memref<24x16xbf16>
      loop.yield %0 : bf16
    } : memref<24x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 3 + %vm, %ki] : memref<24x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x16xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 3 + %vm, %tn * 2 + %vn] : memref<24x16xf32>
  }
}

// CHECK: skipped at narrow: 4 threads with 2 rows each are no multiple of 8 with 2
loop.kernel @narrow(%a: memref<8x16xbf16>, %b: memref<16x16xbf16>) -> (%out: memref<8x16xf32>) {
  tile.launch (%tm = thread 4 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [8, 16] {
      %0 = loop.load %a[%i, %k] : memref<8x16xbf16>
      loop.yield %0 : bf16
    } : memref<8x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<8x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x16xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<8x16xf32>
  }
}

// CHECK: skipped at padded: rows of %as are no multiples of 16 bytes, neither along K nor across it
loop.kernel @padded(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, #tile.layout<pad [0, 2]>, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x16xbf16, #tile.layout<pad [0, 2]>, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x16xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<16x16xf32>
  }
}

// CHECK: skipped at single: its factors are float32; 'instr=m16n8k8_tf32x3' splits them
loop.kernel @single(%a: memref<16x16xf32>, %b: memref<16x16xf32>) -> (%out: memref<16x16xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xf32>
      loop.yield %0 : f32
    } : memref<16x16xf32, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xf32>
      loop.yield %0 : f32
    } : memref<16x16xf32, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x16xf32, 3 : i64>
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x16xf32, 3 : i64>
      %xy = arith.mulf %x, %y : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<16x16xf32>
  }
}

// The slabs are filled once, before the loop over %ko.
// CHECK: skipped at mask_of_an_inner_axis: no slab can have the mask of its steps in place of its yield
loop.kernel @mask_of_an_inner_axis(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %acc = loop.reduce %ko in 2 with add {
     %c = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x16xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy where [20 - %ko * 16 - %ki] : f32
     } : f32
     loop.yield %c : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<16x16xf32>
  }
}

// CHECK: skipped at gather: subscripts of %as are data that may differ among the lanes of a warp
loop.kernel @gather(%ids: memref<16xi32>, %a: memref<16x16xbf16>, %b: memref<16x16xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %id = loop.load %ids[%tm * 2 + %vm] : memref<16xi32>
    %ix = loop.to_index %id below 16 : i32
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%ix, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x16xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<16x16xf32>
  }
}
