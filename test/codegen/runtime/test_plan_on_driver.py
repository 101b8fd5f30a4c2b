# SPDX-License-Identifier: Apache-2.0
"""Driver calls of a plan: when it is loaded, and for aligned and unaligned inputs."""

import struct
from dataclasses import replace

import pytest
import torch

from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.runtime.cuda_driver import CudaDriver
from tilewright.codegen.runtime.driver import DriverError
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.slab import Slab

from .driver_samples import FLOATS, SCALE, SOURCE
from .fake_driver import FakeDriver

CLUSTERS = replace(SCALE, cluster=8, dynamic_shared_bytes=200_000)


def test_clusters_are_asked_for_at_load(cuda_driver: CudaDriver, fake: FakeDriver):
    function = cuda_driver.load(SOURCE, "sm_90a").function("scale", 200_000)
    fake.log()
    assert function.clusters(CLUSTERS) == 16
    push, asked, pop = fake.log()
    assert asked == "clusters 0xf000000000000005 grid 3 block 128 shared 200000 attributes 0"
    assert (push, pop) == ("push 0xc0000000c0000000", "pop ")


def test_occupancy_is_asked_for(cuda_driver: CudaDriver, fake: FakeDriver):
    function = cuda_driver.load(SOURCE, "sm_90a").function("scale", 200_000)
    fake.log()
    assert function.blocks_per_sm(CLUSTERS) == 3
    assert fake.log()[1] == "blocks 0xf000000000000005 threads 128 shared 200000"
    fake.fail("blocks", 1)
    assert function.blocks_per_sm(CLUSTERS) is None


def plan_of(launch: Launch) -> Plan:
    """Return a plan with one launch, of `SOURCE`, from an input to a result."""
    return Plan(
        SOURCE,
        ("x",),
        (FLOATS, FLOATS),
        (launch,),
        (1,),
        (FLOATS,),
        {},
        Slab(),
        (16,),
        ("x", "y"),
        {},
    )


def test_clusters_that_fit_nowhere_are_an_error(cuda_driver: CudaDriver, fake: FakeDriver):
    fake.clusters(0)
    message = "kernel 'scale' cannot be launched: no group of multiprocessors of this GPU has room "
    with pytest.raises(DriverError, match=f"^{message}for a cluster of 8 of its blocks"):
        LoadedPlan(plan_of(CLUSTERS), cuda_driver, "sm_90a")
    LoadedPlan(plan_of(SCALE), cuda_driver, "sm_90a")


def test_a_driver_that_does_not_report_clusters(cuda_driver: CudaDriver, fake: FakeDriver):
    fake.fail("clusters", 1)
    function = cuda_driver.load(SOURCE, "sm_90a").function("scale", 0)
    assert function.clusters(CLUSTERS) is None


def test_unaligned_inputs_are_copied(cuda_driver: CudaDriver, fake: FakeDriver):
    run = LoadedPlan(plan_of(SCALE), cuda_driver, "sm_90a")
    aligned = torch.zeros(64, 32)
    unaligned = torch.zeros(64 * 32 + 1)[1:].view(64, 32)
    passed: list[int] = []
    for x in (aligned, unaligned):
        fake.log()
        run([x])
        (launch,) = (line for line in fake.log() if line.startswith("cuLaunchKernelEx"))
        (address, _) = struct.unpack("=2Q", bytes.fromhex(launch.split()[-1]))
        passed.append(address)
    assert passed[0] == aligned.data_ptr()
    assert passed[1] != unaligned.data_ptr()
    assert passed[1] % 16 == 0
