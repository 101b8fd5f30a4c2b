// RUN: opt-tool %s -p share-scores --check=each | filecheck %s
// RUN: not opt-tool %s -p 'share-scores{threads=32}' 2>&1 | filecheck %s --check-prefix=OPTION

// The options of blockify-launch and chunk-matmul-k decide how many threads share the scores.
// OPTION: error: pass 'share-scores' has no option 'threads'

// Each thread of a row computes the score of one key of the chunk. The products need no mask: the
// flags of the reduction say that the values are finite.
// CHECK-LABEL: loop.kernel @causal
// CHECK:         tile.launch (%bm = block 2 m, %tm = thread 16 m, %tn = thread 16 n) {
// CHECK-NEXT:      %max, %sum, %acc = loop.reduce %ko in 2 below [%bm + 1] with softmax fastmath<nnan,ninf> {
// CHECK-NEXT:        %s = loop.reduce %d in 8 with add {
// CHECK-NEXT:          %0 = loop.load %q[%bm * 16 + %tm, %d] : memref<32x8xf32>
// CHECK-NEXT:          %1 = loop.load %key[%ko * 16 + %tn, %d] : memref<32x8xf32>
// CHECK-NEXT:          %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:          loop.yield %2 : f32
// CHECK-NEXT:        } : f32
// CHECK-NEXT:        %3 = loop.predicate [%bm * 16 + %tm - %ko * 16 - %tn] : i1
// CHECK-NEXT:        %4 = arith.constant 0xff800000 : f32
// CHECK-NEXT:        %masked = arith.select %3, %s, %4 : f32
// CHECK-NEXT:        %5 = tile.combine %masked across %tn with max : f32
// CHECK-NEXT:        %6 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:        %finite = arith.maximumf %5, %6 : f32
// CHECK-NEXT:        %7 = arith.subf %masked, %finite : f32
// CHECK-NEXT:        %weight = math.exp %7 fastmath<afn> : f32
// CHECK-NEXT:        %8 = tile.combine %weight across %tn with add : f32
// CHECK-NEXT:        %weights = tile.share %weight at [%tm, %tn] : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
// CHECK-NEXT:        %9 = loop.reduce %kk in 16 with add {
// CHECK-NEXT:          %10 = loop.load %weights[%tm, %kk] : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
// CHECK-NEXT:          %g = loop.load %v[%ko * 16 + %kk, %tn] : memref<32x16xf32>
// CHECK-NEXT:          %11 = arith.mulf %10, %g fastmath<nnan,ninf> : f32
// CHECK-NEXT:          loop.yield %11 : f32
// CHECK-NEXT:        } : f32
// CHECK-NEXT:        loop.yield %5, %8, %9 : f32, f32, f32
// CHECK-NEXT:      } : f32, f32, f32
// CHECK:       } schedule "share-scores"
loop.kernel @causal(%q: memref<32x8xf32>, %key: memref<32x8xf32>, %v: memref<32x16xf32>) -> (%out: memref<32x16xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 16 m, %tn = thread 16 n) {
    %max, %sum, %acc = loop.reduce %ko in 2 below [%bm + 1] with softmax fastmath<nnan,ninf> {
      %mc, %sc, %oc = loop.reduce %ki in 16 with softmax fastmath<nnan,ninf> {
        %s = loop.reduce %d in 8 with add {
          %0 = loop.load %q[%bm * 16 + %tm, %d] : memref<32x8xf32>
          %1 = loop.load %key[%ko * 16 + %ki, %d] : memref<32x8xf32>
          %2 = arith.mulf %0, %1 : f32
          loop.yield %2 : f32
        } : f32
        %one = arith.constant 1.0 : f32
        %g = loop.load %v[%ko * 16 + %ki, %tn] : memref<32x16xf32>
        loop.yield %s, %one, %g where [%bm * 16 + %tm - %ko * 16 - %ki] : f32, f32, f32
      } : f32, f32, f32
      loop.yield %mc, %sc, %oc : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %acc, %sum : f32
    loop.store %0, %out[%bm * 16 + %tm, %tn] : memref<32x16xf32>
  }
}

