// SPDX-License-Identifier: Apache-2.0
// What kernels may name beside CUDA's own: types and functions, separated by blank lines, of which a
// module gets those that it needs. Nothing is included: NVRTC compiles a kernel in a tenth of a
// second so. No function needs another one, and none is undefined for any value.

// A float of 16 bits, which is only loaded, stored, moved and converted.
struct half { unsigned short bits; };

// The upper half of a float, which is only loaded, stored, moved and converted.
struct bfloat16 { unsigned short bits; };

// A CUtensorMap of the driver's: what the hardware that copies boxes knows of an array.
struct alignas(128) TensorMap { unsigned long long words[16]; };

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

__device__ __forceinline__ float quiet_nan() { return __int_as_float(0x7fc00000); }

__device__ __forceinline__ float to_float(half a) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(a.bits));
  return r;
}

__device__ __forceinline__ float to_float(bfloat16 a) {
  return __uint_as_float((unsigned)a.bits << 16);
}

// To nearest even. PTX ISA, cvt.
__device__ __forceinline__ half to_half(float a) {
  half r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(a));
  return r;
}

// Rounds once: by way of a float it would be twice.
__device__ __forceinline__ half to_half(double a) {
  half r;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(r.bits) : "d"(a));
  return r;
}

// To nearest even. PTX ISA, cvt (sm_80).
__device__ __forceinline__ bfloat16 to_bfloat16(float a) {
  bfloat16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(a));
  return r;
}

// Rounds once: the float between is cut off, and its last bit tells that something was, so that no
// tie arises that was none.
__device__ __forceinline__ bfloat16 to_bfloat16(double a) {
  float cut = __double2float_rz(a);
  if (cut != a) {
    cut = __int_as_float(__float_as_int(cut) | 1);
  }
  bfloat16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(cut));
  return r;
}

// The nearest float of 10 bits after the leading one; ties away from zero. PTX ISA, cvt (sm_80).
__device__ __forceinline__ float round_tf32(float a) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(a));
  return __uint_as_float(r);
}

// Half of a with 10 bits after the leading one, at most 2^-11 off: the factor adds half a unit of
// the last bit that is kept, or up to a whole one, and the other bits are cut off.
__device__ __forceinline__ float halve_tf32(float a) {
  return __uint_as_float(__float_as_uint(a * 0.500244140625f) & 0xffffe000u);
}

// The nearest finite float; a NaN becomes the largest or the smallest. PTX ISA, min (xorsign.abs
// takes the smaller magnitude; sm_86).
__device__ __forceinline__ float nearest_finite(float a) {
  const float largest = 3.4028234663852886e38f;
#if __CUDA_ARCH__ >= 860
  float r;
  asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(largest));
  return r;
#else
  return fminf(fmaxf(a, -largest), largest);
#endif
}

// a / b to within 2 units in the last place, without the branch of correct rounding.
// PTX ISA, div.full.
__device__ __forceinline__ float divide_approximately(float a, float b) {
  float r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

// 2^a with an error of 2^-22 of the result. Results below 2^-126 are 0. PTX ISA, ex2.approx.
__device__ __forceinline__ float exp2_approximately(float a) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}

// exp(a) with an error of 2^-22 of the result, and of 2^-23 more for each unit of a. Results below
// 2^-126 are 0. PTX ISA, ex2.approx.
__device__ __forceinline__ float exp_approximately(float a) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a * 1.44269504f));
  return r;
}

