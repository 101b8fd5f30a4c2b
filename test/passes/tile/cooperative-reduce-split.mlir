// RUN: opt-tool %s -p 'cooperative-reduce{threads=64 rows=1 row=stage split=4 join=cluster}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'cooperative-reduce{threads=128 rows=2 row=registers split=8 join=cluster},register-tile{items=1 vector=4}' --check=each | filecheck %s --check-prefix=REGISTERS
// RUN: opt-tool %s -p 'cooperative-reduce{split=3},chunk-reduce{chunk=2}' --check=each
// RUN: not opt-tool %s -p 'cooperative-reduce{threads=64 rows=1 split=4 join=last_block}' 2>&1 | filecheck %s --check-prefix=ALONE
// RUN: not opt-tool %s -p 'cooperative-reduce{split=9 join=cluster}' 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not opt-tool %s -p 'cooperative-reduce{split=4 join=cluster target=sm_80}' 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not opt-tool %s -p 'cooperative-reduce{split=1001 join=last_block}' 2>&1 | filecheck %s --check-prefix=LONG
// RUN: not opt-tool %s -p 'cooperative-reduce{split=2 join=mail}' 2>&1 | filecheck %s --check-prefix=MAIL
// RUN: not opt-tool %s -p 'cooperative-reduce{threads=64 rows=1 join=cluster}' 2>&1 | filecheck %s --check-prefix=NOBODY
// RUN: not opt-tool %s -p 'cooperative-reduce{threads=64 rows=1 split=4}' 2>&1 | filecheck %s --check-prefix=ALONE

// ALONE: in @norm: join=last_block leaves one block, but later ops differ between blocks; use join=cluster
// MANY: in @row_sum: a cluster has at most 8 blocks; use join=last_block
// TARGET: in @row_sum: sm_80 has no clusters; use join=last_block
// LONG: in @row_sum: 1001 blocks for a row of 1000; split is from 2 to 1000
// MAIL: in @row_sum: blocks cannot join by 'mail'; join is cluster, last_block, workspace, atomic
// NOBODY: in @row_sum: join=cluster needs several blocks for one row (split)

// Four blocks have 256 elements of each row; the last block has fewer.
// CHECK-LABEL: loop.kernel @row_sum
// CHECK-NEXT:    tile.launch (%s = block 4 split, %rb = block 3 row, %t = thread 64 k) {
// CHECK-NEXT:      %s_1 = loop.reduce %k in 4 with add {
// CHECK-NEXT:        %0 = loop.load %x[%rb, %s * 256 + %k * 64 + %t] where [999 - %s * 256 - %k * 64 - %t] : memref<3x1000xf32>
// CHECK-NEXT:        loop.yield %0 where [999 - %s * 256 - %k * 64 - %t] : f32
// CHECK-NEXT:      } : f32
// CHECK-NEXT:      %s_2 = tile.combine %s_1 across %s, %t with add join(cluster) : f32
// CHECK-NEXT:      loop.store %s_2, %out[%rb] where [0 - %t] : memref<3xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  } schedule "cooperative-reduce{threads=64 rows=1 row=stage split=4 join=cluster}"
// REGISTERS-LABEL: loop.kernel @row_sum
// REGISTERS-NEXT:    tile.launch (%s = block 8 split, %rb = block 2 row, %rw = thread 2 row, %t = thread 32 k, %v = register 4 k) {
// REGISTERS-NEXT:      %0 = loop.load %x[%rb * 2 + %rw, %s * 128 + %t * 4 + %v] where [2 - %rb * 2 - %rw, 999 - %s * 128 - %t * 4 - %v] : memref<3x1000xf32>
// REGISTERS-NEXT:      %s_1 = tile.combine %0 across %s, %t, %v with add where [999 - %s * 128 - %t * 4 - %v] join(cluster) : f32
loop.kernel @row_sum(%x: memref<3x1000xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%i = block 3 row) {
    %s = loop.reduce %k in 1000 with add {
      %0 = loop.load %x[%i, %k] : memref<3x1000xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<3xf32>
  }
}

// Two joined values; the second is the position in the whole row.
// CHECK-LABEL: loop.kernel @largest
// CHECK:         %1 = loop.index [%s * 256 + %k * 64 + %t] : i64
// CHECK:         %m_1, %p_1 = tile.combine %m, %p across %s, %t with argmax join(cluster) : f32, i64
loop.kernel @largest(%x: memref<3x1000xf32>) -> (%value: memref<3xf32>, %where: memref<3xi64>) {
  tile.launch (%i = block 3 row) {
    %m, %p = loop.reduce %k in 1000 with argmax {
      %0 = loop.load %x[%i, %k] : memref<3x1000xf32>
      %1 = loop.index [%k] : i64
      loop.yield %0, %1 : f32, i64
    } : f32, i64
    loop.store %m, %value[%i] : memref<3xf32>
    loop.store %p, %where[%i] : memref<3xi64>
  }
}

// Each block applies the row's maximum to its part of the row.
// CHECK-LABEL: loop.kernel @norm
// CHECK:         %s_2 = tile.combine %s_1 across %s, %t with max join(cluster) : f32
// CHECK-NEXT:    loop.for %j in 4 {
// CHECK-NEXT:      %1 = loop.load %x[%rb, %s * 256 + %j * 64 + %t]
loop.kernel @norm(%x: memref<3x1000xf32>) -> (%out: memref<3x1000xf32>) {
  tile.launch (%i = block 3 row) {
    %s = loop.reduce %k in 1000 with max {
      %0 = loop.load %x[%i, %k] : memref<3x1000xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %j in 1000 {
      %1 = loop.load %x[%i, %j] : memref<3x1000xf32>
      %2 = arith.subf %1, %s : f32
      loop.store %2, %out[%i, %j] : memref<3x1000xf32>
    }
  }
}
