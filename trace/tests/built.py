"""Finds the build of the library alone, or that of utrail, whose programs are then tested, too."""

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


def find():
    """Returns the build folders of the library and of utrail (or None).

    meson sets variables that name them. Without meson they are in build/.
    """
    alone, whole = os.environ.get("UTRAIL_TRACE_BUILD"), os.environ.get("UTRAIL_BUILD")
    if not alone and not whole and (TOP / "build/library").exists():
        alone = TOP / "build"
    if alone and not whole:
        return Path(alone), None
    whole = Path(whole or TOP.parent / "build")
    return Path(alone or whole / "trace"), whole


BUILD, WHOLE = find()
LIBRARIES = BUILD / "library"
HEADERS = TOP / "include"
UTRAIL = WHOLE / "utrail" if WHOLE and (WHOLE / "utrail").exists() else None
HAS_PROBE = bool(UTRAIL) and (WHOLE / "libmcount/libmcount.so").exists()
