/* kallsyms: the lines of functions, their sizes, and the name that counts if there are several. */
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
