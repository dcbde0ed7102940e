"""The 1€ filter against algorithm 1 of the paper, written down for one number."""

import math

import numpy as np
from foveal.vision.smooth import OneEuro


def by_the_paper(values, times, min_cutoff, beta, derivative_cutoff, scale):
    def alpha(rate, cutoff):
        tau = 1 / (2 * math.pi * cutoff)
        return 1 / (1 + tau * rate)

    out, past, speed = [], None, 0.0
    for i, x in enumerate(values):
        if past is None:
            past = x
        else:
            rate = 1 / (times[i] - times[i - 1])
            a = alpha(rate, derivative_cutoff)
            speed = a * ((x - past) / scale * rate) + (1 - a) * speed
            a = alpha(rate, min_cutoff + beta * abs(speed))
            past = a * x + (1 - a) * past
        out.append(past)
    return out


def test_against_the_paper():
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.uniform(0.01, 0.1, 50))
    values = rng.normal(0, 5, (50, 7, 3)).cumsum(0)
    for arguments in ((1.0, 0.0, 1.0), (0.05, 80.0, 1.0), (3.0, 0.5, 0.2)):
        smooth = OneEuro(*arguments)
        got = np.stack([smooth(v, t, 40.0) for v, t in zip(values, times, strict=True)])
        for index in np.ndindex(7, 3):
            column = values[(slice(None), *index)]
            want = by_the_paper(column, times, *arguments, 40.0)
            np.testing.assert_allclose(got[(slice(None), *index)], want, rtol=1e-9, atol=1e-9)


def test_it_calms_what_rests_and_follows_what_moves():
    rng = np.random.default_rng(2)
    smooth = OneEuro(0.05, 80.0)
    rest = [smooth(100 + rng.normal(0, 0.5, (20, 2)), i / 30, 200.0) for i in range(100)]
    assert np.std(rest[50:]) < 0.35
    moved = [smooth(np.full((20, 2), 100.0 + 20 * i), 4 + i / 30, 200.0) for i in range(30)]
    assert np.abs(moved[-1] - 680).max() < 15
    # The same motion, twice as near: twice the coordinates.
    near, far = OneEuro(0.3, 5.0), OneEuro(0.3, 5.0)
    for i in range(20):
        values = rng.normal(0, 3, (4, 3)) + 4 * i
        a, b = near(2 * values, i / 30, 300.0), far(values, i / 30, 150.0)
        np.testing.assert_allclose(a, 2 * b, rtol=1e-9)
