// RUN: opt-tool %s -p plan-schedules,to-tile --remarks --check=each 2>&1 | filecheck %s

// Rows mask steps of K, which matrix instructions cannot. The tile is one of multiply-adds, and a remark has the reason.
//
// CHECK: t:017_tensor_core skipped at banded: no slab can have the mask of its steps in place of its yield
// CHECK-NOT: t:017_tensor_core skipped at alike
//
// CHECK-LABEL: loop.kernel @banded(
// CHECK-NOT:     by(m16n8k16_bf16)
// CHECK:       schedule "tileify,chunk-matmul-k{bk=16},blockify-launch{m=16 n=16},{{.*}}permute-register-tile{{.*}}"
loop.kernel @banded(%a: memref<72x100xbf16>, %b: memref<100x136xbf16>) -> (%out: memref<72x136xf32>) {
  loop.for %i in 72, %j in 136 {
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %a[%i, %k] : memref<72x100xbf16>
      %1 = arith.extf %0 : bf16 to f32
      %2 = loop.load %b[%k, %j] : memref<100x136xbf16>
      %3 = arith.extf %2 : bf16 to f32
      %4 = arith.mulf %1, %3 : f32
      loop.yield %4 where [%i + 8 - %k] : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<72x136xf32>
  }
}

// The same steps are masked for all rows and columns: the slabs have the mask.
//
// CHECK-LABEL: loop.kernel @alike(
// CHECK:         by(m16n8k16_bf16)
loop.kernel @alike(%a: memref<72x100xbf16>, %b: memref<100x136xbf16>) -> (%out: memref<72x136xf32>) {
  loop.for %i in 72, %j in 136 {
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %a[%i, %k] : memref<72x100xbf16>
      %1 = arith.extf %0 : bf16 to f32
      %2 = loop.load %b[%k, %j] : memref<100x136xbf16>
      %3 = arith.extf %2 : bf16 to f32
      %4 = arith.mulf %1, %3 : f32
      loop.yield %4 where [90 - %k] : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<72x136xf32>
  }
}
