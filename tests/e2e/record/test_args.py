"""Arguments and return values: each format is recorded, debug information gives types, and wild
pointers do no harm."""

import re
import shutil
import subprocess

import pytest

from programs import SOURCES, build_here
from tools import peer, utrail

ARGS = SOURCES / "args"
METHODS = {"pg": ["-pg"], "fentry": ["-pg", "-mfentry"]}


def build(tmp_path, source, *flags, compiler=None):
    path = ARGS / source
    compiler = compiler or ("g++" if path.suffix == ".cc" else "gcc")
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    return build_here(tmp_path, path, [compiler, "-pthread", *flags])


def replay(data, *options, by=utrail):
    out = by("replay", "-d", data, "--no-pager", "-f", "none", "--no-event", *options, preempted=True).must().out
    if by is peer:
        # In strings that have characters other than ASCII, the peer writes line ends unchanged.
        # utrail escapes them in all strings.
        out = re.sub(r'("[^"\n]*[^\x00-\x7f][^"\n]*)\n', r"\1\\n", out)
    return [line.strip() for line in out.splitlines() if line.strip()]


def calls(lines, name):
    return [line for line in lines if line.startswith(name + "(")]


@pytest.fixture(scope="module", params=METHODS)
def values(request, tmp_path_factory):
    return build(tmp_path_factory.mktemp("values"), "values.c", "-O1", *METHODS[request.param])


# Options, and the calls that they show: all calls of the function, in order.
FORMATS = [
    ("-A number@arg1", ["number(0)", "number(-1)", "number(99999)", "number(0x186a1)", "number(0xfffffffffffe795f)",
                        "number(0x123456789abcdef)"]),
    ("-A number@arg1/i", ["number(0)", "number(-1)", "number(99999)", "number(100001)", "number(-100001)",
                          "number(81985529216486895)"]),
    ("-A number@arg1/u", ["number(0)", "number(0xffffffffffffffff)", "number(99999)", "number(0x186a1)",
                          "number(0xfffffffffffe795f)", "number(0x123456789abcdef)"]),
    ("-A number@arg1/x", ["number(0)", "number(0xffffffffffffffff)", "number(0x1869f)", "number(0x186a1)",
                          "number(0xfffffffffffe795f)", "number(0x123456789abcdef)"]),
    ("-A number@arg1/o", ["number(0)", "number(01777777777777777777777)", "number(0303237)", "number(0303241)",
                          "number(01777777777777777474537)", "number(04432126361152746757)"]),
    ("-A number@arg1/d32", ["number(0)", "number(-1)", "number(99999)", "number(0x186a1)", "number(0xfffe795f)",
                            "number(0x89abcdef)"]),
    ("-A number@arg1/i8", ["number(0)", "number(-1)", "number(-97)", "number(-95)", "number(95)", "number(-17)"]),
    ("-A number@arg1/u16", ["number(0)", "number(65535)", "number(34463)", "number(34465)", "number(31071)",
                            "number(52719)"]),
    ("-A number@arg1%rdi,arg2/x%stack+1", None),
    ("-A number@arg1/x8%rdi,arg1/x16", ["number(0, 0)", "number(0xff, 0xffff)", "number(0x9f, 0x869f)",
                                        "number(0xa1, 0x86a1)", "number(0x5f, 0x795f)", "number(0xef, 0xcdef)"]),
    ("-R number", ["number()"] * 6),
    ("-R number@retval/i32", ["number() = 0", "number() = -1", "number() = 99999", "number() = 100001",
                              "number() = -100001", "number() = -1985229329"]),
    ("-A ints@arg1/i8,arg2/u8,arg3/i16,arg4/u16,arg5/i32,arg6/u32,arg7/i,arg8/x -R ints@retval/i32",
     ["ints(-1, 200, -300, 40000, -70000, 0xee6b2800, -1, 0xffffffffffffffff) = -70000"]),
    ("-A ints@arg8,arg1/i8%stack+1,arg3/i16%rdx", ["ints(-1, -1, -300)"]),
    ("-A text@arg1/s,arg2/c -R text@retval/s",
     ['text("hello\\nworld", \'c\') = "hello\\nworld"', 'text("", \'\\n\') = ""', "text(NULL, '\\0') = NULL",
      f'text("{"x" * 95}...", \'x\') = "{"x" * 95}..."', f'text("{"x" * 97}", \'y\') = "{"x" * 97}"',
      'text("\u00e4']),
    ("-A floats@fparg1/32,fparg2,arg1,fparg3/32 -R floats@retval/f32", ["floats(1.250000, -2.500000, 3, 4.500000) = 1.250000"]),
    ("-A floats@arg2/f,arg1/f32", ["floats(-2.500000, 1.250000)"]),
    ("-A many_floats@fparg8,fparg9,fparg1%xmm1 -R many_floats@retval/f64", ["many_floats(8.000000, 9.000000, 2.000000) = 9.000000"]),
    ("-A long_double@arg1,fparg1/80%stack+1,fparg2/80%stack+3 -R long_double@retval/f80",
     ["long_double(1, 2.500000, -3.250000) = -3.250000"]),
    ("-A long_double@fparg2/80", ["long_double(-3.250000)"]),
    ("-A paint@arg1/e:unheard_of", ["paint(2)", "paint(3)", "paint(-1)", "paint(1000)"]),
    ("-A close@arg1 -A pairs@arg1/t8:pair,arg2", ["pairs(pair{...}, 6)"]),
    ("-A triples@arg1/t12%rdi+rsi,arg1/t40:large%stack+1,arg4%rcx -R triples@retval/t12:triple",
     ["triples({...}, large{...}, 42) = triple{...}"]),
    ("-A pointers@arg1/p,arg2/p,arg3/p -R pointers@retval/p", ["pointers(&number, &global, 0) = &global"]),
    ("-A nothing@arg1,arg9999999 -R nothing@retval", None),
    ("-T changes@arg1/s,retval/x", ['changes("before") = 0x1']),
    ("-A changes@arg1/s -t 1ns", ['changes("before")']),
    ("-T changes@arg1/x;changes@clear=arg;changes@arg1/s", ['changes("before")']),
    ("-T ^changes$@arg1/s,retval -T changes@clear=arg", ["changes() = 1"]),
    ("-T paint@auto-args", ["paint()"] * 4),
    ("-A ints@ARG1/i8,arg6/x32", ["ints(-1, 0xee6b2800)"]),
]


