// RUN: opt-tool %s -p inline-elementwise --remarks --split-input-file 2>&1 | filecheck %s --check-prefix=INLINE
// RUN: opt-tool %s -p fuse-epilogue --remarks --split-input-file 2>&1 | filecheck %s --check-prefix=EPILOGUE

// The loads of one step may take half of the 255 registers of a thread: 62 loads and one of two
// registers each fit.
// INLINE-NOT: skipped at sums
// INLINE: loop.kernel @more_sums(
// EPILOGUE: loop.kernel @more_sums(
func.func @main(%x: memref<128xf64>, %y: memref<64xf64>) -> memref<64xf64> {
  %s = memref.alloc() : memref<64xf64>
  %t = memref.alloc() : memref<64xf64>
  loop.launch @sums(%x) -> (%s) : (memref<128xf64>) -> (memref<64xf64>)
  loop.launch @more(%s, %y) -> (%t) : (memref<64xf64>, memref<64xf64>) -> (memref<64xf64>)
  func.return %t : memref<64xf64>
}
loop.kernel @sums(%x: memref<128xf64>) -> (%out: memref<64xf64>) {
  loop.for %i in 64 {
    %l0 = loop.load %x[%i + 0] : memref<128xf64>
    %l1 = loop.load %x[%i + 1] : memref<128xf64>
    %a1 = arith.addf %l0, %l1 : f64
    %l2 = loop.load %x[%i + 2] : memref<128xf64>
    %a2 = arith.addf %a1, %l2 : f64
    %l3 = loop.load %x[%i + 3] : memref<128xf64>
    %a3 = arith.addf %a2, %l3 : f64
    %l4 = loop.load %x[%i + 4] : memref<128xf64>
    %a4 = arith.addf %a3, %l4 : f64
    %l5 = loop.load %x[%i + 5] : memref<128xf64>
    %a5 = arith.addf %a4, %l5 : f64
    %l6 = loop.load %x[%i + 6] : memref<128xf64>
    %a6 = arith.addf %a5, %l6 : f64
    %l7 = loop.load %x[%i + 7] : memref<128xf64>
    %a7 = arith.addf %a6, %l7 : f64
    %l8 = loop.load %x[%i + 8] : memref<128xf64>
    %a8 = arith.addf %a7, %l8 : f64
    %l9 = loop.load %x[%i + 9] : memref<128xf64>
    %a9 = arith.addf %a8, %l9 : f64
    %l10 = loop.load %x[%i + 10] : memref<128xf64>
    %a10 = arith.addf %a9, %l10 : f64
    %l11 = loop.load %x[%i + 11] : memref<128xf64>
    %a11 = arith.addf %a10, %l11 : f64
    %l12 = loop.load %x[%i + 12] : memref<128xf64>
    %a12 = arith.addf %a11, %l12 : f64
    %l13 = loop.load %x[%i + 13] : memref<128xf64>
    %a13 = arith.addf %a12, %l13 : f64
    %l14 = loop.load %x[%i + 14] : memref<128xf64>
    %a14 = arith.addf %a13, %l14 : f64
    %l15 = loop.load %x[%i + 15] : memref<128xf64>
    %a15 = arith.addf %a14, %l15 : f64
    %l16 = loop.load %x[%i + 16] : memref<128xf64>
    %a16 = arith.addf %a15, %l16 : f64
    %l17 = loop.load %x[%i + 17] : memref<128xf64>
    %a17 = arith.addf %a16, %l17 : f64
    %l18 = loop.load %x[%i + 18] : memref<128xf64>
    %a18 = arith.addf %a17, %l18 : f64
    %l19 = loop.load %x[%i + 19] : memref<128xf64>
    %a19 = arith.addf %a18, %l19 : f64
    %l20 = loop.load %x[%i + 20] : memref<128xf64>
    %a20 = arith.addf %a19, %l20 : f64
    %l21 = loop.load %x[%i + 21] : memref<128xf64>
    %a21 = arith.addf %a20, %l21 : f64
    %l22 = loop.load %x[%i + 22] : memref<128xf64>
    %a22 = arith.addf %a21, %l22 : f64
    %l23 = loop.load %x[%i + 23] : memref<128xf64>
    %a23 = arith.addf %a22, %l23 : f64
    %l24 = loop.load %x[%i + 24] : memref<128xf64>
    %a24 = arith.addf %a23, %l24 : f64
    %l25 = loop.load %x[%i + 25] : memref<128xf64>
    %a25 = arith.addf %a24, %l25 : f64
    %l26 = loop.load %x[%i + 26] : memref<128xf64>
    %a26 = arith.addf %a25, %l26 : f64
    %l27 = loop.load %x[%i + 27] : memref<128xf64>
    %a27 = arith.addf %a26, %l27 : f64
    %l28 = loop.load %x[%i + 28] : memref<128xf64>
    %a28 = arith.addf %a27, %l28 : f64
    %l29 = loop.load %x[%i + 29] : memref<128xf64>
    %a29 = arith.addf %a28, %l29 : f64
    %l30 = loop.load %x[%i + 30] : memref<128xf64>
    %a30 = arith.addf %a29, %l30 : f64
    %l31 = loop.load %x[%i + 31] : memref<128xf64>
    %a31 = arith.addf %a30, %l31 : f64
    %l32 = loop.load %x[%i + 32] : memref<128xf64>
    %a32 = arith.addf %a31, %l32 : f64
    %l33 = loop.load %x[%i + 33] : memref<128xf64>
    %a33 = arith.addf %a32, %l33 : f64
    %l34 = loop.load %x[%i + 34] : memref<128xf64>
    %a34 = arith.addf %a33, %l34 : f64
    %l35 = loop.load %x[%i + 35] : memref<128xf64>
    %a35 = arith.addf %a34, %l35 : f64
    %l36 = loop.load %x[%i + 36] : memref<128xf64>
    %a36 = arith.addf %a35, %l36 : f64
    %l37 = loop.load %x[%i + 37] : memref<128xf64>
    %a37 = arith.addf %a36, %l37 : f64
    %l38 = loop.load %x[%i + 38] : memref<128xf64>
    %a38 = arith.addf %a37, %l38 : f64
    %l39 = loop.load %x[%i + 39] : memref<128xf64>
    %a39 = arith.addf %a38, %l39 : f64
    %l40 = loop.load %x[%i + 40] : memref<128xf64>
    %a40 = arith.addf %a39, %l40 : f64
    %l41 = loop.load %x[%i + 41] : memref<128xf64>
    %a41 = arith.addf %a40, %l41 : f64
    %l42 = loop.load %x[%i + 42] : memref<128xf64>
    %a42 = arith.addf %a41, %l42 : f64
    %l43 = loop.load %x[%i + 43] : memref<128xf64>
    %a43 = arith.addf %a42, %l43 : f64
    %l44 = loop.load %x[%i + 44] : memref<128xf64>
    %a44 = arith.addf %a43, %l44 : f64
    %l45 = loop.load %x[%i + 45] : memref<128xf64>
    %a45 = arith.addf %a44, %l45 : f64
    %l46 = loop.load %x[%i + 46] : memref<128xf64>
    %a46 = arith.addf %a45, %l46 : f64
    %l47 = loop.load %x[%i + 47] : memref<128xf64>
    %a47 = arith.addf %a46, %l47 : f64
    %l48 = loop.load %x[%i + 48] : memref<128xf64>
    %a48 = arith.addf %a47, %l48 : f64
    %l49 = loop.load %x[%i + 49] : memref<128xf64>
    %a49 = arith.addf %a48, %l49 : f64
    %l50 = loop.load %x[%i + 50] : memref<128xf64>
    %a50 = arith.addf %a49, %l50 : f64
    %l51 = loop.load %x[%i + 51] : memref<128xf64>
    %a51 = arith.addf %a50, %l51 : f64
    %l52 = loop.load %x[%i + 52] : memref<128xf64>
    %a52 = arith.addf %a51, %l52 : f64
    %l53 = loop.load %x[%i + 53] : memref<128xf64>
    %a53 = arith.addf %a52, %l53 : f64
    %l54 = loop.load %x[%i + 54] : memref<128xf64>
    %a54 = arith.addf %a53, %l54 : f64
    %l55 = loop.load %x[%i + 55] : memref<128xf64>
    %a55 = arith.addf %a54, %l55 : f64
    %l56 = loop.load %x[%i + 56] : memref<128xf64>
    %a56 = arith.addf %a55, %l56 : f64
    %l57 = loop.load %x[%i + 57] : memref<128xf64>
    %a57 = arith.addf %a56, %l57 : f64
    %l58 = loop.load %x[%i + 58] : memref<128xf64>
    %a58 = arith.addf %a57, %l58 : f64
    %l59 = loop.load %x[%i + 59] : memref<128xf64>
    %a59 = arith.addf %a58, %l59 : f64
    %l60 = loop.load %x[%i + 60] : memref<128xf64>
    %a60 = arith.addf %a59, %l60 : f64
    %l61 = loop.load %x[%i + 61] : memref<128xf64>
    %a61 = arith.addf %a60, %l61 : f64
    loop.store %a61, %out[%i] : memref<64xf64>
  }
}
loop.kernel @more(%s: memref<64xf64>, %y: memref<64xf64>) -> (%out: memref<64xf64>) {
  loop.for %i in 64 {
    %0 = loop.load %s[%i] : memref<64xf64>
    %1 = loop.load %y[%i] : memref<64xf64>
    %2 = arith.addf %0, %1 : f64
    loop.store %2, %out[%i] : memref<64xf64>
  }
}

