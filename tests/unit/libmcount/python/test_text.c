/* Text of objects in a real interpreter. libpython is loaded, if it is installed. */
#include "libmcount/python/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "libmcount/program/definition.h"
#include "tests/unit/lib/unit.h"

static void *python;

uint64_t definition_find(const char *name)
{
	return (uint64_t)dlsym(python, name);
}

uint64_t definition_find_data(const char *name)
{
	return definition_find(name);
}

static struct py_object *(*run_string)(const char *code, int start, struct py_object *globals,
				       struct py_object *locals);
static struct py_object *globals;

#define EVAL 258 /* Py_eval_input, compile.h */

static struct py_object *value_of(const char *code)
{
	struct py_object *o = run_string(code, EVAL, globals, globals);

	if (!o)
		fail_msg("%s", code);
	return o;
}

static bool begin(void)
{
	static const char *const names[] = { "libpython3.9.so.1.0", "libpython3.10.so.1.0",
					     "libpython3.11.so.1.0", "libpython3.12.so.1.0",
					     "libpython3.13.so.1.0" };
	struct py_object *(*import)(const char *);
	struct py_object *(*dict_of)(struct py_object *);
	void (*initialize)(int);

	if (python)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !python; i++)
		python = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
	if (!python) {
		print_message("skipped: no libpython3 (apt-get install libpython3.11)\n");
		return false;
	}
	initialize = (void (*)(int))dlsym(python, "Py_InitializeEx");
	import = (__typeof__(import))dlsym(python, "PyImport_AddModule");
	dict_of = (__typeof__(dict_of))dlsym(python, "PyModule_GetDict");
	run_string = (__typeof__(run_string))dlsym(python, "PyRun_String");
	initialize(0);
	assert_true(python_api_find());
	assert_true(text_begin());
	globals = dict_of(import("__main__"));
	return true;
}

static const char *text_of(const char *code, unsigned limit)
{
	static char out[ARGBLOB_STRING_MAX + 1];
	struct capture_text text;
	struct py_object *o = value_of(code);

	text_of_object(o, limit, &text);
	py.let_go(o);
	assert_true(text.len <= limit);
	memcpy(out, text.text, text.len);
	out[text.len] = '\0';
	return out;
}

/* Values whose text is that of repr(). */
static const char *const plain[] = {
	"None",
	"True",
	"False",
	"0",
	"-1",
	"2**63 - 1",
	"-2**63",
	"2**63",
	"-2**200",
	"0.1",
	"-1e300",
	"float('nan')",
	"float('-inf')",
	"''",
	"'x'",
	"\"it's\"",
	"'\"'",
	"'\\'\"'",
	"'a\\n\\t\\r\\\\b'",
	"'\\x00\\x7f\\x80\\xa0'",
	"'\\u20ac\\u200b\\U0001f600'",
	"'\\ud800'",
	"b''",
	"b'ab'",
	"b'\\x00\\xff\\''",
	"b'\\'\"'",
	"[]",
	"[1, 'a', None]",
	"()",
	"(1,)",
	"(1, 2)",
	"{}",
	"{'a': 1, 2: b'x'}",
	"set()",
	"{1}",
	"frozenset()",
	"frozenset({2})",
	"2**63 + 5",
	"-2**63 - 1",
	"10",
	"-907",
	"' ~\\x1f\\x7f\\xa1\\xad\\xff'",
	"'\\u0100\\u0378\\uffff'",
	"'\\U00010000\\U000e0001\\U0010ffff'",
	"b' ~\\x1f\\x7f\\x80\\t\\r\\n\\\\'",
	"b'\"'",
	"b\"'\"",
	"(1, 2, 3)",
	"[None, True, False, 0.5]",
	"{'a': 'b', 'c': None}",
	"{1: 2, 3: 4, 5: 6}",
};

TEST(test_plain_values_are_as_repr_says)
{
	if (!begin())
		skip();
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		char code[200];
		struct py_object *o;

		snprintf(code, sizeof(code), "repr(%s)", plain[i]);
		o = value_of(code);
		assert_string_equal(text_of(plain[i], ARGBLOB_STRING_MAX), py.text(o));
		py.let_go(o);
	}
}

TEST(test_what_is_not_written_out)
{
	if (!begin())
		skip();
	assert_string_equal(text_of("[[], [1], (), (1,), {}, {1}]", 97),
			    "[[], [...], (), (...), {...}, {...}]");
	assert_string_equal(text_of("1 << 4000", 97), "<int of more than 300 digits>");
	assert_string_equal(text_of("object()", 97), "<builtins.object object>");
	assert_string_equal(text_of("type('K', (), {})()", 97), "<__main__.K object>");
	assert_string_equal(text_of("type('N', (int,), {'__repr__': lambda s: 1 / 0})(3)", 97),
			    "<__main__.N object>");
}

/* Integers of at most 1000 bits are written, as far as there is room. */
TEST(test_long_integers)
{
	if (!begin())
		skip();
	assert_string_equal(text_of("2**1000", 97), "<int of more than 300 digits>");
	assert_string_equal(text_of("-2**1000", 97), "<int of more than 300 digits>");
	/* 2**1000 = 1071508607186267320948425049060001810561404811705533607443750... */
	assert_string_equal(text_of("2**1000 - 1", 23), "10715086071862673209...");
	assert_string_equal(text_of("1 - 2**1000", 23), "-1071508607186267320...");
}

