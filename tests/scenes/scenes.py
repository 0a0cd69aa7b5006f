"""Records small programs and shows the recordings, in many ways, and compares the output with the
transcripts in transcripts/.

    scenes.py BUILD            exit status 1 at the first scene that has changed, with the difference
    scenes.py BUILD --all      the same, but go on
    scenes.py BUILD --write    make the transcripts anew: read the difference before you commit it
    scenes.py BUILD --in NAME  only scenes of transcripts/NAME.txt
    scenes.py BUILD --only X   only scenes with X in their heading
    scenes.py BUILD --first F  those that file F names, a heading a line, before all others

A transcript has these lines:

    = OPTIONS PROGRAM ACT      a recording, in a directory of its own, of a program of the build
    = OPTIONS python3.N acts.py ACT    or of a Python program of this folder; versions differ, so the heading names one
    = data:NAME                or one of tests/data/corpus/datadir
    = nothing: WHAT            or none: an empty directory
    > COMMAND OPTIONS          a view of it; @PROGRAM is one of the build
    > cat FILE...              lines of its files, in any order
    > ls                       the names of all files
    > write FILE TEXT MODE     makes a file
    > lines REGEX COMMAND ...  of what a command prints, the matching lines; their numbers become N
    > keep REGEX COMMAND ...   the same, with numbers
    > start OPTIONS @PROGRAM   records a program that serves acts until `end`
    > run @PROGRAM             starts such a program, which is not recorded
    > attach OPTIONS           records the program that runs, until `leave` or `end`
    > do ACT                   an act of the program that runs
    > leave                    ends the recorder; prints its output
    > kill                     the same, by SIGKILL
    > end                      ends the program, too; prints its output
                               @pid is the number of the program that runs
    text                       what it prints, both outputs, without what differs from run to run (see tidy())

A transcript tells how the output looks; other tests judge if it is right. This test runs nearly
every line of the probe, the recorder and the readers within a minute, which no other test does. So
misc/mutate.sh runs it before the others.
"""

import argparse
import difflib
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
TRANSCRIPTS = HERE / "transcripts"
# Longer texts are cut to their first lines, with a checksum.
LINES_MAX = 60
# The numbers of epoll_wait(2) and epoll_pwait(2) on x86_64.
EPOLL_WAITS = ("232", "281")
# The line with the version also names the features of the build.
VERSION = r"utrail v\S+ \( .* \)"

sys.path.insert(0, str(TREE / "tests/lib"))
import archive  # noqa: E402


def environment():
    return {
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C",
        "TZ": "UTC",
        "TERM": "dumb",
        "COLUMNS": "80",
        "ASAN_OPTIONS": "detect_leaks=1:exitcode=86:verify_asan_link_order=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=86",
    }


def find_python(name):
    """The interpreter with this name; None when this machine has none."""
    places = [Path("/usr/bin"), *sorted(Path.home().glob(f".pyenv/versions/{name[len('python'):]}.*/bin"))]
    return next((place / name for place in places if (place / name).exists()), None)


