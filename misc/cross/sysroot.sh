#!/bin/bash
# Fetches the libraries and headers of another machine, which its cross file in this folder uses.
#
#   misc/cross/sysroot.sh aarch64|riscv64|arm|i386
#
# The script unpacks Debian's packages of that machine below build-cross/sysroot/, and changes
# nothing else on this system. If the directory of the machine exists, its packages stay as they
# are. Remove the directory to renew them. The status is 77 if the mirror does not have them.
set -eu
cd "$(dirname "$0")/../.."

packages="libc6-dev libelf-dev libiberty-dev libcmocka-dev libdw-dev libsqlite3-dev libtraceevent-dev libcapstone-dev liblzma-dev zlib1g-dev libzstd-dev"
machine=${1:-}
case $machine in
	aarch64) arch=arm64 ;;
	riscv64) arch=riscv64 ;;
	arm) arch=armhf ;;
	i386) arch=i386 ;;
	*)
		echo "misc/cross/sysroot.sh: no machine '$machine'; aarch64, riscv64, arm and i386 are known" >&2
		exit 2
		;;
esac

roots=$PWD/build-cross/sysroot
root=$roots/$machine
mkdir -p "$roots"
# A cross file cannot contain a path relative to itself. So build-cross/sysroot/$machine.ini defines
# the path for misc/cross/$machine.ini.
printf "[constants]\nroot = '%s'\n" "$root" > "$roots/$machine.ini"
[ ! -d "$root" ] || exit 0

# The mirror and the release that this machine's own packages come from.
read -r release mirror < <(apt-get indextargets --format '$(LABEL) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
	sed -n 's/^Debian \([a-z]*\) /\1 /p' | sort -u | head -1) || true
[ -n "${mirror:-}" ] || {
	echo "misc/cross/sysroot.sh: apt-get knows no Debian mirror to fetch packages from" >&2
	exit 1
}
# Debian 12 has no packages for riscv64, so those of the next release are used. A program that is
# linked here with the C library of Debian 12 can use the C library of the next release under qemu.
[ "$arch $release" != "riscv64 bookworm" ] || release=trixie

temp=$roots/$machine.work
rm -rf "$temp"
mkdir -p "$temp/lists/partial" "$temp/cache/archives/partial" "$temp/tree/usr/lib"
: > "$temp/status"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror $release main" > "$temp/sources.list"
options=
for option in APT::Architecture=$arch APT::Architectures=$arch Dir::Etc::SourceList="$temp/sources.list" \
	Dir::Etc::SourceParts=/dev/null Dir::State::Lists="$temp/lists" Dir::State::Status="$temp/status" \
	Dir::Cache="$temp/cache" APT::Sandbox::User=root Acquire::Languages=none Acquire::Retries=2; do
	options="$options -o $option"
done
fetch() {
	# shellcheck disable=SC2086  # lists of words
	apt-get -q $options update &&
		apt-get -q -y $options --no-install-recommends --download-only install $packages
}
# While a mirror is updated, its files differ from its lists. An update may take days, so the script
# gives up after three tries.
tries=3
until fetch; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || {
		echo "skipped: $mirror does not give the packages of $release for $arch"
		exit 77
	}
	sleep 15
done

# Since Debian 12 /lib is another name of /usr/lib.
ln -s usr/lib "$temp/tree/lib"
for package in "$temp"/cache/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -C "$temp/tree" --keep-directory-symlink --exclude=./usr/share -xf -
done
# Absolute links are changed, so that they lead to this tree and not to the root of this system.
find "$temp/tree" -type l -lname '/*' -printf '%p\n%l\n' | while read -r link && read -r target; do
	ln -sfnr "$temp/tree$target" "$link"
done
mv "$temp/tree" "$root"
rm -rf "$temp"