@pytest.mark.parametrize("options, want", FORMATS, ids=[f[0] for f in FORMATS])
def test_formats(values, tmp_path, options, want):
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, *options.split(), values).must()
    lines = replay(data)
    if want is None:
        assert lines[-1].startswith("}")
        return
    name = want[0].split("(")[0]
    got = calls(lines, name)
    assert len(got) == len(want)
    for line, text in zip(got, want):
        assert line.startswith(text)
        if "\u00e4" not in text:
            assert line in (text + ";", text + " {")


def test_no_args(values, tmp_path):
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "-A", "number@arg1", "-R", "number@retval", values).must()
    assert calls(replay(data, "--no-args"), "number") == ["number();"] * 6
    plain = utrail("dump", "-d", data, "--no-args").must().out
    assert "[args ]" not in plain and "[retval]" not in plain
    assert "args[0] d64: 0x00000000000186a1" in utrail("dump", "-d", data).must().out


@pytest.mark.parametrize("spec, column", [("number@arg1/q", 6), ("number@arg1%foo", 6), ("number@arg1,arg", 4),
                                          ("number@fparg1/24", 8)])
def test_wrong_spec(values, tmp_path, spec, column):
    result = utrail("record", "-d", tmp_path / "data", "-A", spec, values)
    assert result.status == 2
    assert f"column {column}:" in result.err and "--argument" in result.err
    assert len(result.err.splitlines()) == 1
    assert not (tmp_path / "data").exists()


def test_arguments_of_library_calls(tmp_path):
    values = build(tmp_path, "values.c", "-pg", "-fno-builtin")
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "-a", values).must()
    lines = replay(data)
    assert re.fullmatch(r"memset\(0x[0-9a-f]+, 120, 200\) = 0x[0-9a-f]+;", calls(lines, "memset")[0])


KNOWN = [
    'open("/dev/zero", O_RDONLY) = FD;',
    'open("/dev/zero", O_RDONLY|O_CLOEXEC) = FD;',
    'open("made", O_RDWR|O_CREAT|O_TRUNC, 0640) = FD;',
    'openat(-100, "made", O_WRONLY|O_APPEND) = FD;',
    'openat(-100, "made", O_WRONLY|O_CREAT, 0600) = FD;',
    'chmod("made", 0755) = 0;',
    "umask(027) = 022;",
    "fcntl(FD, F_GETFD) = 1;",
    "fcntl(FD, F_SETFD, 1) = 0;",
    "prctl(PR_GET_DUMPABLE) = 1;",
    "mremap(PTR, 4096, 8192, MREMAP_MAYMOVE) = PTR;",
    "mask(__memory_order_mask) = __memory_order_mask;",
    "mask(SIGN) = SIGN;",
    "million(1000000, -1000000) = -70000;",
]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_values_of_known_functions(tmp_path, compiler):
    """Variadic functions show as many arguments as their flags ask for; modes are octal,
    enumerators have their names."""
    exe = build(tmp_path, "known.c", "-pg", "-g", "-O1", "-fno-builtin", compiler=compiler)
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "-a", exe, cwd=tmp_path).must()
    lines = [re.sub(r"^(fcntl\(|open.*= )\d+", r"\1FD", line) for line in normal(replay(data))]
    for want in KNOWN:
        assert want in lines, "\n".join(lines)
    raw = utrail("dump", "-d", data).must().out
    call = raw[raw.index("] open("):]
    assert call[:call.index("[exit ]")].count("args[") == 2
    # The user's options decide which values are shown.
    utrail("record", "--no-event", "-d", data, "-A", "open@arg1/s,arg2/x,arg3/c", exe, cwd=tmp_path).must()
    assert re.search(r'open\("/dev/zero", 0, \'', "\n".join(replay(data)))
    if shutil.which("uftrace"):
        # The peer shows the mode, too, but in hexadecimal.
        utrail("record", "--no-event", "-d", data, "-a", exe, cwd=tmp_path).must()
        assert any(line.startswith('open("made", O_TRUNC|O_CREAT|O_RDWR, 0x1a0)') for line in replay(data, by=peer))


CPP = [
    "shop::Cart::add(PTR, 4) = 7;",
    "shop::Cart::price(PTR, -5) = -5;",
    "shop::Cart::is_open(1) = 0;",
    "shop::taste(PEAR) = PEAR;",
    "shop::move(Point{x=1, y=2}, PTR) = Point{x=1, y=2};",
    'shop::owned(Owner{name="me"s, number=7}, 8) = 8;',
    f'shop::join("small"s, "{"l" * 95}..."s, 1)',
    'shop::join(""s, "small"s, 2)',
    "shop::empty(Empty{}, 9) = 9;",
    "shop::twice(21) = 42;",
    "shop::twice(2.250000) = 4.500000;",
]
CPP_RESULTS = [f'"small{"l" * 90}..."s', '"small"s']

