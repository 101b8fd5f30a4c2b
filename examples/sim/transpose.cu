// Transpose by tiles in shared memory. A barrier between the two accesses to the tile is missing.
//
//   tilewright sim examples/sim/transpose.cu --grid 2,2 --block 32,32 \
//     --args f32[33,40]=arange f32[40,33] i32=33 i32=40

__global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  int row = blockIdx.x * 32 + threadIdx.y;
  int column = blockIdx.y * 32 + threadIdx.x;
  if (row < columns && column < rows)
    out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}
