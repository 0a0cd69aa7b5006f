/* The patches that were found in a file (see found_patch.h). */
#include "cmds/record/plan/found_patch.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/isa.h"
#include "utils/base/containers/order.h"

static void add_found_patch(struct strbuf *found, struct plan_patch patch, const uint8_t *original,
			    const struct insn_code *code, uint64_t func)
{
	struct found_patch one = { .patch = patch, .code = *code, .func = func };

	_Static_assert(PLAN_PATCH_JUMP == WINDOW_BYTES, "what is made fits a plan");
	one.patch.site = code->from;
	one.patch.bytes = WINDOW_BYTES;
	memcpy(one.patch.original, original, WINDOW_BYTES);
	strbuf_add(found, &one, sizeof(one));
}

void found_patch_add_site(struct strbuf *found, const struct code_site *site,
			  struct plan_patch patch, uint64_t func)
{
	bool has_before = !site->is_inner && site->jump_at < site->addr;
	struct plan_patch silent = { .what = patch.what, .flags = PLAN_PATCH_SILENT };

	if (site->is_inner || has_before)
		patch.flags |= PLAN_PATCH_INNER;
	if (!site->is_inner && site->island) {
		const struct insn_code nothing = { .from = site->island };

		add_found_patch(found, silent, site->island_original, &nothing, func);
		*(has_before ? &silent.flags : &patch.flags) |= PLAN_PATCH_INNER | PLAN_PATCH_SHORT;
	}
	if (has_before)
		add_found_patch(found, silent, site->original, &site->before, func);
	add_found_patch(found, patch, site->original, &site->code, func);
}

static uint64_t moved(uint64_t addr, uint64_t bias)
{
	return addr ? addr + bias : 0;
}

void found_patch_bind(const struct found_patch *found, uint64_t bias, struct strbuf *out)
{
	struct plan_patch patch = found->patch;
	struct insn_code code = found->code;

	_Static_assert(PLAN_PATCH_CODE == INSN_CODE_MAX && PLAN_PATCH_FIXES == INSN_FIXES_MAX,
		       "what is made fits a plan");
	if (code.len)
		insn_load_at(isa_of(arch_elf_machine, 0), &code, bias);
	patch.load_bias = bias;
	patch.site += bias;
	patch.semaphore = moved(patch.semaphore, bias);
	patch.addr = moved(patch.addr, bias);
	patch.len = code.len;
	patch.clear = code.taken;
	patch.nr_fixes = code.nr_fixes;
	memcpy(patch.fixes, code.fixes, sizeof(patch.fixes));
	memcpy(patch.code, code.bytes, sizeof(patch.code));
	strbuf_add(out, &patch, sizeof(patch));
}

static uint64_t reach_of_patch(uint8_t bytes, uint8_t moved)
{
	return bytes > moved ? bytes : moved;
}

uint64_t found_patch_reach(const struct found_patch *found)
{
	return reach_of_patch(found->patch.bytes, found->code.taken);
}

bool found_patch_is_free(const struct found_patch *found, uint64_t bias,
			 const struct strbuf *patches, size_t nr)
{
	const struct plan_patch *list = (const struct plan_patch *)patches->data;
	uint64_t start = found->patch.site + bias;
	uint64_t end = start + found_patch_reach(found);

	/* @list has the patches module by module. The patches with @bias come last. */
	for (size_t i = nr; i-- > 0 && list[i].load_bias == bias;) {
		if (list[i].site < end &&
		    start < list[i].site + reach_of_patch(list[i].bytes, list[i].clear))
			return false;
	}
	return true;
}

/* --- by function --- */

void found_index_deinit(struct found_index *index)
{
	strbuf_deinit(&index->entries);
}

static size_t nr_indexed(const struct found_index *index)
{
	return index->entries.len / sizeof(struct found_index_entry);
}

/* Sorts patches by function. Patches of one function stay in the order in which they were found. */
static int compare_entry(const void *a, const void *b)
{
	const struct found_index_entry *x = a;
	const struct found_index_entry *y = b;

	return x->func != y->func ? order_u64(&x->func, &y->func)
				  : order_u64(&x->number, &y->number);
}

void found_index_update(struct found_index *index, const struct strbuf *found)
{
	const struct found_patch *list = (const struct found_patch *)found->data;
	size_t nr = found->len / sizeof(*list);
	size_t before = nr_indexed(index);

	if (before == nr)
		return;
	for (size_t i = before; i < nr; i++) {
		const struct found_index_entry entry = { list[i].func, i };

		strbuf_add(&index->entries, &entry, sizeof(entry));
	}
	if (!strbuf_oom(&index->entries))
		qsort(index->entries.data, nr, sizeof(struct found_index_entry), compare_entry);
	else
		strbuf_reset(&index->entries);
}

_Static_assert(offsetof(struct found_index_entry, func) == 0, "ordered by order_u64()");

const struct found_index_entry *found_index_range(const struct found_index *index, uint64_t start,
						  uint64_t end, size_t *nr)
{
	const struct found_index_entry *list =
		(const struct found_index_entry *)index->entries.data;
	size_t all = nr_indexed(index);
	size_t from = order_count_below(list, all, sizeof(*list), start);

	*nr = order_count_below(list, all, sizeof(*list), end) - from;
	return list + from;
}