C_ALL = [
    "ints(-1, 200, -300, 40000, -70000, 0xee6b2800, -1, 0xffffffffffffffff) = -70000;",
    "floats(1.250000, -2.500000, 3, 4.500000) = 1.250000;",
    "many_floats(1.000000, 2.000000, 3.000000, 4.000000, 5.000000, 6.000000, 7.000000, 8.000000, 9.000000) = 9.000000;",
    "long_double(1, 2.500000, -3.250000) = -3.250000;",
    "paint(BLUE) = BLUE;",
    "paint(GREEN|BLUE) = GREEN|BLUE;",
    "paint(NONE) = NONE;",
    "pairs(pair{x=1, y=2}, 6) = pair{x=1, y=2};",
    'triples(triple{a=3, b=4, c=5}, doubles{x=1.500000, y=2.500000}, mixed{d=3.500000, l=7}, large{bytes="large"}, 42) = triple{a=3, b=4, c=5};',
    "two_doubles(doubles{x=1.500000, y=2.500000}) = doubles{x=1.500000, y=2.500000};",
    "mix(mixed{d=3.500000, l=7}) = mixed{d=3.500000, l=7};",
    "big(1)",
    "unite(either{i=9, f=0.000000}) = either{i=9, f=0.000000};",
    "pointers(&number, &global, 0) = &global;",
    'variadic("%d") = 3;',
    "nothing() = 0;",
    'changes("before")',
]


def normal(lines):
    return [re.sub(r"0x7[0-9a-f]{11}|0x5[0-9a-f]{11}", "PTR", line) for line in lines]


def folded(lines):
    """Structs in the form that the peer shows them."""
    for _ in range(4):
        lines = [re.sub(r"\{(?! ?$)(?!\.\.\.\})[^{}]+\}", "{...}", line.replace("{...}", "...")) for line in lines]
    return [line.replace("{...}", "...") for line in lines]


DEBUG_VARIANTS = [("gcc", "-O0", "5"), ("gcc", "-O2", "4"), ("gcc", "-O2", "5"), ("clang", "-O0", "5"), ("clang", "-O0", "4")]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("compiler, opt, dwarf", DEBUG_VARIANTS)
def test_debug_information_of_c(tmp_path, compiler, opt, dwarf, method):
    exe = build(tmp_path, "values.c", *METHODS[method], f"-gdwarf-{dwarf}", opt, compiler=compiler)
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "-a", exe).must()
    lines = normal(replay(data))
    # The compiler may set the result before it calls mcount, and so overwrite the first argument.
    is_late = method == "pg" and (opt == "-O2" or compiler == "clang")
    wanted = [w for w in C_ALL if not (is_late and "many_floats" in w)]
    for want in wanted:
        assert any(line.startswith(want) for line in lines), f"{want}\n" + "\n".join(lines)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("compiler, opt, dwarf", DEBUG_VARIANTS)
def test_debug_information_of_cplusplus(tmp_path, compiler, opt, dwarf, method):
    compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
    exe = build(tmp_path, "shapes.cc", *METHODS[method], f"-gdwarf-{dwarf}", opt, compiler=compiler)
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "-a", exe).must()
    lines = normal(replay(data))
    for want in CPP:
        assert any(line.startswith(want) for line in lines), f"{want}\n" + "\n".join(lines)
    for want in CPP_RESULTS:
        assert any(f"= {want};" in line for line in lines), want


STD_STRINGS = {"libstdc++": ("g++",), "libc++": ("clang++", "-stdlib=libc++", "-Wno-null-dereference")}


def std_string(letter, length):
    return f'"{letter * length}"s' if length < 98 else f'"{letter * 95}..."s'


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("debug", ["-g", "-g0"])
@pytest.mark.parametrize("library", STD_STRINGS)
def test_std_strings(tmp_path, library, debug, method):
    """Short strings are inside the object, long ones elsewhere; memory that is no string does no
    harm."""
    compiler, *flags = STD_STRINGS[library]
    exe = build(tmp_path, "strings.cc", "-O1", debug, *METHODS[method], *flags, compiler=compiler)
    data = tmp_path / "data"
    asked = ["-A", "by_reference@arg1/S,arg2/i32"]
    asked += ["-a"] if debug == "-g" else ["-A", "by_value@arg1/S,arg2/i32", "-R", "^(made|joined)@retval/S"]
    utrail("record", "--no-event", "--no-libcall", "-d", data, *asked, exe).must()
    # gcc adds ::cxx11 to functions that return the new std::string.
    lines = [line.replace("::cxx11", "") for line in replay(data, "--no-merge")]
    values, references = calls(lines, "by_value"), calls(lines, "by_reference")
    for n in (0, 1, 15, 16, 22, 23, 97, 98, 99, 4000):
        assert f"by_value({std_string('v', n)}, {n}) {{" in values
        assert f"by_reference({std_string('r', n)}, {n}) {{" in references
        assert f"}} = {std_string('m', n)}; /* made */" in lines
    assert 'by_value("a\\0b"s, -2) {' in values
    assert f'}} = "short{"l" * 30}"s; /* joined */' in lines
    assert "by_reference(NULL, -3) {" in references
    assert 'by_reference("<0x10>"s, -4) {' in references
    assert re.fullmatch(r'by_reference\("<0x7[0-9a-f]+>"s, -5\) {', references[-1])


