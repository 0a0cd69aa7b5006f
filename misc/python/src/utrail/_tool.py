"""Finds the program utrail, composes its options, and runs it as a child."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import IO, Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

AnyPath = Union[str, "os.PathLike[str]"]
Names = Union[str, Iterable[str], None]
Time = Union[int, str, None]
Range = Union[str, Tuple[Optional[int], Optional[int]], None]
Tids = Union[int, Iterable[int], None]

# An exception contains at most this many bytes of the child's standard error.
TOLD_MAX_BYTES = 65536

# These variables are for the Python that runs this module. The child utrail does not get them,
# because it uses a Python of its own.
NOT_ITS_OWN = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS")


class Error(Exception):
    """The recording cannot be read, utrail refuses an option, or there is no program utrail."""


class RecordingWarning(UserWarning):
    """utrail has printed a warning, for example because the recording is damaged."""


def beside_package() -> Optional[str]:
    """Returns the path of bin/utrail below PREFIX if this package is
    PREFIX/lib/pythonX/site-packages/utrail, or None."""
    parents = Path(__file__).resolve().parents
    if len(parents) > 4 and parents[3].name.startswith("lib"):
        return shutil.which(str(parents[4] / "bin" / "utrail"))
    return None


def find_program(given: Optional[AnyPath] = None) -> str:
    """Returns the path of the program utrail. Raises Error if there is none."""
    named = os.fspath(given) if given is not None else os.environ.get("UTRAIL")
    if named:
        found = shutil.which(named)
        if found is None:
            origin = "" if given is not None else " (from $UTRAIL)"
            raise Error(f"'{named}'{origin} is not a program that can be run")
        return os.path.abspath(found)
    found = beside_package() or shutil.which("utrail")
    if found is None:
        raise Error("there is no program utrail in $PATH: name it with utrail=PATH, or in $UTRAIL")
    return os.path.abspath(found)


def child_environment() -> Dict[str, str]:
    """Returns the environment of the child. Variables for another Python are left out, and no
    bytecode is written to the folder of _feed.py."""
    own = {key: value for key, value in os.environ.items() if key not in NOT_ITS_OWN}
    return {**own, "PYTHONDONTWRITEBYTECODE": "1"}


def as_list(names: Names) -> List[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def as_time(time: Union[int, str]) -> str:
    """Returns the value of an option. A number is in nanoseconds, and a text contains its unit."""
    return time if isinstance(time, str) else f"{int(time)}ns"


def as_timestamp(ns: Optional[int]) -> str:
    return "" if ns is None else f"{int(ns) // 10**9}.{int(ns) % 10**9:09}"


def as_range(range: Union[str, Tuple[Optional[int], Optional[int]]]) -> str:
    """Returns the value of an option for a range. Two numbers are timestamps in nanoseconds. None
    stands for the beginning or the end of the recording."""
    return range if isinstance(range, str) else "~".join(map(as_timestamp, range))


def as_tids(tids: Union[int, Iterable[int]]) -> str:
    return ",".join(str(int(t)) for t in (tids if isinstance(tids, Iterable) else [tids]))


def filters(
    function: Names = None,
    notrace: Names = None,
    depth: Optional[int] = None,
    time: Time = None,
    range: Range = None,
    tids: Tids = None,
    libcalls: bool = True,
    match: str = "regex",
) -> List[str]:
    """Returns options for utrail. Each is one word, so its value may begin with a dash."""
    options = [f"--match={match}"]
    options += [f"--filter={name}" for name in as_list(function)]
    options += [f"--notrace={name}" for name in as_list(notrace)]
    options += [] if depth is None else [f"--depth={int(depth)}"]
    options += [] if time is None else [f"--time-filter={as_time(time)}"]
    options += [] if range is None else [f"--time-range={as_range(range)}"]
    options += [] if tids is None else [f"--tid={as_tids(tids)}"]
    return options if libcalls else [*options, "--no-libcall"]


class Child:
    """A running utrail. Its standard error is written to a temporary file without a name."""

    def __init__(
        self,
        words: Sequence[str],
        pass_fds: Sequence[int] = (),
        stdout: int = subprocess.DEVNULL,
    ) -> None:
        self._told = tempfile.TemporaryFile()
        try:
            self.process: "subprocess.Popen[bytes]" = subprocess.Popen(
                list(words),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=self._told,
                pass_fds=pass_fds,
                env=child_environment(),
            )
        except (OSError, ValueError) as error:
            self._told.close()
            raise Error(f"cannot run '{words[0]}': {error}") from error

    def told(self) -> str:
        """Returns the text on standard error, without "utrail: " at its beginning."""
        size = self._told.seek(0, os.SEEK_END)
        self._told.seek(max(0, size - TOLD_MAX_BYTES))
        text = self._told.read().decode(errors="replace").strip()
        return text[len("utrail: "):] if text.startswith("utrail: ") else text

    def finish(self, complete: bool = True) -> None:
        """Wait for the end of the child. Raises Error if the child has failed.

        complete: False if the child has sent less than expected, which raises Error. If it is True,
            status 1 (the recording is damaged) and any text on standard error are only warnings
        """
        status = self.process.wait()
        told = self.told()
        if status not in (0, 1) or not complete:
            raise Error(told or f"utrail ended with status {status}")
        if told:
            warnings.warn(told, RecordingWarning, stacklevel=4)

    def stop(self) -> None:
        """End the child at once if it is still running."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._told.close()


@contextlib.contextmanager
def running(words: Sequence[str], **kw: Any) -> Iterator[Child]:
    """Starts a child for a `with` block. The child ends with the block, also after an exception."""
    child = Child(words, **kw)
    try:
        yield child
    finally:
        child.stop()


def lines_of(words: Sequence[str]) -> Iterator[str]:
    """Yields each line that utrail prints, as soon as it is printed."""
    with running(words, stdout=subprocess.PIPE) as child:
        out: Optional[IO[bytes]] = child.process.stdout
        assert out is not None
        with out:
            for line in out:
                yield line.decode(errors="replace")
        child.finish()


def text_of(words: Sequence[str]) -> str:
    """Returns the whole output of utrail."""
    return "".join(lines_of(words))
