"""record --proc=bpf on Debian's kernel, in a virtual machine (vm.py): the verifier of another
kernel accepts the program, which reports the same as ptrace(2).

One boot records in both ways; the tests check the resulting files.
"""

import json
import os
from pathlib import Path

import pytest
from proc_ways import what_matters
from tools import UTRAIL, utrail

import vm

COMMANDS = r"""
cat > /prog <<'END'
#!/bin/sh
mkdir dir; echo 1 > dir/one; cat dir/one dir/../dir/one > two
ln -s two link; ln two three; mv three dir/three; cat link | cat > four
mount -t tmpfs some dir; umount dir
(cd dir; rm one ../dir/three); rm -r dir two link four
sh -c 'exit 3'; sh -c 'kill -9 $$'
exit 7
END
chmod 755 /prog
/u/utrail --version > version
for way in ptrace bpf; do
	mkdir -p /place; cd /place
	/u/utrail record --proc=$way --proc-env --no-libcall --no-event --libmcount-path /u -d /out/$way /prog 2> /out/said
	echo $? > /out/$way.status; mv /out/said /out/$way.said
	cd /out; rm -r /place
	echo "$way: $(cut -d' ' -f1 /proc/uptime) s" > /dev/console
done
"""


@pytest.fixture(scope="session")
def out(tmp_path_factory):
    directory = Path(os.environ.get("UTRAIL_KERNEL_CACHE", Path(UTRAIL).parent / "kernel"))
    directory.mkdir(exist_ok=True)
    if " bpf " not in utrail("--version").out:
        pytest.skip("this utrail was built without eBPF")
    try:
        machine = vm.Machine(directory, tmp_path_factory.mktemp("machine"))
    except vm.Unavailable as why:
        pytest.skip(f"no machine with Debian's kernel: {why}")
    machine.add(UTRAIL, "/u/utrail")
    machine.add(Path(UTRAIL).parent / "libmcount/libmcount.so", "/u/libmcount.so")
    return machine.run(COMMANDS, timeout=3600)


def events(out, way):
    return json.loads(utrail("events", "export", "--as=json", "-d", out / way, "-E", "proc:*", "--match=glob").must().out)


@pytest.mark.parametrize("way", ["ptrace", "bpf"])
def test_the_program_is_as_it_was(out, way):
    assert (out / f"{way}.said").read_text() == "Killed\n"
    assert (out / f"{way}.status").read_text() == "7\n"


def test_both_ways_tell_the_same(out):
    found = {way: what_matters(events(out, way)) for way in ("ptrace", "bpf")}
    assert sum(found["bpf"].values()) > 100
    assert (found["bpf"] - found["ptrace"], found["ptrace"] - found["bpf"]) == ({}, {})
