# SPDX-License-Identifier: Apache-2.0
"""
Proofs of Kernel IR: subscripts are within bounds, threads have no races in shared memory, and rings
count their fills.

A point has the steps of loops and the number of a thread. A race has two points in one block.
"""
