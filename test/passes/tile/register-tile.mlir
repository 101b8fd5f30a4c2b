// RUN: opt-tool %s -p 'register-tile{fm=8 fn=8 vm=4 vn=4 fk=4 min_blocks=2}' --check=each | filecheck %s
// RUN: opt-tool %s -p register-tile --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'register-tile{fm=8 fn=4 vm=1 vn=1}' --check=each | filecheck %s --check-prefix=STRIPS
// RUN: not opt-tool %s -p 'register-tile{fm=3}' 2>&1 | filecheck %s --check-prefix=THREE
// RUN: not opt-tool %s -p 'register-tile{fm=2 fn=4}' 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: not opt-tool %s -p 'register-tile{fm=16 fn=16}' 2>&1 | filecheck %s --check-prefix=REGISTERS
// RUN: not opt-tool %s -p 'register-tile{fm=8 fn=8 vm=3}' 2>&1 | filecheck %s --check-prefix=NO-STRIPS
// RUN: not opt-tool %s -p 'register-tile{fm=8 fn=8 fk=5}' 2>&1 | filecheck %s --check-prefix=STEPS
// RUN: not opt-tool %s -p 'register-tile{vector=4}' 2>&1 | filecheck %s --check-prefix=VECTOR
// RUN: not opt-tool %s -p 'register-tile{fm=8 fn=8 fk=0}' 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: not opt-tool %s -p 'register-tile{fm=0}' 2>&1 | filecheck %s --check-prefix=NO-ROWS
// RUN: not opt-tool %s -p 'register-tile{fn=-1}' 2>&1 | filecheck %s --check-prefix=NO-COLUMNS
// RUN: not opt-tool %s -p 'register-tile{fm=8 fn=8 min_blocks=33}' 2>&1 | filecheck %s --check-prefix=RESIDENT

// An impossible option is an error that states the figures.
// THREE: in @mm: 128 steps of %tm are not divisible by 3
// THREADS: in @mm: 2048 threads would be left, and a block has at most 1024
// REGISTERS: in @mm: about {{[0-9]+}} registers a thread, of which sm_90a has 255
// NO-STRIPS: in @mm: 8 elements do not divide into strips of 3
// STEPS: in @mm: 16 steps of K cannot be read 5 at a time (bk of chunk-matmul-k)
// VECTOR: in @mm: vector does not apply: it is a contraction
// NOTHING: leaves a thread without elements
// NO-ROWS: in @mm: 'register-tile{fm=0}' leaves a thread without elements
// NO-COLUMNS: in @mm: 'register-tile{fn=-1}' leaves a thread without elements
// RESIDENT: in @mm: min_blocks is 0 to 32 on sm_90a, not 33

// A thread owns 4 neighbours at a time, and its strips are 64 apart.
// CHECK:      loop.kernel @mm(%a: memref<256x64xf32>, %b: memref<64x128xf32>) -> (%out: memref<256x128xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 2 m, %bn = block 1 n, %tm = thread 16 m, %tn = thread 16 n, %sm = register 2 m, %vm = register 4 m, %sn = register 2 n, %vn = register 4 n) min_blocks 2 {
// CHECK-NEXT:     %acc = loop.reduce %ko in 4 with add {
// CHECK-NEXT:       %as = tile.stage (%i, %k) in [128, 16] {
// CHECK-NEXT:         %0 = loop.load %a[%bm * 128 + %i, %ko * 16 + %k] : memref<256x64xf32>
// CHECK-NEXT:         loop.yield %0 : f32
// CHECK-NEXT:       } : memref<128x16xf32, 3 : i64>
// CHECK-NEXT:       %bs = tile.stage (%k_1, %j) in [16, 128] {
// CHECK-NEXT:         %1 = loop.load %b[%ko * 16 + %k_1, %j] : memref<64x128xf32>
// CHECK-NEXT:         loop.yield %1 : f32
// CHECK-NEXT:       } : memref<16x128xf32, 3 : i64>
// CHECK-NEXT:       %chunk = loop.reduce %ki in 4 with add {
// CHECK-NEXT:         %chunk_1 = loop.reduce %kv in 4 with add {
// CHECK-NEXT:           %x = loop.load %as[%sm * 64 + %tm * 4 + %vm, %ki * 4 + %kv] : memref<128x16xf32, 3 : i64>
// CHECK-NEXT:           %y = loop.load %bs[%ki * 4 + %kv, %sn * 64 + %tn * 4 + %vn] : memref<16x128xf32, 3 : i64>
// CHECK-NEXT:           %xy = arith.mulf %x, %y : f32
// CHECK-NEXT:           loop.yield %xy : f32
// CHECK-NEXT:         } : f32
// CHECK-NEXT:         loop.yield %chunk_1 : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %acc, %out[%bm * 128 + %sm * 64 + %tm * 4 + %vm, %sn * 64 + %tn * 4 + %vn] : memref<256x128xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "register-tile{fm=8 fn=8 vm=4 vn=4 fk=4 min_blocks=2}"
// The default is 8 by 8, and as many blocks as have enough registers. Steps of K are read together
// because they are neighbours in memory.
// GUESS: } schedule "register-tile{fm=8 fn=8 fk=4 min_blocks=2}"
// STRIPS: %x = loop.load %as[%sm * 16 + %tm, %ki * 4 + %kv]
// STRIPS: %y = loop.load %bs[%ki * 4 + %kv, %sn * 32 + %tn]
loop.kernel @mm(%a: memref<256x64xf32>, %b: memref<64x128xf32>) -> (%out: memref<256x128xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 1 n, %tm = thread 128 m, %tn = thread 128 n) {
    %acc = loop.reduce %ko in 4 with add {
      %as = tile.stage (%i, %k) in [128, 16] {
        %0 = loop.load %a[%bm * 128 + %i, %ko * 16 + %k] : memref<256x64xf32>
        loop.yield %0 : f32
      } : memref<128x16xf32, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 128] {
        %0 = loop.load %b[%ko * 16 + %k, %j] : memref<64x128xf32>
        loop.yield %0 : f32
      } : memref<16x128xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %as[%tm, %ki] : memref<128x16xf32, 3 : i64>
        %y = loop.load %bs[%ki, %tn] : memref<16x128xf32, 3 : i64>
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 128 + %tm, %tn] : memref<256x128xf32>
  }
}