// The larger value; NaN if either is. fmaxf would drop the NaN. PTX ISA, max (sm_80).
__device__ __forceinline__ float max_nan(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

__device__ __forceinline__ double max_nan(double a, double b) {
  return a != a || a > b ? a : b;
}

// The smaller value; NaN if either is.
__device__ __forceinline__ float min_nan(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

__device__ __forceinline__ double min_nan(double a, double b) {
  return a != a || a < b ? a : b;
}

// Whether a < b or a > b: not equal, and neither is NaN.
template <typename T>
__device__ __forceinline__ bool differ(T a, T b) {
  return a < b || a > b;
}

// Division that rounds down, where C++ rounds to zero.
template <typename T>
__device__ __forceinline__ T floor_div(T a, T b) {
  const T quotient = a / b, rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}

// Division that rounds up.
template <typename T>
__device__ __forceinline__ T ceil_div(T a, T b) {
  const T quotient = a / b, rest = a % b;
  return rest != 0 && (rest < 0) == (b < 0) ? quotient + 1 : quotient;
}

// The rest of floor_div; it has the sign of b.
template <typename T>
__device__ __forceinline__ T floor_mod(T a, T b) {
  const T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// The sum modulo 2^32: C++'s + of int may not overflow.
__device__ __forceinline__ int wrapping_add(int a, int b) {
  return (unsigned)a + (unsigned)b;
}

__device__ __forceinline__ long long wrapping_add(long long a, long long b) {
  return (unsigned long long)a + (unsigned long long)b;
}

// The difference modulo 2^32.
__device__ __forceinline__ int wrapping_sub(int a, int b) {
  return (unsigned)a - (unsigned)b;
}

__device__ __forceinline__ long long wrapping_sub(long long a, long long b) {
  return (unsigned long long)a - (unsigned long long)b;
}

// The product modulo 2^32.
__device__ __forceinline__ int wrapping_mul(int a, int b) {
  return (unsigned)a * (unsigned)b;
}

__device__ __forceinline__ long long wrapping_mul(long long a, long long b) {
  return (unsigned long long)a * (unsigned long long)b;
}

// The absolute value; that of the lowest integer is itself.
__device__ __forceinline__ int wrapping_abs(int a) {
  return a < 0 ? 0u - (unsigned)a : a;
}

__device__ __forceinline__ long long wrapping_abs(long long a) {
  return a < 0 ? 0ull - (unsigned long long)a : a;
}

// a times 2^b modulo 2^32; 0 for a b that is negative or more than 31.
__device__ __forceinline__ int shift_left(int a, int b) {
  return (unsigned)b < 32 ? (unsigned)a << b : 0;
}

__device__ __forceinline__ long long shift_left(long long a, long long b) {
  return (unsigned long long)b < 64 ? (unsigned long long)a << b : 0;
}

// a over 2^b, rounded down; the sign alone for a b that is negative or more than 31.
__device__ __forceinline__ int shift_right(int a, int b) {
  return a >> ((unsigned)b < 32 ? b : 31);
}

__device__ __forceinline__ long long shift_right(long long a, long long b) {
  return a >> ((unsigned long long)b < 64 ? b : 63);
}

// The bits of a, b places lower, zeros above; 0 for a b that is negative or more than 31.
__device__ __forceinline__ int shift_right_logical(int a, int b) {
  return (unsigned)b < 32 ? (unsigned)a >> b : 0;
}

__device__ __forceinline__ long long shift_right_logical(long long a, long long b) {
  return (unsigned long long)b < 64 ? (unsigned long long)a >> b : 0;
}

// a to the power b modulo 2^32, by squaring; for negative b the fraction's whole part: 0, 1 or -1.
__device__ __forceinline__ int integer_pow(int a, int b) {
  if (b < 0) {
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  }
  unsigned result = 1;
  for (unsigned power = a; b; b >>= 1, power *= power) {
    result *= b & 1 ? power : 1;
  }
  return result;
}

__device__ __forceinline__ long long integer_pow(long long a, long long b) {
  if (b < 0) {
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  }
  unsigned long long result = 1;
  for (unsigned long long power = a; b; b >>= 1, power *= power) {
    result *= b & 1 ? power : 1;
  }
  return result;
}

// The value, which must be an index below size; outside, the kernel stops with an error.
template <typename T>
__device__ __forceinline__ T checked_index(T value, T size) {
  if (value < 0 || value >= size) __trap();
  return value;
}

// Begins a copy of 4, 8 or 16 bytes from global to shared memory. PTX ISA, cp.async (sm_80).
template <int bytes>
__device__ __forceinline__ void copy_async(void *to, const void *from) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 : : "r"(shared), "l"(from), "n"(bytes) : "memory");
  }
}

