/* Symbol tables and the .sym text, in the old form and in the new one. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/format/sym.h"

static void add(struct symtab *tab, uint64_t addr, uint64_t size, char type, const char *name)
{
	assert_int_equal(symtab_add(tab, addr, size, type, name, strlen(name)), 0);
}

TEST(one_name_per_address)
{
	struct symtab tab cleanup_symtab = { 0 };

	add(&tab, 0x30, 4, 'T', "last");
	add(&tab, 0x10, 4, 'T', "__private");
	add(&tab, 0x10, 4, 'T', "public");
	add(&tab, 0x20, 4, 'T', "_ZN1AC1Ev");
	add(&tab, 0x20, 4, 'T', "_ZN1AC2Ev");
	add(&tab, 0x20, 4, 'T', "_other");
	add(&tab, 0x30, 4, 'T', "latest");
	assert_int_equal(symtab_sort(&tab), 0);

	assert_int_equal(tab.nr, 3);
	assert_string_equal(tab.syms[0].name, "public");
	assert_string_equal(tab.syms[1].name, "_ZN1AC1Ev");
	assert_string_equal(tab.syms[2].name, "latest");
}

static void check_alias(const struct symtab *tab, size_t at, uint64_t addr, const char *name)
{
	assert_true(at < tab->nr_aliases);
	assert_int_equal(tab->aliases[at].addr, addr);
	assert_string_equal(tab->aliases[at].name, name);
}

TEST(other_names_are_kept)
{
	struct symtab tab cleanup_symtab = { 0 };
	struct symtab got cleanup_symtab = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	add(&tab, 0x20, 4, 'T', "_ZN1AC2Ev");
	add(&tab, 0x20, 4, 'T', "_ZN1AC1Ev");
	add(&tab, 0x20, 4, 'T', "_ZN1BC1Ev");
	add(&tab, 0x10, 4, 'T', "impl");
	add(&tab, 0x10, 4, 'w', "api");
	add(&tab, 0x10, 4, 'T', "impl");
	add(&tab, 0x10, 4, 'D', "data");
	add(&tab, 0x30, 4, 'D', "one");
	add(&tab, 0x30, 4, 'D', "other");
	assert_int_equal(symtab_sort(&tab), 0);
	assert_int_equal(tab.nr, 3);

	sym_file_encode(&tab, "/x", NULL, &text);
	assert_int_equal(sym_file_decode(text.data, text.len, &got, NULL, NULL), 0);
	for (struct symtab *each = &tab; each; each = each == &tab ? &got : NULL) {
		assert_int_equal(each->nr_aliases, 1);
		check_alias(each, symtab_find_alias(each, 0x20), 0x20, "_ZN1BC1Ev");
		assert_int_equal(symtab_find_alias(each, 0x21), 1);
	}
	symtab_swap_alias(&got, 1, 0);
	assert_string_equal(got.syms[1].name, "_ZN1BC1Ev");
	check_alias(&got, 0, 0x20, "_ZN1AC2Ev");
	assert_int_equal(symtab_add_all(&tab, &got), 0);
	assert_int_equal(tab.nr_aliases, 1);
}

/*
 * Symbols of a program, and those of its debug information in another table: they are found as if
 * all were in one.
 */
TEST(of_another_table)
{
	struct symtab tab cleanup_symtab = { 0 };
	struct symtab from cleanup_symtab = { 0 };

	add(&tab, 0x20, 0x10, 'T', "__b");
	add(&tab, 0x30, 0x10, 'T', "c");
	add(&from, 0x10, 0x10, 'T', "a");
	add(&from, 0x20, 0x10, 'T', "b");
	assert_int_equal(symtab_add_all(&tab, &from), 0);
	assert_int_equal(tab.nr, 3);
	assert_string_equal(symtab_find(&tab, 0x10)->name, "a");
	assert_string_equal(symtab_find(&tab, 0x2f)->name, "b");
	assert_string_equal(symtab_find(&tab, 0x30)->name, "c");
}