X40 = "x" * 40
TEXTS = f'vector{{3: "one"s, ""s, "{X40}"s}}'
L90 = '"' + "l" * 90 + '"s'
ORDER = '{id=7, name="abc"s, items=vector{2: 1, 2}, price=2.500000}'
ZEROS = "array{" + r"'\0', " * 8 + "...}"
NAMES = "map{20: " + ", ".join(f'{n}="n{n}"s' for n in range(8)) + ", ...}"
CONTAINERS = [
    "by_reference(vector{3: 1, -2, 3}, 1) = 1;",
    "by_value(vector{3: 1, -2, 3}, 2) = 2;",
    "returned(vector{3: 1, -2, 3}) = vector{3: 1, -2, 3};",
    "same(vector{3: 1, -2, 3}) = vector{3: 1, -2, 3};",
    "by_reference(vector{0}, 3) = 3;",
    "by_reference(vector{1000: 7, 7, 7, 7, 7, 7, 7, 7, ...}, 4) = 4;",
    f"by_reference({TEXTS}, 5) = 5;",
    "by_reference(vector{3: vector{1: 1}, vector{0}, vector{2: 2, 3}}, 6) = 6;",
    'by_reference(vector{3: "a", NULL, "c"}, 7) = 7;',
    "by_reference(vector{2: {x=1, y=2}, {x=3, y=4}}, 8) = 8;",
    "by_reference(vector{1: 0.500000}, 9) = 9;",
    "by_reference(vector{2: PEAR, APPLE}, 10) = 10;",
    "by_reference(vector{2: 1, 0}, 11) = 11;",
    f"many({TEXTS}, {TEXTS}, {TEXTS}, {TEXTS}, 12) = 12;",
    'by_text("one"s, "two"s, 13) = 13;',
    f"by_reference(vector{{8: {L90}, {L90}, ...}}, 14) = 14;",
    'by_reference("view"sv, 20) = 20;',
    'by_value("view"sv, 21) = 21;',
    'returned(""sv) = ""sv;',
    "by_reference(optional{5}, 22) = 22;",
    "by_value(optional{}, 23) = 23;",
    'by_reference(optional{"text"s}, 24) = 24;',
    "by_reference(unique_ptr{6}, 25) = 25;",
    "by_reference(unique_ptr{NULL}, 26) = 26;",
    "by_reference(shared_ptr{{x=7, y=8}}, 27) = 27;",
    'by_value(shared_ptr{"shared"s}, 28) = 28;',
    "by_value(span{3: 4, 5, 6}, 29) = 29;",
    "by_value(span{3: 4, 5, 6}, 30) = 30;",
    "by_value(array{1, 2, 3}, 31) = 31;",
    "by_reference(array{1, 2, 3, 0, 0, 0, 0, 0, ...}, 32) = 32;",
    "by_value(pair{1, 'p'}, 33) = 33;",
    'by_reference(pair{2, "pair"s}, 34) = 34;',
    "by_reference(tuple{1, 'c', 2.500000}, 35) = 35;",
    "by_reference(variant{2.500000}, 36) = 36;",
    'by_reference(variant{"text"s}, 37) = 37;',
    "by_reference(optional{vector{2: pair{1, 2}, pair{3, 4}}}, 38) = 38;",
    "by_value(initializer_list{2: 8, 9}, 39) = 39;",
    f"by_reference({NAMES}, 40) = 40;",
    f"by_value({NAMES}, 41) = 41;",
    "returned(set{20: 0, 1, 2, 3, 4, 5, 6, 7, ...}) = set{20: 0, 1, 2, 3, 4, 5, 6, 7, ...};",
    'by_reference(map{2: "a"s=1, "b"s=2}, 42) = 42;',
    "by_reference(map{1: 'a'='z'}, 43) = 43;",
    'by_reference(set{2: "x"s, "y"s}, 44) = 44;',
    "by_reference(map{1: 1=vector{2: 2, 3}}, 45) = 45;",
    "by_reference(multimap{2: 1=2, 1=3}, 46) = 46;",
    "by_reference(list{3: 1, 2, 3}, 47) = 47;",
    "by_reference(unordered_map{1: 1=0.500000}, 48) = 48;",
    'by_reference(unordered_set{1: "hash"s}, 49) = 49;',
    "by_reference(list{0}, 60) = 60;",
    "by_reference(set{0}, 61) = 61;",
    'by_reference(unordered_map{1: "k"s=3}, 62) = 62;',
    "by_reference(deque{1980: 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, ...}, 70) = 70;",
    "by_value(deque{1980: 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, ...}, 71) = 71;",
    "by_reference(deque{0}, 72) = 72;",
    "by_reference(deque{128: 6, 6, 6, 6, 6, 6, 6, 6, ...}, 73) = 73;",
    f"by_reference(deque{{3: {ZEROS}, {ZEROS}, {ZEROS}}}, 74) = 74;",
    'by_reference(deque{2: "a"s, "b"s}, 75) = 75;',
    "by_reference(forward_list{2: 4, 5}, 76) = 76;",
    "by_reference(forward_list{0}, 77) = 77;",
    "by_reference(forward_list{more than 256: 'f', 'f', 'f', 'f', 'f', 'f', 'f', 'f', ...}, 78) = 78;",
    "by_reference(vector{70: 1, 1, 1, 1, 1, 1, 1, 1, ...}, 79) = 79;",
    "by_value(vector{0}, 80) = 80;",
    "by_reference(weak_ptr{9}, 81) = 81;",
    "by_value(weak_ptr{9}, 82) = 82;",
    "by_reference(weak_ptr{expired}, 83) = 83;",
    "by_reference(weak_ptr{NULL}, 84) = 84;",
    f"by_value(order{ORDER}, 90) = 90;",
    f"by_reference(vector{{1: {ORDER}}}, 91) = 91;",
    'by_value(small{text="small"sv}, 92) = 92;',
    f"by_value(nested{{maybe=optional{{3}}, letter='n', first={ORDER}, at={{x=1, y=2}}}}, 93) = 93;",
    'by_value(tree{name="root"s, below=vector{1: {name="leaf"s, below=vector{0}}}}, 94) = 94;',
    'by_value(wide{name={...}, rest=""}, 95) = 95;',
    "by_value(crowd{p={{...}, {...}, {...}, {...}}, m=map{1: 1=2}}, 96) = 96;",
]
WILD = ["vector{?}", "vector{?}", "string_view{?}", "unique_ptr{?}", "shared_ptr{?}", "span{?}", "variant{}", "vector{?}", "map{?}", "list{?}"]
CONTAINER_BUILDS = [("libstdc++", "-O0"), ("libstdc++", "-O2"), ("libc++", "-O0"), ("libc++", "-O2")]


