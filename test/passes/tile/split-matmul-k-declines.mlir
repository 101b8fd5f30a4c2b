// RUN: opt-tool %s -p split-matmul-k --check=each --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p 'split-matmul-k{target=sm_80},split-matmul-k' --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not opt-tool %s -p 'split-matmul-k{factor=1 join=cluster}' 2>&1 | filecheck %s --check-prefix=ONE
// RUN: not opt-tool %s -p 'split-matmul-k{factor=33}' 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not opt-tool %s -p 'split-matmul-k{factor=9 join=cluster}' 2>&1 | filecheck %s --check-prefix=CLUSTER
// RUN: not opt-tool %s -p 'split-matmul-k{factor=4 join=cluster target=sm_80}' 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not opt-tool %s -p 'split-matmul-k{factor=4 join=mail}' 2>&1 | filecheck %s --check-prefix=JOIN
// RUN: not opt-tool %s -p 'split-matmul-k{factor=4 join=atomic}' 2>&1 | filecheck %s --check-prefix=ATOMIC

// REMARK: --- t:003_split_matmul_k skipped at rows: no contraction
// REMARK: --- t:003_split_matmul_k skipped at whole: its contraction is not in chunks (chunk-matmul-k)
// REMARK: --- t:003_split_matmul_k skipped at one_chunk: its contraction is a single chunk
// REMARK: --- t:003_split_matmul_k skipped at in_loop: blocks cannot join in each step of the loop around its contraction
// REMARK: --- t:003_split_matmul_k skipped at many: 256 blocks fill the 132 multiprocessors of sm_90a
// REMARK: --- t:003_split_matmul_k skipped at short: a K of 128 is short: each part should have 128 steps

// On targets without clusters, the last block joins.
// TWICE: --- t:003_split_matmul_k skipped at long: it is split already
// TWICE: schedule "split-matmul-k{factor=4 join=last_block}"

// ONE: error: pass 'split-matmul-k': cannot do 'split-matmul-k{factor=1 join=cluster}' in @many: 16 chunks among 1 blocks; factor is from 2 to 16
// MANY: error: pass 'split-matmul-k': cannot do 'split-matmul-k{factor=33 join=cluster}' in @many: 16 chunks among 33 blocks; factor is from 2 to 16
// CLUSTER: in @many: a cluster has at most 8 blocks; use join=last_block
// TARGET: in @many: sm_80 has no clusters; use join=last_block
// JOIN: in @many: blocks cannot join by 'mail'; join is cluster, last_block, workspace, atomic
// ATOMIC: in @many: join=atomic allows no use of its result except a store; use join=last_block

loop.kernel @rows(%x: memref<8x32xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%i = block 8 row) {
    %sum = loop.reduce %k in 32 with add {
      %0 = loop.load %x[%i, %k] : memref<8x32xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
}

loop.kernel @whole(%x: memref<9x64xf32>, %w: memref<64x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<9x64xf32>
      %1 = loop.load %w[%k, %j] : memref<64x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<9x7xf32>
  }
}

loop.kernel @one_chunk(%x: memref<9x64xf32>, %w: memref<64x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %ko in 1 with add {
      %chunk = loop.reduce %k in 64 with add {
        %0 = loop.load %x[%i, %k] : memref<9x64xf32>
        %1 = loop.load %w[%k, %j] : memref<64x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<9x7xf32>
  }
}

loop.kernel @in_loop(%x: memref<9x64xf32>, %w: memref<64x7xf32>) -> (%out: memref<3x9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    loop.for %p in 3 {
      %sum = loop.reduce %ko in 4 with add {
        %chunk = loop.reduce %ki in 16 with add {
          %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<9x64xf32>
          %1 = loop.load %w[%ko * 16 + %ki, %j] : memref<64x7xf32>
          %2 = arith.mulf %0, %1 : f32
          loop.yield %2 : f32
        } : f32
        loop.yield %chunk : f32
      } : f32
      loop.store %sum, %out[%p, %i, %j] : memref<3x9x7xf32>
    }
  }
}

loop.kernel @many(%x: memref<256x9x256xf32>, %w: memref<256x256x7xf32>) -> (%out: memref<256x9x7xf32>) {
  tile.launch (%g = block 256 batch, %i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %ko in 16 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%g, %i, %ko * 16 + %ki] : memref<256x9x256xf32>
        %1 = loop.load %w[%g, %ko * 16 + %ki, %j] : memref<256x256x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %0 = math.absf %sum : f32
    loop.store %0, %out[%g, %i, %j] : memref<256x9x7xf32>
  }
}

loop.kernel @short(%x: memref<9x128xf32>, %w: memref<128x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %ko in 8 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<9x128xf32>
        %1 = loop.load %w[%ko * 16 + %ki, %j] : memref<128x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<9x7xf32>
  }
}

loop.kernel @long(%x: memref<9x512xf32>, %w: memref<512x7xf32>) -> (%out: memref<9x7xf32>) {
  tile.launch (%i = block 9 m, %j = block 7 n) {
    %sum = loop.reduce %ko in 32 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %x[%i, %ko * 16 + %ki] : memref<9x512xf32>
        %1 = loop.load %w[%ko * 16 + %ki, %j] : memref<512x7xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<9x7xf32>
  }
}