// -----

// 64 loads do not fit.
// INLINE: skipped at sums: with sums, more would have 128 registers for loads in flight, more than 127
// EPILOGUE: skipped at sums: with sums, more would have 128 registers for loads in flight, more than 127
func.func @main(%x: memref<128xf64>, %y: memref<64xf64>) -> memref<64xf64> {
  %s = memref.alloc() : memref<64xf64>
  %t = memref.alloc() : memref<64xf64>
  loop.launch @sums(%x) -> (%s) : (memref<128xf64>) -> (memref<64xf64>)
  loop.launch @more(%s, %y) -> (%t) : (memref<64xf64>, memref<64xf64>) -> (memref<64xf64>)
  func.return %t : memref<64xf64>
}
loop.kernel @sums(%x: memref<128xf64>) -> (%out: memref<64xf64>) {
  loop.for %i in 64 {
    %l0 = loop.load %x[%i + 0] : memref<128xf64>
    %l1 = loop.load %x[%i + 1] : memref<128xf64>
    %a1 = arith.addf %l0, %l1 : f64
    %l2 = loop.load %x[%i + 2] : memref<128xf64>
    %a2 = arith.addf %a1, %l2 : f64
    %l3 = loop.load %x[%i + 3] : memref<128xf64>
    %a3 = arith.addf %a2, %l3 : f64
    %l4 = loop.load %x[%i + 4] : memref<128xf64>
    %a4 = arith.addf %a3, %l4 : f64
    %l5 = loop.load %x[%i + 5] : memref<128xf64>
    %a5 = arith.addf %a4, %l5 : f64
    %l6 = loop.load %x[%i + 6] : memref<128xf64>
    %a6 = arith.addf %a5, %l6 : f64
    %l7 = loop.load %x[%i + 7] : memref<128xf64>
    %a7 = arith.addf %a6, %l7 : f64
    %l8 = loop.load %x[%i + 8] : memref<128xf64>
    %a8 = arith.addf %a7, %l8 : f64
    %l9 = loop.load %x[%i + 9] : memref<128xf64>
    %a9 = arith.addf %a8, %l9 : f64
    %l10 = loop.load %x[%i + 10] : memref<128xf64>
    %a10 = arith.addf %a9, %l10 : f64
    %l11 = loop.load %x[%i + 11] : memref<128xf64>
    %a11 = arith.addf %a10, %l11 : f64
    %l12 = loop.load %x[%i + 12] : memref<128xf64>
    %a12 = arith.addf %a11, %l12 : f64
    %l13 = loop.load %x[%i + 13] : memref<128xf64>
    %a13 = arith.addf %a12, %l13 : f64
    %l14 = loop.load %x[%i + 14] : memref<128xf64>
    %a14 = arith.addf %a13, %l14 : f64
    %l15 = loop.load %x[%i + 15] : memref<128xf64>
    %a15 = arith.addf %a14, %l15 : f64
    %l16 = loop.load %x[%i + 16] : memref<128xf64>
    %a16 = arith.addf %a15, %l16 : f64
    %l17 = loop.load %x[%i + 17] : memref<128xf64>
    %a17 = arith.addf %a16, %l17 : f64
    %l18 = loop.load %x[%i + 18] : memref<128xf64>
    %a18 = arith.addf %a17, %l18 : f64
    %l19 = loop.load %x[%i + 19] : memref<128xf64>
    %a19 = arith.addf %a18, %l19 : f64
    %l20 = loop.load %x[%i + 20] : memref<128xf64>
    %a20 = arith.addf %a19, %l20 : f64
    %l21 = loop.load %x[%i + 21] : memref<128xf64>
    %a21 = arith.addf %a20, %l21 : f64
    %l22 = loop.load %x[%i + 22] : memref<128xf64>
    %a22 = arith.addf %a21, %l22 : f64
    %l23 = loop.load %x[%i + 23] : memref<128xf64>
    %a23 = arith.addf %a22, %l23 : f64
    %l24 = loop.load %x[%i + 24] : memref<128xf64>
    %a24 = arith.addf %a23, %l24 : f64
    %l25 = loop.load %x[%i + 25] : memref<128xf64>
    %a25 = arith.addf %a24, %l25 : f64
    %l26 = loop.load %x[%i + 26] : memref<128xf64>
    %a26 = arith.addf %a25, %l26 : f64
    %l27 = loop.load %x[%i + 27] : memref<128xf64>
    %a27 = arith.addf %a26, %l27 : f64
    %l28 = loop.load %x[%i + 28] : memref<128xf64>
    %a28 = arith.addf %a27, %l28 : f64
    %l29 = loop.load %x[%i + 29] : memref<128xf64>
    %a29 = arith.addf %a28, %l29 : f64
    %l30 = loop.load %x[%i + 30] : memref<128xf64>
    %a30 = arith.addf %a29, %l30 : f64
    %l31 = loop.load %x[%i + 31] : memref<128xf64>
    %a31 = arith.addf %a30, %l31 : f64
    %l32 = loop.load %x[%i + 32] : memref<128xf64>
    %a32 = arith.addf %a31, %l32 : f64
    %l33 = loop.load %x[%i + 33] : memref<128xf64>
    %a33 = arith.addf %a32, %l33 : f64
    %l34 = loop.load %x[%i + 34] : memref<128xf64>
    %a34 = arith.addf %a33, %l34 : f64
    %l35 = loop.load %x[%i + 35] : memref<128xf64>
    %a35 = arith.addf %a34, %l35 : f64
    %l36 = loop.load %x[%i + 36] : memref<128xf64>
    %a36 = arith.addf %a35, %l36 : f64
    %l37 = loop.load %x[%i + 37] : memref<128xf64>
    %a37 = arith.addf %a36, %l37 : f64
    %l38 = loop.load %x[%i + 38] : memref<128xf64>
    %a38 = arith.addf %a37, %l38 : f64
    %l39 = loop.load %x[%i + 39] : memref<128xf64>
    %a39 = arith.addf %a38, %l39 : f64
    %l40 = loop.load %x[%i + 40] : memref<128xf64>
    %a40 = arith.addf %a39, %l40 : f64
    %l41 = loop.load %x[%i + 41] : memref<128xf64>
    %a41 = arith.addf %a40, %l41 : f64
    %l42 = loop.load %x[%i + 42] : memref<128xf64>
    %a42 = arith.addf %a41, %l42 : f64
    %l43 = loop.load %x[%i + 43] : memref<128xf64>
    %a43 = arith.addf %a42, %l43 : f64
    %l44 = loop.load %x[%i + 44] : memref<128xf64>
    %a44 = arith.addf %a43, %l44 : f64
    %l45 = loop.load %x[%i + 45] : memref<128xf64>
    %a45 = arith.addf %a44, %l45 : f64
    %l46 = loop.load %x[%i + 46] : memref<128xf64>
    %a46 = arith.addf %a45, %l46 : f64
    %l47 = loop.load %x[%i + 47] : memref<128xf64>
    %a47 = arith.addf %a46, %l47 : f64
    %l48 = loop.load %x[%i + 48] : memref<128xf64>
    %a48 = arith.addf %a47, %l48 : f64
    %l49 = loop.load %x[%i + 49] : memref<128xf64>
    %a49 = arith.addf %a48, %l49 : f64
    %l50 = loop.load %x[%i + 50] : memref<128xf64>
    %a50 = arith.addf %a49, %l50 : f64
    %l51 = loop.load %x[%i + 51] : memref<128xf64>
    %a51 = arith.addf %a50, %l51 : f64
    %l52 = loop.load %x[%i + 52] : memref<128xf64>
    %a52 = arith.addf %a51, %l52 : f64
    %l53 = loop.load %x[%i + 53] : memref<128xf64>
    %a53 = arith.addf %a52, %l53 : f64
    %l54 = loop.load %x[%i + 54] : memref<128xf64>
    %a54 = arith.addf %a53, %l54 : f64
    %l55 = loop.load %x[%i + 55] : memref<128xf64>
    %a55 = arith.addf %a54, %l55 : f64
    %l56 = loop.load %x[%i + 56] : memref<128xf64>
    %a56 = arith.addf %a55, %l56 : f64
    %l57 = loop.load %x[%i + 57] : memref<128xf64>
    %a57 = arith.addf %a56, %l57 : f64
    %l58 = loop.load %x[%i + 58] : memref<128xf64>
    %a58 = arith.addf %a57, %l58 : f64
    %l59 = loop.load %x[%i + 59] : memref<128xf64>
    %a59 = arith.addf %a58, %l59 : f64
    %l60 = loop.load %x[%i + 60] : memref<128xf64>
    %a60 = arith.addf %a59, %l60 : f64
    %l61 = loop.load %x[%i + 61] : memref<128xf64>
    %a61 = arith.addf %a60, %l61 : f64
    %l62 = loop.load %x[%i + 62] : memref<128xf64>
    %a62 = arith.addf %a61, %l62 : f64
    loop.store %a62, %out[%i] : memref<64xf64>
  }
}
loop.kernel @more(%s: memref<64xf64>, %y: memref<64xf64>) -> (%out: memref<64xf64>) {
  loop.for %i in 64 {
    %0 = loop.load %s[%i] : memref<64xf64>
    %1 = loop.load %y[%i] : memref<64xf64>
    %2 = arith.addf %0, %1 : f64
    loop.store %2, %out[%i] : memref<64xf64>
  }
}