// Begins a copy of 4, 8 or 16 bytes from global to shared memory; where the condition fails nothing is
// read, and zeros are written. PTX ISA, cp.async (sm_80).
template <int bytes>
__device__ __forceinline__ void copy_async_or_zero(void *to, const void *from, bool in) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  const int read = in ? bytes : 0;
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 : : "r"(shared), "l"(from), "r"(read) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 : : "r"(shared), "l"(from), "n"(bytes), "r"(read) : "memory");
  }
}

// The copies that the thread has begun since the last commit are a group.
__device__ __forceinline__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}

// Until at most so many of the thread's latest groups are under way.
template <int pending>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
}

// Makes a barrier in shared memory whose phases are complete after so many arrivals, and after the
// bytes that they expect. PTX ISA, mbarrier (sm_90).
__device__ __forceinline__ void mbarrier_init(unsigned long long *barrier, int arrivals) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(shared), "r"(arrivals) : "memory");
}

// Lets the hardware that copies see the barriers that the thread has made.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned long long *barrier) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(shared) : "memory");
}

// Arrives, and lets the phase wait for so many bytes too.
__device__ __forceinline__ void mbarrier_expect(unsigned long long *barrier, int bytes) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               : : "r"(shared), "r"(bytes) : "memory");
}

// Waits until the phase of that parity is complete; of a new barrier, the one before the first is. The
// warp may be suspended for 10 ms: polling takes issue slots from the warps that it waits for (an H100
// took 1.3 times as long for a matmul). Written as a loop of C++ it would take more instructions.
// PTX ISA, mbarrier.try_wait (sm_90).
__device__ __forceinline__ void mbarrier_wait(unsigned long long *barrier, int parity) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("{\n"
               "  .reg .pred complete;\n"
               "again:\n"
               "  mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1, %2;\n"
               "  @complete bra done;\n"
               "  bra again;\n"
               "done:\n"
               "}"
               : : "r"(shared), "r"(parity), "r"(10000000 /* ns */) : "memory");
}

// Begins a copy of the box at x and counts its bytes on the barrier.
// PTX ISA, cp.async.bulk.tensor (sm_90).
__device__ __forceinline__ void tma_copy_1d(
    void *to, const TensorMap &map, int x,
    unsigned long long *barrier) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  const unsigned full = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
               : : "r"(shared), "l"(&map), "r"(x),
                   "r"(full) : "memory");
}

// Begins a copy of the box at x, y, innermost first, and counts its bytes on the barrier.
// PTX ISA, cp.async.bulk.tensor (sm_90).
__device__ __forceinline__ void tma_copy_2d(
    void *to, const TensorMap &map, int x, int y,
    unsigned long long *barrier) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  const unsigned full = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               : : "r"(shared), "l"(&map), "r"(x), "r"(y),
                   "r"(full) : "memory");
}

// Begins a copy of the box at x, y, z, innermost first, and counts its bytes on the barrier.
// PTX ISA, cp.async.bulk.tensor (sm_90).
__device__ __forceinline__ void tma_copy_3d(
    void *to, const TensorMap &map, int x, int y, int z,
    unsigned long long *barrier) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  const unsigned full = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
               : : "r"(shared), "l"(&map), "r"(x), "r"(y), "r"(z),
                   "r"(full) : "memory");
}

// Begins a copy of the box at x, y, z, u, innermost first, and counts its bytes on the barrier.
// PTX ISA, cp.async.bulk.tensor (sm_90).
__device__ __forceinline__ void tma_copy_4d(
    void *to, const TensorMap &map, int x, int y, int z, int u,
    unsigned long long *barrier) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  const unsigned full = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
               : : "r"(shared), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(u),
                   "r"(full) : "memory");
}