// A block has 24 columns and a chunk 16 keys: eight threads of a row have three columns and two keys
// each. A value that is not known to be finite is masked where it is hidden, but not beyond the last
// key, where it is 0.
// CHECK-LABEL: loop.kernel @scores
// CHECK:         tile.launch (%bm = block 3 m, %tm = thread 16 m, %tn = thread 8 n, %un = register 3, %uk = register 2) {
// CHECK-NEXT:      %max, %bias, %acc = loop.reduce %ko in 5 with softmax {
// CHECK-NEXT:        %x = loop.load %s[%bm * 16 + %tm, %ko * 16 + %uk * 8 + %tn] where [36 - %bm * 16 - %tm, 64 - %ko * 16 - %uk * 8 - %tn] : memref<37x65xf32>
// CHECK-NEXT:        %b = loop.load %biases[%ko * 16 + %uk * 8 + %tn] where [64 - %ko * 16 - %uk * 8 - %tn] : memref<65xf32>
// CHECK-NEXT:        %0 = loop.predicate [30 + %bm * 16 + %tm - %ko * 16 - %uk * 8 - %tn, 64 - %ko * 16 - %uk * 8 - %tn] : i1
// CHECK:             %2 = tile.combine %masked across %tn, %uk with max : f32
// CHECK:             %5 = arith.mulf %weight, %b : f32
// CHECK-NEXT:        %6 = tile.combine %5 across %tn, %uk with add where [30 + %bm * 16 + %tm - %ko * 16 - %uk * 8 - %tn] : f32
// CHECK-NEXT:        %weights = tile.share %weight at [%tm, %uk * 8 + %tn] : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
// CHECK-NEXT:        %7 = loop.reduce %kk in 16 with add {
// CHECK-NEXT:          %8 = loop.load %weights[%tm, %kk] : memref<16x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
// CHECK-NEXT:          %g = loop.load %v[%ko * 16 + %kk, %un * 8 + %tn] where [19 - %un * 8 - %tn, 64 - %ko * 16 - %kk] : memref<65x20xf32>
// CHECK-NEXT:          %9 = arith.mulf %8, %g : f32
// CHECK-NEXT:          loop.yield %9 where [30 + %bm * 16 + %tm - %ko * 16 - %kk] : f32
// CHECK:           loop.store %10, %out[%bm * 16 + %tm, %un * 8 + %tn] where [36 - %bm * 16 - %tm, 19 - %un * 8 - %tn] : memref<37x20xf32>
loop.kernel @scores(%s: memref<37x65xf32>, %biases: memref<65xf32>, %v: memref<65x20xf32>) -> (%out: memref<37x20xf32>) {
  tile.launch (%bm = block 3 m, %tm = thread 16 m, %tn = thread 24 n) {
    %max, %bias, %acc = loop.reduce %ko in 5 with softmax {
      %mc, %sc, %oc = loop.reduce %ki in 16 with softmax {
        %x = loop.load %s[%bm * 16 + %tm, %ko * 16 + %ki] where [36 - %bm * 16 - %tm, 64 - %ko * 16 - %ki] : memref<37x65xf32>
        %b = loop.load %biases[%ko * 16 + %ki] where [64 - %ko * 16 - %ki] : memref<65xf32>
        %g = loop.load %v[%ko * 16 + %ki, %tn] where [19 - %tn, 64 - %ko * 16 - %ki] : memref<65x20xf32>
        loop.yield %x, %b, %g where [30 + %bm * 16 + %tm - %ko * 16 - %ki, 64 - %ko * 16 - %ki] : f32, f32, f32
      } : f32, f32, f32
      loop.yield %mc, %sc, %oc : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.subf %acc, %bias : f32
    loop.store %0, %out[%bm * 16 + %tm, %tn] where [36 - %bm * 16 - %tm, 19 - %tn] : memref<37x20xf32>
  }
}

// Weights that multiply values of a half type may be rounded to this type. A block has fewer columns
// than a chunk has keys.
// CHECK-LABEL: loop.kernel @half
// CHECK:         tile.launch (%tm = thread 16 m, %tn = thread 8 n, %uk = register 4) {
// CHECK:             %masked = arith.select
// CHECK:             [[N:%\d+]] = arith.truncf %weight : f32 to bf16
// CHECK-NEXT:        %weights = tile.share [[N]] at [%tm, %uk * 8 + %tn] : memref<16x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
// CHECK-NEXT:        loop.reduce %kk in 32 with add {
// CHECK-NEXT:          [[W:%\d+]] = loop.load %weights[%tm, %kk] : memref<16x32xbf16, #tile.layout<pad [0, 8]>, 3 : i64>
// CHECK-NEXT:          [[WIDE:%\d+]] = arith.extf [[W]] : bf16 to f32
// CHECK-NEXT:          %g = loop.load %v[%ko * 32 + %kk, %tn] where [49 - %ko * 32 - %kk] : memref<50x8xbf16>
// CHECK-NEXT:          %h = arith.extf %g : bf16 to f32
// CHECK-NEXT:          {{.*}} = arith.mulf [[WIDE]], %h fastmath<nnan,ninf,afn> : f32
loop.kernel @half(%s: memref<16x50xf32>, %v: memref<50x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %max, %acc = loop.reduce %ko in 2 with softmax fastmath<nnan,ninf,afn> weights(bf16) {
      %mc, %oc = loop.reduce %ki in 32 with softmax fastmath<nnan,ninf,afn> weights(bf16) {
        %x = loop.load %s[%tm, %ko * 32 + %ki] where [49 - %ko * 32 - %ki] : memref<16x50xf32>
        %g = loop.load %v[%ko * 32 + %ki, %tn] where [49 - %ko * 32 - %ki] : memref<50x8xbf16>
        %h = arith.extf %g : bf16 to f32
        loop.yield %x, %h where [49 - %ko * 32 - %ki] : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}

// Values of a half type may have weights that the program does not round.
// CHECK-LABEL: loop.kernel @not_rounded
// CHECK-NOT:         arith.truncf
// CHECK:             tile.share %weight at [%tm, %tn] : memref<16x8xf32, #tile.layout<pad [0, 4]>, 3 : i64>
loop.kernel @not_rounded(%s: memref<16x8xf32>, %v: memref<8x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 8 n) {
    %max, %acc = loop.reduce %ko in 1 with softmax {
      %mc, %oc = loop.reduce %ki in 8 with softmax {
        %x = loop.load %s[%tm, %ko * 8 + %ki] : memref<16x8xf32>
        %g = loop.load %v[%ko * 8 + %ki, %tn] : memref<8x8xbf16>
        %h = arith.extf %g : bf16 to f32
        loop.yield %x, %h : f32, f32
      } : f32, f32
      loop.yield %mc, %oc : f32, f32
    } : f32, f32
    loop.store %acc, %out[%tm, %tn] : memref<16x8xf32>
  }
}
