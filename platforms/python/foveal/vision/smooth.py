"""The 1€ filter: Casiez, Roussel, Vogel: 1€ Filter, CHI 2012, algorithm 1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class OneEuro:
    """Low-pass filter of a moving array: the slower a value moves, the stronger it is smoothed.

    min_cutoff: Hz, for what rests. beta: Hz that a speed of one unit per second adds.
    derivative_cutoff: Hz, for the speed itself. The unit is the `scale` of each call, so that a
    thing is smoothed alike near and far.
    """

    def __init__(self, min_cutoff: float, beta: float, derivative_cutoff: float = 1.0) -> None:
        self.min_cutoff = min_cutoff
        self.beta = beta
        self.derivative_cutoff = derivative_cutoff
        self._time = -math.inf
        self._value: Array | None = None
        self._speed: Array | None = None

    def __call__(self, values: Array, time: float, scale: float) -> Array:
        """The filtered values. time: seconds, growing from call to call."""
        values = np.asarray(values, np.float64)
        if self._value is None or self._speed is None:
            self._speed = np.zeros_like(values)
            self._value = values.copy()
        else:
            step = time - self._time
            speed = (values - self._value) / (scale * step)
            self._speed = self._speed + _weight(self.derivative_cutoff, step) * (
                speed - self._speed
            )
            cutoff = self.min_cutoff + self.beta * np.abs(self._speed)
            self._value = self._value + _weight(cutoff, step) * (values - self._value)
        self._time = time
        result: Array = self._value.copy()
        return result


def _weight(cutoff: float | Array, step: float) -> Array:
    """How much of a new value a first-order low-pass of `cutoff` Hz takes after `step` seconds."""
    turns = 2 * math.pi * np.asarray(cutoff, np.float64) * step
    weight: Array = turns / (turns + 1)
    return weight
