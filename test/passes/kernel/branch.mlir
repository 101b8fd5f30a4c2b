// RUN: not opt-tool %S/Inputs/branch.mlir -p to-tile,to-kernel 2>&1 | filecheck %s

// Control flow is not Tile IR; none of it is silently copied.
// CHECK: error: pass 'convert-tile-to-kernel': cannot lower 'scf.if'