def contained(tmp_path, library, *flags):
    """Compile the program. Returns the program, and the directory for a recording."""
    compiler, *more = STD_STRINGS[library]
    exe = build(tmp_path, "containers.cc", "-std=c++20", "-w", "-pg", "-g", *flags, *more, compiler=compiler)
    return exe, tmp_path / "data"


@pytest.mark.parametrize("library, opt", CONTAINER_BUILDS)
def test_containers(tmp_path, library, opt):
    """The content of containers of both libraries. Memory that is no container does no harm, and
    the arguments after it are right."""
    exe, data = contained(tmp_path, library, opt)
    utrail("record", "--no-event", "--no-libcall", "-d", data, "-a", exe).must()
    lines = replay(data, "--no-merge")
    # Other threads' calls may stand between a call and its end.
    lines = [re.sub(r"0x7[0-9a-f]{11}", "PTR", line) for line in lines]
    at = 0
    for want in CONTAINERS:
        call, result = want[:-1].rsplit(" = ", 1)
        assert f"{call} {{" in lines[at:], f"{call}\n" + "\n".join(lines)
        at = lines.index(f"{call} {{", at)
        assert f"}} = {result}; /* {call.split('(')[0]} */" in lines[at:], want
    wild = [line for line in lines[at:] if re.match(r"by_reference\(.*, 5\d\) {", line)]
    assert wild == [f"by_reference({what}, {50 + n}) {{" for what_of_three in range(3) for n, what in enumerate(WILD)]
    # In one of the two libraries, a deque whose bytes are all ones is an empty one.
    wild = [line for line in lines[at:] if re.match(r"by_reference\(.*, 6[3-6]\) {", line)]
    assert [line.replace("deque{0}", "deque{?}") for line in wild] == [
        f"by_reference({what}{{?}}, {63 + n}) {{" for _ in range(3) for n, what in enumerate(["deque", "forward_list", "vector", "weak_ptr"])
    ]
    raw = utrail("dump", "-d", data).must().out
    assert "struct vector: 01 03 00 00 00 03 00 01" in " ".join(raw.split())


@pytest.mark.parametrize("elements, text", [(0, "vector{3: ...}"), (1, "vector{3: 1, ...}"), (2, "vector{3: 1, -2, ...}"), (255, "vector{3: 1, -2, 3}")])
def test_elements_of_containers(tmp_path, elements, text):
    exe, data = contained(tmp_path, "libstdc++", "-O1")
    utrail("record", "--no-event", "--no-libcall", "-d", data, "-a", f"--arg-elements={elements}", exe).must()
    assert f"by_reference({text}, 1) = 1;" in replay(data)
    if elements == 255:
        assert any(line.startswith("by_reference(vector{1000: " + "7, " * 190) for line in replay(data))


@pytest.mark.needs_peer
@pytest.mark.parametrize("library", STD_STRINGS)
def test_containers_are_no_harm_to_the_peer(tmp_path, library):
    exe, data = contained(tmp_path, library, "-O2")
    utrail("record", "--no-event", "--no-libcall", "-d", data, "-a", exe).must()
    peers = replay(data, by=peer)
    assert "by_reference(vector{...}, 1) = 1;" in peers
    assert "by_reference(optional{...}, 38) = 38;" in peers
    assert 'by_text("one"s, "two"s, 13) = 13;' in peers
    assert sum(line.endswith(", 57) = 57;") for line in peers) == 3


NUMBERS = "numbers{a=-1, b=200, c=-300, d=70000, e=-5000000000}"
BITS = "bits{one=1, three=-3, wide=0x1234567890, flag=1, color=BLUE, last=99}"
WORDS = "words{letter='w', yes=1, color=GREEN, mode=ON, single=1.500000, real=-2.250000, text=PTR, pointer=&global}"
OUTER = "outer{first={x=1, y=2}, two={{x=3, y=4}, {x=5, y=6}}, number=263, byte=7, unnamed={s=-8}, t=9}"
ARRAYS = 'arrays{name="name", few={1, -2, 3}, many={1, 2, 3, 4, 5, 6, 7, 8, ...}, matrix={1, 2, 3, 4}}'
HUGE = "huge{elements={1, 2, 3, 0, 0, 0, 0, 0, ...}, words={4, 0, 0, 0, 0, 0, 0, 0, ...}}"
LONG = ", ".join(f"a_field_with_a_name_that_is_far_longer_than_necessary_{n}={n}" for n in range(1, 6))
FIELDS = [
    f"take_numbers({NUMBERS}, 1) = {NUMBERS};",
    f"take_bits({BITS}, 2) = {BITS};",
    f"take_words({WORDS}, 3) = {WORDS};",
    f"take_outer({OUTER}, 4) = {OUTER};",
    f"take_arrays({ARRAYS}, 5) = {ARRAYS};",
    "take_derived(derived{low=7, high=8}, 6) = derived{low=7, high=8};",
    "take_box_int(box{what=5, n=7}, 7) = box{what=5, n=7};",
    "take_box_float(box{what=0.500000, n=8}, 8) = box{what=0.500000, n=8};",
    "take_untagged({a=9, b=0.250000}, 9) = {a=9, b=0.250000};",
    'take_counted(counted{name="me"s, count=10}, 10) = counted{name="me"s, count=10};',
    f"take_huge({HUGE}, 11) = {HUGE};",
    f"take_long_names(long_names{{{LONG}, ...}}, 12) = long_names{{{LONG}, ...}};",
    "take_tailed(tailed{nr=3}, 13) = tailed{nr=3};",
]


