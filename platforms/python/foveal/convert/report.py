"""Collects everything an importer cannot handle, so that a model is refused once, in full."""

from __future__ import annotations

from collections import defaultdict

from foveal.errors import UnsupportedOpError

_SHOWN = 4


class Unsupported(Exception):
    """One node cannot be imported: `str(e)` says what about it, `hint` what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


class Report:
    """Reasons grouped by operator; :meth:`finish` raises them together."""

    def __init__(self, fmt: str) -> None:
        self.format = fmt
        self.reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.hints: dict[str, None] = {}

    def add(self, op: str, node: str, reason: str, hint: str = "") -> None:
        self.reasons[op, reason].append(node)
        if hint:
            self.hints[hint] = None

    def finish(self) -> None:
        """Raises UnsupportedOpError if anything was added."""
        if not self.reasons:
            return
        lines = []
        for (op, reason), nodes in sorted(self.reasons.items()):
            names = ", ".join(f"'{n}'" for n in nodes[:_SHOWN])
            more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
            times = f"{len(nodes)} node{'s' * (len(nodes) > 1)}"
            lines.append(f"  {op}: {reason} ({times}: {names}{more})")
        hints = list(self.hints) or [
            "simplify or re-export the model without these, or add an importer plugin"
        ]
        raise UnsupportedOpError(
            f"this {self.format} model needs what Foveal cannot import:\n" + "\n".join(lines),
            op=next(iter(self.reasons))[0],
            hint="; ".join(hints),
        )
