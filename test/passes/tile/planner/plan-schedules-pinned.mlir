// RUN: opt-tool %s -p plan-schedules --check=each | filecheck %s
// RUN: opt-tool %s -p to-tile --check=each | filecheck %s --check-prefix=DONE

// Without pins the planner splits K over clusters of 2 blocks.
// CHECK: loop.kernel @free
// CHECK: } planned "tileify,chunk-matmul-k{bk=32},split-matmul-k{factor=2 join=cluster},blockify-launch{m=32 n=64},cooperative-reduce,stage-inputs,register-tile{fm=4 fn=4 min_blocks=8},permute-register-tile,double-buffer{depth=3},tma-copy,split-inner-for-swizzle,async-copy,pad-smem,pipeline-k-outer{lookahead=2},mark-unroll"

// A pinned factor keeps the choices with other joins and tiles.
// CHECK: loop.kernel @narrowed
// CHECK: } planned "tileify,chunk-matmul-k{bk=32},split-matmul-k{factor=4 join=last_block},blockify-launch{m=64 n=64},cooperative-reduce,stage-inputs,register-tile{fm=8 fn=4 min_blocks=5},permute-register-tile,double-buffer{depth=2},tma-copy,split-inner-for-swizzle,async-copy,pad-smem,pipeline-k-outer{lookahead=1},mark-unroll"
// DONE:  } schedule "tileify,chunk-matmul-k{bk=32},split-matmul-k{factor=4 join=last_block},blockify-launch{m=64 n=64},stage-inputs{raw=x,w},register-tile{fm=8 fn=4 fk=4 min_blocks=5},permute-register-tile{vm=4 vn=4 lanes_m=2 fastest=n},double-buffer{depth=2},tma-copy{slabs=xs,ws},pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"

// No choice has chunks of 64 steps: the pin replaces the planner's option. Steps have the order of
// to-tile.
// CHECK: loop.kernel @replaced
// CHECK: } planned "tileify,chunk-matmul-k{bk=64},split-matmul-k{factor=2 join=cluster},blockify-launch{m=32 n=64},cooperative-reduce,stage-inputs,register-tile{fm=4 fn=4 min_blocks=8},permute-register-tile,double-buffer{depth=3},tma-copy,split-inner-for-swizzle,async-copy,pad-smem,pipeline-k-outer{lookahead=2},mark-unroll{limit=8}"
// DONE:  } schedule "tileify,chunk-matmul-k{bk=64},split-matmul-k{factor=2 join=cluster},blockify-launch{m=32 n=64},stage-inputs{raw=x,w},register-tile{fm=4 fn=4 fk=4 min_blocks=8},permute-register-tile{vm=4 vn=4 lanes_m=2 fastest=n},double-buffer{depth=3},tma-copy{slabs=xs,ws},pipeline-k-outer{lookahead=2},mark-unroll{limit=8}"
loop.kernel @free(%x: memref<512x512xf32>, %w: memref<512x512xf32>) -> (%out: memref<512x512xf32>) {
  loop.for %i in 512 m, %j in 512 n {
    %sum = loop.reduce %k in 512 with add {
      %0 = loop.load %x[%i, %k] : memref<512x512xf32>
      %1 = loop.load %w[%k, %j] : memref<512x512xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<512x512xf32>
  }
}

loop.kernel @narrowed(%x: memref<512x512xf32>, %w: memref<512x512xf32>) -> (%out: memref<512x512xf32>) {
  loop.for %i in 512 m, %j in 512 n {
    %sum = loop.reduce %k in 512 with add {
      %0 = loop.load %x[%i, %k] : memref<512x512xf32>
      %1 = loop.load %w[%k, %j] : memref<512x512xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<512x512xf32>
  }
} planned "split-matmul-k{factor=4},plan-schedules"

loop.kernel @replaced(%x: memref<512x512xf32>, %w: memref<512x512xf32>) -> (%out: memref<512x512xf32>) {
  loop.for %i in 512 m, %j in 512 n {
    %sum = loop.reduce %k in 512 with add {
      %0 = loop.load %x[%i, %k] : memref<512x512xf32>
      %1 = loop.load %w[%k, %j] : memref<512x512xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<512x512xf32>
  }
} planned "mark-unroll{limit=8},plan-schedules,chunk-matmul-k{bk=64}"
