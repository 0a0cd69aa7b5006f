#!/usr/bin/env python3
"""misc/test.sh writes build-logs/passed when all stages have passed for a commit, and only then.
Its output ends with the names of failed tests and the end of their output.

The script runs unchanged, in a small repository, with stand-ins for its slow commands.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(sys.argv[1])
SKIP = 77  # meson's status for a skipped test

STAND_INS = """
test_packages=
cross_packages=
kernel_packages=
install_packages() { :; }
ninja() { :; }
pytest() { echo "1 passed"; }
readonly -f pytest # test.sh has one of its own, which does not get in its place
meson() {
	if [ "$(cat ../fails 2> /dev/null)" = "$*" ]; then
		cat ../log
	else
		echo "Ok: 1"
	fi
	[ "$(cat ../fails 2> /dev/null)" != "$*" ] || return 1
	[ ! -f ../edits ] || echo more >> edited
	[ ! -f ../commits ] || git -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m more
}
"""


# meson's log of two tests, one of which has failed.
MESON_LOG = f"""
1/2 utrail:unit / good OK              0.09s
2/2 utrail:unit / bad  FAIL            0.11s   exit status 3
>>> MALLOC_PERTURB_=232 /usr/bin/bad
{"".join(f"line {i}{chr(10)}" for i in range(30))}

Summary of Failures:

2/2 utrail:unit / bad  FAIL            0.11s   exit status 3

Ok:                 1
Fail:               1
"""
PYTEST_LOG = """
.E.F
=================================== ERRORS ====================================
_________________________ ERROR at setup of test_three _________________________
E   the error's line
=================================== FAILURES ===================================
___________________________________ test_two ___________________________________
one line
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
another line
=========================== short test summary info ============================
FAILED tests/e2e/test_some.py::test_two - another line
ERROR tests/e2e/test_some.py::test_three
1 failed, 1 passed, 1 error in 2.33s
"""
# The lines about that failure at the end of misc/test.sh.
OF_MESON = ["-- 2/2 utrail:unit / bad  FAIL            0.11s   exit status 3"]
OF_MESON += [f"    line {i}" for i in range(5, 30)]
OF_PYTEST = [
    "-- _________________________ ERROR at setup of test_three _________________________",
    "    E   the error's line",
    "-- ___________________________________ test_two ___________________________________",
    "    one line",
    "    _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _",
    "    another line",
    "FAILED tests/e2e/test_some.py::test_two - another line",
    "ERROR tests/e2e/test_some.py::test_three",
]


def run(repo, *stages):
    return subprocess.run(["bash", "misc/test.sh", *stages], cwd=repo, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def git(repo, *args):
    return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *args],
                          cwd=repo, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def commit(repo):
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", "a commit")
    return git(repo, "rev-parse", "HEAD")


def main():
    if not shutil.which("git"):
        print("git is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as tmp:
        # The caller's configuration must not affect the test.
        os.environ["GIT_CONFIG_GLOBAL"] = os.environ["GIT_CONFIG_SYSTEM"] = "/dev/null"
        for name in [name for name in os.environ if name.startswith(("GIT_DIR", "GIT_WORK"))]:
            del os.environ[name]
        tmp = pathlib.Path(tmp)
        repo = tmp / "repo"
        (repo / "misc").mkdir(parents=True)
        shutil.copy(TOP / "misc/test.sh", repo / "misc")
        (repo / "misc/packages.sh").write_text(STAND_INS)
        (repo / ".gitignore").write_text("build*/\n")
        git(repo, "init", "-q")
        commit(repo)
        passed = repo / "build-logs/passed"

        def expect(what, content):
            now = passed.read_text().strip() if passed.exists() else None
            if now != content:
                print(f"{what}: build-logs/passed has {now}, not {content}")
                print(result.stdout)
                sys.exit(1)

        result = run(repo, "unit")
        assert result.returncode == 0 and result.stdout.count("== build-compile") == 1, result.stdout
        result = run(repo, "gcc", "unit")
        assert result.stdout.count("== build-compile") == 1, result.stdout
        assert result.returncode == 0, result.stdout
        expect("some stages", None)

        (repo / "new").write_text("not in the commit\n")
        result = run(repo)
        assert result.returncode == 0, result.stdout
        expect("a file that is in no commit", None)
        (repo / "new").unlink()

        (tmp / "edits").touch()
        (repo / "edited").touch()
        commit(repo)
        result = run(repo)
        assert result.returncode == 0, result.stdout
        expect("a file changed meanwhile", None)
        (tmp / "edits").unlink()
        git(repo, "checkout", "-q", ".")

        (tmp / "commits").touch()
        result = run(repo)
        assert result.returncode == 0, result.stdout
        expect("a commit made meanwhile", None)
        (tmp / "commits").unlink()

        first = git(repo, "rev-parse", "HEAD")
        result = run(repo)
        assert result.returncode == 0, result.stdout
        expect("all stages", first)

        def expect_told(lines):
            end = result.stdout.split("== failed: unit, build-logs/unit.log\n")[1].splitlines()
            assert end[:-2] == lines and end[-2] == "failed: unit", result.stdout

        second = commit(repo)
        unit = "test -C build --no-rebuild --print-errorlogs --timeout-multiplier=4 --suite unit"
        (tmp / "fails").write_text(unit)
        (tmp / "log").write_text(MESON_LOG)
        result = run(repo)
        assert result.returncode == 1, result.stdout
        expect_told(OF_MESON)
        expect("a later commit for which a stage failed", first)
        (tmp / "fails").unlink()

        result = run(repo)
        expect("a later commit", second)
        (tmp / "fails").write_text(unit)
        (tmp / "log").write_text(PYTEST_LOG)
        result = run(repo, "unit")
        assert result.returncode == 1, result.stdout
        expect_told(OF_PYTEST)
        expect("a stage that fails later on, for the same commit", None)
    return 0


sys.exit(main())
