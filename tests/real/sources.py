"""Upstream sources of Debian packages. apt-get fetches them with a sources list of its own, and
changes none of the system's files."""

import fcntl
import shutil
import subprocess
import tarfile
from contextlib import contextmanager


class Unavailable(Exception):
    """There is no network, no apt-get, or no such package; the text says which."""


def sources_list():
    """A deb-src line for the mirror of this machine's own packages."""
    fields = "$(ORIGIN) $(LABEL) $(CODENAME) $(REPO_URI)"
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"],
        capture_output=True,
        text=True,
    )
    for line in sorted(set(done.stdout.splitlines())):
        words = line.split()
        if words[:2] == ["Debian", "Debian"] and len(words) == 4 and "-" not in words[2]:
            return f"deb-src {words[3]} {words[2]} main\n"
    raise Unavailable("apt-get knows no Debian mirror to fetch sources from")


@contextmanager
def only_one(home):
    """Holds a lock while apt-get works. apt-get locks its lists, so parallel fetches must wait for
    each other."""
    with open(home / "lock", "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def fetch_into(home, package):
    """Fetch the upstream archive of @package, if it is not there. For one process at a time."""
    if not list(home.glob(f"{package}_*.orig.tar.*")):
        if not shutil.which("apt-get"):
            raise Unavailable("there is no apt-get to fetch sources with")
        (home / "sources.list").write_text(sources_list())
        options = " ".join(
            f"-o {k}={v}"
            for k, v in {
                "Dir::Etc::SourceList": home / "sources.list",
                "Dir::Etc::SourceParts": "/dev/null",
                "Dir::State::Lists": home / "lists",
                "Dir::Cache": home / "cache",
                "APT::Sandbox::User": "root",
                "Acquire::Retries": 2,
                "Acquire::http::Timeout": 20,
            }.items()
        )
        apt = f"apt-get -q {options}"
        command = f"{apt} update && {apt} --download-only --tar-only source {package}"
        done = subprocess.run(["sh", "-c", command], cwd=home, capture_output=True, text=True)
        if done.returncode != 0 or not list(home.glob(f"{package}_*.orig.tar.*")):
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Unavailable(f"the source of {package} cannot be had: {last}")


def fetch(package, home):
    """The path of the upstream archive of @package, kept below @home."""
    home = home / package  # each package has its own lists: several may be fetched at a time
    for name in ("lists/partial", "cache/archives/partial"):
        (home / name).mkdir(parents=True, exist_ok=True)
    # apt-get writes the archive under its own name: another test must not see the beginning.
    with only_one(home):
        fetch_into(home, package)
    return next(home.glob(f"{package}_*.orig.tar.*"))


def unpack(archive, place):
    """Unpack @archive, and rename its only directory to @place."""
    scratch = place.with_name(place.name + ".unpacked")
    with tarfile.open(archive) as tar:
        tar.extractall(scratch)
    (top,) = [p for p in scratch.iterdir() if p.is_dir()]
    top.rename(place)
    scratch.rmdir()
    return place
