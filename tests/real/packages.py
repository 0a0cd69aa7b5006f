"""The real programs that are recorded: the ways to build each, its own tests, and the lines of
their output that must be the same."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PG = "-pg"
CYG = "-finstrument-functions"


@dataclass
class Real:
    """@package is unpacked, and beside it, under their own names, the packages in @beside.
    @configure and @make get the compiler's flags as $FLAGS. @check runs the suite; $HERE is this
    directory. @results finds the result lines of its output. @cleanup prepares another run. All
    this happens once for each of @methods, or for the first one alone.

    @patched: options for another recording, in which the program has no hooks and all functions are
    patched. @count: compare the numbers of calls with gcov's. @options: for `record`. @needs:
    required header files, by their Debian package. @lost: the number of records that may be lost
    when signal handlers interrupt the probe; other tests check that losses are counted. @patch: a
    file of patches/, for the unpacked source.
    """

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


# Runs each script of a directory of Lua tests by itself, so that one that fails does not hide the
# others.
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

# Those of memcached's 80 scripts that take only a few seconds.
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
        # A false valgrind makes the suite skip three tests that run sed under valgrind. The real
        # one also simulates the probe, which takes a minute for each.
        check="mkdir -p no-valgrind; printf '#!/bin/sh\nexit 1\n' > no-valgrind/valgrind;"
        " chmod +x no-valgrind/valgrind; PATH=$PWD/no-valgrind:$PATH make -s check",
        results=r"^(?:PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): .*$",
        methods=(PG,),  # no gcov: the suite ends some processes before they write counts
        lost=100,
    ),
    # Lua makes a longjmp for each error and each yield. The official tests of Lua 5.1 are in
    # another package.
    "lua5.1": Real(
        package="lua5.1",
        beside=("golang-github-yuin-gopher-lua",),
        make='make -s -C src generic CFLAGS="$FLAGS -DLUA_USE_POSIX" MYLDFLAGS="$FLAGS"',
        check="LUA=$PWD/src/lua; cd ../golang-github-yuin-gopher-lua/_lua5.1-tests" + LUA_SCRIPTS,
        results=LUA54_RESULTS,
        options="--no-libcall",
        methods=(CYG, PG),
    ),
    # No Debian package has the official tests of 5.4. These are LuaUnit's own 206 tests, those of
    # LPeg (a C module that is loaded) and of coxpcall (coroutines across pcall), and a script of
    # this project.
    "lua5.4": LUA54,
    # Lua compiled as C++ throws exceptions where Lua in C jumps.
    "lua5.4-c++": Real(
        **{
            **LUA54.__dict__,
            "beside": ("lua-unit", "lua-coxpcall"),
            "make": 'make -s -j2 -C src linux CC=g++ MYCFLAGS="$FLAGS" MYLDFLAGS="$FLAGS"',
            "check": "\n".join(line for line in LUA54_CHECK.splitlines() if "lpeg" not in line),
            "methods": (PG,),
        }
    ),
    # A library throws exceptions that its program catches; both are traced.
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
    # An allocator that replaces malloc; threads free each other's blocks.
    "mimalloc": Real(
        package="mimalloc",
        make="for t in api api-fill stress; do gcc $FLAGS -DNDEBUG -DMI_MALLOC_OVERRIDE -Iinclude src/static.c test/test-$t.c"
        " -o $t -pthread || exit; done",
        check="for t in './api' './api-fill' './stress 8 10 5'; do"
        ' $t > out.txt 2>&1; echo "RESULT $t status $?"; grep -E "^(test|succeeded|failed)" out.txt; done',
        results=r"^RESULT .*$|^(?:test|succeeded|failed).*$",
    ),
    # A server with threads: its own tests, then a load of eight clients that check each answer.
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
