# SPDX-License-Identifier: Apache-2.0
"""
The records of one kernel on one device, with schedules that use the kernel's own names of inputs.
"""

from tilewright.dialects import loop
from tilewright.tuning.database import Database
from tilewright.tuning.kernel_key import input_names, note_of
from tilewright.tuning.key import Key, Record
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.operand_names import from_canonical, to_canonical


class KernelRecords:
    """
    Records of `kernel`, a nest of Loop IR, in a database under `key` (`kernel_key.key_of`).

    `origin` is an expression that contains the kernel, in the form that `-c` accepts, or empty.
    """

    def __init__(self, database: Database, kernel: loop.KernelOp, key: Key, origin: str = ""):
        self.key = key
        self._database = database
        self._names = input_names(kernel)
        database.describe(note_of(kernel, origin))

    def add(self, measurement: Measurement) -> None:
        """Store a measurement; it is on disk when this returns."""
        schedule = to_canonical(measurement.schedule, self._names)
        self._database.add(self.key, measurement._replace(schedule=schedule))

    def measurements(self) -> list[Measurement]:
        """
        Return all measurements: the fastest first, failures last. A resumed search starts with
        them.
        """
        return [self._named(record) for record in self._database.measurements(self.key)]

    def _named(self, record: Record) -> Measurement:
        schedule = from_canonical(record.measurement.schedule, self._names)
        return record.measurement._replace(schedule=schedule)
