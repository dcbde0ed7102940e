"""The node tests that the onnx package carries: every one is right or refused with reasons."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
import reference_run
from foveal.convert import convert
from foveal.errors import UnsupportedOpError
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

# Raise it as operators are added; a fall means that something imported before no longer is.
PASSED_AT_LEAST = 670


def as_array(value: Any) -> np.ndarray:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value)


def outcome(case: Any) -> str:
    try:
        graph = convert(case.model.SerializeToString())
    except UnsupportedOpError as e:
        assert len(str(e).splitlines()) > 1, f"{case.name} is refused without a reason"
        return "refused"
    for inputs, outputs in case.data_sets:
        names = [i.name for i in case.model.graph.input]
        feeds = dict(zip(names, map(as_array, inputs), strict=False))
        got = reference_run.run(graph, feeds)
        for info, value in zip(case.model.graph.output, outputs, strict=True):
            want = as_array(value)
            assert got[info.name].dtype == want.dtype, case.name
            np.testing.assert_allclose(
                got[info.name], want, rtol=1e-3, atol=1e-5, err_msg=case.name
            )
    return "passed"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_node_test_is_right_or_refused() -> None:
    with np.errstate(all="ignore"):
        counts = Counter(outcome(case) for case in collect_testcases(None))
    assert counts["passed"] >= PASSED_AT_LEAST, counts
