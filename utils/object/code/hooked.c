/* Finds calls of hooks and of library functions in the code of a file (see hooked.h). */
#include "utils/object/code/hooked.h"

#include <string.h>

#include "arch/isa.h"
#include "utils/base/compiler.h"

static const struct {
	const char *name;
	enum hooked_by by;
} hooks[] = {
	{ "mcount", HOOKED_AT_ENTRY },
	{ "_mcount", HOOKED_AT_ENTRY },
	{ "__fentry__", HOOKED_AT_ENTRY },
	{ "__cyg_profile_func_enter", HOOKED_BY_STACK },
};

const struct hook_code *hooked_code_of(const struct elf_file *file)
{
	const struct isa *isa = isa_of(file->head.e_machine, 0);

	return isa && file->head.e_ident[EI_CLASS] == ELFCLASS64 ? isa->hook_code : NULL;
}

int hooked_load(const struct elf_file *file, struct hooked *out)
{
	int ret;

	*out = (struct hooked){ .file = file };
	if (!hooked_code_of(file))
		return 0;
	ret = code_load(file, &out->code);
	if (ret == 0)
		ret = plt_entries_load(file, &out->plt);
	if (ret < 0)
		hooked_deinit(out);
	return ret;
}

void hooked_deinit(struct hooked *hooked)
{
	code_deinit(&hooked->code);
	plt_entries_deinit(&hooked->plt);
	*hooked = (struct hooked){ 0 };
}

enum hooked_by hooked_named(const struct plt_entry *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (strlen(hooks[i].name) == entry->name_len &&
		    memcmp(hooks[i].name, entry->name, entry->name_len) == 0)
			return hooks[i].by;
	}
	return HOOKED_NOT;
}

/* True when the call leads to @entry, or goes through the GOT slot of @entry. */
static bool leads_to(const struct hook_call *call, const struct plt_entry *entry)
{
	return call->target == (call->is_slot ? entry->slot : entry->addr);
}

enum hooked_by hooked_called(const struct plt_entries *plt, const struct hook_call *call)
{
	for (size_t i = 0; i < plt->nr; i++) {
		enum hooked_by by = hooked_named(&plt->entries[i]);

		if (by != HOOKED_NOT && leads_to(call, &plt->entries[i]))
			return by;
	}
	return HOOKED_NOT;
}

/*
 * Take the first bytes that look like a call of a hook, even if they lie within an instruction.
 * prepared.c does the same.
 */
enum hooked_by hooked_function(const struct hooked *hooked, uint64_t addr, uint64_t *start)
{
	const struct hook_code *set = hooked->plt.nr ? hooked_code_of(hooked->file) : NULL;
	const struct code_func *func = set ? code_func_at(&hooked->code, addr) : NULL;
	const uint8_t *bytes = func ? code_bytes(&hooked->code, func->start,
						 func->end - func->start)
				    : NULL;
	struct hook_call call;

	for (uint64_t i = 0; bytes && i < func->end - func->start; i++) {
		uint64_t at = func->start + i;
		enum hooked_by by = set->call(bytes + i, func->end - at, at, &call)
					    ? hooked_called(&hooked->plt, &call)
					    : HOOKED_NOT;

		*start = func->start;
		if (by != HOOKED_NOT)
			return by;
	}
	return HOOKED_NOT;
}

#define CALL_BYTES 5 /* length of a call instruction with a 32-bit distance */

bool hooked_library_call(const struct hooked *hooked, uint64_t ret, uint64_t *addr)
{
	const struct hook_code *set = hooked->plt.nr ? hooked_code_of(hooked->file) : NULL;
	const uint8_t *bytes = set ? code_bytes(&hooked->code, ret - CALL_BYTES, CALL_BYTES) : NULL;
	struct hook_call call;

	if (!bytes || !set->call(bytes, CALL_BYTES, ret - CALL_BYTES, &call) || call.is_slot)
		return false;
	*addr = call.target;
	for (size_t i = 0; i < hooked->plt.nr; i++) {
		if (leads_to(&call, &hooked->plt.entries[i]))
			return true;
	}
	return false;
}
