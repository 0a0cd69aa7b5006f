"""The Python program that the scenes record: small acts, each chosen by its name."""

import _thread
import os
import signal
import sys

# --- calls ---


class Shape:
    sides = 4

    def area(self, x):
        return x * self.sides

    @classmethod
    def make(cls):
        return cls()

    @staticmethod
    def unit():
        return 1


class Square(Shape):
    pass


class Stack(list):
    def __len__(self):
        return 7


def leaf(n):
    return n


def outer():
    def inner(n):
        return leaf(n) * 2

    return sorted([3, 1], key=lambda v: inner(-v))


def numbers():
    yield 1
    yield 2


def fails(text):
    raise ValueError(text)


def catches():
    try:
        fails("e")
    except ValueError:
        return len("abc")


def deep(n):
    return deep(n - 1) if n else "end"


def calls():
    Shape.make().area(4)
    Square().area(Shape.unit())
    outer()
    sum(numbers())
    [leaf(n) for n in (1, 2)]
    catches()
    deep(3)
    stack = Stack([3, 1, 2])
    stack.append(4)
    stack.sort(key=abs)
    len(stack)
    dict.fromkeys("ab")
    (5).to_bytes(2, "little")
    int.from_bytes(b"ab", "little")
    str.upper("a")
    str.maketrans("a", "b")
    for wrong in lambda: "".join(5), lambda: str.upper(), lambda: len():
        try:
            wrong()
        except TypeError:
            pass


def ends():
    """Calls that end by an exception, or that are left and entered again."""

    def waits(v):
        try:
            yield v
        except KeyError as e:
            yield str(e)
        yield leaf(3)

    g = waits("a")
    next(g)
    g.throw(KeyError("thrown"))
    next(g)
    g.close()
    h = waits("b")
    next(h)
    try:
        h.throw(ValueError("out"))
    except ValueError:
        pass
    try:
        sorted([1, 2], key=fails)
    except ValueError:
        leaf(1)

    class Dies:
        def __del__(self):
            leaf(2)

    Dies()


def bound():
    """A C function calls key(), which makes new bound methods each time."""
    kept = []

    def key(n):
        kept.append(kept.copy)
        return -n

    [1, 2].sort(key=key)
    leaf(1)


def falls():
    sys.setrecursionlimit(100000)
    deep(70000)
    leaf(1)


# --- values ---


def value(v):
    return v


def several(a, b=5, *rest, c=7, **keys):
    pass


def many(a, b, c, d, e, f, g, h, i, j, k, l):
    return 0


class Number(int):
    def __repr__(self):
        print("the program's own code runs")


def values():
    for v in (1, -1, 0, 2**63 - 1, -(2**63), 2**63, -(2**70), 10**80, 1.5, 0.1, 1e300, float("inf"), -0.0, True, False, None):
        value(v)
    value(Number(3))


def big_integers():
    for bits in 999, 1000, 1001:
        value(2**bits - 1)
    value(-(2**1001))


def strings():
    for v in "", "it's", '"', "\"'", "a\nb\t\r\\", "\x1f \x7e", "\u2028", "\ud800", "\x00\x7f\x9f", "caf\u00e9", "\u0100", "\U0001f600", "\U000e0001":
        value(v)
    for v in b"", b"ab\x00\xff'", b"'\"", b'"', b"\n\t\r\\", b"\x1f \x7e\x7f":
        value(v)


def containers():
    loop = []
    loop.append(loop)
    for v in [], [1, "a"], (), (1,), (1, 2), {}, {"a": 1, 2: None}, set(), {1}, frozenset(), frozenset([2]), loop:
        value(v)
    value([[1], (2,), {3: 4}, {5}, [], (), {}, frozenset([6]), 1.5, b"b"])
    value({1: [2], 3: Shape()})
    for v in len, Shape, Shape(), sys, outer, sys.version_info, object():
        value(v)


