// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// Barriers of a block, of warps, and of groups of threads, for which the prelude has a function.
// Ids are ints even where indices need more.
// CHECK:      template <int threads, int last>
// CHECK-NEXT: __device__ __forceinline__ void named_barrier(int id) {
// CHECK-NEXT:   if constexpr (last > 1)
// CHECK-NEXT:     if (id != last) return named_barrier<threads, last - 1>(id);
// CHECK-NEXT:   asm volatile("barrier.sync %0, %1;" : : "n"(last), "n"(threads) : "memory");
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: // grid 2, block 128
// CHECK:        __syncthreads();
// CHECK-NEXT:   __syncwarp();
// CHECK-NEXT:   const int row = t / 64 + 1;
// CHECK-NEXT:   named_barrier<64, 2>(row);
// CHECK-NEXT:   named_barrier<128, 15>(15);
kernel.func grid 2 block 128 @barriers(%x: memref<256xf32>) -> (%out: memref<256xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  kernel.barrier
  kernel.warp_barrier
  %row = kernel.index [%t floordiv 64 + 1]
  kernel.named_barrier %row threads 64
  %last = arith.constant 15 : index
  kernel.named_barrier %last threads 128
  %0 = loop.load %x[%b * 128 + %t] : memref<256xf32>
  loop.store %0, %out[%b * 128 + %t] : memref<256xf32>
}

// CHECK:        const long long row = t / 64LL + 1LL;
// CHECK-NEXT:   named_barrier<64, 2>((int)row);
kernel.func grid 2 block 128 @large(%x: memref<4294967296xf32>) -> (%out: memref<256xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %row = kernel.index [%t floordiv 64 + 1]
  kernel.named_barrier %row threads 64
  %0 = loop.load %x[%b * 2147483648 + %t] : memref<4294967296xf32>
  loop.store %0, %out[%b * 128 + %t] : memref<256xf32>
}
