"""The libraries of the installed package."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def package() -> Path:
    return Path(pytest.importorskip("foveal").__file__).parent


@pytest.fixture
def plugin_libraries(package: Path) -> list[Path]:
    return [*package.glob("*foveal_plugin_*.so"), *package.parent.glob("foveal_plugin_*/*.so")]
