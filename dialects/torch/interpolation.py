# SPDX-License-Identifier: Apache-2.0
"""
Torch ops that resize sequences, images and volumes: all dimensions after batch and channels.

Each op has two overloads. `.vec` takes output sizes or scale factors, as `F.interpolate` passes
them. The plain overload takes output sizes, and optionally the scales behind them, which then
determine where elements are read.
"""

from typing import ClassVar

from tilewright.dialects.torch.op import torch_op
from tilewright.dialects.torch.resizing import (
    CubicResizeOp,
    LinearResizeOp,
    NearestExactResizeOp,
    NearestResizeOp,
    PlainResize1dOp,
    PlainResize2dOp,
    PlainResize3dOp,
    VecResizeOp,
)


@torch_op("upsample_nearest1d")
class UpsampleNearest1dOp(NearestResizeOp, PlainResize1dOp):
    """
    The sequence resized with the nearest element, found by rounding the position down.

        %1 = torch.upsample_nearest1d %0 output_size [8]
            : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    """


@torch_op("upsample_nearest1d.vec")
class UpsampleNearest1dVecOp(NearestResizeOp, VecResizeOp):
    """
    The sequence resized with the nearest element, found by rounding the position down.

        %1 = torch.upsample_nearest1d.vec %0 scale_factors [2.000000e+00]
            : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    """

    DIMS: ClassVar[int] = 1


@torch_op("upsample_nearest2d")
class UpsampleNearest2dOp(NearestResizeOp, PlainResize2dOp):
    """
    The image resized with the nearest element, found by rounding the position down.

        %1 = torch.upsample_nearest2d %0 output_size [8, 12]
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """


@torch_op("upsample_nearest2d.vec")
class UpsampleNearest2dVecOp(NearestResizeOp, VecResizeOp):
    """
    The image resized with the nearest element, found by rounding the position down.

        %1 = torch.upsample_nearest2d.vec %0 scale_factors [2.000000e+00, 2.000000e+00]
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """

    DIMS: ClassVar[int] = 2


@torch_op("upsample_nearest3d")
class UpsampleNearest3dOp(NearestResizeOp, PlainResize3dOp):
    """
    The volume resized with the nearest element, found by rounding the position down.

        %1 = torch.upsample_nearest3d %0 output_size [4, 8, 12]
            : (tensor<1x3x2x4x6xf32>) -> tensor<1x3x4x8x12xf32>
    """


@torch_op("upsample_nearest3d.vec")
class UpsampleNearest3dVecOp(NearestResizeOp, VecResizeOp):
    """
    The volume resized with the nearest element, found by rounding the position down.

        %1 = torch.upsample_nearest3d.vec %0 output_size [4, 8, 12]
            : (tensor<1x3x2x4x6xf32>) -> tensor<1x3x4x8x12xf32>
    """

    DIMS: ClassVar[int] = 3


@torch_op("_upsample_nearest_exact1d")
class UpsampleNearestExact1dOp(NearestExactResizeOp, PlainResize1dOp):
    """
    The sequence resized with the element nearest to each position's centre.

        %1 = torch._upsample_nearest_exact1d %0 output_size [8]
            : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    """


@torch_op("_upsample_nearest_exact1d.vec")
class UpsampleNearestExact1dVecOp(NearestExactResizeOp, VecResizeOp):
    """
    The sequence resized with the element nearest to each position's centre.

        %1 = torch._upsample_nearest_exact1d.vec %0 scale_factors [2.000000e+00]
            : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    """

    DIMS: ClassVar[int] = 1


@torch_op("_upsample_nearest_exact2d")
class UpsampleNearestExact2dOp(NearestExactResizeOp, PlainResize2dOp):
    """
    The image resized with the element nearest to each position's centre.

        %1 = torch._upsample_nearest_exact2d %0 output_size [8, 12]
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """


