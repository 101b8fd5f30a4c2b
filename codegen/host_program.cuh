// A host for the kernels above: memory, tensor maps, times, and the comparison with what is expected.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace host {

using Bytes = std::vector<unsigned char>;

[[noreturn]] void stop(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

void check(cudaError_t status, const char *what) {
  if (status != cudaSuccess) stop(std::string(what) + ": " + cudaGetErrorString(status));
}

unsigned char *allocate(size_t bytes) {
  void *memory = nullptr;
  check(cudaMalloc(&memory, std::max<size_t>(bytes, 256)), "cudaMalloc");
  return static_cast<unsigned char *>(memory);
}

Bytes read(FILE *file, size_t bytes, const char *what) {
  Bytes content(bytes);
  if (std::fread(content.data(), 1, bytes, file) != bytes) stop(std::string("no data for ") + what);
  return content;
}

void upload(unsigned char *to, const Bytes &content, const char *what) {
  check(cudaMemcpy(to, content.data(), content.size(), cudaMemcpyHostToDevice), what);
}

template <typename T>
__global__ void set(T *to, T value, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = value;
}

template <typename T>
void fill(unsigned char *to, T value, size_t count) {
  if (count) set<T><<<unsigned((count + 255) / 256), 256>>>(reinterpret_cast<T *>(to), value, count);
}

// All kernels may use what they were compiled for; 48 KB are allowed without asking.
void allow_shared(const void *kernel, int bytes, const char *name) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name);
}

// Sizes innermost first. The driver's function is looked up, so that nothing links with -lcuda.
template <typename Map>
Map tensor_map(void *address, CUtensorMapDataType type, std::vector<cuuint64_t> extents,
               std::vector<cuuint64_t> strides, std::vector<cuuint32_t> box,
               CUtensorMapSwizzle swizzle) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &result),
        "cuTensorMapEncodeTiled");
  if (found == nullptr) stop("the driver knows no tensor maps");
  CUtensorMap encoded;
  const std::vector<cuuint32_t> steps(box.size(), 1);
  const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &encoded, type, cuuint32_t(box.size()), address, extents.data(), strides.data(), box.data(),
      steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) stop("a tensor map is refused: error " + std::to_string(status));
  Map map;
  static_assert(sizeof map == sizeof encoded, "a tensor map has 128 bytes");
  std::memcpy(&map, &encoded, sizeof map);
  return map;
}

// The median of the microseconds that `run` takes. What the kernels read may lie in the L2 cache.
template <typename Run>
double median_us(Run run, int times) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> found;
  for (int n = 0; n < times; ++n) {
    float ms = 0;
    check(cudaEventRecord(begin), "cudaEventRecord");
    run();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "the kernels");
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    found.push_back(ms);
  }
  std::nth_element(found.begin(), found.begin() + times / 2, found.end());
  return 1000.0 * found[times / 2];
}

enum Kind { exact, float16, bfloat16, float32, float64 };

double half_value(unsigned bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                     : std::ldexp(fraction, -24);
  return bits >> 15 ? -size : size;
}

double value(const unsigned char *at, Kind kind) {
  unsigned short bits = 0;
  float single = 0;
  double wide = 0;
  std::memcpy(&bits, at, 2);
  if (kind == float16) return half_value(bits);
  if (kind == bfloat16) {
    const unsigned upper = unsigned(bits) << 16;
    std::memcpy(&single, &upper, 4);
    return single;
  }
  if (kind == float32) return std::memcpy(&single, at, 4), single;
  return std::memcpy(&wide, at, 8), wide;
}

// Whether a result is right: equal, or floats that differ by at most `allowed`.
bool is_right(const char *name, const unsigned char *on_gpu, const Bytes &expected, size_t size,
              Kind kind, double allowed) {
  Bytes found(expected.size());
  check(cudaMemcpy(found.data(), on_gpu, found.size(), cudaMemcpyDeviceToHost), name);
  double error = 0;
  size_t wrong = 0;
  for (size_t n = 0; n < found.size(); n += size) {
    if (std::memcmp(&found[n], &expected[n], size) == 0) continue;
    const double a = kind == exact ? 0 : value(&found[n], kind);
    const double b = kind == exact ? 1 : value(&expected[n], kind);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double distance = std::fabs(a - b);
    if (distance > error) error = distance;
    if (!(distance <= allowed)) ++wrong;
  }
  std::printf("%s: max error %.2e, allowed %.2e, %zu of %zu elements wrong\n", name, error, allowed,
              wrong, found.size() / size);
  return wrong == 0;
}

}  // namespace host
