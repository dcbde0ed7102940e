"""Small graphs: post-op fusion, residuals, values used twice, layouts changing in the middle."""

from foveal.conformance.kit import Net, net_cases, rand, weight

ACTIVATIONS = [
    ("relu", {}),
    ("clip", {"min": 0.0, "max": 6.0}),
    ("hardswish", {}),
    ("silu", {}),
    ("sigmoid", {}),
    ("tanh", {}),
    ("leaky_relu", {"alpha": 0.1}),
    ("elu", {}),
    ("hardsigmoid", {}),
    ("gelu", {}),
    ("mish", {}),
    ("softplus", {}),
]


def conv(net, x, c, o, k=3, group=1, bias=True, **attrs):
    b = weight(o) if bias else None
    pad = (k // 2,) * 4
    return net.op("conv2d", x, weight(o, c // group, k, k), b, pad=pad, group=group, **attrs)


def start(*shape):
    net = Net()
    return net, net.add(rand(*shape))


def conv_act(op, attrs, c=5, o=9, k=3, group=1):
    net, x = start(1, c, 5, 6)
    return net.result(net.op(op, conv(net, x, c, o, k, group), **attrs))


def prelu(c, slope, group=1):
    net, x = start(1, c, 5, 6)
    return net.result(net.op("prelu", conv(net, x, c, c, 3, group), slope))


def residual(c, act_first, second="conv"):
    """conv + x, then an activation, or the other way round; x is needed after the convolution."""
    net, x = start(1, c, 6, 5)
    y = conv(net, x, c, c, 3)
    if act_first:
        y = net.op("relu", y)
    other = conv(net, x, c, c, 1) if second == "conv" else x
    y = net.op("add", other, y) if second == "swapped" else net.op("add", y, other)
    return net.result(y if act_first else net.op("relu", y))


def operand(op, shape, c=9, swap=False):
    """conv followed by an operator with a constant operand."""
    net, x = start(2, c, 4, 5)
    y, k = conv(net, x, c, c, 1), net.add(weight(*shape, lo=0.5, hi=2))
    if op == "div" and swap:
        y = net.op("clip", y, min=0.5)  # quotients by something near zero prove nothing
    return net.result(net.op(op, k, y) if swap else net.op(op, y, k))


def squeeze_excite(c):
    net, x = start(1, c, 6, 6)
    y = conv(net, x, c, c, 3, group=c)
    s = net.op("pool2d", y, mode="average", kernel=(6, 6))
    s = net.op("relu", conv(net, s, c, 4, 1))
    s = net.op("hardsigmoid", conv(net, s, 4, c, 1))
    return net.result(net.op("mul", y, s))


def inverted_residual(c):
    net, x = start(1, c, 7, 7)
    y = net.op("clip", conv(net, x, c, 3 * c, 1), min=0.0, max=6.0)
    y = net.op("clip", conv(net, y, 3 * c, 3 * c, 3, group=3 * c), min=0.0, max=6.0)
    y = conv(net, y, 3 * c, c, 1)
    return net.result(net.op("add", x, y))


def two_outputs():
    """An inner value that is also a result must not be overwritten or fused away."""
    net, x = start(1, 6, 5, 5)
    y = conv(net, x, 6, 6)
    z = net.op("relu", y)
    return net.result(z, y)


def diamond():
    net, x = start(1, 7, 5, 5)
    a, b = conv(net, x, 7, 8, 1), conv(net, x, 7, 8, 3)
    c = net.op("mul", net.op("sigmoid", a), a)
    return net.result(net.op("add", c, b), net.op("mul", b, b))


def pointwise_chain(*shape):
    net, x = start(*shape)
    y = net.op("mul", x, weight(shape[1], *[1] * (len(shape) - 2)))
    y = net.op("add", y, weight(shape[1], *[1] * (len(shape) - 2)))
    y = net.op("clip", y, min=-1.0, max=1.5)
    y = net.op("mul", y, net.op("sigmoid", x))
    return net.result(net.op("sub", y, x))


def nhwc_head(c):
    """What detectors end in: channels moved last, flattened, joined over scales."""
    net, x = start(1, c, 8, 8)
    parts = []
    for out, stride in ((6, 1), (18, 2)):
        y = conv(net, x, c, out, 3, stride=(stride, stride))
        y = net.op("transpose", y, perm=(0, 2, 3, 1))
        parts.append(net.op("reshape", y, shape=(1, -1, 3)))
    return net.result(net.op("softmax", net.op("concat", *parts, axis=1), axis=2))


def unet():
    net, x = start(1, 3, 8, 8)
    a = net.op("relu", conv(net, x, 3, 5))
    b = net.op("pool2d", a, mode="max", kernel=(2, 2), stride=(2, 2))
    b = net.op("relu", conv(net, b, 5, 9))
    up = net.op("resize", b, scale=(2.0, 2.0), mode="bilinear")
    return net.result(conv(net, net.op("concat", a, up, axis=1), 14, 2, 1))


def shuffle(c, groups):
    net, x = start(1, c, 4, 4)
    y = conv(net, x, c, c, 1, group=groups)
    y = net.op("reshape", y, shape=(1, groups, c // groups, 4, 4))
    y = net.op("transpose", y, perm=(0, 2, 1, 3, 4))
    y = net.op("reshape", y, shape=(1, c, 4, 4))
    return net.result(conv(net, y, c, c, 3, group=c))


def classifier(c):
    net, x = start(2, 3, 9, 9)
    y = net.op("relu", conv(net, x, 3, c, 3, stride=(2, 2)))
    y = net.op("reduce_mean", y, axes=(2, 3), keepdims=0)
    y = net.op("matmul", y, weight(10, c), weight(10), transpose_b=1)
    return net.result(net.op("softmax", y))


def matmul_act(op, attrs):
    net, x = start(3, 17)
    y = net.op("matmul", x, weight(17, 9), weight(9))
    return net.result(net.op(op, y, **attrs))


def split_attention(c):
    net, x = start(1, 2 * c, 5, 5)
    y = conv(net, x, 2 * c, 2 * c)
    a = net.op("split", y, outputs=2, axis=1, sizes=(c, c))
    return net.result(net.op("concat", net.op("add", a, a + 1), a, a + 1, axis=1))


def padded_residual():
    """BlazeFace: the skip path is pooled and its channels are padded with zeros."""
    net, x = start(1, 5, 8, 8)
    y = conv(net, x, 5, 5, 3, group=5, stride=(2, 2))
    y = conv(net, y, 5, 9, 1)
    skip = net.op("pool2d", x, mode="max", kernel=(2, 2), stride=(2, 2))
    skip = net.op("pad", skip, pads=(0, 0, 0, 0, 0, 4, 0, 0))
    return net.result(net.op("relu", net.op("add", y, skip)))


def input_as_output():
    net, x = start(1, 5, 3, 3)
    return net.result(net.op("relu", x), x)


def same_output_twice_used():
    net, x = start(1, 5, 3, 3)
    y = net.op("add", x, x)
    return net.result(net.op("mul", y, y))


def constant_only():
    """Nothing depends on an input: computed all the same."""
    net, x = start(1, 5, 3, 3)
    y = net.op("sigmoid", weight(1, 5, 3, 3))
    return net.result(net.op("add", x, y))


def reshape_between(c):
    """A view of a blocked tensor."""
    net, x = start(1, c, 4, 4)
    y = net.op("reshape", conv(net, x, c, 2 * c, 1), shape=(1, c, 8, 4))
    return net.result(conv(net, y, c, 3, 3))


nets = {f"conv {op}": conv_act(op, attrs) for op, attrs in ACTIVATIONS}
nets |= {f"depthwise {op}": conv_act(op, a, 9, 9, 3, 9) for op, a in ACTIVATIONS[:4]}
nets |= {f"1x1 {op}": conv_act(op, a, 17, 6, 1) for op, a in ACTIVATIONS[:4]}
nets |= {f"matmul {op}": matmul_act(op, attrs) for op, attrs in ACTIVATIONS}
nets |= {f"prelu c{c}": prelu(c, weight(c, 1, 1)) for c in (3, 8, 17)}
nets |= {"prelu one": prelu(6, weight(1)), "prelu depthwise": prelu(9, weight(9, 1, 1), 9)}
nets |= {
    f"residual c{c} {'act-add' if first else 'add-act'} {second}": residual(c, first, second)
    for c in (4, 9)
    for first in (True, False)
    for second in ("x", "conv", "swapped")
}
nets |= {
    f"conv {op} {shape}{' swapped' if swap else ''}": operand(op, shape, swap=swap)
    for op in ("add", "mul", "sub", "div", "max", "min")
    for shape in [(), (1,), (9, 1, 1), (1, 9, 1, 1), (5,), (4, 1), (2, 1, 1, 1), (2, 9, 4, 5)]
    for swap in (False, True)
}
nets |= {f"squeeze-excite c{c}": squeeze_excite(c) for c in (8, 13)}
nets |= {f"inverted residual c{c}": inverted_residual(c) for c in (4, 7)}
nets |= {
    "two outputs": two_outputs(),
    "diamond": diamond(),
    "pointwise 4-D": pointwise_chain(1, 7, 5, 6),
    "pointwise 4-D wide": pointwise_chain(2, 16, 9, 9),
    "pointwise 3-D": pointwise_chain(2, 7, 5),
    "pointwise 2-D": pointwise_chain(3, 9),
    "nhwc head c8": nhwc_head(8),
    "nhwc head c5": nhwc_head(5),
    "unet": unet(),
    "shuffle 8/2": shuffle(8, 2),
    "shuffle 12/3": shuffle(12, 3),
    "classifier c16": classifier(16),
    "classifier c7": classifier(7),
    "split c4": split_attention(4),
    "split c8": split_attention(8),
    "split c3": split_attention(3),
    "padded residual": padded_residual(),
    "input as output": input_as_output(),
    "used twice": same_output_twice_used(),
    "constant only": constant_only(),
    "reshape between": reshape_between(6),
}

CASES = net_cases("chains", nets, tol=1e-5)