// -----

// Each of the many sums of a thread in a product would load 33 more elements.
// EPILOGUE: skipped at product: with product, finish would have 33 registers for loads beside its products, more than 32
func.func @main(%v: memref<64xf32>, %w: memref<64x64xf32>, %x: memref<128xf32>) -> memref<64xf32> {
  %p = memref.alloc() : memref<64xf32>
  %t = memref.alloc() : memref<64xf32>
  loop.launch @product(%v, %w) -> (%p) : (memref<64xf32>, memref<64x64xf32>) -> (memref<64xf32>)
  loop.launch @finish(%p, %x) -> (%t) : (memref<64xf32>, memref<128xf32>) -> (memref<64xf32>)
  func.return %t : memref<64xf32>
}
loop.kernel @product(%v: memref<64xf32>, %w: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %v[%k] : memref<64xf32>
      %1 = loop.load %w[%k, %i] : memref<64x64xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<64xf32>
  }
}
loop.kernel @finish(%p: memref<64xf32>, %x: memref<128xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %s = loop.load %p[%i] : memref<64xf32>
    %l0 = loop.load %x[%i + 0] : memref<128xf32>
    %a0 = arith.addf %s, %l0 : f32
    %l1 = loop.load %x[%i + 1] : memref<128xf32>
    %a1 = arith.addf %a0, %l1 : f32
    %l2 = loop.load %x[%i + 2] : memref<128xf32>
    %a2 = arith.addf %a1, %l2 : f32
    %l3 = loop.load %x[%i + 3] : memref<128xf32>
    %a3 = arith.addf %a2, %l3 : f32
    %l4 = loop.load %x[%i + 4] : memref<128xf32>
    %a4 = arith.addf %a3, %l4 : f32
    %l5 = loop.load %x[%i + 5] : memref<128xf32>
    %a5 = arith.addf %a4, %l5 : f32
    %l6 = loop.load %x[%i + 6] : memref<128xf32>
    %a6 = arith.addf %a5, %l6 : f32
    %l7 = loop.load %x[%i + 7] : memref<128xf32>
    %a7 = arith.addf %a6, %l7 : f32
    %l8 = loop.load %x[%i + 8] : memref<128xf32>
    %a8 = arith.addf %a7, %l8 : f32
    %l9 = loop.load %x[%i + 9] : memref<128xf32>
    %a9 = arith.addf %a8, %l9 : f32
    %l10 = loop.load %x[%i + 10] : memref<128xf32>
    %a10 = arith.addf %a9, %l10 : f32
    %l11 = loop.load %x[%i + 11] : memref<128xf32>
    %a11 = arith.addf %a10, %l11 : f32
    %l12 = loop.load %x[%i + 12] : memref<128xf32>
    %a12 = arith.addf %a11, %l12 : f32
    %l13 = loop.load %x[%i + 13] : memref<128xf32>
    %a13 = arith.addf %a12, %l13 : f32
    %l14 = loop.load %x[%i + 14] : memref<128xf32>
    %a14 = arith.addf %a13, %l14 : f32
    %l15 = loop.load %x[%i + 15] : memref<128xf32>
    %a15 = arith.addf %a14, %l15 : f32
    %l16 = loop.load %x[%i + 16] : memref<128xf32>
    %a16 = arith.addf %a15, %l16 : f32
    %l17 = loop.load %x[%i + 17] : memref<128xf32>
    %a17 = arith.addf %a16, %l17 : f32
    %l18 = loop.load %x[%i + 18] : memref<128xf32>
    %a18 = arith.addf %a17, %l18 : f32
    %l19 = loop.load %x[%i + 19] : memref<128xf32>
    %a19 = arith.addf %a18, %l19 : f32
    %l20 = loop.load %x[%i + 20] : memref<128xf32>
    %a20 = arith.addf %a19, %l20 : f32
    %l21 = loop.load %x[%i + 21] : memref<128xf32>
    %a21 = arith.addf %a20, %l21 : f32
    %l22 = loop.load %x[%i + 22] : memref<128xf32>
    %a22 = arith.addf %a21, %l22 : f32
    %l23 = loop.load %x[%i + 23] : memref<128xf32>
    %a23 = arith.addf %a22, %l23 : f32
    %l24 = loop.load %x[%i + 24] : memref<128xf32>
    %a24 = arith.addf %a23, %l24 : f32
    %l25 = loop.load %x[%i + 25] : memref<128xf32>
    %a25 = arith.addf %a24, %l25 : f32
    %l26 = loop.load %x[%i + 26] : memref<128xf32>
    %a26 = arith.addf %a25, %l26 : f32
    %l27 = loop.load %x[%i + 27] : memref<128xf32>
    %a27 = arith.addf %a26, %l27 : f32
    %l28 = loop.load %x[%i + 28] : memref<128xf32>
    %a28 = arith.addf %a27, %l28 : f32
    %l29 = loop.load %x[%i + 29] : memref<128xf32>
    %a29 = arith.addf %a28, %l29 : f32
    %l30 = loop.load %x[%i + 30] : memref<128xf32>
    %a30 = arith.addf %a29, %l30 : f32
    %l31 = loop.load %x[%i + 31] : memref<128xf32>
    %a31 = arith.addf %a30, %l31 : f32
    %l32 = loop.load %x[%i + 32] : memref<128xf32>
    %a32 = arith.addf %a31, %l32 : f32
    loop.store %a32, %out[%i] : memref<64xf32>
  }
}

