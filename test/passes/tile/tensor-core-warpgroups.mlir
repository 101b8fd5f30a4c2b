// RUN: opt-tool %s -p tensor-core --check=each | filecheck %s
// RUN: opt-tool %s -p 'tensor-core,double-buffer{depth=3},tma-copy{slabs=as,bs},split-inner-for-swizzle,pad-smem,pipeline-k-outer{lookahead=2}' --remarks --check=each 2>&1 | filecheck %s --check-prefix=RING
// RUN: opt-tool %s -p 'tensor-core{instr=m16n8k16_bf16},to-kernel' | filecheck %s --check-prefix=WARPS
// RUN: opt-tool %s -p 'tensor-core,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL
// RUN: not opt-tool %s -p 'tensor-core{instr=m64n128k16_bf16}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not opt-tool %s -p 'tensor-core{instr=m64nNk16_bf16 target=sm_80}' 2>&1 | filecheck %s --check-prefix=TARGET

// a @ b: warps have all columns of the block, so warpgroups multiply. The pass swizzles the slabs, as
// descriptors of matrices need; later passes leave their layouts alone. Neither m nor k is a multiple
// of its tile.
//
// CHECK:      tile.launch (%bm = block 2 m, %wm = warp 4 m, %lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
// CHECK:      } : memref<64x16xbf16, #tile.layout<swizzle 32>, 3 : i64>
// CHECK:      } : memref<16x16xbf16, #tile.layout<swizzle 32>, 3 : i64>
// CHECK:      %chunk = loop.reduce %ki in 16 with add by(m64nNk16_bf16) {
// CHECK-NEXT:   loop.load %as[%wm * 16 + %rm * 8 + %lm, %ki]
// CHECK:        loop.load %bs[%ki, %sn * 8 + %ln * 2 + %vn]
// CHECK:      } schedule "tensor-core{instr=m64nNk16_bf16}"
//
// RING:       skipped at mm: %as has a layout already; %bs has a layout already
// RING:       skipped at mm: %as is filled by TMA, which knows no pads
// RING:       ring(depth 3, lookahead 2) transport(tma)
//
// WARPS:      kernel.matrix_multiply m16n8k16_bf16
//
// Threads fill the slabs, which tensor cores do not see without a fence.
//
// KERNEL:      kernel.barrier
// KERNEL:      kernel.proxy_fence
// KERNEL-NEXT: kernel.group_fence
// KERNEL:      kernel.group_multiply m64nNk16_bf16 columns 16 %as[0, 0] along [0, 1], %bs[0, 0] along [1, 0], %acc[0, 0, 0]
// KERNEL:      kernel.group_commit
// KERNEL-NEXT: kernel.group_wait 0
//
// TARGET: cannot do 'tensor-core{instr=m64nNk16_bf16}' in @mm: sm_80 has no instructions of warpgroups (sm_90a)
// NAME: not m64n128k16_bf16 (write m64nNk16_bf16; N follows from the tile)
loop.kernel @mm(%a: memref<70x24xbf16> {plan.align = 16 : i64}, %b: memref<24x16xbf16> {plan.align = 16 : i64}) -> (%out: memref<70x16xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 32 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 4 n) {
    %acc = loop.reduce %ko in 2 with add {
      %as = tile.stage (%i, %k) in [64, 16] {
        %0 = loop.load %a[%bm * 64 + %i, %ko * 16 + %k] where [69 - %bm * 64 - %i, 23 - %ko * 16 - %k] : memref<70x24xbf16>
        loop.yield %0 : bf16
      } : memref<64x16xbf16, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 16] {
        %0 = loop.load %b[%ko * 16 + %k, %j] where [23 - %ko * 16 - %k] : memref<24x16xbf16>
        loop.yield %0 : bf16
      } : memref<16x16xbf16, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<64x16xbf16, 3 : i64>
        %xf = arith.extf %x : bf16 to f32
        %y = loop.load %bs[%ki, %tn * 4 + %vn] : memref<16x16xbf16, 3 : i64>
        %yf = arith.extf %y : bf16 to f32
        %xy = arith.mulf %xf, %yf : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 64 + %tm * 2 + %vm, %tn * 4 + %vn] where [69 - %bm * 64 - %tm * 2 - %vm] : memref<70x16xf32>
  }
}