@pytest.mark.parametrize("compiler, opt, dwarf", DEBUG_VARIANTS)
def test_fields_of_structs(tmp_path, compiler, opt, dwarf):
    compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
    exe = build(tmp_path, "fields.cc", "-pg", f"-gdwarf-{dwarf}", opt, compiler=compiler)
    data = tmp_path / "data"
    utrail("record", "--no-event", "--no-libcall", "-d", data, "-a", exe).must()
    lines = [re.sub(r"PTR(?=, pointer)|&[^,]*(?=, pointer)", "PTR", line) for line in normal(replay(data, "--no-merge"))]
    lines = [re.sub(r"^\} = (.*); /\* take.*", r"\1", line) for line in lines]
    for want in FIELDS:
        call, result = want[:-1].split(") = ")
        at = lines.index(f"{call}) {{")
        assert result in lines[at + 1:], want


@pytest.mark.parametrize("compiler, opt, dwarf", [*DEBUG_VARIANTS, ("g++", "-O2", "5"), ("clang++", "-O0", "5")])
def test_structs_without_a_bound(tmp_path, compiler, opt, dwarf):
    """gcc passes a struct with a flexible array member in registers in C; g++ and clang in memory."""
    exe = build(tmp_path, "tailed.c", "-pg", f"-gdwarf-{dwarf}", opt, compiler=compiler)
    data = tmp_path / "data"
    utrail("record", "--no-event", "--no-libcall", "-d", data, "-a", exe).must()
    lines = normal(replay(data, "--no-merge"))
    for call in ("take_tailed(tailed{nr=3}, 4) {", "} = tailed{nr=3}; /* take_tailed */", "take_bounded(bounded{nr=5}, 6) {",
                 "} = bounded{nr=5}; /* take_bounded */", "take_outer(outer{before=7, inner={nr=8}}, 9) {", "} = 17; /* take_outer */",
                 "take_wide(wide{a=10, b=11}, 12) {", "} = wide{a=10, b=11}; /* take_wide */"):
        assert call in lines


@pytest.mark.needs_peer
@pytest.mark.parametrize("options", ["-a", "-a --srcline"])
def test_fields_are_no_harm_to_the_peer(tmp_path, options):
    """The peer skips the fields that it does not know, also where calls were inlined."""
    for source in ("fields.cc", "inlined.c"):
        exe = build(tmp_path, source, "-pg", "-g", "-O2")
        data = tmp_path / "data"
        utrail("record", "--no-event", "--no-libcall", "-d", data, *options.split(), exe).must()
        assert folded(replay(data)) == folded(replay(data, by=peer))


def test_struct_bytes(tmp_path):
    """utrail records the bytes of structs right. (The peer records the content of some registers
    instead.)"""
    exe = build(tmp_path, "values.c", "-pg", "-g", "-O1")
    data = tmp_path / "data"
    utrail("record", "--no-event", "--no-libcall", "-d", data, "-a", exe).must()
    out = utrail("dump", "-d", data).must().out
    dump = " ".join(out.split())
    assert "struct pair: 01 00 00 00 02 00 00 00" in dump
    assert "struct triple: 03 00 00 00 04 00 00 00 05 00 00 00" in dump
    assert "struct doubles: 00 00 00 00 00 00 f8 3f 00 00 00 00 00 00 04 40" in dump
    assert "struct mixed: 00 00 00 00 00 00 0c 40 07 00 00 00 00 00 00 00" in dump
    assert "struct large: 6c 61 72 67 65 00" in dump
    assert "retval struct large: 42 42 42 42" in dump
    assert "struct either: 09 00 00 00" in dump


def test_separate_debug_file(tmp_path):
    exe = build(tmp_path, "values.c", "-pg", "-g", "-O1")
    debug = tmp_path / "values.debug"
    subprocess.run(["objcopy", "--only-keep-debug", exe, debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", exe], check=True)
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "-A", "paint", exe).must()
    assert "paint(BLUE);" in replay(data)


@pytest.mark.parametrize("options", ["-T paint@auto-args", "-A paint -R paint", "-A ^pai -R ^pai", "-T ^pai@auto-args,depth=3"])
def test_automatic_ones_of_one_function(tmp_path, options):
    exe = build(tmp_path, "values.c", "-pg", "-g", "-O1")
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, *options.split(), exe).must()
    assert "paint(BLUE) = BLUE;" in replay(data)
    assert "nothing();" in replay(data)


def test_without_debug_information(tmp_path):
    exe = build(tmp_path, "values.c", "-pg", "-O1")
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "-a", exe).must()
    assert "paint();" in replay(data)
    assert not list(data.glob("*.dbg"))


def test_instrument_functions_cannot(tmp_path):
    exe = build(tmp_path, "values.c", "-finstrument-functions", "-g", "-O1")
    data = tmp_path / "data"
    result = utrail("record", "--no-event", "-d", data, "-a", exe).must()
    assert "-finstrument-functions" in result.err
    assert "paint();" in replay(data)


