"""Well-known mobile vision architectures as ONNX models with seeded random weights.

    model = zoo_arch.build("mobilenet_v2", size=96)        # onnx.ModelProto

Shapes and operators are the real ones; weights are scaled so that activations keep a sane range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Builder = Callable[["Net", str], str]


class Net:
    """Appends ONNX nodes; every method returns the name of its output tensor."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def const(self, array: Any, dtype: Any = np.float32) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attrs: Any) -> Any:
        names = [f"{kind.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        label = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, names, name=label, **attrs))
        return names if outputs > 1 else names[0]

    def conv(
        self, x: str, cin: int, cout: int, kernel: int = 1, stride: int = 1, *, groups: int = 1,
        act: str = "", norm: bool = True, pad: int | None = None,
    ) -> str:  # fmt: skip
        """Convolution, batch normalisation or a bias, activation."""
        fan_in = cin // groups * kernel**2
        weight = self.rng.normal(0, (2 / fan_in) ** 0.5, (cout, cin // groups, kernel, kernel))
        pads = [kernel // 2 if pad is None else pad] * 4
        extra = [] if norm else [self.const(self.rng.normal(0, 0.1, cout))]
        y = self.node(
            "Conv", x, self.const(weight), *extra, kernel_shape=[kernel] * 2, pads=pads,
            strides=[stride] * 2, group=groups,
        )  # fmt: skip
        if norm:
            positive = [self.rng.uniform(0.7, 1.3, cout) for _ in range(2)]
            centred = [self.rng.normal(0, 0.1, cout) for _ in range(2)]
            y = self.node(
                "BatchNormalization",
                y,
                *(self.const(v) for v in (positive[0], *centred, positive[1])),
                epsilon=1e-3,
            )
        return self.act(y, act)

    def act(self, x: str, kind: str) -> str:
        if kind == "relu6":
            return self.node("Clip", x, self.const(0), self.const(6))
        if kind == "hardswish":
            return self.node("HardSwish", x)
        if kind == "hardswish_spelled":
            shifted = self.node("Add", x, self.const(3))
            gate = self.node("Clip", shifted, self.const(0), self.const(6))
            return self.node("Div", self.node("Mul", x, gate), self.const(6))
        if kind == "silu":
            return self.node("Mul", x, self.node("Sigmoid", x))
        return self.node("Relu", x) if kind == "relu" else x

    def dense(self, x: str, cin: int, cout: int) -> str:
        weight = self.rng.normal(0, cin**-0.5, (cout, cin))
        bias = self.rng.normal(0, 0.1, cout)
        return self.node("Gemm", x, self.const(weight), self.const(bias), transB=1)

    def head(self, x: str, channels: int, classes: int) -> str:
        x = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.dense(x, channels, classes)

    def max_pool(self, x: str, kernel: int, stride: int, pad: int = 0, ceil: int = 0) -> str:
        return self.node(
            "MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
            ceil_mode=ceil,
        )  # fmt: skip


def mobilenet_v1(n: Net, x: str) -> str:
    x = n.conv(x, 3, 32, 3, 2, act="relu6")
    channels = 32
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
    for cout, stride in plan + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        x = n.conv(x, channels, channels, 3, stride, groups=channels, act="relu6")
        x = n.conv(x, channels, cout, act="relu6")
        channels = cout
    return n.head(x, channels, 1000)


def mobilenet_v2(n: Net, x: str) -> str:
    x = n.conv(x, 3, 32, 3, 2, act="relu6")
    channels = 32
    rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)]
    for expand, cout, repeat, first in [*rows, (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeat):
            stride = first if i == 0 else 1
            wide = channels * expand
            y = x if expand == 1 else n.conv(x, channels, wide, act="relu6")
            y = n.conv(y, wide, wide, 3, stride, groups=wide, act="relu6")
            y = n.conv(y, wide, cout)
            x = n.node("Add", x, y) if stride == 1 and channels == cout else y
            channels = cout
    return n.head(n.conv(x, channels, 1280, act="relu6"), 1280, 1000)


def mobilenet_v3_small(n: Net, x: str) -> str:
    x = n.conv(x, 3, 16, 3, 2, act="hardswish")
    channels = 16
    hs, re = "hardswish_spelled", "relu"
    # kernel, expanded channels, output channels, squeeze-excite, activation, stride
    for kernel, wide, cout, squeeze, act, stride in [
        (3, 16, 16, True, re, 2), (3, 72, 24, False, re, 2), (3, 88, 24, False, re, 1),
        (5, 96, 40, True, hs, 2), (5, 240, 40, True, hs, 1), (5, 240, 40, True, hs, 1),
        (5, 120, 48, True, hs, 1), (5, 144, 48, True, hs, 1), (5, 288, 96, True, hs, 2),
        (5, 576, 96, True, hs, 1), (5, 576, 96, True, hs, 1),
    ]:  # fmt: skip
        y = x if wide == channels else n.conv(x, channels, wide, act=act)
        y = n.conv(y, wide, wide, kernel, stride, groups=wide, act=act)
        if squeeze:
            narrow = max(8, (wide // 4 + 4) // 8 * 8)
            gate = n.conv(n.node("GlobalAveragePool", y), wide, narrow, act="relu", norm=False)
            gate = n.conv(gate, narrow, wide, norm=False)
            y = n.node("Mul", y, n.node("HardSigmoid", gate, alpha=1 / 6, beta=0.5))
        y = n.conv(y, wide, cout)
        x = n.node("Add", x, y) if stride == 1 and channels == cout else y
        channels = cout
    x = n.conv(x, channels, 576, act="hardswish")
    x = n.act(n.head(x, 576, 1024), "hardswish")
    return n.dense(x, 1024, 1000)


def squeezenet1_1(n: Net, x: str) -> str:
    x = n.max_pool(n.conv(x, 3, 64, 3, 2, act="relu", norm=False, pad=0), 3, 2, ceil=1)
    channels = 64
    for i, (squeeze, expand) in enumerate(
        [(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]
    ):
        if i in (2, 4):
            x = n.max_pool(x, 3, 2, ceil=1)
        s = n.conv(x, channels, squeeze, act="relu", norm=False)
        parts = [n.conv(s, squeeze, expand, k, act="relu", norm=False) for k in (1, 3)]
        x = n.node("Concat", *parts, axis=1)
        channels = 2 * expand
    x = n.conv(x, channels, 1000, act="relu", norm=False)
    return n.node("Flatten", n.node("GlobalAveragePool", x))


def _resnet(n: Net, x: str, depths: Sequence[int], bottleneck: bool) -> str:
    x = n.max_pool(n.conv(x, 3, 64, 7, 2, act="relu"), 3, 2, 1)
    channels = 64
    for stage, depth in enumerate(depths):
        width = 64 * 2**stage
        cout = width * 4 if bottleneck else width
        for i in range(depth):
            stride = 2 if i == 0 and stage > 0 else 1
            if bottleneck:
                y = n.conv(x, channels, width, act="relu")
                y = n.conv(y, width, width, 3, stride, act="relu")
                y = n.conv(y, width, cout)
            else:
                y = n.conv(x, channels, width, 3, stride, act="relu")
                y = n.conv(y, width, cout, 3)
            if stride != 1 or channels != cout:
                x = n.conv(x, channels, cout, 1, stride)
            x = n.node("Relu", n.node("Add", y, x))
            channels = cout
    return n.head(x, channels, 1000)


def resnet18(n: Net, x: str) -> str:
    return _resnet(n, x, [2, 2, 2, 2], bottleneck=False)


def resnet50(n: Net, x: str) -> str:
    return _resnet(n, x, [3, 4, 6, 3], bottleneck=True)


def _c2f(n: Net, x: str, cin: int, cout: int, depth: int, residual: bool) -> str:
    half = cout // 2
    x = n.conv(x, cin, cout, act="silu")
    parts = n.node("Split", x, n.const([half, half], np.int64), outputs=2, axis=1)
    for _ in range(depth):
        y = n.conv(parts[-1], half, half, 3, act="silu")
        y = n.conv(y, half, half, 3, act="silu")
        parts.append(n.node("Add", parts[-1], y) if residual else y)
    return n.conv(n.node("Concat", *parts, axis=1), half * len(parts), cout, act="silu")


def yolov8n(n: Net, x: str) -> str:
    """Backbone, SPPF, feature pyramid and the decoupled head with its distribution decoding."""
    x = n.conv(x, 3, 16, 3, 2, act="silu")
    x = _c2f(n, n.conv(x, 16, 32, 3, 2, act="silu"), 32, 32, 1, True)
    p3 = _c2f(n, n.conv(x, 32, 64, 3, 2, act="silu"), 64, 64, 2, True)
    p4 = _c2f(n, n.conv(p3, 64, 128, 3, 2, act="silu"), 128, 128, 2, True)
    p5 = _c2f(n, n.conv(p4, 128, 256, 3, 2, act="silu"), 256, 256, 1, True)
    pools = [n.conv(p5, 256, 128, act="silu")]
    for _ in range(3):
        pools.append(n.max_pool(pools[-1], 5, 1, 2))
    p5 = n.conv(n.node("Concat", *pools, axis=1), 512, 256, act="silu")

    def up(v: str) -> str:
        return n.node(
            "Resize", v, "", n.const([1, 1, 2, 2]), mode="nearest", nearest_mode="floor",
            coordinate_transformation_mode="asymmetric",
        )  # fmt: skip

    n4 = _c2f(n, n.node("Concat", up(p5), p4, axis=1), 384, 128, 1, False)
    n3 = _c2f(n, n.node("Concat", up(n4), p3, axis=1), 192, 64, 1, False)
    down = n.conv(n3, 64, 64, 3, 2, act="silu")
    n4 = _c2f(n, n.node("Concat", down, n4, axis=1), 192, 128, 1, False)
    down = n.conv(n4, 128, 128, 3, 2, act="silu")
    n5 = _c2f(n, n.node("Concat", down, p5, axis=1), 384, 256, 1, False)

    boxes, scores = [], []
    for level, channels in ((n3, 64), (n4, 128), (n5, 256)):
        for found, width, cout in ((boxes, 64, 64), (scores, 80, 80)):
            y = n.conv(level, channels, width, 3, act="silu")
            y = n.conv(y, width, width, 3, act="silu")
            y = n.conv(y, width, cout, norm=False)
            found.append(n.node("Reshape", y, n.const([0, cout, -1], np.int64)))
    box = n.node("Concat", *boxes, axis=2)
    box = n.node("Reshape", box, n.const([0, 4, 16, -1], np.int64))
    box = n.node("Softmax", n.node("Transpose", box, perm=[0, 2, 1, 3]), axis=1)
    bins = n.const(np.arange(16).reshape(1, 16, 1, 1))
    box = n.node("Reshape", n.node("Conv", box, bins), n.const([0, 4, -1], np.int64))
    score = n.node("Sigmoid", n.node("Concat", *scores, axis=2))
    return n.node("Concat", box, score, axis=1)


ARCHITECTURES: dict[str, Builder] = {
    f.__name__: f
    for f in (
        mobilenet_v1, mobilenet_v2, mobilenet_v3_small, squeezenet1_1, resnet18, resnet50, yolov8n,
    )
}  # fmt: skip


def build(name: str, size: int = 224, batch: int = 1, seed: int = 0) -> onnx.ModelProto:
    """The model, input "input" [batch, 3, size, size] float32, output "output"."""
    net = Net(seed)
    last = ARCHITECTURES[name](net, "input")
    net.nodes[-1].output[list(net.nodes[-1].output).index(last)] = "output"
    graph = helper.make_graph(
        net.nodes,
        name,
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [batch, 3, size, size])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)],
        net.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    model = onnx.shape_inference.infer_shapes(model)
    onnx.checker.check_model(model)
    return model
