// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=16}' --check=each | filecheck %s --check-prefix=CHUNKS
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=16},blockify-launch{m=16 n=32},share-scores{slice=8},stage-inputs,register-tile{fm=2 fn=4 fk=4},permute-register-tile,double-buffer{depth=2},async-copy,pad-smem,pipeline-k-outer,mark-unroll' --check=each | filecheck %s
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=16},blockify-launch{m=16 n=32},share-scores{slice=8},stage-inputs,register-tile{fm=2 fn=4 fk=4},permute-register-tile,double-buffer{depth=2},async-copy,pad-smem,pipeline-k-outer,mark-unroll,to-kernel' --check=end
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=40 depth=16}' --check=each | filecheck %s --check-prefix=WHOLE
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=16},blockify-launch{m=16 n=32},share-scores{slice=32},stage-inputs,register-tile{fm=2 fn=4 fk=4},double-buffer{depth=2}' --check=each | filecheck %s --check-prefix=SINGLE
// RUN: not opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=0}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'tileify,chunk-matmul-k{bk=32 slice=16},blockify-launch{m=16 n=32},share-scores{slice=5}' 2>&1 | filecheck %s --check-prefix=UNEVEN

// NONE: error: pass 'chunk-matmul-k': cannot do 'chunk-matmul-k{bk=32 slice=0}' in @attention: a slice has at least 1 step, not 0
// UNEVEN: error: pass 'share-scores': cannot do 'share-scores{slice=5}' in @attention: 32 keys of a chunk are no slices of 5

// The products of a score are added in slices of 16. The last slice of the 40 elements is partial.
// CHUNKS:          %s = loop.reduce %do in 3 with add {
// CHUNKS-NEXT:       {{%.*}} = loop.reduce %di in 16 with add {
// CHUNKS-NEXT:         {{%.*}} = loop.load %q[0, %j, %do * 16 + %di] where [39 - %do * 16 - %di] : memref<1x37x40xf32>

// A product with at most as many steps as a slice stays whole, and gets more steps.
// WHOLE:     %s = loop.reduce %d in 48 with add {
// WHOLE-NOT: %di

// Slices of queries and keys are staged in the loop over slices, which has a ring of its own.
// CHECK:       loop.reduce %ko in 3 below [%bm floordiv 2 + 1] with softmax fastmath<nnan,ninf> {
// CHECK-NEXT:    %s = loop.reduce %do in 3 with add {
// CHECK-NEXT:      %qs = tile.stage (%i_1, %k) in [16, 16] ring(depth 2, lookahead 1) transport(cp_async) {
// CHECK:           %keys = tile.stage (%j, %k_1) in [32, 16] ring(depth 2, lookahead 1) transport(cp_async) {
// CHECK:         tile.share %weight

// The values of a chunk are staged 8 keys at a time.
// CHECK:         loop.reduce %vo in 4 with add {
// CHECK-NEXT:      %vs = tile.stage (%k_2, %j_1) in [8, 32] ring(depth 2, lookahead 1) transport(cp_async) {
// CHECK-NEXT:        loop.load %v[0, %ko * 32 + %vo * 8 + %k_2, %j_1] where [19 - %j_1, 64 - %ko * 32 - %vo * 8 - %k_2]

// Values that are a single slice have one slot: there is no step to fill ahead.
// SINGLE:      %keys = tile.stage (%j, %k_1) in [32, 16] ring(depth 2) {
// SINGLE:      loop.reduce %vo in 1 with add {
// SINGLE-NEXT:   %vs = tile.stage (%k_2, %j_1) in [32, 32] {
loop.kernel @attention(%q: memref<1x37x40xf32>, %key: memref<1x65x40xf32>, %v: memref<1x65x20xf32>) -> (%out: memref<1x37x20xf32>) {
  loop.for %i in 1, %j in 37, %l in 20 {
    %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax fastmath<nnan,ninf> {
      %s = loop.reduce %d in 40 with add {
        %a = loop.load %q[%i, %j, %d] : memref<1x37x40xf32>
        %b = loop.load %key[%i, %k, %d] : memref<1x65x40xf32>
        %p = arith.mulf %a, %b : f32
        loop.yield %p : f32
      } : f32
      %scale = arith.constant 0.03125 : f32
      %x = arith.mulf %s, %scale : f32
      %one = arith.constant 1.0 : f32
      %gh = loop.load %v[%i, %k, %l] : memref<1x65x20xf32>
      loop.yield %x, %one, %gh where [%j - %k] : f32, f32, f32
    } : f32, f32, f32
    %r = arith.divf %out_1, %sum : f32
    loop.store %r, %out[%i, %j, %l] : memref<1x37x20xf32>
  }
}
