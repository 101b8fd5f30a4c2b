// RUN: opt-tool %s -p plan-schedules --remarks --check=each 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'plan-schedules{target=sm_1}' 2>&1 | filecheck %s --check-prefix=TARGET

// CHECK:  --- t:000_plan_schedules skipped at planned: its steps are planned
// CHECK:  --- t:000_plan_schedules skipped at launched: it is a launch already
// TARGET: error: pass 'plan-schedules': unknown target 'sm_1' (did you mean sm_120 or sm_100a? known: sm_80,

// Steps that were planned by hand stay, even poor ones.
// CHECK-LABEL: loop.kernel @planned
// CHECK:       } planned "tileify,blockify-launch{n=33}"
loop.kernel @planned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
} planned "tileify,blockify-launch{n=33}"

// A kernel that was scheduled by hand is not planned.
// CHECK-LABEL: loop.kernel @launched
// CHECK-NOT:   plan
loop.kernel @launched(%x: memref<33xf32>) -> (%out: memref<33xf32>) {
  tile.launch (%t = thread 33) {
    %0 = loop.load %x[%t] : memref<33xf32>
    loop.store %0, %out[%t] : memref<33xf32>
  }
}
