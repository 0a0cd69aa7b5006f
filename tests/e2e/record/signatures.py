"""Random signatures of C functions, by a seed: programs that print their arguments, and the text
that recordings of them must show."""

import random

# The C value of a type for a number, and its text in a recording; "..." stands for any text.
SCALARS = {
    "int": (lambda n: f"{n}", lambda n: f"{n}"),
    "long": (lambda n: f"{n}L", lambda n: f"{n}"),
    "unsigned short": (lambda n: f"{n}", lambda n: f"{n}"),
    "double": (lambda n: f"{n}.5", lambda n: f"{n}.500000"),
    "float": (lambda n: f"{n}.25f", lambda n: f"{n}.250000"),
    "long double": (lambda n: f"{n}.5L", lambda n: f"{n}.500000"),
    "__int128": (lambda n: f"{n}", lambda n: f"{n}"),
    "_Complex float": (lambda n: f"{n}.5f", lambda n: f"complex{{{n}.500000, 0.000000}}"),
    "_Complex double": (lambda n: f"{n}.5", lambda n: f"complex{{{n}.500000, 0.000000}}"),
    "_Complex long double": (lambda n: f"{n}.5L", lambda n: r"complex{...}"),
    "_Float128": (lambda n: f"{n}", lambda n: f"{n}.000000"),
    "v8": (lambda n: f"(v8){{{n}, 1}}", lambda n: f"vector{{{n}.000000, 1.000000}}"),
    "v16": (lambda n: f"(v16){{{n}, 1}}", lambda n: f"vector{{{n}.000000, 1.000000, 0.000000, 0.000000}}"),
    "v32": (lambda n: f"(v32){{{n}, 1}}", lambda n: r"vector{...}"),
}
MEMBERS = ("int", "long", "double", "float", "long double", "unsigned short")
HIDDEN = ("__int128", "_Complex float", "_Complex double", "_Float128", "v16", "v32")
HEAD = """#include <stdio.h>
typedef float v8 __attribute__((vector_size(8)));
typedef float v16 __attribute__((vector_size(16)));
typedef double v32 __attribute__((vector_size(32)));
"""


class Signatures:
    """A program with @nr functions that have random arguments and results, scalars and structs;
    main() calls each once. @without: types that are left out."""

    def __init__(self, seed, nr, without=()):
        self.random = random.Random(seed)
        self.scalars = [kind for kind in SCALARS if kind not in without]
        self.hidden = [kind for kind in HIDDEN if kind not in without]
        self.structs = []
        self.source = HEAD
        self.expected = []
        calls = [self.add_function(i) for i in range(nr)]
        self.source += "int main(void)\n{\n" + "".join(f"\t{call}\n" for call in calls) + "\treturn 0;\n}\n"

    def add_struct(self):
        name = f"S{len(self.structs)}"
        if self.random.random() < 0.3:
            members = [self.random.choice(self.hidden)]
        else:
            members = [self.random.choice(MEMBERS) for _ in range(self.random.choice((1, 1, 2, 2, 3, 4)))]
        body = " ".join(f"{member} m{i};" for i, member in enumerate(members))
        self.source += f"struct {name} {{ {body} }};\n"
        self.structs.append((name, members))
        return name, members

    def value(self):
        """A random type with a value: (C type, initializer, pattern of the text that is shown)."""
        n = self.random.randrange(1, 1000)
        if self.random.random() < 0.35:
            name, members = self.random.choice(self.structs) if self.structs and self.random.random() < 0.5 else self.add_struct()
            made = ", ".join(SCALARS[member][0](n + i) for i, member in enumerate(members))
            shown = ", ".join(f"m{i}={SCALARS[member][1](n + i)}" for i, member in enumerate(members))
            if "..." in shown:
                return f"struct {name}", f"(struct {name}){{{made}}}", None
            # In structs, members are shown without the names of their types.
            shown = shown.replace("complex{", "{").replace("vector{", "{")
            return f"struct {name}", f"(struct {name}){{{made}}}", f"{name}{{{shown}}}"
        kind = self.random.choice(self.scalars)
        make, show = SCALARS[kind]
        return kind, make(n), None if "..." in show(n) else show(n)

    def add_function(self, i):
        args = [self.value() for _ in range(self.random.randrange(9))]
        result = self.value()
        params = ", ".join(f"{kind} a{k}" for k, (kind, _, _) in enumerate(args)) or "void"
        # Clang passes any value for an argument that it sees no use of.
        uses = "".join(f'\t__asm__ volatile("" :: "m"(a{k}) : "memory");\n' for k in range(len(args)))
        self.source += f"__attribute__((noipa)) {result[0]} f{i}({params})\n{{\n{uses}\t__asm__ volatile(\"\" ::: \"memory\");\n\treturn {result[1]};\n}}\n"
        self.expected.append((f"f{i}", [shown for _, _, shown in args], result[2]))
        return f"f{i}({', '.join(made for _, made, _ in args)});"


def split_args(text):
    """The shown arguments, split at the commas outside of braces and parentheses."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "{(") - (c in "})")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return [one.strip() for one in found] if text else []
