// A transposition of 33 by 65 elements through a padded slab. The mask of the rows is missing in the
// load: the last block reads beyond the end. `tilewright prove` finds the step.
loop.kernel @transpose(%x: memref<33x65xf32>) -> (%out: memref<65x33xf32>) {
  tile.launch (%bi = block 3, %bj = block 5, %ti = thread 16, %tj = thread 16) {
    %0 = loop.load %x[%bi * 16 + %ti, %bj * 16 + %tj] where [64 - %bj * 16 - %tj] : memref<33x65xf32>
    %xs = tile.share %0 at [%ti, %tj] : memref<16x16xf32, #tile.layout<pad [0, 1]>, 3 : i64>
    %1 = loop.load %xs[%tj, %ti] : memref<16x16xf32, #tile.layout<pad [0, 1]>, 3 : i64>
    loop.store %1, %out[%bj * 16 + %ti, %bi * 16 + %tj] where [64 - %bj * 16 - %ti, 32 - %bi * 16 - %tj] : memref<65x33xf32>
  }
}
