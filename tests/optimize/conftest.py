import sys
from pathlib import Path

_tests = Path(__file__).parent.parent
sys.path[:0] = [str(_tests / "convert"), str(_tests / "models")]
