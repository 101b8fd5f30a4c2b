# SPDX-License-Identifier: Apache-2.0
"""Torch ops that normalise channels, dimension 1: batch, instance and group norm."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.normalization import NormOp
from tilewright.dialects.torch.op import (
    TENSOR,
    TensorOp,
    boolean,
    integer,
    opt_tensor,
    real,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.types import element_of, shape_of


class ChannelNormOp(NormOp):
    """
    Base class of normalisations with one weight and bias, and perhaps mean and variance, for each
    channel.
    """

    input = tensor()

    def channel_norm(self, *parameters: SSAValue | None) -> tuple[int, ...]:
        """
        Return the input's shape; raise `VerifyException` unless the parameters match its channels.
        """
        self.check_parameters(self.input, *parameters)
        shape = shape_of(self.input)
        if len(shape) < 2:
            raise VerifyException(f"the input has batch and channels, not shape {shown(shape)}")
        for parameter in parameters:
            if parameter is not None and shape_of(parameter) != shape[1:2]:
                raise VerifyException(
                    f"weight, bias and statistics have one element for each channel, {shape[1]}, "
                    f"not shape {shown(shape_of(parameter))}"
                )
        return shape


# --- Group norm ------------------------------------------------------------------------------


def check_groups(channels: int, groups: int) -> None:
    """Raise `VerifyException` unless the channels divide into `groups` equal groups."""
    if groups < 1 or channels % groups:
        raise VerifyException(f"{channels} channels do not divide into {groups} equal groups")


@torch_op("group_norm")
class GroupNormOp(ChannelNormOp, TensorOp):
    """
    (input - mean) / sqrt(variance + eps) * weight + bias, with statistics of each group of
    channels.

        %1 = torch.group_norm %0 num_groups 2 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    """

    input = tensor()
    num_groups = integer()
    weight = opt_tensor()
    bias = opt_tensor()
    eps = real(1e-5)
    cudnn_enabled = boolean(True)

    def result_shape(self) -> tuple[int, ...]:
        shape = self.channel_norm(self.weight, self.bias)
        check_groups(shape[1], self.num_groups.value.data)
        return shape

    def result_element(self) -> Attribute:
        return element_of(self.input)


@torch_op("native_group_norm")
class NativeGroupNormOp(ChannelNormOp):
    """
    group_norm, the mean, and 1 / sqrt(variance + eps); N, C and HxW must be the input's sizes.

        %1, %2, %3 = torch.native_group_norm %0 N 2 C 4 HxW 8 group 2 eps 1.0e-05
            : (tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
    """

    input = tensor()
    weight = opt_tensor()
    bias = opt_tensor()
    N = integer()
    C = integer()
    HxW = integer()
    group = integer()
    eps = real()
    normed = result_def(TENSOR)
    mean = result_def(TENSOR)
    rstd = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape = self.channel_norm(self.weight, self.bias)
        sizes = [size.value.data for size in (self.N, self.C, self.HxW)]
        if sizes != [*shape[:2], prod(shape[2:])]:
            raise VerifyException(f"N, C, HxW are {sizes}, but the input is {shown(shape)}")
        groups = self.group.value.data
        check_groups(shape[1], groups)
        element = self.statistics_element(self.input, self.weight, self.bias)
        statistic = TensorType(element, (shape[0], groups))
        return [TensorType(element_of(self.input), shape), statistic, statistic]


# --- Batch and instance norm -----------------------------------------------------------------


@torch_op("instance_norm")
class InstanceNormOp(ChannelNormOp, TensorOp):
    """
    (input - mean) / sqrt(variance + eps) * weight + bias, normalised for each channel of each
    sample.

    Without `use_input_stats`, mean and variance are the running statistics.

        %1 = torch.instance_norm %0
            use_input_stats true momentum 0.1 eps 1.0e-05 cudnn_enabled false
            : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    """

    input = tensor()
    weight = opt_tensor()
    bias = opt_tensor()
    running_mean = opt_tensor()
    running_var = opt_tensor()
    use_input_stats = boolean()
    momentum = real()
    eps = real()
    cudnn_enabled = boolean()

    def result_shape(self) -> tuple[int, ...]:
        running = self.running_mean, self.running_var
        updates = bool(self.use_input_stats.value.data)
        if updates and running != (None, None):
            raise VerifyException(
                "running statistics are updated in training: call eval() on the module, or set "
                "use_input_stats to false"
            )
        if not updates and None in running:
            raise VerifyException("without use_input_stats, pass running_mean and running_var")
        return self.channel_norm(self.weight, self.bias, *running)

    def result_element(self) -> Attribute:
        return element_of(self.input)


class BatchNormLikeOp(ChannelNormOp):
    """
    Base class of batch norms: they return the normalised input, and the statistics that training
    needs.
    """

    normed = result_def(TENSOR)
    save_mean = result_def(TENSOR)
    save_rstd = result_def(TENSOR)


@torch_op("_native_batch_norm_legit_no_training")
class BatchNormOp(BatchNormLikeOp):
    """
    (input - running_mean) / sqrt(running_var + eps) * weight + bias, and two empty tensors.

        %3, %4, %5 = torch._native_batch_norm_legit_no_training %0, %1, %2 momentum 0.1 eps 1.0e-05
            : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
            -> (tensor<2x4x8xf32>, tensor<0xf32>, tensor<0xf32>)
    """

    input = tensor()
    weight = opt_tensor()
    bias = opt_tensor()
    running_mean = tensor()
    running_var = tensor()
    momentum = real()
    eps = real()

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        parameters = self.weight, self.bias, self.running_mean, self.running_var
        shape = self.channel_norm(*parameters)
        empty = TensorType(self.statistics_element(self.input, *parameters), (0,))
        return [TensorType(element_of(self.input), shape), empty, empty]


@torch_op("_native_batch_norm_legit.no_stats")
class BatchNormNoStatsOp(BatchNormLikeOp):
    """
    (input - mean) / sqrt(variance + eps) * weight + bias, the mean, and 1 / sqrt(variance + eps).

    The statistics are of each channel of the input, for a module without running statistics.

        %1, %2, %3 = torch._native_batch_norm_legit.no_stats %0
            training true momentum 0.1 eps 1.0e-05
            : (tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
    """

    input = tensor()
    weight = opt_tensor()
    bias = opt_tensor()
    training = boolean()
    momentum = real()
    eps = real()

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape = self.channel_norm(self.weight, self.bias)
        if 0 in shape:
            raise VerifyException(f"an input without elements has no statistics: {shown(shape)}")
        if not self.training.value.data:
            raise VerifyException("there are no running statistics: training must be true")
        element = self.statistics_element(self.input, self.weight, self.bias)
        statistic = TensorType(element, shape[1:2])
        return [TensorType(element_of(self.input), shape), statistic, statistic]
