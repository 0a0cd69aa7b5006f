/* kallsyms: the lines of functions, their sizes, and the choice among several names of one. */
#include "tests/unit/lib/unit.h"

#include "utils/format/kernel/kallsyms.h"

static struct symtab decode(const char *text)
{
	struct symtab tab = { 0 };
	char *copy = exact_copy(text, strlen(text));

	assert_int_equal(kallsyms_decode(copy, strlen(text), &tab), 0);
	free(copy);
	return tab;
}

static void assert_symbol(const struct symtab *tab, size_t i, uint64_t addr, uint64_t size,
			  const char *name)
{
	assert_int_equal(tab->syms[i].addr, addr);
	assert_int_equal(tab->syms[i].size, size);
	assert_string_equal(tab->syms[i].name, name);
	assert_int_equal(tab->syms[i].type, 'K');
}

TEST(functions_reach_to_the_next)
{
	struct symtab tab = decode("ffffffff81000300 t third\n"
				   "ffffffff81000100 T first\n"
				   "ffffffff81000180 W second\t[module]\n"
				   "ffffffffc0000000 w last");

	assert_int_equal(tab.nr, 4);
	assert_symbol(&tab, 0, 0xffffffff81000100, 0x80, "first");
	assert_symbol(&tab, 1, 0xffffffff81000180, 0x180, "second");
	assert_symbol(&tab, 2, 0xffffffff81000300, 0x3efffd00, "third");
	assert_symbol(&tab, 3, 0xffffffffc0000000, 0x40000000, "last");
	symtab_deinit(&tab);
}

/* Sorting must keep the order of symbols with the same address. */
TEST(first_of_one_address_counts)
{
	struct symtab tab = decode("ffffffff81000200 T behind\n"
				   "ffffffff81000100 T first\n"
				   "ffffffff81000100 t alias\n"
				   "ffffffff81000100 W another\n");

	assert_int_equal(tab.nr, 2);
	assert_symbol(&tab, 0, 0xffffffff81000100, 0x100, "first");
	assert_symbol(&tab, 1, 0xffffffff81000200, 0xffffffff81000200 * -1, "behind");
	symtab_deinit(&tab);
}

TEST(other_lines_are_passed_over)
{
	struct symtab tab = decode("0000000000000000 T hidden\n"
				   "ffffffff81000000 D data\n"
				   "ffffffff81000010 T\n"
				   "ffffffff81000020 T \n"
				   "ffffffff81000030 T \t[module]\n"
				   "ffffffff81000040Tname\n"
				   "ffffffff81000050 Tname\n"
				   "no address\n"
				   "\n"
				   "ffffffff81000060 T one\n");

	assert_int_equal(tab.nr, 1);
	assert_symbol(&tab, 0, 0xffffffff81000060, 0xffffffff81000060 * -1, "one");
	symtab_deinit(&tab);
	tab = decode("");
	assert_int_equal(tab.nr, 0);
	symtab_deinit(&tab);
}

/* Only functions count: their letters are t, T, w and W. */
TEST(letters_of_functions)
{
	for (int letter = ' ' + 1; letter <= '~'; letter++) {
		char text[64];
		struct symtab tab;

		snprintf(text, sizeof(text), "ffffffff81000060 %c one\n", letter);
		tab = decode(text);
		assert_int_equal(tab.nr,
				 letter == 't' || letter == 'T' || letter == 'w' || letter == 'W');
		symtab_deinit(&tab);
	}
}

/* A very long name is cut, since many records may show it. */
TEST(the_longest_name)
{
	for (size_t len = 511; len <= 513; len++) {
		char text[640] = "ffffffff81000060 T ";
		size_t at = strlen(text);
		struct symtab tab;

		memset(text + at, 'x', len);
		strcpy(text + at + len, "\t[module]\n");
		tab = decode(text);
		assert_int_equal(tab.nr, 1);
		assert_int_equal(strlen(tab.syms[0].name), len < 512 ? len : 512);
		symtab_deinit(&tab);
	}
}

/* Symbols in any order, some with the same address. */
TEST(many_in_any_order)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct symtab tab;

	for (unsigned i = 0; i < 1000; i++) {
		strbuf_addf(&text, "ffffffff%08x T name%u\n", 0x81000000 + i * 7919 % 1000 * 16,
			    i * 7919 % 1000);
		if (i % 3 == 0)
			strbuf_addf(&text, "ffffffff%08x t alias%u\n",
				    0x81000000 + i * 7919 % 1000 * 16, i);
	}
	tab = decode(strbuf_str(&text));
	assert_int_equal(tab.nr, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "name%u", i);
		assert_symbol(&tab, i, 0xffffffff81000000 + i * 16,
			      i < 999 ? 16 : 0x7f000000 - 999 * 16, name);
	}
	symtab_deinit(&tab);
}
