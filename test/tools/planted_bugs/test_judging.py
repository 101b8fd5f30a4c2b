# SPDX-License-Identifier: Apache-2.0
"""Results that `tools.planted_bugs.judging` accepts as right."""

import numpy as np

from tilewright.tools.planted_bugs.judging import Judged


def test_integers_beyond_float64_are_compared_exactly():
    expected = np.array([2**62, 0])
    judged = Judged("numbers", [], [expected], [np.zeros(2)])
    assert judged.is_right([expected])
    assert not judged.is_right([expected + np.array([1, 0])])
