/*
 * Fuzz target: symbol files. Tables are sorted, every symbol is found, and a written table can be
 * read.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/sym.h"

static void check_table(const struct symtab *tab)
{
	for (size_t i = 0; i < tab->nr; i++) {
		const struct symbol *sym = &tab->syms[i];
		const struct symbol *found = symtab_find(tab, sym->addr);

		FUZZ_CHECK(i == 0 || tab->syms[i - 1].addr < sym->addr);
		FUZZ_CHECK(sym->size == 0 || found == sym);
		FUZZ_CHECK(!found || sym->addr - found->addr < found->size);
	}
	symtab_find(tab, 0);
	symtab_find(tab, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symtab tab cleanup_symtab = { 0 };
	struct sym_file_head head;
	struct uft_err err = { 0 };
	int ret = sym_file_decode((const char *)data, size, &tab, &head, &err);

	fuzz_check_error(ret < 0, &err);
	check_table(&tab);
	if (ret == 0) {
		struct symtab again cleanup_symtab = { 0 };
		struct strbuf text cleanup_strbuf = { 0 };

		sym_file_encode(&tab, head.path ? head.path : "", head.build_id, &text);
		FUZZ_CHECK(sym_file_decode(text.data, text.len, &again, NULL, &err) == 0);
		check_table(&again);
	}
	free(head.path);
	free(head.build_id);
	return 0;
}
