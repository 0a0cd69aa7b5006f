/*
 * Fuzz target: static probes with their arguments, declared events, and places where a jump may be
 * written, all of ELF files.
 */
#include <elf.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "arch/isa.h"
#include "utils/object/fstrace_decl.h"
#include "utils/object/sdt.h"
#include "utils/object/sdt_args.h"
#include "utils/object/code/sites.h"

#define SITES_MAX 64U

static int compare_addr(const void *a, const void *b)
{
	const struct code_site *x = a;
	const struct code_site *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void check_code(const struct insn_code *code)
{
	FUZZ_CHECK(code->len <= INSN_CODE_MAX);
	FUZZ_CHECK(code->nr_fixes <= INSN_FIXES_MAX);
	for (unsigned i = 0; i < code->nr_fixes; i++)
		FUZZ_CHECK(code->fixes[i] + 4 <= code->len);
	FUZZ_CHECK(!code->ret_at || code->ret_at + INSN_RET_HIGH + 4 <= code->len);
}

static void check_site(const struct code *code, const struct code_site *site)
{
	if (site->why_not[0])
		return;
	check_code(&site->before);
	check_code(&site->code);
	FUZZ_CHECK(site->is_inner || site->jump_at <= site->addr);
	FUZZ_CHECK(site->is_inner || site->addr - site->jump_at <= WINDOW_BEFORE);
	FUZZ_CHECK(code_func_at(code, site->addr) != NULL);
}

/* Check all probes, and the beginnings of some functions. */
static void check_sites(const struct elf_file *file, const struct sdt_probes *probes)
{
	struct code code cleanup_code = { 0 };
	struct insns *insns cleanup_insns = NULL;
	static struct code_site sites[2 * SITES_MAX];
	size_t nr = 0;

	if (insns_open(&insns, isa_of(EM_X86_64, 0), NULL) < 0)
		return;
	FUZZ_CHECK(code_load(file, &code) == 0);
	memset(sites, 0, sizeof(sites));
	for (size_t i = 0; i < probes->nr && i < SITES_MAX; i++)
		sites[nr++].addr = probes->probes[i].pc;
	for (size_t i = 0; i < code.nr_funcs; i++) {
		FUZZ_CHECK(code.funcs[i].start < code.funcs[i].end);
		FUZZ_CHECK(i == 0 || code.funcs[i - 1].end <= code.funcs[i].start);
		if (i < SITES_MAX)
			sites[nr++].addr = code.funcs[i].start;
	}
	qsort(sites, nr, sizeof(*sites), compare_addr);
	FUZZ_CHECK(sites_prepare(&code, insns, sites, nr) == 0);
	for (size_t i = 0; i < nr; i++)
		check_site(&code, &sites[i]);
}

static void check_args(const struct elf_file *file, const char *text)
{
	struct sdt_arg args[SDT_ARGS_MAX];
	size_t nr = sdt_args_parse(isa_of(EM_X86_64, 0), text, args);

	nr = MIN(nr, (size_t)SDT_ARGS_MAX);
	sdt_args_find_symbols(file, args, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct operand *o = &args[i].operand;

		FUZZ_CHECK(o->kind == OPERAND_UNKNOWN || args[i].bytes);
		FUZZ_CHECK(o->base < 16 || o->base == OPERAND_NO_REGISTER);
		FUZZ_CHECK(o->index < 16 || o->index == OPERAND_NO_REGISTER);
		FUZZ_CHECK(o->shift <= 8);
		FUZZ_CHECK(!o->symbol || args[i].is_address);
	}
}

static void check_declarations(const struct elf_file *file)
{
	struct fstrace_decls decls cleanup_fstrace_decls = { 0 };
	struct uft_err err = { 0 };
	int ret = fstrace_decls_load(file, "object", &decls, &err);

	fuzz_check_error(ret < 0, &err);
	for (size_t i = 0; i < decls.nr; i++)
		FUZZ_CHECK(decls.decls[i].id[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct sdt_probes probes cleanup_sdt_probes = { 0 };
	struct uft_err err = { 0 };
	void *copy = malloc(size + 1);

	memcpy(copy, data, size);
	if (elf_file_open_image(&file, copy, size) == 0) {
		int ret = sdt_probes_load(&file, "object", &probes, &err);

		fuzz_check_error(ret < 0, &err);
		for (size_t i = 0; i < probes.nr; i++)
			FUZZ_CHECK(probes.probes[i].provider[0] && probes.probes[i].name[0]);
		for (size_t i = 0; i < probes.nr && i < SITES_MAX; i++)
			check_args(&file, probes.probes[i].args);
		check_sites(&file, &probes);
		check_declarations(&file);
	}
	elf_file_close(&file);
	free(copy);
	return 0;
}