TEST(find_by_range)
{
	struct symtab tab cleanup_symtab = { 0 };

	assert_null(symtab_find(&tab, 0));
	add(&tab, 0x10, 0x10, 'T', "a");
	add(&tab, 0x40, 0x40, 'T', "outer");
	add(&tab, 0x50, 0x8, 't', "nested");
	assert_int_equal(symtab_sort(&tab), 0);

	assert_null(symtab_find(&tab, 0xf));
	assert_string_equal(symtab_find(&tab, 0x10)->name, "a");
	assert_string_equal(symtab_find(&tab, 0x1f)->name, "a");
	assert_null(symtab_find(&tab, 0x20));
	assert_string_equal(symtab_find(&tab, 0x57)->name, "nested");
	assert_string_equal(symtab_find(&tab, 0x58)->name, "outer");
	assert_null(symtab_find(&tab, 0x80));
	assert_null(symtab_find(&tab, UINT64_MAX));
}

TEST(many_and_long_names)
{
	struct symtab tab cleanup_symtab = { 0 };
	size_t long_len = 100000;
	char *long_name = malloc(long_len + 1);

	memset(long_name, 'x', long_len);
	long_name[long_len] = '\0';
	for (unsigned i = 0; i < 20000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		add(&tab, i * 16, 16, 'T', name);
	}
	add(&tab, 20000 * 16, 16, 'T', long_name);
	assert_int_equal(symtab_sort(&tab), 0);
	assert_string_equal(symtab_find(&tab, 777 * 16 + 5)->name, "f777");
	assert_string_equal(symtab_find(&tab, 20000 * 16)->name, long_name);
	free(long_name);
}

static const char text_new[] = "# symbols: 2\n"
			       "# path name: /bin/a b\n"
			       "# build-id: 00ff\n"
			       "0000000000001030 00000010 P d\n"
			       "00000000000010a0 000000c0 T main\n";

TEST(round_trip)
{
	struct symtab tab cleanup_symtab = { 0 };
	struct sym_file_head head;
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(sym_file_decode(text_new, strlen(text_new), &tab, &head, NULL), 0);
	assert_int_equal(tab.nr, 2);
	assert_int_equal(tab.syms[1].size, 0xc0);
	assert_string_equal(head.path, "/bin/a b");
	assert_string_equal(head.build_id, "00ff");
	sym_file_encode(&tab, head.path, head.build_id, &out);
	assert_string_equal(strbuf_str(&out), "# symbols: 4\n"
					      "# path name: /bin/a b\n"
					      "# build-id: 00ff\n"
					      "0000000000001030 P d\n"
					      "0000000000001040 ? __sym_end\n"
					      "00000000000010a0 T main\n"
					      "0000000000001160 ? __sym_end\n");

	struct symtab again cleanup_symtab = { 0 };

	assert_int_equal(sym_file_decode(out.data, out.len, &again, NULL, NULL), 0);
	assert_int_equal(again.nr, 2);
	assert_int_equal(again.syms[0].size, 0x10);
	assert_int_equal(again.syms[1].size, 0xc0);
	free(head.path);
	free(head.build_id);
}

