// SPDX-License-Identifier: Apache-2.0
// Small kernels that measure one thing each (micro.py). Those that count clocks run in one block and
// write the clocks between two barriers of the block; `sink` keeps what they compute from being
// dropped. The first repeat fetches the instructions and is not timed. The loop of repeats stays a
// loop, so that its instructions fit into the cache.

#define REPEATS 16
#define TIMED(out, ...)                                   \
    do {                                                  \
        long long begin = 0;                              \
        _Pragma("unroll 1")                               \
        for (int repeat = 0; repeat <= REPEATS; ++repeat) { \
            if (repeat <= 1) {                            \
                __syncthreads();                          \
                begin = clock64();                        \
            }                                             \
            __VA_ARGS__;                                  \
        }                                                 \
        __syncthreads();                                  \
        long long end = clock64();                        \
        if (threadIdx.x == 0)                             \
            out[0] = end - begin;                         \
    } while (0)

// Loads of shared memory, 64 a repeat, each lane from its own byte of `at`. The offset moves all
// lanes by whole rows of banks. Eight sums, so that no load waits for the addition before; volatile,
// so that all bytes are loaded, of which one word is used.
#define LDS(NAME, TYPE, READ)                                                       \
    extern "C" __global__ void NAME(const int *at, long long *out, float *sink) {   \
        __shared__ __align__(16) float shared[2304];                                \
        for (int i = threadIdx.x; i < 2304; i += blockDim.x)                        \
            shared[i] = sink[i % 32];                                               \
        unsigned from = (unsigned)__cvta_generic_to_shared(shared) + at[threadIdx.x % 32]; \
        float sums[8] = {};                                                         \
        TIMED(out, {                                                                \
            _Pragma("unroll") for (int i = 0; i < 64; ++i) {                        \
                TYPE value;                                                         \
                READ(value, from + i * 128);                                        \
                sums[i % 8] += value.x;                                             \
            }                                                                       \
        });                                                                         \
        float sum = 0;                                                              \
        for (int i = 0; i < 8; ++i)                                                 \
            sum += sums[i];                                                         \
        if (sum == 42.5f)                                                           \
            sink[0] = sum;                                                          \
    }
#define READ_4(v, from) asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(v.x) : "r"(from))
#define READ_8(v, from) \
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(from))
#define READ_16(v, from)                                       \
    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"    \
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) \
                 : "r"(from))
LDS(lds_4, float1, READ_4)
LDS(lds_8, float2, READ_8)
LDS(lds_16, float4, READ_16)

// 64 multiply-adds a repeat, four times over. `ffma` is an outer product, as a register tile has it:
// where its three registers are of one bank, an instruction takes longer. `ffma_free` squares, and
// reads two registers only. `at` is added to both sides, which the compiler takes for uniform else.
#define FFMA(NAME, RIGHT)                                                      \
    extern "C" __global__ void NAME(const int *at, long long *out, float *sink) { \
        float a[8], b[8], sums[8][8];                                          \
        int lane = at[threadIdx.x % 32];                                       \
        for (int i = 0; i < 8; ++i) {                                          \
            a[i] = sink[i + lane], b[i] = sink[i + 8 + lane];                  \
            for (int j = 0; j < 8; ++j)                                        \
                sums[i][j] = a[i];                                             \
        }                                                                      \
        TIMED(out, {                                                           \
            _Pragma("unroll") for (int i = 0; i < 256; ++i) {                  \
                float *to = &sums[i / 8 % 8][i % 8];                           \
                asm volatile("fma.rn.f32 %0, %1, %2, %0;"                      \
                             : "+f"(*to) : "f"(a[i / 8 % 8]), "f"(RIGHT));     \
            }                                                                  \
        });                                                                    \
        float sum = 0;                                                         \
        for (int i = 0; i < 64; ++i)                                           \
            sum += sums[i / 8][i % 8];                                         \
        if (sum + b[0] == 42.5f)                                               \
            sink[0] = sum;                                                     \
    }
FFMA(ffma, b[i % 8])
FFMA(ffma_free, a[i / 8 % 8])

// 64 exponentials a repeat, of 8 chains.
extern "C" __global__ void mufu(const int *at, long long *out, float *sink) {
    float x[8];
    for (int i = 0; i < 8; ++i)
        x[i] = sink[i + at[threadIdx.x % 32]];
    TIMED(out, {
        #pragma unroll
        for (int i = 0; i < 64; ++i)
            asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i % 8]));
    });
    float sum = 0;
    for (int i = 0; i < 8; ++i)
        sum += x[i];
    if (sum == 42.5f)
        sink[0] = sum;
}