def long_ones():
    for length in 93, 94, 95, 96, 97, 98, 99, 200:
        value("x" * length)
        value("\u00e9" * (length // 2))
    value(b"x" * 200)
    value([7] * 100)
    value(tuple(range(100)))
    value({n: n for n in range(100)})
    many(*["y" * 200] * 12)
    many(*range(12))


def parameters():
    several(1)
    several(1, 2, 3, 4, c=8, k=9)
    Shape().area(2)

    def closed(n):
        def inside():
            return n

        return inside()

    closed(4)

    def captured(d, plain, a, *rest, c=3, **keys):
        def inside():
            return keys, rest, c, a, d

        return inside()

    captured(1, 2, "a", 5, k=6)

    def empties(n):
        def inside():
            return n

        value(inside.__closure__[0])
        yield inside()
        del n
        yield 0
        value(inside.__closure__[0])

    list(empties(5))

    def inlined(n):
        return [lambda: n for n in (1, 2)][0]()

    inlined(8)

    def forgets(a):
        del a
        yield 1

    list(forgets(1))
    (lambda q: q)(1)
    catches()


# --- libraries ---

LIBRARY = """
def entry(values, key):
    inner(values)
    try: list(fails())
    except ValueError: pass
    made = sorted(values, key=key)
    return made[:len(made)]
def inner(values): return max(values)
def fails():
    yield 1
    raise ValueError
"""


def library_key(n):
    return abs(n)


def libraries():
    lib = {"__name__": "lib"}
    exec(compile(LIBRARY, "/x/site-packages/lib.py", "exec"), lib)
    for _ in range(3):
        lib["entry"]([1, 2], library_key)
    made = {"__name__": "lib", "__file__": "/x/site-packages/lib.py"}
    exec("def made(): return inner()\ndef inner(): pass", made)
    made["made"]()
    own = {}
    exec("def mine(): pass", own)
    own["mine"]()
    pair = {"__name__": "namedtuple_Pair"}
    exec("def new(): pass", pair)
    pair["new"]()
    eval("(lambda: 1)()")
    odd = {n: n for n in range(70)}
    odd["__name__"] = "late"
    exec("def unnamed(): pass\nunnamed()", odd)


# --- threads and processes ---


def run_thread(function, *args):
    over = _thread.allocate_lock()
    over.acquire()

    def body():
        function(*args)
        over.release()

    _thread.start_new_thread(body, ())
    over.acquire()


def threads():
    leaf(0)
    run_thread(catches)
    run_thread(run_thread, leaf, 1)
    outer()


def forks():
    leaf(0)
    child = os.fork()
    if not child:
        catches()
        os._exit(0)
    os.waitpid(child, 0)
    leaf(1)


def signals():
    signal.signal(signal.SIGUSR1, lambda number, frame: leaf(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    leaf(0)
    signal.raise_signal(signal.SIGUSR1)
    leaf(1)


# --- the program's own tools ---

seen = []


def one(frame, event, arg):
    seen.append(f"1 {event} {frame.f_code.co_name}")


def two(frame, event, arg):
    seen.append(f"2 {event} {frame.f_code.co_name}")


def profiles():
    sys.setprofile(one)
    leaf(1)
    sys.setprofile(two)
    len("a")
    print(sys.getprofile() is two)
    sys.setprofile(None)
    leaf(2)
    try:
        sys.setprofile()
    except TypeError:
        pass
    leaf(3)
    set_all = getattr(sys, "_setprofileallthreads", None)
    if set_all:
        set_all(one)
        leaf(4)
        set_all(None)
    leaf(5)
    print("\n".join(seen), sys.getprofile())


def profiles_in_a_thread():
    def body():
        sys.setprofile(one)
        leaf(1)
        sys.setprofile(None)
        leaf(2)

    run_thread(body)
    leaf(3)
    print("\n".join(seen))


def hooks():
    def hook(event, args):
        if event.startswith("sys."):
            print(event)
        if event == "sys.setprofile":
            raise RuntimeError

    leaf(0)
    sys.addaudithook(hook)
    leaf(1)
    run_thread(leaf, 2)
    try:
        sys.setprofile(None)
    except RuntimeError:
        leaf(3)
    if hasattr(sys, "monitoring"):
        for tool in range(6):
            sys.monitoring.use_tool_id(tool, f"own{tool}")
        leaf(4)
    print(sys.getprofile())


def tools():
    m = sys.monitoring
    print([m.get_tool(i) for i in range(6)], [m.get_events(i) for i in (3, 4, 5)])
    for i in 4, 3, 5:
        m.use_tool_id(i, f"own{i}")
        leaf(i)
        print([m.get_tool(i) for i in range(6)], m.get_events(i))
        print(m.register_callback(i, m.events.PY_START, None))
    for wrong in (4, "x"), (9, "x"), ("4", "x"), (-1, "x"), (2**40, "x"), (4,), (True, "x"):
        try:
            m.use_tool_id(*wrong)
        except (ValueError, TypeError, OverflowError) as e:
            print(e)
    leaf(6)
    for i in 0, 1, 2:
        try:
            m.use_tool_id(i, "x")
        except ValueError as e:
            print(e)
    leaf(7)
    for i in range(6):
        m.free_tool_id(i)
    print([m.get_tool(i) for i in range(6)])
    for wrong in -1, 6, "a":
        try:
            m.get_tool(wrong)
        except (ValueError, TypeError) as e:
            print(e)


def watches():
    """A tool of the program gets events of the program's calls. The probe's functions do nothing
    when the program calls them."""
    import gc

    m = sys.monitoring
    m.use_tool_id(m.PROFILER_ID, "own")
    for event in m.events.CALL, m.events.PY_START, m.events.PY_RETURN:
        m.register_callback(m.PROFILER_ID, event, lambda code, *rest: seen.append(code.co_name))
    m.set_events(m.PROFILER_ID, m.events.CALL | m.events.PY_START | m.events.PY_RETURN)
    catches()
    m.restart_events()
    outer()
    m.set_events(m.PROFILER_ID, 0)
    print(seen)
    code = deep.__code__
    for o in gc.get_objects():
        if type(o) is type(len) and o.__name__ == "utrail":
            for args in (), (1,), (1, 2, 3), (code,), (code, 0), (1, 0, None, None), (code, 0, None, None):
                print(o(*args), end=" ")
    print()
    catches()


def interpreters():
    import _xxsubinterpreters

    def own(frame, event, arg):
        pass

    inside = "def f(): return len('x')\nf()\nfor i in range(2): f()"
    first = _xxsubinterpreters.create()
    _xxsubinterpreters.run_string(first, inside)
    sys.setprofile(own)
    _xxsubinterpreters.run_string(first, inside)
    print(sys.getprofile() is own)
    sys.setprofile(None)
    leaf(1)
    _xxsubinterpreters.destroy(first)
    leaf(2)


globals()[sys.argv[1]]()
