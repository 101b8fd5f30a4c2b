// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s
// RUN: opt-tool %s -t cuda | filecheck %s --check-prefix=TEXT

// Statements for tensor cores, with the functions of the prelude that they call.

// TEXT:      // The address in shared memory, of 32 bits.
// TEXT:      int shared_address(const void *shared) {
// TEXT:      void load_matrix_x2_transposed(void *to, unsigned row) {
// TEXT:      void load_matrix_x4(void *to, unsigned row) {
// TEXT-NOT:  load_matrix_x1
// TEXT:      void multiply_m16n8k16_bf16(
// TEXT-NEXT:     float *d, const bfloat16 *a, const bfloat16 *b) {
// TEXT-NOT:  multiply_m16n8k8_tf32

// CHECK-LABEL: cuda.func grid 1 block 32 @k
// TEXT-LABEL:  __launch_bounds__(32) k(
cuda.func grid 1 block 32 @k(%x: !cuda.ptr<bf16, const>) -> (%out: !cuda.ptr<f32>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  %s = cuda.shared 256 align 16 : !cuda.ptr<bf16>
  %a = cuda.local align 4 : !cuda.array<8xbf16>
  %d = cuda.local : !cuda.array<2x2xf32>
  %1 = cuda.address %s[%t] : !cuda.ptr<bf16>, i32 -> !cuda.ptr<bf16>
  %2 = cuda.call @shared_address(%1) : (!cuda.ptr<bf16>) -> i32
  %row = cuda.let %2 : i32
  // CHECK:     cuda.load_matrix %row to %{{.*}} count 4 : i32, !cuda.ptr<bf16>
  // CHECK:     cuda.load_matrix %{{.*}} to %{{.*}} count 2 transposed : i32, !cuda.ptr<bf16>
  // TEXT:      const int row = shared_address(&s[t]);
  // TEXT-NEXT: load_matrix_x4(&a[0], row);
  // TEXT-NEXT: load_matrix_x2_transposed(&a[4], row + 32);
  %3 = cuda.literal 0 : i32
  %4 = cuda.address %a[%3] : !cuda.array<8xbf16>, i32 -> !cuda.ptr<bf16>
  cuda.load_matrix %row to %4 count 4 : i32, !cuda.ptr<bf16>
  %5 = cuda.literal 4 : i32
  %6 = cuda.address %a[%5] : !cuda.array<8xbf16>, i32 -> !cuda.ptr<bf16>
  %7 = cuda.literal 32 : i32
  %8 = cuda.binary add %row, %7 : i32
  cuda.load_matrix %8 to %6 count 2 transposed : i32, !cuda.ptr<bf16>
  // CHECK:     cuda.matrix_multiply m16n8k16_bf16 %{{.*}}, %{{.*}}, %{{.*}} : !cuda.ptr<bf16>, !cuda.ptr<bf16>, !cuda.ptr<f32>
  // TEXT-NEXT: multiply_m16n8k16_bf16(&d[0][0], &a[0], &a[4]);
  %9 = cuda.address %a[%3] : !cuda.array<8xbf16>, i32 -> !cuda.ptr<bf16>
  %10 = cuda.address %a[%5] : !cuda.array<8xbf16>, i32 -> !cuda.ptr<bf16>
  %11 = cuda.address %d[%3, %3] : !cuda.array<2x2xf32>, i32, i32 -> !cuda.ptr<f32>
  cuda.matrix_multiply m16n8k16_bf16 %9, %10, %11 : !cuda.ptr<bf16>, !cuda.ptr<bf16>, !cuda.ptr<f32>
}