/* A symbol needs a line for its end only if the next symbol is further away than padding is. */
TEST(ends_of_symbols)
{
	static const struct {
		uint32_t sizes[3];
		const char *text;
	} cases[] = {
		{ { 0x100, 0x100, 0x100 },
		  "# symbols: 4\n"
		  "# path name: p\n"
		  "0000000000001000 T f0\n"
		  "0000000000001100 T f1\n"
		  "0000000000001200 T f2\n"
		  "0000000000001300 ? __sym_end\n" },
		{ { 0xc0, 0x110, 1 },
		  "# symbols: 4\n"
		  "# path name: p\n"
		  "0000000000001000 T f0\n"
		  "0000000000001100 T f1\n"
		  "0000000000001200 T f2\n"
		  "0000000000001201 ? __sym_end\n" },
		{ { 0xbf, 0xc0, 0 },
		  "# symbols: 5\n"
		  "# path name: p\n"
		  "0000000000001000 T f0\n"
		  "00000000000010bf ? __sym_end\n"
		  "0000000000001100 T f1\n"
		  "0000000000001200 T f2\n"
		  "0000000000001200 ? __sym_end\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct symbol syms[3];
		const struct symtab tab = { .syms = syms, .nr = 3 };
		struct strbuf out cleanup_strbuf = { 0 };

		for (unsigned k = 0; k < 3; k++)
			syms[k] = (struct symbol){ .addr = 0x1000 + k * 0x100,
						   .size = cases[i].sizes[k],
						   .type = 'T',
						   .name = k == 0   ? "f0"
							   : k == 1 ? "f1"
								    : "f2" };
		sym_file_encode(&tab, "p", NULL, &out);
		assert_string_equal(strbuf_str(&out), cases[i].text);
	}
}

TEST(old_form)
{
	static const char text[] = "# symbols: 5\n"
				   "0000000000001030 P clock_gettime\n"
				   "0000000000001040 ? __dynsym_end\n"
				   "00000000000010a0 T main\n"
				   "0000000000001160 d data\n"
				   "0000000000001164 ? __sym_end\n";
	struct symtab tab cleanup_symtab = { 0 };

	assert_int_equal(sym_file_decode(text, strlen(text), &tab, NULL, NULL), 0);
	assert_int_equal(tab.nr, 3);
	assert_int_equal(tab.syms[0].size, 0x10);
	assert_int_equal(tab.syms[1].size, 0xc0);
	assert_int_equal(tab.syms[2].size, 4);
	assert_int_equal(tab.syms[2].type, 'd');
}

TEST(cut_anywhere)
{
	for (size_t len = 0; len < strlen(text_new); len++) {
		struct symtab tab cleanup_symtab = { 0 };
		struct sym_file_head head;
		struct uft_err err = { 0 };
		char *copy = exact_copy(text_new, len);

		if (sym_file_decode(copy, len, &tab, &head, &err) < 0)
			assert_string_not_equal(err.text, "");
		free(head.path);
		free(head.build_id);
		free(copy);
	}
}

TEST(bad_lines)
{
	static const char *const bad[] = {
		"x\n",	   "10\n",	 "10 \n",	"10 T\n",
		"10 T \n", "10 20 T \n", "10 zz T a\n", "112345678901234567890 T a\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct symtab tab cleanup_symtab = { 0 };
		struct uft_err err = { 0 };

		assert_int_equal(sym_file_decode(bad[i], strlen(bad[i]), &tab, NULL, &err),
				 -EINVAL);
		assert_non_null(strstr(err.text, "line 1"));
	}
}

/* A name with a NUL would change in memory, and could become empty. */
TEST(no_nul_in_names)
{
	static const char bad[] = "10 T \0a\n";
	struct symtab tab cleanup_symtab = { 0 };

	assert_int_equal(sym_file_decode(bad, sizeof(bad) - 1, &tab, NULL, NULL), -EINVAL);
}

/* The better one of two names of an address, and whether the other one is kept as an alias. */
TEST(better_names)
{
	static const struct {
		char types[3];
		const char *first;
		const char *second;
		const char *kept;
		const char *alias;
	} cases[] = {
		{ "TT", "a", "b", "b", "a" },		{ "TT", "_a", "b", "b", "_a" },
		{ "TT", "a", "_b", "a", "_b" },		{ "TT", "_a", "_b", "_b", "_a" },
		{ "TT", "_a", "_Zb", "_a", "_Zb" },	{ "TT", "_Za", "_b", "_Za", "_b" },
		{ "TT", "_Za", "_Zb", "_Za", "_Zb" },	{ "TT", "_Za", "b", "b", "_Za" },
		{ "TT", "same", "same", "same", NULL }, { "?T", "a", "_b", "_b", NULL },
		{ "T?", "_a", "b", "_a", NULL },	{ "??", "a", "b", "a", NULL },
		{ "DT", "a", "b", "b", NULL },		{ "TD", "_a", "_Zb", "_a", NULL },
		{ "DD", "a", "b", "b", NULL },		{ "tw", "a", "b", "b", "a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct symtab tab cleanup_symtab = { 0 };

		add(&tab, 0x10, 4, cases[i].types[0], cases[i].first);
		add(&tab, 0x10, 8, cases[i].types[1], cases[i].second);
		assert_int_equal(symtab_sort(&tab), 0);
		assert_int_equal(tab.nr, 1);
		assert_string_equal(tab.syms[0].name, cases[i].kept);
		assert_int_equal(tab.nr_aliases, cases[i].alias != NULL);
		if (cases[i].alias)
			check_alias(&tab, 0, 0x10, cases[i].alias);
	}
}

/* Two variants of a constructor or destructor are one function. */
TEST(variants_of_constructors)
{
	static const struct {
		const char *first;
		const char *second;
		size_t nr_aliases;
	} cases[] = {
		{ "_ZN1AC1Ev", "_ZN1AC2Ev", 0 },
		{ "_ZN1AD0Ev", "_ZN1AD5Ev", 0 },
		{ "_ZN1AC0Ev", "_ZN1AC6Ev", 1 },
		{ "_ZN1AC/Ev", "_ZN1AC1Ev", 1 },
		{ "_ZN1AC1Ev", "_ZN1AC/Ev", 1 },
		{ "_ZN1AC6Ev", "_ZN1AC5Ev", 1 },
		{ "_ZN1AE1Ev", "_ZN1AE2Ev", 1 },
		{ "_ZN1AC1Ev", "_ZN1AC2Ei", 1 },
		{ "1", "2", 1 },
		{ "_ZC1", "_ZC2", 0 },
		{ "C1", "C2", 1 },
		{ "toC1", "toC2", 1 },
		{ "fC1", "fC", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct symtab tab cleanup_symtab = { 0 };

		add(&tab, 0x10, 4, 'T', cases[i].first);
		add(&tab, 0x10, 4, 'T', cases[i].second);
		assert_int_equal(symtab_sort(&tab), 0);
		assert_int_equal(tab.nr_aliases, cases[i].nr_aliases);
	}
}

/* Aliases are sorted by address and name. Each is kept once. */
TEST(many_aliases)
{
	struct symtab tab cleanup_symtab = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };

	add(&tab, 0x20, 4, 'T', "d");
	add(&tab, 0x20, 4, 'T', "b");
	add(&tab, 0x20, 4, 'T', "d");
	add(&tab, 0x20, 4, 'T', "c");
	add(&tab, 0x20, 4, 'T', "a");
	add(&tab, 0x10, 4, 'T', "y");
	add(&tab, 0x10, 4, 'T', "x");
	add(&tab, 0x30, 4, 'T', "z");
	assert_int_equal(symtab_sort(&tab), 0);
	assert_int_equal(symtab_sort(&tab), 0);
	assert_int_equal(tab.nr, 3);
	assert_int_equal(tab.nr_aliases, 4);
	check_alias(&tab, 0, 0x10, "y");
	check_alias(&tab, 1, 0x20, "b");
	check_alias(&tab, 2, 0x20, "c");
	check_alias(&tab, 3, 0x20, "d");
	assert_int_equal(symtab_find_alias(&tab, 0x0f), 0);
	assert_int_equal(symtab_find_alias(&tab, 0x10), 0);
	assert_int_equal(symtab_find_alias(&tab, 0x11), 1);
	assert_int_equal(symtab_find_alias(&tab, 0x20), 1);
	assert_int_equal(symtab_find_alias(&tab, 0x30), 4);
	sym_file_encode(&tab, "p", "ab", &out);
	assert_string_equal(strbuf_str(&out), "# symbols: 4\n"
					      "# path name: p\n"
					      "# build-id: ab\n"
					      "0000000000000010 T x\n"
					      "# alias: 0000000000000010 y\n"
					      "0000000000000020 T a\n"
					      "# alias: 0000000000000020 b\n"
					      "# alias: 0000000000000020 c\n"
					      "# alias: 0000000000000020 d\n"
					      "0000000000000030 T z\n"
					      "0000000000000034 ? __sym_end\n");
}

/* Addresses of any size are sorted. Symbols keep their names and sizes. */
TEST(all_addresses)
{
	struct symtab tab cleanup_symtab = { 0 };
	uint64_t seed = 7;

	for (unsigned i = 0; i < 640; i++) {
		uint64_t addr = unit_random(&seed) >> i % 64;
		char name[32];

		snprintf(name, sizeof(name), "%llx", (unsigned long long)addr);
		add(&tab, addr, addr ^ 5, 'T', name);
	}
	assert_int_equal(symtab_sort(&tab), 0);
	assert_true(tab.nr > 500);
	for (size_t i = 0; i < tab.nr; i++) {
		assert_true(i == 0 || tab.syms[i - 1].addr < tab.syms[i].addr);
		assert_int_equal(strtoull(tab.syms[i].name, NULL, 16), tab.syms[i].addr);
		assert_int_equal(tab.syms[i].size, tab.syms[i].addr ^ 5);
	}
}

/*
 * Only some symbols before an address are looked at. A symbol is not found if too many other
 * symbols lie between its start and the address.
 */
TEST(symbols_within_symbols)
{
	struct symtab tab cleanup_symtab = { 0 };

	add(&tab, 0x1000, 0x1000, 'T', "outer");
	for (unsigned i = 1; i <= 8; i++) {
		assert_string_equal(symtab_find(&tab, 0x1fff)->name, "outer");
		add(&tab, 0x1000 + i * 0x10, 0x10, 'T', "inner");
	}
	assert_null(symtab_find(&tab, 0x1fff));
	assert_string_equal(symtab_find(&tab, 0x1079)->name, "inner");
	assert_string_equal(symtab_find(&tab, 0x1000)->name, "outer");
}

/* A size has at least two digits, and a type may be a digit. Comments of other kinds are skipped. */
TEST(forms_of_lines)
{
	static const struct {
		const char *text;
		const char *name;
		char type;
		uint64_t size;
		size_t nr_aliases;
	} cases[] = {
		{ "10 20 T a\n", "a", 'T', 0x20, 0 },
		{ "10 T a\n", "a", 'T', 0, 0 },
		{ "10 b a\n", "a", 'b', 0, 0 },
		{ "10 20 b a\n", "a", 'b', 0x20, 0 },
		{ "10 20 b a b \n", "a b ", 'b', 0x20, 0 },
		{ "10 T a", "a", 'T', 0, 0 },
		{ "\n10 20 T a\n\n", "a", 'T', 0x20, 0 },
		{ "# alias: 10 b\n10 20 T a\n", "a", 'T', 0x20, 1 },
		{ "# alias: 10 \n10 20 T a\n", "a", 'T', 0x20, 0 },
		{ "# alias: 10\n10 20 T a\n", "a", 'T', 0x20, 0 },
		{ "# alias: x b\n10 20 T a\n", "a", 'T', 0x20, 0 },
		{ "# alias: 11 b\n10 20 T a\n", "a", 'T', 0x20, 0 },
		{ "# alias: 10 a\n10 20 T a\n", "a", 'T', 0x20, 0 },
		{ "# alias: 10 b\n10 20 D a\n", "a", 'D', 0x20, 0 },
		{ "# something\n10 20 T a\n", "a", 'T', 0x20, 0 },
		{ "8 ? x\n10 T a\n18 ? y\n", "a", 'T', 8, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct symtab tab cleanup_symtab = { 0 };

		assert_int_equal(
			sym_file_decode(cases[i].text, strlen(cases[i].text), &tab, NULL, NULL), 0);
		assert_int_equal(tab.nr, 1);
		assert_int_equal(tab.syms[0].addr, 0x10);
		assert_string_equal(tab.syms[0].name, cases[i].name);
		assert_int_equal(tab.syms[0].type, cases[i].type);
		assert_int_equal(tab.syms[0].size, cases[i].size);
		assert_int_equal(tab.nr_aliases, cases[i].nr_aliases);
	}
}

/*
 * The head gets the first path and the first build-id of the file. An error message has the number
 * of the wrong line.
 */
TEST(heads_and_errors)
{
	static const char text[] = "# path name: /a\n# path name: /b\n"
				   "# build-id: 12\n# build-id: 34\n\n10 T\n";
	struct symtab tab = { 0 };
	struct sym_file_head head;
	struct uft_err err = { 0 };

	assert_int_equal(sym_file_decode(text, strlen(text) - strlen("10 T\n"), &tab, &head, NULL),
			 0);
	assert_string_equal(head.path, "/a");
	assert_string_equal(head.build_id, "12");
	assert_int_equal(tab.nr, 0);
	free(head.path);
	free(head.build_id);
	assert_int_equal(sym_file_decode(text, strlen(text), &tab, &head, &err), -EINVAL);
	assert_string_equal(err.text, "line 6: expected '<address> [<size>] <type> <name>'");
	assert_null(head.path);
	assert_null(head.build_id);
	assert_null(tab.syms);
}

/* A very long name is cut, so that lines of calls stay readable. */
TEST(the_longest_name)
{
	static char text[65536 + 16];

	for (size_t len = 65534; len <= 65536; len++) {
		struct symtab tab cleanup_symtab = { 0 };

		strcpy(text, "10 T ");
		memset(text + 5, 'x', len);
		strcpy(text + 5 + len, "\n");
		assert_int_equal(sym_file_decode(text, strlen(text), &tab, NULL, NULL), 0);
		assert_int_equal(strlen(tab.syms[0].name), len < 65535 ? len : 65535);
		assert_int_equal(tab.name_bytes, strlen(tab.syms[0].name));
	}
}