TEST(test_what_is_inside)
{
	if (!begin())
		skip();
	assert_string_equal(text_of("[{}, set(), frozenset(), (2,)]", 97),
			    "[{...}, {...}, <builtins.frozenset object>, (...)]");
	assert_string_equal(text_of("{(): [3], 'k': ()}", 97), "{(): [...], 'k': ()}");
	assert_string_equal(text_of("([],)", 97), "([],)");
	assert_string_equal(text_of("{(1,)}", 97), "{(...)}");
	assert_string_equal(text_of("frozenset({()})", 97), "frozenset({()})");
}

/*
 * The module is searched among the first 64 items of a class. Only a text is taken for the name of
 * a module.
 */
TEST(test_modules_of_classes)
{
	if (!begin())
		skip();
	assert_string_equal(text_of("type('K', (), {'__module__': 'm'})()", 97), "<m.K object>");
	assert_string_equal(text_of("type('K', (), {'__module__': 5})()", 97),
			    "<builtins.K object>");
	assert_string_equal(text_of("type('K', (), {5: 6, '__module__': 'm'})()", 97),
			    "<m.K object>");
	assert_string_equal(text_of("type('K', (), {**{f'a{i}': 0 for i in range(63)}, "
				    "'__module__': 'late'})()",
				    97),
			    "<late.K object>");
	assert_string_equal(text_of("type('K', (), {**{f'a{i}': 0 for i in range(64)}, "
				    "'__module__': 'late'})()",
				    97),
			    "<builtins.K object>");
	/* A name that has its module in it. */
	assert_string_equal(text_of("type('a.b', (), {'__module__': 'm'})()", 97), "<a.b object>");
	assert_string_equal(text_of("range(3)", 97), "<builtins.range object>");
	assert_string_equal(text_of("int", 97), "<builtins.type object>");
}

/* The bits of a float are kept beside its text, unless the text is cut. */
TEST(test_numbers_of_floats)
{
	static const struct {
		const char *code;
		unsigned limit;
		bool is_real;
		double real;
	} cases[] = {
		{ "0.25", 97, true, 0.25 },
		{ "-1e300", 97, true, -1e300 },
		{ "1.23456789", 10, true, 1.23456789 },
		{ "1.23456789", 9, false, 0 },
		{ "1", 97, false, 0 },
		{ "True", 97, false, 0 },
		{ "'0.25'", 97, false, 0 },
		{ "[0.25]", 97, false, 0 },
	};

	if (!begin())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct capture_text text = { .is_real = !cases[i].is_real };
		struct py_object *o = value_of(cases[i].code);

		text_of_object(o, cases[i].limit, &text);
		py.let_go(o);
		assert_int_equal(text.is_real, cases[i].is_real);
		if (text.is_real)
			assert_memory_equal(&text.real, &cases[i].real, sizeof(text.real));
	}
}

static unsigned continuation_bytes(const char *text, size_t len)
{
	unsigned nr = 0;

	while (len && (text[--len] & 0xc0) == 0x80)
		nr++;
	return nr;
}

/* The text has at most @limit bytes. No character is cut, and dots show that there was more. */
TEST(test_any_limit)
{
	if (!begin())
		skip();
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		char whole[ARGBLOB_STRING_MAX + 1];

		strcpy(whole, text_of(plain[i], ARGBLOB_STRING_MAX));
		for (unsigned limit = 8; limit <= ARGBLOB_STRING_MAX; limit++) {
			const char *text = text_of(plain[i], limit);
			size_t len = strlen(text);

			if (strcmp(text, whole) == 0)
				continue;
			assert_true(strlen(whole) > limit);
			assert_string_equal(text + len - 3, "...");
			assert_memory_equal(text, whole, len - 3);
			assert_true(continuation_bytes(text, len - 3) ==
				    continuation_bytes(whole, len - 3));
			/* The text was cut at the beginning of a character. */
			assert_true((whole[len - 3] & 0xc0) != 0x80);
		}
	}
}

TEST(test_objects_live_as_long_as_without_us)
{
	struct py_object *o, *before, *after;

	if (!begin())
		skip();
	before = value_of("__import__('sys').getrefcount(plain := [1, 'x', {2: 3}])");
	o = value_of("plain");
	for (int i = 0; i < 100; i++) {
		struct capture_text text;

		text_of_object(o, 97, &text);
	}
	py.let_go(o);
	after = value_of("__import__('sys').getrefcount(plain)");
	assert_int_equal(py.number(before), py.number(after));
}

TEST(test_cells_and_bytes)
{
	struct py_object *cell, *empty, *bytes, *held, *before, *after;

	if (!begin())
		skip();
	cell = value_of("(lambda v: lambda: v)('in').__closure__[0]");
	empty = value_of("__import__('types').CellType()");
	bytes = value_of("b'a\\xff'");
	assert_true(text_is_cell(cell) && text_is_cell(empty) && !text_is_cell(bytes));
	assert_string_equal(py.text(text_out_of_cell(cell)), "in");
	assert_null(text_out_of_cell(empty));
	assert_int_equal(text_byte(bytes, 0), 'a');
	assert_int_equal(text_byte(bytes, 1), 0xff);
	assert_int_equal(text_byte(bytes, 2), -1);
	assert_int_equal(text_byte(cell, 0), -1);
	assert_int_equal(text_byte(NULL, 0), -1);
	/* Neither the cell nor its object gets or loses an owner. */
	before = value_of("__import__('sys').getrefcount(held := object())");
	held = value_of("(lambda v: lambda: v)(held).__closure__[0]");
	for (int i = 0; i < 100; i++)
		assert_non_null(text_out_of_cell(held));
	after = value_of("__import__('sys').getrefcount(held)");
	/* The cell itself is one more owner. */
	assert_int_equal(py.number(after), py.number(before) + 1);
	py.let_go(held);
	py.let_go(cell);
	py.let_go(empty);
	py.let_go(bytes);
}
