// RUN: opt-tool %s -p plan-schedules --check=each | filecheck %s
// RUN: opt-tool %s -p to-tile | filecheck %s --check-prefix=DONE
// RUN: not opt-tool %s -p apply-schedule 2>&1 | filecheck %s --check-prefix=EARLY

// EARLY: the planned steps of @narrowed: 'plan-schedules' plans around the other steps, and has not run yet (run 'plan-schedules' before 'apply-schedule')

// The planner by itself splits K over clusters of 2 blocks.
// CHECK: loop.kernel @free
// CHECK: } planned "tileify,chunk-matmul-k{bk=64},split-matmul-k{factor=2 join=cluster},blockify-launch{m=64 n=64},cooperative-reduce,stage-inputs,register-tile{fm=2 fn=8 fk=1 min_blocks=2},tensor-core,permute-register-tile,double-buffer{depth=2},tma-copy,split-inner-for-swizzle,async-copy,pad-smem,pipeline-k-outer{lookahead=1},mark-unroll"

// A pinned factor leaves choices with other tiles.
// CHECK: loop.kernel @narrowed
// CHECK: } planned "tileify,chunk-matmul-k{bk=64},split-matmul-k{factor=4 join=cluster},blockify-launch{m=32 n=128},cooperative-reduce,stage-inputs,register-tile{fm=4 fn=8 fk=1 min_blocks=3},tensor-core,permute-register-tile,double-buffer{depth=2},tma-copy,split-inner-for-swizzle,async-copy,pad-smem,pipeline-k-outer{lookahead=1},mark-unroll"
// DONE:  } schedule "tileify,chunk-matmul-k{bk=64},split-matmul-k{factor=4 join=cluster},blockify-launch{m=32 n=128},stage-inputs{raw=x,w},register-tile{fm=4 fn=8 fk=1 min_blocks=3},tensor-core{instr=m16n8k8_tf32x3},double-buffer{depth=2},tma-copy{slabs=xs,ws},split-inner-for-swizzle{width=128 slabs=xs,ws},pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"

// No choice has chunks of 128 steps: from that step on, each pass decides the options that are not pinned.
// CHECK: loop.kernel @replaced
// CHECK: } planned "tileify,chunk-matmul-k{bk=128},split-matmul-k,blockify-launch,cooperative-reduce,stage-inputs,register-tile,tensor-core,permute-register-tile,double-buffer,tma-copy,split-inner-for-swizzle,async-copy,pad-smem,pipeline-k-outer,mark-unroll{limit=8}"
// DONE:  } schedule "tileify,chunk-matmul-k{bk=128},split-matmul-k{factor=4 join=cluster},blockify-launch{m=8 n=32},stage-inputs{raw=x,w},register-tile{fm=1 fn=2 fk=4 min_blocks=8},permute-register-tile{vm=1 vn=2 lanes_m=2 fastest=n},double-buffer{depth=2},tma-copy{slabs=xs,ws},split-inner-for-swizzle{width=128 slabs=xs},pipeline-k-outer{lookahead=1},mark-unroll{limit=8}"
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
} planned "mark-unroll{limit=8},plan-schedules,chunk-matmul-k{bk=128}"
