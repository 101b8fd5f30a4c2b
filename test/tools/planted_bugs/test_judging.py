# SPDX-License-Identifier: Apache-2.0
"""Which results `tools.planted_bugs.judging` takes for right."""

import numpy as np

from tilewright.tools.planted_bugs.judging import Judged


def test_integers_that_float64_does_not_tell_apart_are_compared():
    expected = np.array([2**62, 0])
    judged = Judged("numbers", [], [expected], [np.zeros(2)])
    assert judged.is_right([expected])
    assert not judged.is_right([expected + np.array([1, 0])])