// Begins a copy of the box at x, y, z, u, v, innermost first, and counts its bytes on the barrier.
// PTX ISA, cp.async.bulk.tensor (sm_90).
__device__ __forceinline__ void tma_copy_5d(
    void *to, const TensorMap &map, int x, int y, int z, int u, int v,
    unsigned long long *barrier) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  const unsigned full = (unsigned)__cvta_generic_to_shared(barrier);
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
               : : "r"(shared), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v),
                   "r"(full) : "memory");
}

// A number of steps that the compiler knows nothing about. NVRTC 12 and 13 drop the last steps of
// `#pragma unroll 3` if the bound is `min(6, 11 - block % 2 * 6)`, which they take for a multiple of 3.
__device__ __forceinline__ int steps_unknown(int steps) {
  asm("" : "+r"(steps));
  return steps;
}

// The address in shared memory, of 32 bits. An address that is computed once and stepped is cheaper
// than a pointer that is converted each time.
__device__ __forceinline__ int shared_address(const void *shared) {
  return (int)__cvta_generic_to_shared(shared);
}

// Descriptor of a matrix in shared memory that begins so many bytes after an address. Its elements are
// swizzled in spans of 32, 64 or 128 bytes; distances are in bytes. The part that is known before a
// loop is computed there. PTX ISA, wgmma, matrix descriptor (sm_90a).
template <typename T>
__device__ __forceinline__ unsigned long long matrix_descriptor(
    T start, T after, int leading, int stride, int span) {
  const unsigned mode = span == 128 ? 1 : span == 64 ? 2 : 3;
  const unsigned first = ((unsigned)start & 0x3ffff) >> 4 | (unsigned)leading >> 4 << 16;
  return (unsigned long long)(mode << 30 | (unsigned)stride >> 4) << 32 | (first + ((unsigned)after >> 4));
}

// Orders the thread's accesses to registers before the multiplications that its warpgroup starts.
__device__ __forceinline__ void group_fence() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}

// The multiplications that the warpgroup has started since the last commit are a group.
__device__ __forceinline__ void group_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

// Until at most so many of the warpgroup's latest groups are under way. Sums are no operands: the
// simulator finds it if a compiler reads them before.
template <int pending>
__device__ __forceinline__ void group_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(pending) : "memory");
}

// Orders accesses of threads to shared memory before reads by tensor cores. PTX ISA, fence (sm_90).
__device__ __forceinline__ void proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

// Loads a matrix of 8 rows of 16 bytes from shared memory to registers. Lane l below 8 gives the
// address of row l. PTX ISA, ldmatrix (sm_75).
__device__ __forceinline__ void load_matrix_x1(void *to, unsigned row) {
  unsigned *word = reinterpret_cast<unsigned *>(to);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(word[0]) : "r"(row) : "memory");
}

// Loads a matrix of 8 rows of 16 bytes from shared memory to registers, transposed. Lane l below 8
// gives the address of row l. PTX ISA, ldmatrix (sm_75).
__device__ __forceinline__ void load_matrix_x1_transposed(void *to, unsigned row) {
  unsigned *word = reinterpret_cast<unsigned *>(to);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(word[0]) : "r"(row) : "memory");
}

// Loads 2 matrices of 8 rows of 16 bytes from shared memory to registers. Lane l gives the address
// of row l % 8 of matrix l / 8. PTX ISA, ldmatrix (sm_75).
__device__ __forceinline__ void load_matrix_x2(void *to, unsigned row) {
  unsigned *word = reinterpret_cast<unsigned *>(to);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(word[0]), "=r"(word[1]) : "r"(row) : "memory");
}

// Loads 2 matrices of 8 rows of 16 bytes from shared memory to registers, transposed. Lane l gives
// the address of row l % 8 of matrix l / 8. PTX ISA, ldmatrix (sm_75).
__device__ __forceinline__ void load_matrix_x2_transposed(void *to, unsigned row) {
  unsigned *word = reinterpret_cast<unsigned *>(to);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(word[0]), "=r"(word[1]) : "r"(row) : "memory");
}

