# Debian packages that the project needs, by purpose. The other scripts of misc/ source this file.

build_packages="gcc libc6-dev meson ninja-build pkg-config
	libelf-dev libncurses-dev libdw-dev libdebuginfod-dev libcapstone-dev liblzma-dev libiberty-dev libsqlite3-dev libmicrohttpd-dev libtraceevent-dev zlib1g-dev libzstd-dev
	libbpf-dev clang"

test_packages="$build_packages
	g++ clang clang-format binutils make patch groff-base libcmocka-dev systemtap-sdt-dev python3 python3-pytest python3-pytest-xdist uftrace
	llvm lld mold libc++-14-dev libc++abi-14-dev libunwind8 zsh fish libevent-dev libboost-context-dev perl jq sqlite3 graphviz
	musl-tools libclang-rt-14-dev gcc-i686-linux-gnu libc6-dev-i386-cross
	protobuf-compiler valgrind golang-go chromium chromium-driver firefox-esr python3-selenium python3-jsonschema
	trace-cmd zstd ccache bear clang-tools clangd gfortran nasm yasm libtool-bin cmake nodejs node-typescript default-jdk-headless
	tmux python3-greenlet luajit libpython3.11 libluajit-5.1-2 libluajit-5.1-dev"

# Programs and servers as Debian ships them, for tests/real/shipped*.py.
shipped_packages="perl python3.11 libpython3.11-testsuite ruby php-cli bash git lua5.4 sqlite3 nodejs default-jdk-headless ripgrep
	postgresql postgresql-contrib redis-server redis-tools nginx-light apache2-utils memcached libmemcached-tools"

# For misc/test.sh cross. misc/cross/sysroot.sh fetches the libraries of the other machines.
cross_packages="gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu gcc-arm-linux-gnueabihf gcc-i686-linux-gnu qemu-user"

# For misc/test.sh kernel. The kernel itself is not installed: tests/kernel/vm.py unpacks it.
kernel_packages="qemu-system-x86 busybox-static"

# Programs that benchmarks compare utrail with (meson test --benchmark). Without them, the
# benchmarks name the parts that they skip.
bench_packages="uftrace liblttng-ust-dev lttng-tools"

# For misc/fuzz.sh.
fuzz_packages="clang libclang-rt-14-dev"

# Install the packages of "$@" that are missing. Without root or sudo, only name them.
install_packages() {
	missing=
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
			missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	as_root=
	[ "$(id -u)" = 0 ] || as_root=sudo
	if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! command -v sudo >/dev/null; }; then
		echo "Please install:$missing" >&2
		return 0
	fi
	echo "Installing:$missing"
	# shellcheck disable=SC2086  # a list of words
	DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing \
		>/dev/null 2>&1 || {
		$as_root apt-get update -q >/dev/null
		DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing
	} >&2
}