// -----

// 32 elements are not too many.
// EPILOGUE: loop.kernel @finish_product(
func.func @main(%v: memref<64xf32>, %w: memref<64x64xf32>, %x: memref<128xf32>) -> memref<64xf32> {
  %p = memref.alloc() : memref<64xf32>
  %t = memref.alloc() : memref<64xf32>
  loop.launch @product(%v, %w) -> (%p) : (memref<64xf32>, memref<64x64xf32>) -> (memref<64xf32>)
  loop.launch @finish(%p, %x) -> (%t) : (memref<64xf32>, memref<128xf32>) -> (memref<64xf32>)
  func.return %t : memref<64xf32>
}
loop.kernel @product(%v: memref<64xf32>, %w: memref<64x64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %v[%k] : memref<64xf32>
      %1 = loop.load %w[%k, %i] : memref<64x64xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<64xf32>
  }
}
loop.kernel @finish(%p: memref<64xf32>, %x: memref<128xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %s = loop.load %p[%i] : memref<64xf32>
    %l0 = loop.load %x[%i + 0] : memref<128xf32>
    %a0 = arith.addf %s, %l0 : f32
    %l1 = loop.load %x[%i + 1] : memref<128xf32>
    %a1 = arith.addf %a0, %l1 : f32
    %l2 = loop.load %x[%i + 2] : memref<128xf32>
    %a2 = arith.addf %a1, %l2 : f32
    %l3 = loop.load %x[%i + 3] : memref<128xf32>
    %a3 = arith.addf %a2, %l3 : f32
    %l4 = loop.load %x[%i + 4] : memref<128xf32>
    %a4 = arith.addf %a3, %l4 : f32
    %l5 = loop.load %x[%i + 5] : memref<128xf32>
    %a5 = arith.addf %a4, %l5 : f32
    %l6 = loop.load %x[%i + 6] : memref<128xf32>
    %a6 = arith.addf %a5, %l6 : f32
    %l7 = loop.load %x[%i + 7] : memref<128xf32>
    %a7 = arith.addf %a6, %l7 : f32
    %l8 = loop.load %x[%i + 8] : memref<128xf32>
    %a8 = arith.addf %a7, %l8 : f32
    %l9 = loop.load %x[%i + 9] : memref<128xf32>
    %a9 = arith.addf %a8, %l9 : f32
    %l10 = loop.load %x[%i + 10] : memref<128xf32>
    %a10 = arith.addf %a9, %l10 : f32
    %l11 = loop.load %x[%i + 11] : memref<128xf32>
    %a11 = arith.addf %a10, %l11 : f32
    %l12 = loop.load %x[%i + 12] : memref<128xf32>
    %a12 = arith.addf %a11, %l12 : f32
    %l13 = loop.load %x[%i + 13] : memref<128xf32>
    %a13 = arith.addf %a12, %l13 : f32
    %l14 = loop.load %x[%i + 14] : memref<128xf32>
    %a14 = arith.addf %a13, %l14 : f32
    %l15 = loop.load %x[%i + 15] : memref<128xf32>
    %a15 = arith.addf %a14, %l15 : f32
    %l16 = loop.load %x[%i + 16] : memref<128xf32>
    %a16 = arith.addf %a15, %l16 : f32
    %l17 = loop.load %x[%i + 17] : memref<128xf32>
    %a17 = arith.addf %a16, %l17 : f32
    %l18 = loop.load %x[%i + 18] : memref<128xf32>
    %a18 = arith.addf %a17, %l18 : f32
    %l19 = loop.load %x[%i + 19] : memref<128xf32>
    %a19 = arith.addf %a18, %l19 : f32
    %l20 = loop.load %x[%i + 20] : memref<128xf32>
    %a20 = arith.addf %a19, %l20 : f32
    %l21 = loop.load %x[%i + 21] : memref<128xf32>
    %a21 = arith.addf %a20, %l21 : f32
    %l22 = loop.load %x[%i + 22] : memref<128xf32>
    %a22 = arith.addf %a21, %l22 : f32
    %l23 = loop.load %x[%i + 23] : memref<128xf32>
    %a23 = arith.addf %a22, %l23 : f32
    %l24 = loop.load %x[%i + 24] : memref<128xf32>
    %a24 = arith.addf %a23, %l24 : f32
    %l25 = loop.load %x[%i + 25] : memref<128xf32>
    %a25 = arith.addf %a24, %l25 : f32
    %l26 = loop.load %x[%i + 26] : memref<128xf32>
    %a26 = arith.addf %a25, %l26 : f32
    %l27 = loop.load %x[%i + 27] : memref<128xf32>
    %a27 = arith.addf %a26, %l27 : f32
    %l28 = loop.load %x[%i + 28] : memref<128xf32>
    %a28 = arith.addf %a27, %l28 : f32
    %l29 = loop.load %x[%i + 29] : memref<128xf32>
    %a29 = arith.addf %a28, %l29 : f32
    %l30 = loop.load %x[%i + 30] : memref<128xf32>
    %a30 = arith.addf %a29, %l30 : f32
    %l31 = loop.load %x[%i + 31] : memref<128xf32>
    %a31 = arith.addf %a30, %l31 : f32
    loop.store %a31, %out[%i] : memref<64xf32>
  }
}
