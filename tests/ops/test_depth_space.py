"""Blocks of pixels to channels and back."""

from foveal.conformance.kit import case, op_cases, rand


def depth_to_space(x, *, block, mode="dcr"):
    n, c, h, w = x.shape
    d = c // (block * block)
    if mode == "dcr":
        y = x.reshape(n, block, block, d, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, d, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(n, d, h * block, w * block)


def space_to_depth(x, *, block):
    n, c, h, w = x.shape
    y = x.reshape(n, c, h // block, block, w // block, block).transpose(0, 3, 5, 1, 2, 4)
    return y.reshape(n, c * block * block, h // block, w // block)


SUITES = [
    op_cases(
        "depth_to_space",
        depth_to_space,
        [
            case(rand(n, c * b * b, 3, 4), block=b, mode=m)
            for m in ("dcr", "crd")
            for n, c, b in [(1, 1, 2), (1, 3, 2), (2, 4, 2), (1, 2, 3), (1, 17, 2), (1, 5, 1)]
        ],
        tol=0,
    ),
    op_cases(
        "space_to_depth",
        space_to_depth,
        [
            case(rand(n, c, 3 * b, 4 * b), block=b)
            for n, c, b in [(1, 1, 2), (1, 3, 2), (2, 4, 2), (1, 2, 3), (1, 17, 2), (1, 5, 1)]
        ],
        tol=0,
    ),
]