// 32 products of 16 x 8 x 16 in bfloat16 a repeat and warp, of 8 accumulators.
extern "C" __global__ void hmma(const int *at, long long *out, float *sink) {
    unsigned a[4], b[2];
    float c[8][4];
    for (int i = 0; i < 4; ++i)
        a[i] = at[(threadIdx.x + i) % 32], b[i % 2] = a[i];
    for (int i = 0; i < 32; ++i)
        c[i / 4][i % 4] = sink[i];
    TIMED(out, {
        #pragma unroll
        for (int i = 0; i < 32; ++i) {
            float *d = c[i % 8];
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
    });
    float sum = 0;
    for (int i = 0; i < 32; ++i)
        sum += c[i / 4][i % 4];
    if (sum == 42.5f)
        sink[0] = sum;
}

// 32 products of 64 x 128 x 16 in bfloat16 a repeat and warpgroup, from swizzled matrices.
extern "C" __global__ void hgmma(const int *at, long long *out, float *sink) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    __shared__ __align__(1024) unsigned matrices[(64 + 128) * 32];
    for (int i = threadIdx.x; i < (64 + 128) * 32; i += blockDim.x)
        matrices[i] = at[i % 32];
    float d[64];
    for (int i = 0; i < 64; ++i)
        d[i] = sink[i];
    const unsigned first = (unsigned)__cvta_generic_to_shared(matrices);
    const unsigned long long kind = 1ull << 62 | 64ull << 32 | 1ull << 16;
    const unsigned long long a = kind | first >> 4, b = kind | (first + 64 * 128) >> 4;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    TIMED(out, {
        asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
        #pragma unroll
        for (int i = 0; i < 32; ++i)
            asm volatile("{\n"
                         ".reg .pred add;\n"
                         "setp.eq.u32 add, 0, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                         "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                         "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                         "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                         "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
                         "}, %64, %65, add, 1, 1, 0, 0;\n"
                         "}"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
                           "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                           "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                           "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                           "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
                           "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                           "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
                           "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                           "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
                           "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                           "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
                           "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                           "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
                           "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                           "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
                           "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                         : "l"(a + i % 4 * 2), "l"(b + i % 4 * 2));
        asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
    });
    float sum = 0;
    for (int i = 0; i < 64; ++i)
        sum += d[i];
    if (sum == 42.5f)
        sink[0] = sum;
#endif
}

// 64 barriers of a block a repeat.
extern "C" __global__ void barrier(const int *at, long long *out, float *sink) {
    TIMED(out, {
        #pragma unroll
        for (int i = 0; i < 64; ++i)
            __syncthreads();
    });
}

#if __CUDA_ARCH__ >= 900
// 16 barriers of a cluster a repeat, as `join(cluster)` has them; the launch says how large it is.
#define CLUSTER(SIZE)                                                                  \
    extern "C" __global__ void __cluster_dims__(SIZE, 1, 1)                            \
        cluster_##SIZE(const int *at, long long *out, float *sink) {                   \
        TIMED(out, {                                                                   \
            _Pragma("unroll") for (int i = 0; i < 16; ++i) {                           \
                asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); \
                asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");   \
            }                                                                          \
        });                                                                            \
    }
CLUSTER(2)
CLUSTER(4)
CLUSTER(8)
#endif

// One thread follows `count` links, each the index of the next: clocks of them all.
extern "C" __global__ void chase(const int *next, long long *out, int *count) {
    int here = 0, links = count[0];
    for (int i = 0; i < count[1]; ++i) // warms L2, if `next` has room there
        here = __ldcg(next + here);
    here = here == -1;
    long long begin = clock64();
    for (int i = 0; i < links; ++i)
        here = __ldcg(next + here);
    out[1] = here; // waits for the last link
    out[0] = clock64() - begin;
}

// Each thread reads DEPTH vectors of 16 bytes at a time, the grid all `vectors`. A warp's barrier
// keeps the compiler from adding the first ones before the last ones are asked for.
#define FLIGHT(DEPTH)                                                               \
    extern "C" __global__ void __launch_bounds__(1024, 1) flight_##DEPTH(           \
        const float4 *from, long long *vectors, float *sink) {                      \
        long long count = vectors[0];                                               \
        long long step = (long long)gridDim.x * blockDim.x;                         \
        float sum = 0;                                                              \
        _Pragma("unroll 1")                                                         \
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;        \
             i + (DEPTH - 1) * step < count; i += DEPTH * step) {                   \
            float4 read[DEPTH];                                                     \
            _Pragma("unroll") for (int k = 0; k < DEPTH; ++k)                       \
                read[k] = __ldcg(from + i + k * step);                              \
            __syncwarp();                                                           \
            _Pragma("unroll") for (int k = 0; k < DEPTH; ++k)                       \
                sum += read[k].x + read[k].y + read[k].z + read[k].w;               \
        }                                                                           \
        if (sum == 42.5f)                                                           \
            sink[0] = sum;                                                          \
    }
FLIGHT(1)
FLIGHT(2)
FLIGHT(4)
FLIGHT(8)

extern "C" __global__ void nothing(const int *at, long long *out, float *sink) {}
