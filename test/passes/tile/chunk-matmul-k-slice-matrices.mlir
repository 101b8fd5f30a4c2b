// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=32},blockify-launch{m=32 n=32},share-scores{slice=16},stage-inputs,register-tile{fm=2 fn=8 fk=1},tensor-core,double-buffer{depth=3},async-copy,pad-smem,pipeline-k-outer,mark-unroll' --check=each | filecheck %s
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=32},blockify-launch{m=32 n=32},share-scores{slice=16},stage-inputs,register-tile{fm=2 fn=8 fk=1},tensor-core,double-buffer{depth=3},async-copy,pad-smem,pipeline-k-outer,mark-unroll,to-kernel' --check=end

// Matrix instructions multiply slices of 32 elements: the last slice of the 70 elements is partial.
// CHECK:       loop.reduce %do in 3 with add {
// CHECK:         tile.stage (%j, %k_1) in [32, 32] ring(depth 3, lookahead 2) transport(cp_async) {
// CHECK-NEXT:      loop.load %key[0, %ko * 32 + %j, %do * 32 + %k_1] where [64 - %ko * 32 - %j, 69 - %do * 32 - %k_1]
// CHECK:         loop.reduce %di in 32 with add by(m16n8k16_bf16)
// CHECK:       loop.reduce %vo in 2 with add {
// CHECK:         loop.reduce %kk in 16 with add by(m16n8k16_bf16)
loop.kernel @attention(%q: memref<1x37x70xbf16>, %key: memref<1x65x70xbf16>, %v: memref<1x65x20xbf16>) -> (%out: memref<1x37x20xbf16>) {
  loop.for %i in 1, %j in 37, %l in 20 {
    %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax fastmath<nnan,ninf> weights(bf16) {
      %s = loop.reduce %d in 70 with add {
        %a = loop.load %q[%i, %j, %d] : memref<1x37x70xbf16>
        %b = loop.load %key[%i, %k, %d] : memref<1x65x70xbf16>
        %aw = arith.extf %a : bf16 to f32
        %bw = arith.extf %b : bf16 to f32
        %p = arith.mulf %aw, %bw : f32
        loop.yield %p : f32
      } : f32
      %scale = arith.constant 0.03125 : f32
      %x = arith.mulf %s, %scale : f32
      %one = arith.constant 1.0 : f32
      %gh = loop.load %v[%i, %k, %l] : memref<1x65x20xbf16>
      %g = arith.extf %gh : bf16 to f32
      loop.yield %x, %one, %g where [%j - %k] : f32, f32, f32
    } : f32, f32, f32
    %r = arith.divf %out_1, %sum : f32
    %rn = arith.truncf %r : f32 to bf16
    loop.store %rn, %out[%i, %j, %l] : memref<1x37x20xbf16>
  }
}