// Loads 4 matrices of 8 rows of 16 bytes from shared memory to registers. Lane l gives the address
// of row l % 8 of matrix l / 8. PTX ISA, ldmatrix (sm_75).
__device__ __forceinline__ void load_matrix_x4(void *to, unsigned row) {
  unsigned *word = reinterpret_cast<unsigned *>(to);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(row) : "memory");
}

// Loads 4 matrices of 8 rows of 16 bytes from shared memory to registers, transposed. Lane l gives
// the address of row l % 8 of matrix l / 8. PTX ISA, ldmatrix (sm_75).
__device__ __forceinline__ void load_matrix_x4_transposed(void *to, unsigned row) {
  unsigned *word = reinterpret_cast<unsigned *>(to);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(row) : "memory");
}

// Adds the product of a and b to d: the warp's fragments of 16 x 16, 16 x 8 and 16 x 8 elements.
// PTX ISA, mma (sm_80).
__device__ __forceinline__ void multiply_m16n8k16_bf16(
    float *d, const bfloat16 *a, const bfloat16 *b) {
  const unsigned *x = reinterpret_cast<const unsigned *>(a);
  const unsigned *y = reinterpret_cast<const unsigned *>(b);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

// Adds the product of a and b to d: the warp's fragments of 16 x 16, 16 x 8 and 16 x 8 elements.
// PTX ISA, mma (sm_80).
__device__ __forceinline__ void multiply_m16n8k16_f16(float *d, const half *a, const half *b) {
  const unsigned *x = reinterpret_cast<const unsigned *>(a);
  const unsigned *y = reinterpret_cast<const unsigned *>(b);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

// Adds the product of a and b to d: the warp's fragments of 16 x 8, 8 x 8 and 16 x 8 elements.
// PTX ISA, mma (sm_80).
__device__ __forceinline__ void multiply_m16n8k8_tf32(float *d, const float *a, const float *b) {
  const unsigned *x = reinterpret_cast<const unsigned *>(a);
  const unsigned *y = reinterpret_cast<const unsigned *>(b);
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}

// Until so many threads of the block have come with that id, 1 to `last`, whole warps, which then see
// what all of them have written to memory. For an id that is no constant a block would take all of the
// 16 barriers that it can have, of 64 of an SM. PTX ISA, barrier (sm_70).
template <int threads, int last>
__device__ __forceinline__ void named_barrier(int id) {
  if constexpr (last > 1)
    if (id != last) return named_barrier<threads, last - 1>(id);
  asm volatile("barrier.sync %0, %1;" : : "n"(last), "n"(threads) : "memory");
}

// Until all threads of the cluster have come, which then see what all have written to shared memory.
// PTX ISA, barrier.cluster (sm_90).
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}

// Counts a thread in at the barrier of its cluster, after all that it has read and written. PTX ISA,
// barrier.cluster (sm_90): a relaxed arrival might come before reads of another block have ended.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
}

// Until all threads of the cluster have arrived. PTX ISA, barrier.cluster (sm_90).
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}

// What lies at the same place in the block of that rank in the cluster. PTX ISA, mapa (sm_90).
template <typename T>
__device__ __forceinline__ const T *of_rank(const T *shared, int rank) {
  const T *theirs;
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(shared), "r"(rank));
  return theirs;
}

// Counts a block in: whether it is the last of so many, and then the counter is 0 again. The last
// sees what the others have written to global memory. One thread does it, between two barriers.
__device__ __forceinline__ bool arrives_last(int *arrived, int blocks) {
  __threadfence();
  const unsigned last = (unsigned)blocks - 1;
  const unsigned before = atomicInc((unsigned *)arrived, last);
  __threadfence();
  return before == last;
}

// CUDA has it for integers without a sign only.
__device__ __forceinline__ void atomic_add_long(long long *to, long long value) {
  atomicAdd((unsigned long long *)to, (unsigned long long)value);
}
