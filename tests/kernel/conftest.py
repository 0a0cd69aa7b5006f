"""The tools of tests/lib, and one boot of the machine for all tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
