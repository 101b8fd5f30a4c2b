// SPDX-License-Identifier: Apache-2.0
// What the kernels of the pairs use.

typedef unsigned long long u64;
#define AT(p) ((unsigned)__cvta_generic_to_shared(p))
#define DO(text) asm volatile(text ::: "memory")
#define CLUSTER_BARRIER DO("barrier.cluster.arrive.aligned;"); DO("barrier.cluster.wait.aligned;")
#define FENCE_PROXY DO("fence.proxy.async;")
#define FENCE_PROXY_SHARED DO("fence.proxy.async.shared::cta;")
#define FENCE_PROXY_GLOBAL DO("fence.proxy.async.global;")
#define FENCE_INIT DO("fence.mbarrier_init.release.cluster;")
#define WAIT_GROUP(n) DO("cp.async.wait_group " #n ";")
#define COMMIT DO("cp.async.commit_group;")
#define INLINE __device__ __forceinline__
INLINE void copy4(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(AT(to)), "l"(from) : "memory");
}
INLINE void copy16(void* to, const void* from, int bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
    :: "r"(AT(to)), "l"(from), "r"(bytes) : "memory");
}
INLINE void sync(int b, int n) {
  asm volatile("bar.sync %0, %1;" :: "r"(b), "r"(n) : "memory");
}
INLINE void arrive(int b, int n) {
  asm volatile("bar.arrive %0, %1;" :: "r"(b), "r"(n) : "memory");
}
INLINE void make(u64* b, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(AT(b)), "r"(n) : "memory");
}
INLINE void unmake(u64* b) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(AT(b)) : "memory");
}
INLINE void expect(u64* b, int n) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
    :: "r"(AT(b)), "r"(n) : "memory");
}
INLINE void arrive_on(u64* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(AT(b)) : "memory");
}
INLINE void wait_for(u64* b, int parity) {
  asm volatile("{\n.reg .pred p;\nagain:\n"
    "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone:\n}"
    :: "r"(AT(b)), "r"(parity) : "memory");
}
INLINE void bulk(void* to, const void* from, int bytes, u64* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [%0], [%1], %2, [%3];" :: "r"(AT(to)), "l"(from), "r"(bytes), "r"(AT(b)) : "memory");
}
#define TILE __shared__ __align__(128) float tile[256]; __shared__ u64 b; \
  const int t = threadIdx.x; if (t == 0) { make(&b, 1); FENCE_INIT; } __syncthreads();
struct __align__(64) CUtensorMap { unsigned char opaque[128]; };
INLINE void tensor(void* to, const CUtensorMap* map, int x, int y, u64* b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [%0], [%1, {%3, %4}], [%2];"
    :: "r"(AT(to)), "l"(map), "r"(AT(b)), "r"(x), "r"(y) : "memory");
}
INLINE unsigned acquire(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
INLINE void release(unsigned* p, unsigned v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}
#define CLUSTER_ARRIVE DO("barrier.cluster.arrive.aligned;")
#define CLUSTER_ARRIVE_RELAXED DO("barrier.cluster.arrive.relaxed.aligned;")
#define CLUSTER_WAIT DO("barrier.cluster.wait.aligned;")
#define PEER unsigned peer; asm("mov.u32 %0, %cluster_ctarank;" : "=r"(peer)); peer ^= 1; \
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
INLINE unsigned at_rank(const void* p, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(AT(p)), "r"(rank));
  return there;
}
template <class T> INLINE T* of_rank(T* p, unsigned rank) {
  u64 there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
  return (T*)there;
}
INLINE float load_from(const float* p, unsigned rank) {
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(at_rank(p, rank)) : "memory");
  return v;
}
INLINE void store_to(float* p, unsigned rank, float v) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(at_rank(p, rank)), "f"(v) : "memory");
}
#define ARRIVE_AT(how, b, rank) asm volatile("mbarrier.arrive" how ".shared::cluster.b64 _, [%0];" \
  :: "r"(at_rank(b, rank)) : "memory");
#define AWAIT(how, b, parity) for (int p = 0; !p;) asm volatile("{.reg .pred p; mbarrier.try_wait" \
  ".parity" how ".shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(AT(b)), \
  "r"(parity) : "memory");
#define ARRIVE_NOINC(b) asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" \
  :: "r"(AT(b)) : "memory");
#define ARRIVE_AFTER_COPIES(b) asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" \
  :: "r"(AT(b)) : "memory");
INLINE void load(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(AT(row)) : "memory");
}
INLINE void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[4]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3},"
    " {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