def run(command, cwd, env):
    done = subprocess.run(
        ["timeout", "-s", "KILL", "60", *map(str, command)],
        cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    text = done.stdout.decode(errors="backslashreplace")
    return text + (f"status {done.returncode}\n" if done.returncode else "")


def tasks_of(data):
    """The ids of tasks and processes, sorted: writers announce them in any order."""
    try:
        text = (data / "task.txt").read_text(errors="replace")
    except OSError:
        return []
    return sorted(set(map(int, re.findall(r"\b[pt]id=(\d+)", text))))


# Ids of one recording are closer together than this, unless the kernel has begun again with small
# ones.
FAR_APART = 10000
# From this id on, ids are made by the recorder, for stacks that the program has made.
MADE = 5000000

# Patterns of the text around an id. A small number elsewhere may have another meaning.
AROUND_TID = [
    (r"(\[)", r"(?=\])"),
    (r"((?:^|[ /_]))", r"(?=\.dat)"),
    (r"(^\S+ +)", r"(?=: \[)"),
    (r"(\b(?:[pt]?p?id|child|process)=)", ""),
    (r"(\bprocess:? )", ""),
    (r"(\btask:? )", ""),
]


def tidy(text, tids, places):
    """The text without parts that differ from run to run."""
    for path, name in places:
        text = text.replace(str(path), name)
    for i, tid in enumerate(tids):
        for before, behind in AROUND_TID:
            text = re.sub(rf"(?m){before} *{tid}\b{behind}", rf"\1T{i}", text)
    text = re.sub(r"(?m)^uftrace file header: .*\n", "", text)
    text = re.sub(r"\b\d+\.\d{9}\b", "TIME", text)
    text = re.sub(r"\b(vm\w+|shared|major|minor)=[+-]?\d+", r"\1=NUMBER", text)
    text = re.sub(r"(?m) *\b\d+\.\d{3} +(us|ms|s|m|h)\b", " TIME", text)
    # Counters of some CPUs take steps of 10 ns: shorter calls are shown without a time.
    text = re.sub(r"(?m)^ {8,}(\[T\d+\] \| .*;$|\[T\d+\] \| *\}.*\*/$|: .*\(\d+\) )", r" TIME \1", text)
    text = re.sub(r"\b(0x)?[0-9a-f]{10,16}\b", "ADDR", text)
    text = re.sub(r"(?<=\w\()[0-9a-f]{6,9}(?=\))", "ADDR", text)
    # Task numbers of recordings that are not kept.
    text = re.sub(r"\btask(:?) +\d+\b", r"task\1 N", text)
    text = re.sub(r"(\bprocess|\bcontrol|-p) \d{3,}\b", r"\1 N", text)
    text = re.sub(r"(?m), for [\d.]+[mun]?s$", ", for TIME", text)
    text = re.sub(r"(?:\b[0-9a-f]{2} ){5}(?:5[56]|7f) 00 00\b", "POINTER", text)
    text = re.sub(VERSION, "VERSION", text)
    text = re.sub(r"(?m)^(# (?:cpu info|kernel version) +: ).*", r"\1OF THE MACHINE", text)
    text = re.sub(r"(?m)^TIME +(T\d+: \[)", r"\1", text)
    text = re.sub(r"(?m)[ \t]+$", "", text)
    return text


def shorten(text):
    lines = text.splitlines()
    if len(lines) <= LINES_MAX:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return "".join(line + "\n" for line in lines[:15]) + f"... {len(lines)} lines in all, sha256 {digest}\n"


class Served:
    """A program that serves acts (act_serve() in acts.c), and its recorder."""

    def __init__(self, cwd, env):
        self.kw = {"cwd": cwd, "env": env, "stderr": subprocess.STDOUT, "stdout": subprocess.PIPE}
        self.begun = []

    def begin(self, command, **kw):
        self.begun.append(subprocess.Popen([*map(str, command)], **self.kw, **kw))
        return self.begun[-1]

    def run(self, command):
        """Start a program, or a recorder with its program."""
        self.program = self.begin(command, stdin=subprocess.PIPE)
        return self.answer(b"ready\n")

    def answer(self, wanted=b"done\n"):
        """Read a line of the program. Returns "" for the line @wanted, and else the line."""
        line = self.program.stdout.readline()
        return "" if line == wanted else line.decode(errors="backslashreplace")

    def pid(self):
        """The number of the program, which may be a child of its recorder."""
        pid = self.program.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        numbers = children.read_text().split() if children.exists() else []
        return numbers[0] if numbers else str(pid)

    def do(self, act):
        try:
            self.program.stdin.write(f"{act}\n".encode())
            self.program.stdin.flush()
        except BrokenPipeError:
            return "the program has ended\n"
        return self.answer()

    def is_attached(self, recorder):
        """True when the recorder waits in its main loop: then it has attached. The main loop waits
        for 10 ms or more, and all earlier waits are shorter."""
        try:
            words = Path(f"/proc/{recorder.pid}/syscall").read_text().split()
        except OSError:
            return False
        # Other system calls have other things at this place, such as mmap(2) its flags.
        return len(words) > 4 and words[0] in EPOLL_WAITS and 10 <= int(words[4], 16) <= 1000

    def attach(self, command):
        """Start a recorder for the program that runs, and wait until it records."""
        recorder = self.begin([*command, "-p", self.program.pid], stdin=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while not self.is_attached(recorder) and recorder.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        return ""

    def leave(self, sig=signal.SIGINT):
        """End the recorder that has attached."""
        recorder = self.begun.pop()
        recorder.send_signal(sig)
        return self.rest(recorder)

    def kill(self):
        return self.leave(signal.SIGKILL)

    def end(self):
        """End the program. Its recorder, if any, ends by itself."""
        return "".join(self.rest(process) for process in self.begun)

    def rest(self, process):
        out, _ = process.communicate(timeout=60)
        status = f"status {process.returncode}\n" if process.returncode else ""
        return out.decode(errors="backslashreplace") + status

    def stop(self):
        """Leave no process after a scene."""
        for process in self.begun:
            if process.poll() is None:
                process.kill()
                process.communicate()


class Scenes:
    def __init__(self, build):
        self.build = build
        # misc/mutate.py makes a directory with links to the programs of the scenes.
        self.real = (build / "tests/scenes").resolve().parents[1]
        self.env = environment()

    def begin(self, words, cwd):
        """Make the recording cwd/d. Returns what record and the program print, and the tasks. The
        first is None when this machine or build cannot make the recording."""
        if words[0].startswith("data:"):
            content = (TREE / "tests/data/corpus/datadir" / words[0][5:]).read_bytes()
            archive.unpack(archive.parse(content), cwd / "d")
            return "", None
        if words[0] == "nothing:":
            return "", []
        program = next(i for i, w in enumerate(words) if w.startswith(("acts_", "probes", "python3.")))
        is_python = words[program].startswith("python3.")
        path = find_python(words[program]) if is_python else self.build / "tests/scenes" / words[program]
        if not path or not path.exists():
            return None, None
        arguments = [HERE / w if w == "acts.py" else w for w in words[program + 1 :]]
        command = [self.build / "utrail", "record", "--no-event", "-d", "d", *words[:program], path, *arguments]
        text = run(command, cwd, self.env)
        if "--proc=bpf" in words and re.match("utrail: .*eBPF", text):
            return None, None
        return text, tasks_of(cwd / "d")

    def places(self, cwd):
        # Source files are named relative to the directory of the build, as the compiler got them.
        source = os.path.relpath(TREE, self.real)
        return [(cwd, "CWD"), (source, ".."), (self.build, "BUILD"), (self.real, "BUILD"), (TREE, "TREE")]

    def serve(self, served, command, options):
        """Runs a command about a program that performs acts on request. Returns the text that the
        command prints."""
        record = [self.build / "utrail", "record", "--no-pager", "--no-event", "-d", "d"]
        if command == "run":
            return served.run([*options, "serve"])
        if command == "start":
            return served.run([*record, *options, "serve"])
        if command == "attach":
            return served.attach([*record, *options])
        return getattr(served, command)(*options)

    def look(self, line, cwd, tids, served):
        command, *options = shlex.split(line)
        keep, numbers = None, None
        if command in ("lines", "keep"):
            numbers = r"\d+" if command == "lines" else "(?!)"
            keep, command, *options = options
        options = [o.replace("@pid", served.pid()) if "@pid" in o else o for o in options]
        options = [str(self.build / "tests/scenes" / o[1:]) if o.startswith("@") else o for o in options]
        if command == "ls":
            text = "".join(sorted(f"{path.relative_to(cwd)}\n" for path in cwd.rglob("*") if not path.name.startswith("perf-")))
        elif command == "write":
            (cwd / options[0]).write_text(options[1].replace("\\n", "\n"))
            (cwd / options[0]).chmod(int(options[2], 8))
            text = ""
        elif command in ("run", "start", "attach", "do", "leave", "kill", "end"):
            text = self.serve(served, command, options)
        elif command == "cat":
            # The order of tasks that run at the same time varies, so lines are sorted.
            lines = [line for name in options for line in (cwd / "d" / name).read_text().splitlines(True)]
            text = "".join(sorted(re.sub(r"timestamp=\S+", "timestamp=TIME", line) for line in lines))
        else:
            text = run([self.build / "utrail", command, "--no-pager", "-d", "d", *options], cwd, self.env)
        if tids is not None:
            tids = sorted({tid for path in cwd.glob("*/task.txt") for tid in tasks_of(path.parent)})
        if keep:
            # Paths have numbers, too, so names replace the paths first.
            for path, name in self.places(cwd):
                text = text.replace(str(path), name)
            text = "".join(re.sub(numbers, "N", line) for line in text.splitlines(True) if re.search(keep, line))
        return shorten(tidy(text, tids, self.places(cwd)) if tids is not None else re.sub(VERSION, "VERSION", text.replace(str(cwd), "CWD")))

    def play(self, head, views, tries=3):
        """The scene's part of the transcript; None when this machine or build cannot make it."""
        with tempfile.TemporaryDirectory(prefix="utrail-scene.") as cwd:
            # The directory is empty: a message about a missing recording names those nearby.
            cwd = Path(cwd).resolve() / "w"
            cwd.mkdir()
            text, tids = self.begin(shlex.split(head), cwd)
            programs = set(re.findall(r"(?<= @)\w+", "\n".join(views))) - {"pid"}
            if text is None or not all((self.build / "tests/scenes" / name).exists() for name in programs):
                return None
            kernels = [t for t in tids or [] if t < MADE]
            if tries and kernels and kernels[-1] - kernels[0] > FAR_APART:
                return self.play(head, views, tries - 1)
            out = [f"= {head}\n", shorten(tidy(text, tids or [], self.places(cwd)))]
            served = Served(cwd, self.env)
            try:
                for view in views:
                    shown = self.look(view, cwd, tids, served)
                    out += [f"> {view}\n", shown + ("\n" if shown and not shown.endswith("\n") else "")]
            finally:
                served.stop()
            return "".join(out)


@dataclass
class Scene:
    """A part of a transcript, with its heading and its views."""

    head: str
    views: list
    text: str
    path: Path


def parse(path):
    """Returns the scenes of a transcript."""
    scenes = []
    for part in re.split(r"(?m)^(?== )", path.read_text())[1:]:
        lines = part.splitlines()
        views = [line[2:] for line in lines if line.startswith("> ")]
        scenes.append(Scene(lines[0][2:], views, part.rstrip("\n") + "\n", path))
    return scenes


def write(scenes):
    """Writes the transcripts of these scenes."""
    for path in {scene.path for scene in scenes}:
        path.write_text("\n".join(scene.text for scene in scenes if scene.path == path))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--in", default="*", dest="name")
    parser.add_argument("--only", default="")
    parser.add_argument("--first", type=Path)
    args = parser.parse_args()
    stage = Scenes(Path(os.path.abspath(args.build)))
    scenes = [scene for path in sorted(TRANSCRIPTS.glob(f"{args.name}.txt")) for scene in parse(path)]
    if not scenes:
        parser.error(f"no transcript has the name '{args.name}'")
    wanted = [scene for scene in scenes if args.only in scene.head]
    if args.first:
        first = args.first.read_text().splitlines()
        wanted.sort(key=lambda scene: first.index(scene.head) if scene.head in first else len(first))
    failed = 0
    for scene in wanted:
        now = stage.play(scene.head, scene.views)
        if now is None:
            print(f"skipped: {scene.head}: the program was not built here")
            continue
        now = now.rstrip("\n") + "\n"
        if args.write:
            scene.text = now
        elif now != scene.text:
            before, after = scene.text.splitlines(True), now.splitlines(True)
            sys.stdout.writelines(difflib.unified_diff(before, after, scene.path.name, f"= {scene.head}"))
            failed += 1
            if not args.all:
                return 1
    if args.write:
        write(scenes)
    return failed != 0


sys.exit(main())
