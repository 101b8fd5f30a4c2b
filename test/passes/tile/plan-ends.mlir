// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32}' | filecheck %s --check-prefix=AGREES
// RUN: opt-tool %s -p 'tileify,cooperative-reduce{threads=64},chunk-matmul-k' 2>&1 | filecheck %s --check-prefix=IDLE
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=16}' | filecheck %s --check-prefix=DIFFERS
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=16},blockify-launch' | filecheck %s --check-prefix=OPEN

// A pinned step that equals the planned step changes no other planned step; nor does a step that does
// nothing.
// AGREES: } schedule "tileify,chunk-matmul-k{bk=32}" planned "blockify-launch{m=64 n=64}"
// IDLE:   } schedule "tileify,chunk-matmul-k{bk=32}" planned "blockify-launch{m=64 n=64}"

// A different pinned step drops the planned steps, whose values were chosen together: the following
// passes decide by themselves.
// DIFFERS: } schedule "tileify,chunk-matmul-k{bk=16}"{{$}}
// OPEN:    } schedule "tileify,chunk-matmul-k{bk=16},blockify-launch{m=8 n=32}"{{$}}
loop.kernel @mm(%a: memref<512x2048xf32>, %b: memref<2048x2048xf32>) -> (%out: memref<512x2048xf32>) {
  loop.for %i in 512, %j in 2048 {
    %s = loop.reduce %k in 2048 with add {
      %x = loop.load %a[%i, %k] : memref<512x2048xf32>
      %y = loop.load %b[%k, %j] : memref<2048x2048xf32>
      %xy = arith.mulf %x, %y : f32
      loop.yield %xy : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<512x2048xf32>
  }
} planned "tileify,chunk-matmul-k{bk=32},blockify-launch{m=64 n=64}"
