"""The architectures and the float64 interpreter are modules beside the tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "convert")]
