"""libutrail-trace is a project of its own: trace/ is built and installed without the rest of the
tree, and programs find it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
EXAMPLES = ["fstrace_shop", "posix_self"]


def tracked():
    """The files in trace/ that git knows, as they are now; without git, all files there."""
    done = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "trace"], capture_output=True, text=True)
    names = [name for name in done.stdout.split("\0") if name and (TOP / name).exists()]
    return names or [str(path.relative_to(TOP)) for path in (TOP / "trace").rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    base = tmp_path_factory.mktemp("alone")
    for name in tracked():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, base / name)
    # The warnings of this compiler are errors, as in the build of utrail.
    for command in (["meson", "setup", "-Dwerror=true", "-Dtests=false", f"-Dprefix={base / 'usr'}", "build"],
                    ["ninja", "-j2", "-C", "build"], ["meson", "install", "-C", "build"]):
        done = subprocess.run(command, cwd=base / "trace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
    return base / "usr"


def test_what_is_installed(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if not path.is_dir()}
    pages = {path for path in files if path.startswith("share/man/man3/")}
    assert files - pages == {
        "include/fstrace.h", "include/utrail-posix/trace.h", "lib/libutrail-trace.a", "lib/libutrail-trace.so", "lib/libutrail-trace.so.1",
        "lib/libutrail-trace.so.1.0.0", "lib/pkgconfig/utrail-trace.pc"}
    assert {"share/man/man3/fstrace.3", "share/man/man3/posix_trace.3", "share/man/man3/posix_trace_create.3"} <= pages


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")
@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("options", [[], ["-static"]], ids=["shared", "static"])
@pytest.mark.parametrize("place", ["installed", "built"])
def test_programs_find_it(installed, tmp_path, example, options, place):
    """Programs find the library where it was installed, and in the folder where it was built."""
    built = installed.parent / "trace/build"
    pages, libraries = {"installed": (installed / "lib/pkgconfig", installed / "lib"), "built": (built / "meson-uninstalled", built / "library")}[place]
    env = {**os.environ, "PKG_CONFIG_PATH": str(pages), "LD_LIBRARY_PATH": str(libraries), "UTRAIL_TRACE_DIR": str(tmp_path)}
    tmp_path.chmod(0o700)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *(option.replace("-", "--") for option in options), "utrail-trace"],
                           env=env, check=True, text=True, stdout=subprocess.PIPE).stdout.split()
    source = installed.parent / f"trace/examples/{example}.c"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", *options, source, *flags, "-o", example], cwd=tmp_path, check=True)
    out = subprocess.run([f"./{example}", "log"], cwd=tmp_path, env=env, check=True, text=True, stdout=subprocess.PIPE).stdout
    if example == "fstrace_shop":
        lines = [line.split(" ", 2)[2] for line in (tmp_path / "log.log").read_text().splitlines()]
        assert lines == ["SHOP-SOLD ITEM=apple PIECES=5"] * 2
    else:
        assert out.splitlines()[1:-1] == ["frame done: 1", "frame done: 2", "frame done: 3"]
