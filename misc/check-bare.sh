#!/bin/bash
# Checks that the two commands of README work as they are written, on a minimal Debian 12.
#
#   misc/check-bare.sh [DIRECTORY]     needs root, debootstrap, a Debian mirror and 2 GB of disk
#
# The script tests the committed tree. A DIRECTORY that is named is kept. Without an argument the
# script makes a directory, and removes it at the end.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
# The mirror that this machine's own packages come from.
mirror=${MIRROR:-$(apt-get indextargets --format '$(LABEL) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
	sed -n 's/^Debian [a-z]* //p' | sort -u | head -1)}

[ "$(id -u)" = 0 ] || { echo "misc/check-bare.sh: needs root" >&2; exit 1; }
command -v debootstrap > /dev/null || { echo "misc/check-bare.sh: needs debootstrap" >&2; exit 1; }

root=${1:-}
[ -n "$root" ] || root=$(mktemp -d /var/tmp/bare-XXXXXX)
mkdir -p "$root"

leave() {
	for place in dev/shm dev/pts dev proc sys; do
		# Tests mount file systems below these directories (tracefs).
		umount -R "$root/$place" 2> /dev/null || true
	done
	umount "$root" 2> /dev/null || true
	[ -n "${1:-}" ] || rm -rf --one-file-system "$root"
}
trap 'leave "${1:-}"' EXIT

[ -x "$root/bin/sh" ] || debootstrap --variant=minbase bookworm "$root" "$mirror" > "$root.log" 2>&1 || {
	tail -20 "$root.log"
	exit 1
}
# The root is a mount, so that tests can make mounts of their own with unshare(1).
mount --bind "$root" "$root"
for place in proc sys dev dev/pts; do
	mount --bind "/$place" "$root/$place"
done
mount -t tmpfs none "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/resolv.conf"

# The tree is in a directory that all users can reach: some tests run as users other than root.
rm -rf "$root/srv/utrail"
git clone -q "$top" "$root/srv/utrail"

for command in misc/try.sh misc/test.sh; do
	echo "=== $command"
	chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		sh -c "cd /srv/utrail && $command"
done
