"""A virtual machine with Debian's kernel, which has all tracers: the host's kernel may lack them.

The kernel is in the package linux-image-*-amd64, which is unpacked but not installed. Everything
else is an initramfs with busybox, the wanted programs and their libraries. The first process runs
the commands there. Their files in /out come back as a tar archive, written to a virtual disk. QEMU
emulates the processor: no privilege is needed, and a boot takes about ten seconds.
"""

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

PACKAGE = re.compile(r"linux-image-[0-9.]+-[0-9]+-amd64")
DISK_BYTES = 256 << 20
# Kernel modules in the order of their dependencies.
MODULES = ("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk")
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /out /root /var/tmp
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o size=80% out /out
mkdir -p /dev/shm && mount -t tmpfs shm /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing
for module in {modules}; do insmod /modules/$module.ko; done
ip link set lo up
export PATH=/bin:/usr/bin HOME=/root
cd /out
sh /commands > /out/log 2>&1
echo $? > /out/status
tar cf /dev/vda -C /out .
sync
poweroff -f
"""


class Unavailable(Exception):
    """The machine cannot run here, with the reason."""


def _run(*words, cwd=None, timeout=240):
    try:
        return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired) as why:
        raise Unavailable(str(why)) from None


def _newest_package():
    names = PACKAGE.findall(_run("apt-cache", "depends", "linux-image-amd64").stdout)
    if not names:
        raise Unavailable("apt-cache knows no package linux-image-amd64")
    return names[0]


def kernel(cache):
    """The directory of Debian's kernel, which is unpacked below @cache if it is not there."""
    found = sorted(Path(cache).glob("linux-image-*/boot/vmlinuz-*"))
    if found:
        return found[-1].parents[1]
    name = _newest_package()
    Path(cache).mkdir(parents=True, exist_ok=True)
    got = _run("apt-get", "download", name, cwd=cache)
    packages = list(Path(cache).glob(f"{name}_*.deb"))
    if not packages:
        raise Unavailable(f"apt-get download {name}: {(got.stderr or got.stdout).strip().splitlines()[-1:]}")
    unpacked = Path(cache) / f"{name}.tmp"
    shutil.rmtree(unpacked, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", packages[0], unpacked], check=True)
    packages[0].unlink()
    final = Path(cache) / name
    unpacked.rename(final)
    return final


def _libraries(program):
    """The files that the dynamic linker loads for a program."""
    listed = _run("ldd", str(program)).stdout
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", listed)}


def be_modest():
    """Leave more of the CPUs to other processes, but not nearly all: the tests in the machine need
    minutes of CPU time, and give up after an hour. If the scheduler groups processes by session
    (autogroup), the niceness of a process has an effect only within its group. So the group gets a
    niceness, too."""
    os.nice(3)
    try:
        Path("/proc/self/autogroup").write_text("3")
    except OSError:
        pass  # this kernel has no autogroups


class Machine:
    """A machine: fill its image, then call run()."""

    def __init__(self, cache, directory):
        self.kernel = kernel(cache)
        for tool in ("qemu-system-x86_64", "busybox"):
            if not shutil.which(tool):
                raise Unavailable(f"{tool} is not installed")
        self.directory = Path(directory)
        self.root = self.directory / "root"
        shutil.rmtree(self.root, ignore_errors=True)
        for path in ("bin", "modules"):
            (self.root / path).mkdir(parents=True)
        self.add(Path(shutil.which("busybox")).resolve(), "/bin/busybox")
        for name in MODULES:
            found = next(self.kernel.glob(f"lib/modules/*/kernel/drivers/*/{name}.ko"), None)
            if found:
                shutil.copy(found, self.root / "modules" / found.name)

    def add(self, file, place=None):
        """Put @file and its libraries into the image, at @place or at the same path as here."""
        files = {Path(place or file): Path(file)}
        files.update({library: library for library in _libraries(file)})
        for where, source in files.items():
            target = self.root / str(where).lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(source, target)

    def write(self, place, text):
        target = self.root / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def _image(self):
        self.write("/init", INIT.format(modules=" ".join(MODULES)))
        (self.root / "init").chmod(0o755)
        image = self.directory / "initramfs"
        names = "\n".join(sorted(str(p.relative_to(self.root)) for p in self.root.rglob("*")))
        with open(image, "wb") as out:
            subprocess.run(
                [shutil.which("busybox"), "cpio", "-o", "-H", "newc"],
                input=names.encode(), stdout=out, stderr=subprocess.DEVNULL, cwd=self.root, check=True,
            )
        return image

    def run(self, commands, timeout=200, cpus=2):
        """Boot, run @commands by sh in /out, and bring /out back. Returns its directory here, in
        which `log` has the commands' output."""
        self.write("/commands", commands)
        image, disk, out = self._image(), self.directory / "disk", self.directory / "out"
        console = self.directory / "console"
        with open(disk, "wb") as f:
            f.truncate(DISK_BYTES)
        # One thread emulates all CPUs: with one for each, guests stall for minutes on a busy
        # machine while ftrace rewrites code.
        try:
            subprocess.run(
                ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", str(cpus), "-m", "1024",
                 "-kernel", next(self.kernel.glob("boot/vmlinuz-*")), "-initrd", image,
                 "-append", "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check", "-no-reboot", "-display", "none", "-monitor", "none",
                 "-serial", f"file:{console}", "-drive", f"file={disk},if=virtio,format=raw"],
                check=True, timeout=timeout, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=be_modest,
            )
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the machine did not end in {timeout} s; it said:\n{self.said()}") from None
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        try:
            with tarfile.open(disk) as tar:
                tar.extractall(out)
        except tarfile.ReadError:
            raise AssertionError(f"the machine left nothing; it said:\n{self.said()}") from None
        os.unlink(disk)
        return out

    def said(self):
        console = self.directory / "console"
        return console.read_text(errors="replace")[-4000:] if console.exists() else ""
