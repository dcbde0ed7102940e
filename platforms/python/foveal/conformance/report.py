"""What a conformance run found out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

PASS, REFUSED, WRONG, CRASH = "pass", "refused", "wrong", "crash"


@dataclass(frozen=True)
class Entry:
    """One case on one device.

    `status`: "pass"; "refused": the plugin declined, `detail` has its reason; "wrong": another
    result, shape, type or error than the reference, or results that depend on the number of
    threads; "crash": the process died or hung.
    """

    suite: str
    case: str
    variant: str
    device: str
    status: str
    detail: str = ""


@dataclass
class Report:
    """Result of `run`. A plugin conforms if nothing is wrong, none crashed and some passed."""

    plugin: Path | None
    devices: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    error: str = ""  # the plugin could not be used at all

    def count(self, status: str) -> int:
        return sum(e.status == status for e in self.entries)

    @property
    def ok(self) -> bool:
        bad = self.count(WRONG) + self.count(CRASH)
        return not self.error and bad == 0 and self.count(PASS) > 0

    def reasons(self) -> list[tuple[str, int]]:
        """Reasons for refusals, most frequent first."""
        refused = Counter(f"{e.suite}: {e.detail}" for e in self.entries if e.status == REFUSED)
        return refused.most_common()

    def table(self) -> list[tuple[str, int, int, int, int]]:
        """Rows (suite, passed, refused, wrong, crashed), in the order they ran."""
        order = dict.fromkeys(e.suite for e in self.entries)
        count = Counter((e.suite, e.status) for e in self.entries)
        return [
            (s, count[s, PASS], count[s, REFUSED], count[s, WRONG], count[s, CRASH]) for s in order
        ]

    def text(self) -> str:
        """The report as plain text: summary, refusals with reasons, failures."""
        name = str(self.plugin) if self.plugin else "installed plugins"
        if self.error:
            return f"{name}: {self.error}"
        lines = [f"{name}: {', '.join(self.devices)}", ""]
        lines.append(f"{'operator':<22}{'pass':>7}{'refused':>9}{'wrong':>7}{'crash':>7}")
        for suite, *counts in self.table():
            lines.append(f"{suite:<22}{counts[0]:>7}{counts[1]:>9}{counts[2]:>7}{counts[3]:>7}")
        if self.reasons():
            lines += ["", "refused:"]
            lines += [f"  {n:>5} x {reason}" for reason, n in self.reasons()]
        bad = [e for e in self.entries if e.status in (WRONG, CRASH)]
        if bad:
            lines += ["", "failures:"]
            lines += [
                f"  {e.status} on {e.device}: {e.suite} [{e.case}] {e.variant}: {e.detail}"
                for e in bad
            ]
        lines += ["", self.summary()]
        return "\n".join(lines)

    def summary(self) -> str:
        return (
            f"{self.count(PASS)} passed, {self.count(REFUSED)} refused, "
            f"{self.count(WRONG)} wrong, {self.count(CRASH)} crashed"
        )

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "plugin": str(self.plugin) if self.plugin else None,
            "devices": self.devices,
            "ok": self.ok,
            "error": self.error,
            "pass": self.count(PASS),
            "refused": self.count(REFUSED),
            "wrong": self.count(WRONG),
            "crash": self.count(CRASH),
            "entries": [vars(e) for e in self.entries],
        }