PEER_LINES = [
    "-A number@arg1",
    "-A number@arg1/i32 -R number@retval/x",
    "-A number@arg1/x8%rdi,arg1/x16",
    "-A ints@arg8,arg7,arg1/i8,arg2/u8,arg3/i16,arg6/x32",
    "-A .@arg1",
    "-A ^p@arg1/x -A paint@arg1/i32 -R ^p",
    "-A text@arg1/s,arg2/c",
    "-R text@retval/s",
    "-A floats@fparg1/32,fparg2 -R floats@retval/f32",
    "-A floats@arg2/f,arg1",
    "-A many_floats@fparg1,fparg8",
    "-A pairs@arg1/t8:pair,arg2 -A changes@arg1/s",
    "-A triples@arg1/t12:triple%rdi+rsi,arg4%rcx",
    "-A pointers@arg1/p,arg2/p,arg3/p -R pointers@retval/p",
    "-A long_double@arg1,fparg1/80%stack+1 -R long_double@retval/f80",
    "-A paint -R paint",
    "-A . -R .",
    "-a",
    "-a -A number@arg1/x",
    "-A number@arg1 -D 2",
    "-A number@arg1 -t 1ns",
    "-T number@arg1/i",
    "-T number@arg1/i,depth=1 -A text@arg1/s",
    "--match glob -A n*r@arg1",
]

# The peer shows a null pointer like the text "NULL"; in the format, a mark tells the two apart. The
# peer also prints names of 0 and of negative values as parts of a value.
PEER_WORDS = [('"NULL"', "NULL")]
# The peer puts the highest flag first, and treats integers as untyped.
PEER_VALUES = [("0xfffeee90", "-70000"), ("0xee6b2800, -1, -1)", "0xee6b2800, -1, 0xffffffffffffffff)")]
for hexadecimal, decimal in (("0x186a1", 100001), ("0xfffffffffffe795f", -100001), ("0x123456789abcdef", 81985529216486895)):
    PEER_VALUES += [(f"number({hexadecimal})", f"number({decimal})"), (f") = {hexadecimal};", f") = {decimal};")]


def ascending(lines):
    """The flags that paint() takes, in utrail's order."""
    names = lambda m: "|".join(sorted(m[0].split("|"), key=["RED", "GREEN", "BLUE", "BIG"].index))
    return [re.sub(r"\b[A-Z]+(\|[A-Z]+)+", names, line.replace("|RED|NONE+0x3a6", "+0x3a5")) for line in lines]


# The peer's own code changes vector registers before the peer reads them. So only the name of the
# function is compared in these lines.
PEER_FLOATS = re.compile(r"^.*\b(floats|many_floats|long_double|two_doubles|mix|triples)\(.*$")


@pytest.mark.needs_peer
@pytest.mark.parametrize("options", PEER_LINES)
def test_same_as_peer(tmp_path, options):
    exe = build(tmp_path, "values.c", "-pg", "-g", "-O1")
    words = options.split()
    utrail("record", "--no-event", "--no-libcall", "-d", tmp_path / "ours", *words, exe).must()
    peer("record", "--no-event", "--no-libcall", "-d", tmp_path / "peers", *words, exe).must()
    ours = normal(replay(tmp_path / "ours"))
    peers = normal(replay(tmp_path / "peers", by=peer))
    for theirs, mine in PEER_WORDS + (PEER_VALUES if re.search("^-a|-A . -R", options) else []):
        if not (theirs.startswith("number(") and "number@" in options):
            peers = [line.replace(theirs, mine) for line in peers]
    loose = lambda lines: [PEER_FLOATS.sub(r"\1", line) for line in folded(lines)]
    assert loose(ours) == loose(ascending(peers))
    # Both tools show a recording in the same way, whichever of them has made it.
    assert folded(replay(tmp_path / "ours")) == folded(ascending(replay(tmp_path / "ours", by=peer)))
    assert replay(tmp_path / "peers") == ascending(replay(tmp_path / "peers", by=peer))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("end, status", [("", 0), ("crash", 139), ("raise", 139), ("kill", 135)])
def test_wild_pointers(tmp_path, method, end, status):
    """The program runs as untraced with wild pointers: its handlers, masks and fatal signals
    stay."""
    exe = build(tmp_path, "wild.c", "-O1", "-g", *METHODS[method])
    plain = subprocess.run([exe, *end.split()], capture_output=True, text=True)
    data = tmp_path / "data"
    result = utrail("record", "--no-event", "-d", data, "-A", "text@arg1/s,arg2/i32", "-R", "give@retval/s", exe, *end.split())
    assert result.status == status
    assert result.out == plain.stdout
    lines = replay(data)
    assert 'text("<0x10>", 1);' in lines and 'give() = "<0x10>";' in lines
    assert 'text("<0x4141414141414141>", 7);' in lines
    for n in (1, 7, 8, 9, 64, 97):
        assert f'text("{"x" * n}", {n});' in lines
    assert f'text("{"x" * 95}...", 130);' in lines
    assert 'text("fine", 7);' in lines


def test_source_lines(tmp_path):
    exe = build(tmp_path, "values.c", "-pg", "-g", "-O1")
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "--srcline", exe).must()
    line = next(i for i, t in enumerate((ARGS / "values.c").read_text().splitlines(), 1) if "KEPT long number" in t)
    file = re.escape(str(ARGS / "values.c"))
    assert re.fullmatch(rf"number\(\); /\* {file}:{line} \*/", calls(replay(data, "--srcline"), "number")[0])
    assert re.fullmatch(rf"number\(\) {{ /\* {file}:{line} \*/", calls(replay(data, "--srcline", "--no-merge"), "number")[0])
    assert calls(replay(data), "number")[0] == "number();"
    assert calls(replay(data, "--srcline", "--no-comment"), "number")[0] == "number();"
    report = utrail("report", "-d", data, "--srcline").must().out
    assert "Function [Source]" in report and f"number [{ARGS / 'values.c'}:{line}]" in report
    # --srcline records no arguments.
    assert "A: " not in (data / "values.dbg").read_text()


