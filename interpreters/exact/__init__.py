# SPDX-License-Identifier: Apache-2.0
"""
Exact number systems for the interpreters, in which equal programs have equal results.

With integers, all sums are exact, and other functions are opaque: deterministic, but otherwise
arbitrary. In the residues of `modulus.py`, division and `exp` have their algebra, too.
"""
