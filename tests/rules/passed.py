#!/usr/bin/env python3
"""misc/test.sh writes build-logs/passed when all stages passed for a commit, and at no other time.

It runs here as it is, in a small repository, with stand-ins for what takes time.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(sys.argv[1])
SKIP = 77  # for meson

STAND_INS = """
test_packages=
cross_packages=
kernel_packages=
install_packages() { :; }
ninja() { :; }
pytest() { echo "1 passed"; }
readonly -f pytest # test.sh has one of its own, which does not get in its place
meson() {
	echo "Ok: 1"
	[ "$(cat ../fails 2> /dev/null)" != "$*" ] || return 1
	[ ! -f ../edits ] || echo more >> edited
	[ ! -f ../commits ] || git -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m more
}
"""


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
        # The caller's configuration is none of the test's business.
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

        second = commit(repo)
        unit = "test -C build --no-rebuild --print-errorlogs --suite unit"
        (tmp / "fails").write_text(unit)
        result = run(repo)
        assert result.returncode == 1, result.stdout
        expect("a later commit for which a stage failed", first)
        (tmp / "fails").unlink()

        result = run(repo)
        expect("a later commit", second)
        (tmp / "fails").write_text(unit)
        result = run(repo, "unit")
        assert result.returncode == 1, result.stdout
        expect("a stage that fails later on, for the same commit", None)
    return 0


sys.exit(main())