@pytest.mark.needs_peer
@pytest.mark.parametrize("recorder", ["ours", "peers"])
def test_source_lines_of_tables_and_trees_as_peer(tmp_path, recorder):
    exe = build(tmp_path, "values.c", "-pg", "-g", "-O1")
    data = tmp_path / "data"
    {"ours": utrail, "peers": peer}[recorder]("record", "--no-event", "-d", data, "--srcline", exe).must()
    for words in (
        ["graph"],
        ["graph", "-f", "none"],
        ["graph", "--color=yes"],
        ["report"],
        ["report", "-s", "func", "--color=yes"],
        ["report", "--diff", data, "-s", "func"],
        ["report", "--diff", data, "-s", "func", "--diff-policy", "full", "--color=yes"],
    ):
        command, *options = words
        texts = [run_it(command, "-d", data, "--srcline", *options).must().out for run_it in (utrail, peer)]
        # Only utrail explains the sign of a difference.
        texts[0] = re.sub(r"^#  time: \+ is .*\n", "", texts[0], flags=re.M)
        assert texts[0] == texts[1], words
        assert "/values.c:" in texts[0], words
    texts = [run_it("graph", "-d", data, "--srcline", "number").must().out for run_it in (utrail, peer)]
    assert texts[0] == texts[1]
    for command in ("graph", "report"):
        assert "ource]" not in utrail(command, "-d", data, "--srcline", "--task").must().out.lower()
    assert "not with --task, -f or --srcline" in utrail("graph", "--srcline", "--diff", data).must(2).err


@pytest.mark.needs_peer
@pytest.mark.parametrize("recorder", ["ours", "peers"])
def test_source_lines_as_peer(tmp_path, recorder):
    exe = build(tmp_path, "values.c", "-pg", "-g", "-O1")
    data = tmp_path / "data"
    {"ours": utrail, "peers": peer}[recorder]("record", "--no-event", "-d", data, "--srcline", "-a", exe).must()
    for options in ("", "--no-merge", "--color=yes", "--no-comment", "--format=html"):
        words = ["--srcline", *options.split()]
        parts = ascending(replay(data, *words, by=peer))
        mine = replay(data, *words)
        if "--color=yes" not in words and "--format=html" not in words:
            assert folded(mine) == folded(parts)
        else:
            assert [line for line in folded(mine) if "paint" not in line] == [line for line in folded(parts) if "paint" not in line]
    mine = utrail("report", "-d", data, "--srcline", "-s", "func").must().out
    assert mine == peer("report", "-d", data, "--srcline", "-s", "func", "--no-pager").must().out


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_inlined_calls(tmp_path, compiler):
    exe = build(tmp_path, "inlined.c", "-pg", "-g", "-O2", compiler=compiler)
    data = tmp_path / "data"
    utrail("record", "--no-event", "-d", data, "--srcline", exe).must()
    file = ARGS / "inlined.c"
    line = calls(replay(data, "--inline"), "calc")[0]
    assert line == f"calc(); /* inlines: squares {file}:14, square {file}:9, square {file}:9 */"
    assert calls(replay(data), "calc") == ["calc();"]
    assert replay(data) == replay(data, by=peer) if shutil.which("uftrace") else True


@pytest.mark.parametrize("options", ["", "-t 1ns"])
def test_late_library_threads_and_fork(tmp_path, options):
    exe = build(tmp_path, "late.c", "-pg", "-g", "-O1")
    plug = build(tmp_path, "plug.c", "-pg", "-g", "-O0", "-shared", "-fPIC").rename(tmp_path / "libplug.so")
    data = tmp_path / "data"
    utrail("record", "--no-event", "--no-libcall", "-a", *options.split(), "-d", data, exe, plug).must()
    lines = replay(data)
    assert 'plug("hello", 2.500000) = 2;' in lines
    # Another thread may run meanwhile: then a call has two lines.
    assert sum(lines.count('work("thread", 2)' + rest) for rest in (" = 2;", " {")) == 3
    for call, result in (('work("child", 7)', 7), ('work("parent", 8)', 8)):
        assert f"{call} = {result};" in lines or (f"{call} {{" in lines and f"}} = {result}; /* work */" in lines)
    if shutil.which("uftrace") and not options:
        assert sorted(replay(data, by=peer)) == sorted(lines)


# The upper and the lower 64 bits of values; GCC's __float128 is IEEE 754's binary128.
BINARY128 = {
    "inf": (0x7FFF000000000000, 0),
    "-inf": (0xFFFF000000000000, 0),
    "nan": (0x7FFF000000000000, 1),
    "1.000000": (0x3FFF000000000000, 0),
    "-0.000000": (0x8000000000000000, 1),
}


@pytest.mark.parametrize("text", BINARY128)
def test_binary128(tmp_path, text):
    """A single set bit of the fraction makes a NaN of an infinity, wherever it is."""
    high, low = BINARY128[text]
    source = tmp_path / "quad.c"
    source.write_text(
        "#include <string.h>\n"
        f"static const unsigned long long bits[2] = {{ {low:#x}, {high:#x} }};\n"
        '__attribute__((noinline)) void show(__float128 value) { (void)value; __asm__ volatile(""); }\n'
        "int main(void) { __float128 value; memcpy(&value, bits, 16); show(value); return 0; }\n"
    )
    subprocess.run(["gcc", "-g", "-O1", "-pg", source, "-o", tmp_path / "quad"], check=True)
    data = tmp_path / "data"
    utrail("record", "--no-event", "-a", "-d", data, tmp_path / "quad").must()
    assert f"show({text});" in replay(data)
