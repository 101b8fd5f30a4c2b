// RUN: opt-tool %s -p split-joins --check=each | filecheck %s
// RUN: opt-tool %s -p to-kernel --check=each | filecheck %s --check-prefix=KERNEL
// RUN: opt-tool %S/Inputs/join-unlaunched.mlir -p split-joins,convert-tile-to-kernel --check=each | filecheck %s --check-prefix=ALONE
// RUN: not opt-tool %s -p convert-tile-to-kernel 2>&1 | filecheck %s --check-prefix=FIRST
// RUN: not opt-tool %S/Inputs/join-stores-twice.mlir -p split-joins 2>&1 | filecheck %s --check-prefix=TWICE

// FIRST: error: pass 'convert-tile-to-kernel': cannot lower @scaled_sum: join(workspace) takes two kernels; run split-joins first
// TWICE: error: pass 'split-joins': @k stores to %out before and after its blocks join; use join(last_block)

// A second kernel joins the partial results of the blocks, and does the following work; it computes
// the values that it needs from before again. Warps join their own values first.
// CHECK:      func.func @main(
// CHECK-NEXT:   %out = memref.alloc() : memref<5x2xf32>
// CHECK-NEXT:   %ids = memref.alloc() : memref<5xi32>
// CHECK-NEXT:   %partials = memref.alloc() : memref<4x5x2xf32>
// CHECK-NEXT:   loop.launch @scaled_sum_partials(%x) -> (%partials, %ids)
// CHECK-NEXT:   loop.launch @scaled_sum_join(%w, %partials) -> (%out)
// CHECK-NEXT:   %out_1 = memref.alloc() : memref<5x2xf32>
// CHECK-NEXT:   %ids_1 = memref.alloc() : memref<5xi32>
// CHECK-NEXT:   %partials_1 = memref.alloc() : memref<4x5x2xf32>
// CHECK-NEXT:   loop.launch @scaled_sum_partials(%x) -> (%partials_1, %ids_1)
// CHECK-NEXT:   loop.launch @scaled_sum_join(%w, %partials_1) -> (%out_1)
// CHECK:      loop.kernel @scaled_sum_partials(%x: memref<4x5x2x100xf32>) -> (%partials: memref<4x5x2xf32>, %ids: memref<5xi32>) {
// CHECK-NEXT:   tile.launch (%s = block 4 split, %b = block 5, %t = thread 128, %v = register 2) {
// CHECK-NEXT:     %id = loop.index [%b * 3] : i32
// CHECK-NEXT:     loop.store %id, %ids[%b] where [0 - %t, 0 - %s] : memref<5xi32>
// CHECK-NEXT:     %0 = loop.load %x[%s, %b, %v, %t] where [99 - %t] : memref<4x5x2x100xf32>
// CHECK-NEXT:     %1 = tile.combine %0 across %t with add where [99 - %t] : f32
// CHECK-NEXT:     loop.store %1, %partials[%s, %b, %v] where [0 - %t] : memref<4x5x2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @scaled_sum_join(%w: memref<2x3xf32>, %partials: memref<4x5x2xf32>) -> (%out: memref<5x2xf32>) {
// CHECK-NEXT:   %two = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:   tile.launch (%b = block 5, %t = thread 128, %v = register 2) {
// CHECK-NEXT:     %scale = loop.reduce %k in 3 with max {
// CHECK-NEXT:       %0 = loop.load %w[%v, %k] : memref<2x3xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = loop.reduce %r in 4 with add {
// CHECK-NEXT:       %1 = loop.load %partials[%r, %b, %v] : memref<4x5x2xf32>
// CHECK-NEXT:       loop.yield %1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %2 = arith.mulf %sum, %scale : f32
// CHECK-NEXT:     %3 = arith.mulf %2, %two : f32
// CHECK-NEXT:     loop.store %3, %out[%b, %v] where [0 - %t] : memref<5x2xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// The workspace is an intermediate buffer like others.
// KERNEL: %partials = memref.alloc() {plan.offset = 0 : i64} : memref<4x5x2xf32>
// KERNEL: kernel.func grid 20 block 128 @scaled_sum_partials(
// KERNEL: kernel.func grid 5 block 128 @scaled_sum_join(

func.func @main(%x: memref<4x5x2x100xf32>, %w: memref<2x3xf32>) -> (memref<5x2xf32>, memref<5x2xf32>, memref<5xi32>) {
  %out = memref.alloc() : memref<5x2xf32>
  %ids = memref.alloc() : memref<5xi32>
  loop.launch @scaled_sum(%x, %w) -> (%out, %ids) : (memref<4x5x2x100xf32>, memref<2x3xf32>) -> (memref<5x2xf32>, memref<5xi32>)
  %out_1 = memref.alloc() : memref<5x2xf32>
  %ids_1 = memref.alloc() : memref<5xi32>
  loop.launch @scaled_sum(%x, %w) -> (%out_1, %ids_1) : (memref<4x5x2x100xf32>, memref<2x3xf32>) -> (memref<5x2xf32>, memref<5xi32>)
  func.return %out, %out_1, %ids_1 : memref<5x2xf32>, memref<5x2xf32>, memref<5xi32>
}
loop.kernel @scaled_sum(%x: memref<4x5x2x100xf32>, %w: memref<2x3xf32>) -> (%out: memref<5x2xf32>, %ids: memref<5xi32>) {
  %two = arith.constant 2.0 : f32
  tile.launch (%s = block 4 split, %b = block 5, %t = thread 128, %v = register 2) {
    %id = loop.index [%b * 3] : i32
    loop.store %id, %ids[%b] where [0 - %t] : memref<5xi32>
    %scale = loop.reduce %k in 3 with max {
      %0 = loop.load %w[%v, %k] : memref<2x3xf32>
      loop.yield %0 : f32
    } : f32
    %1 = loop.load %x[%s, %b, %v, %t] where [99 - %t] : memref<4x5x2x100xf32>
    %sum = tile.combine %1 across %s, %t with add where [99 - %t] join(workspace) : f32
    %2 = arith.mulf %sum, %scale : f32
    %3 = arith.mulf %2, %two : f32
    loop.store %3, %out[%b, %v] where [0 - %t] : memref<5x2xf32>
  }
}

// A kernel without launches becomes a function; a mask that no block can apply later is applied
// immediately.
// ALONE:      kernel.func grid 6 block 32 @most_partials(%x: memref<6x32xf32>) -> (%partials: memref<6x32xf32>, %partials_1: memref<6x32xi64>) {
// ALONE:        loop.predicate [4 - %r * 3 - %s] : i1
// ALONE:        arith.select
// ALONE:      kernel.func grid 1 block 32 @most_join(%partials: memref<6x32xf32>, %partials_1: memref<6x32xi64>) -> (%value: memref<32xf32>, %where: memref<32xi64>) {
// ALONE:      func.func public @most(%x: memref<6x32xf32>) -> (memref<32xf32>, memref<32xi64>) {
// ALONE:        loop.launch @most_partials(%x) -> (%partials, %partials_1)
// ALONE-NEXT:   loop.launch @most_join(%partials, %partials_1) -> (%value, %where)
// ALONE-NEXT:   func.return %value, %where
