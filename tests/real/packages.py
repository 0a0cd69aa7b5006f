"""The real programs that are recorded: how each is built, what its own tests are, what of their output counts."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PG = "-pg"
CYG = "-finstrument-functions"


@dataclass
class Real:
    """@package is unpacked, and beside it, under their own names, those in @beside. @configure and @make get the compiler
    flags as $FLAGS. @check runs the suite, $HERE is this directory; @results finds the lines of its output that say what
    came out. @cleanup makes it possible to run the suite again. All this happens once for each of @methods, or for the first alone.

    @patched: also record it when nothing is compiled in, with these options, all functions patched. @count: also check the numbers of calls against gcov. @options: for `record`. @needs: header files without which it
    cannot be built, by the Debian package that has them. @lost: how many records may be lost, for programs whose
    signal handlers interrupt the probe (what is lost is counted, which is not a matter of this suite). @patch: of patches/,
    for the unpacked source."""

    package: str
    make: str
    check: str
    results: str
    configure: str = "true"
    cleanup: str = "true"
    beside: tuple = ()
    methods: tuple = (PG, CYG)
    options: str = ""
    needs: tuple = ()
    patched: str = ""
    count: bool = False
    lost: int = 0
    patch: str = ""


# Each script of a directory of Lua tests on its own, so that one that fails does not hide the others.
LUA_SCRIPTS = """
for script in *.lua; do
	case $script in all.lua|big.lua|constructs.lua) continue; esac    # gigabytes of calls
	LUA_PATH='?;./?.lua' LUA_INIT="package.path = '?;'..package.path" $LUA $script < /dev/null > out.txt 2>&1
	echo "RESULT $script status $? $(grep -c . out.txt) lines"
