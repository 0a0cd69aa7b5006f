"""Finds the program utrail, makes its options, and runs it as a child."""

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

# An exception has at most this much of the text that a child wrote to standard error.
TOLD_MAX_BYTES = 65536

# utrail contains a Python of its own. These variables are about the Python that runs this module.
NOT_ITS_OWN = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS")


class Error(Exception):
    """A recording that cannot be read, options that the program refuses, or no program."""


class RecordingWarning(UserWarning):
    """The program has printed a warning, as for a damaged recording."""


def beside_package() -> Optional[str]:
    """The path of bin/utrail below PREFIX, if this package is
    PREFIX/lib/pythonX/site-packages/utrail."""
    parents = Path(__file__).resolve().parents
    if len(parents) > 4 and parents[3].name.startswith("lib"):
        return shutil.which(str(parents[4] / "bin" / "utrail"))
    return None


def find_program(given: Optional[AnyPath] = None) -> str:
    """The path of the program utrail. Raises Error when there is none."""
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
    """The environment without variables for another Python; no bytecode is written beside
    _feed.py."""
    own = {key: value for key, value in os.environ.items() if key not in NOT_ITS_OWN}
    return {**own, "PYTHONDONTWRITEBYTECODE": "1"}


def as_list(names: Names) -> List[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def as_time(time: Union[int, str]) -> str:
    """The option's text: a number is in nanoseconds, a text has its unit."""
    return time if isinstance(time, str) else f"{int(time)}ns"


def as_timestamp(ns: Optional[int]) -> str:
    return "" if ns is None else f"{int(ns) // 10**9}.{int(ns) % 10**9:09}"


def as_range(range: Union[str, Tuple[Optional[int], Optional[int]]]) -> str:
    """The option's text: two numbers are timestamps in nanoseconds, None is the recording's begin
    or end."""
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
    """Options for the program. Each is one word, so that a value may begin with a dash."""
    options = [f"--match={match}"]
    options += [f"--filter={name}" for name in as_list(function)]
    options += [f"--notrace={name}" for name in as_list(notrace)]
    options += [] if depth is None else [f"--depth={int(depth)}"]
    options += [] if time is None else [f"--time-filter={as_time(time)}"]
    options += [] if range is None else [f"--time-range={as_range(range)}"]
    options += [] if tids is None else [f"--tid={as_tids(tids)}"]
    return options if libcalls else [*options, "--no-libcall"]


class Child:
    """The running program. Its standard error is kept in a file without a name."""

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
        """The text on standard error, without the program's name before it."""
        size = self._told.seek(0, os.SEEK_END)
        self._told.seek(max(0, size - TOLD_MAX_BYTES))
        text = self._told.read().decode(errors="replace").strip()
        return text[len("utrail: "):] if text.startswith("utrail: ") else text

    def finish(self, complete: bool = True) -> None:
        """Wait for the child's end. Raises Error when it has failed.

        complete: False: the child has sent less than expected, which is an Error. Otherwise
        status 1 is a warning (the recording is damaged), as is any text on standard error.
        """
        status = self.process.wait()
        told = self.told()
        if status not in (0, 1) or not complete:
            raise Error(told or f"utrail ended with status {status}")
        if told:
            warnings.warn(told, RecordingWarning, stacklevel=4)

    def stop(self) -> None:
        """End the child at once; nothing happens when it has ended."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._told.close()


@contextlib.contextmanager
def running(words: Sequence[str], **kw: Any) -> Iterator[Child]:
    """A child that ends with the block, also when an exception leaves the block."""
    child = Child(words, **kw)
    try:
        yield child
    finally:
        child.stop()


def lines_of(words: Sequence[str]) -> Iterator[str]:
    """The lines that the program prints, each as soon as it is printed."""
    with running(words, stdout=subprocess.PIPE) as child:
        out: Optional[IO[bytes]] = child.process.stdout
        assert out is not None
        with out:
            for line in out:
                yield line.decode(errors="replace")
        child.finish()


def text_of(words: Sequence[str]) -> str:
    """The whole output of the program."""
    return "".join(lines_of(words))
