"""Makes pytest items of the tables: every case of every suite, on the CPU device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from foveal.conformance.execute import run_case, variants
from foveal.conformance.kit import Case, Suite
from foveal.conformance.report import PASS, REFUSED


class CaseItem(pytest.Item):
    def __init__(self, *, case: Case, variant: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case, self.variant = case, variant

    def runtest(self) -> None:
        entry = run_case(self.case, "cpu", self.variant)
        floats = all(s.dtype == "float32" for s in self.case.net.specs.values())
        if entry.status == REFUSED and not floats:
            pytest.skip(entry.detail)
        if entry.status != PASS:
            pytest.fail(f"{entry.status}: {entry.detail}", pytrace=False)

    def reportinfo(self) -> tuple[Any, int, str]:
        return self.path, 0, self.name


class SuiteItems(pytest.Collector):
    def __init__(self, *, suite: Suite, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.suite = suite

    def collect(self) -> Iterator[CaseItem]:
        for case in self.suite:
            for variant in variants(case):
                name = f"{case.id} {variant}".replace("[", "(").replace("]", ")")
                yield CaseItem.from_parent(self, name=name, case=case, variant=variant)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module, name: str, obj: object
) -> list[SuiteItems] | None:
    suites = [obj] if isinstance(obj, Suite) else obj if name.isupper() else []
    if not isinstance(suites, list) or not all(isinstance(s, Suite) for s in suites) or not suites:
        return None
    return [SuiteItems.from_parent(collector, name=s.op, suite=s) for s in suites]
