// SPDX-License-Identifier: Apache-2.0
// What kernels may call beside CUDA's math API. Functions are separated by blank lines; a module
// gets those that it needs. Nothing is included: NVRTC compiles a kernel in a tenth of a second so.

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

__device__ __forceinline__ float quiet_nan() { return __int_as_float(0x7fc00000); }

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