@torch_op("_upsample_nearest_exact2d.vec")
class UpsampleNearestExact2dVecOp(NearestExactResizeOp, VecResizeOp):
    """
    The image resized with the element nearest to each position's centre.

        %1 = torch._upsample_nearest_exact2d.vec %0 scale_factors [2.000000e+00, 2.000000e+00]
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """

    DIMS: ClassVar[int] = 2


@torch_op("_upsample_nearest_exact3d")
class UpsampleNearestExact3dOp(NearestExactResizeOp, PlainResize3dOp):
    """
    The volume resized with the element nearest to each position's centre.

        %1 = torch._upsample_nearest_exact3d %0 output_size [4, 8, 12]
            : (tensor<1x3x2x4x6xf32>) -> tensor<1x3x4x8x12xf32>
    """


@torch_op("_upsample_nearest_exact3d.vec")
class UpsampleNearestExact3dVecOp(NearestExactResizeOp, VecResizeOp):
    """
    The volume resized with the element nearest to each position's centre.

        %1 = torch._upsample_nearest_exact3d.vec %0 output_size [4, 8, 12]
            : (tensor<1x3x2x4x6xf32>) -> tensor<1x3x4x8x12xf32>
    """

    DIMS: ClassVar[int] = 3


@torch_op("upsample_linear1d")
class UpsampleLinear1dOp(LinearResizeOp, PlainResize1dOp):
    """
    The sequence resized by linear interpolation.

        %1 = torch.upsample_linear1d %0 output_size [8] align_corners false
            : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    """


@torch_op("upsample_linear1d.vec")
class UpsampleLinear1dVecOp(LinearResizeOp, VecResizeOp):
    """
    The sequence resized by linear interpolation.

        %1 = torch.upsample_linear1d.vec %0 align_corners false scale_factors [2.000000e+00]
            : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    """

    DIMS: ClassVar[int] = 1


@torch_op("upsample_bilinear2d")
class UpsampleBilinear2dOp(LinearResizeOp, PlainResize2dOp):
    """
    The image resized by linear interpolation in both dimensions.

        %1 = torch.upsample_bilinear2d %0 output_size [8, 12] align_corners false
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """


@torch_op("upsample_bilinear2d.vec")
class UpsampleBilinear2dVecOp(LinearResizeOp, VecResizeOp):
    """
    The image resized by linear interpolation in both dimensions.

        %1 = torch.upsample_bilinear2d.vec %0 align_corners false
            scale_factors [2.000000e+00, 2.000000e+00]
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """

    DIMS: ClassVar[int] = 2


@torch_op("upsample_trilinear3d")
class UpsampleTrilinear3dOp(LinearResizeOp, PlainResize3dOp):
    """
    The volume resized by linear interpolation in all dimensions.

        %1 = torch.upsample_trilinear3d %0 output_size [4, 8, 12] align_corners false
            : (tensor<1x3x2x4x6xf32>) -> tensor<1x3x4x8x12xf32>
    """


@torch_op("upsample_trilinear3d.vec")
class UpsampleTrilinear3dVecOp(LinearResizeOp, VecResizeOp):
    """
    The volume resized by linear interpolation in all dimensions.

        %1 = torch.upsample_trilinear3d.vec %0 align_corners false output_size [4, 8, 12]
            : (tensor<1x3x2x4x6xf32>) -> tensor<1x3x4x8x12xf32>
    """

    DIMS: ClassVar[int] = 3


@torch_op("upsample_bicubic2d")
class UpsampleBicubic2dOp(CubicResizeOp, PlainResize2dOp):
    """
    The image resized by cubic interpolation in both dimensions.

        %1 = torch.upsample_bicubic2d %0 output_size [8, 12] align_corners false
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """


@torch_op("upsample_bicubic2d.vec")
class UpsampleBicubic2dVecOp(CubicResizeOp, VecResizeOp):
    """
    The image resized by cubic interpolation in both dimensions.

        %1 = torch.upsample_bicubic2d.vec %0 align_corners false
            scale_factors [2.000000e+00, 2.000000e+00]
            : (tensor<1x3x4x6xf32>) -> tensor<1x3x8x12xf32>
    """

    DIMS: ClassVar[int] = 2