done
"""

LUA54_CHECK = """
LUA=$PWD/src/lua
(cd ../lua-unit && $LUA run_unit_tests.lua -o tap)
(cd ../lua-lpeg && LUA_PATH='./?.lua' LUA_CPATH='./?.so' $LUA test.lua > out.txt; echo "RESULT lpeg $? $(tail -1 out.txt)")
(cd ../lua-coxpcall/tests && echo "RESULT coxpcall $($LUA test.lua)")
$LUA $HERE/coroutines.lua
"""
LUA54_RESULTS = r"^(?:ok|not ok)\s.*$|^RESULT .*$"

LUA54 = Real(
    package="lua5.4",
    patched="-P . -P .@lpeg.so",
    beside=("lua-unit", "lua-lpeg", "lua-coxpcall"),
    make='make -s -j2 -C src linux MYCFLAGS="$FLAGS" MYLDFLAGS="$FLAGS"'
    ' && make -s -C ../lua-lpeg linux LUADIR=$PWD/src COPT="$FLAGS -O2"',
    check=LUA54_CHECK,
    results=LUA54_RESULTS,
    options="--no-libcall",
)

# Those of its 80 scripts that are over in a few seconds.
MEMCACHED_TESTS = " ".join(
    f"t/{name}.t"
    for name in "64bit ascii-auth binary-get bogus-commands cas conn-limits daemonize dash-M dyn-maxbytes flags getandtouch"
    " incrdecr issue_42 issue_70 metaget noreply stats touch".split()
)

PROGRAMS = {
    "bzip2": Real(
        package="bzip2",
        make='make -s -j2 bzip2 CFLAGS="$FLAGS -D_FILE_OFFSET_BITS=64"',
        check="make -s test && sha1sum sample*.rb2 sample*.tst",
        results=r"^.*sample.*$|works",
        cleanup="rm -f sample*.rb2 sample*.tst",
        methods=(PG,),
        patched="--no-libcall -P .",
        count=True,
    ),
    "zlib": Real(
        package="zlib",
        configure='CFLAGS="$FLAGS" ./configure --static',
        make="make -s -j2 example minigzip",
        check="./example && ./minigzip < zlib.h > h.gz && ./minigzip -d < h.gz | cmp - zlib.h &&"
        " ./minigzip -9 < ChangeLog | ./minigzip -d | sha1sum && echo pipes work",
        results=r"^.*$",
        cleanup="rm -f h.gz foo.gz",
        methods=(PG,),
        patched="--no-libcall -P .",
        count=True,
    ),
    "sed": Real(
        package="sed",
        configure='CFLAGS="$FLAGS" ./configure --quiet --disable-nls --disable-i18n',
        make="make -s -j2",
        # Without the three tests that run sed under valgrind, which simulates the probe, too, at a minute each.
        check="mkdir -p no-valgrind; printf '#!/bin/sh\nexit 1\n' > no-valgrind/valgrind;"
        " chmod +x no-valgrind/valgrind; PATH=$PWD/no-valgrind:$PATH make -s check",
        results=r"^(?:PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): .*$",
        methods=(PG,),  # and no gcov: the suite ends some processes before it has written down what it counted
        lost=100,
    ),
    # longjmp for each error and each yield. The official tests of Lua 5.1, which another package carries.
    "lua5.1": Real(
        package="lua5.1",
        beside=("golang-github-yuin-gopher-lua",),
        make='make -s -C src generic CFLAGS="$FLAGS -DLUA_USE_POSIX" MYLDFLAGS="$FLAGS"',
        check="LUA=$PWD/src/lua; cd ../golang-github-yuin-gopher-lua/_lua5.1-tests" + LUA_SCRIPTS,
        results=LUA54_RESULTS,
        options="--no-libcall",
        methods=(CYG, PG),
    ),
    # The official tests of 5.4 are in no Debian package: LuaUnit's own 206 tests, LPeg's (a C module that is loaded), those
    # of coxpcall (coroutines across pcall), and a script of ours.
    "lua5.4": LUA54,
    # Compiled as C++, Lua throws exceptions where it jumps in C.
    "lua5.4-c++": Real(
        **{
            **LUA54.__dict__,
            "beside": ("lua-unit", "lua-coxpcall"),
            "make": 'make -s -j2 -C src linux CC=g++ MYCFLAGS="$FLAGS" MYLDFLAGS="$FLAGS"',
            "check": "\n".join(line for line in LUA54_CHECK.splitlines() if "lpeg" not in line),
            "methods": (PG,),
        }
    ),
    # Exceptions that a library throws and its program catches; both are traced.
    "jsoncpp": Real(
        package="libjsoncpp",
        make="g++ $FLAGS -fPIC -shared -Iinclude src/lib_json/*.cpp -o libjsoncpp.so &&"
        " g++ $FLAGS -Iinclude src/test_lib_json/*.cpp -L. -ljsoncpp -Wl,-rpath,'$ORIGIN' -o tests",
        check="./tests",
        patched="-P . -P .@libjsoncpp.so",
        results=r"^Testing .*$|^All .*$",
        options="--nest-libcall",
        methods=(CYG, PG),
    ),
    # An allocator that replaces malloc, under threads that free each other's blocks.
    "mimalloc": Real(
        package="mimalloc",
        make="for t in api api-fill stress; do gcc $FLAGS -DNDEBUG -DMI_MALLOC_OVERRIDE -Iinclude src/static.c test/test-$t.c"
        " -o $t -pthread || exit; done",
        check="for t in './api' './api-fill' './stress 8 10 5'; do"
        ' $t > out.txt 2>&1; echo "RESULT $t status $?"; grep -E "^(test|succeeded|failed)" out.txt; done',
        results=r"^RESULT .*$|^(?:test|succeeded|failed).*$",
    ),
    # A threaded server: its own tests, then a load of eight clients that check each answer.
    "memcached": Real(
        package="memcached",
        configure='CFLAGS="$FLAGS" ./configure --quiet --disable-extstore',
        make='make -s -j2 CFLAGS="$FLAGS -pthread -Wno-error" memcached memcached-debug timedrun testapp sizes',
        check=f"prove -j8 {MEMCACHED_TESTS}; /usr/bin/python3 $HERE/memcached_load.py ./memcached",
        results=r"^RESULT .*$|^Result: .*$|^Files=\d+, Tests=\d+|^t/.*Failed.*$",
        options="--no-libcall",
        needs=(("libevent-dev", "/usr/include/event.h"),),
        lost=1000,
    ),
}
