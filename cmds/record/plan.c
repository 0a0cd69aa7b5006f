/* The plan's function entries: options that speak of functions, bound to addresses. */
#include "cmds/record/recorder.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/object/elf_file.h"
#include "utils/object/plt.h"
#include "utils/object/symtab.h"

static int compare_start(const void *a, const void *b)
{
	const struct plan_func *x = a;
	const struct plan_func *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool is_function(char type)
{
	return type == 't' || type == 'T' || type == 'w';
}

static void plan_module(const struct record_settings *settings, const struct control_module *m,
			struct strbuf *out)
{
	struct symtab symbols cleanup_symtab = { 0 };

	if (!m->has_text || object_symtab_load(m->path, &symbols, NULL) < 0)
		return;
	for (size_t i = 0; i < symbols.nr; i++) {
		const struct symbol *sym = &symbols.syms[i];
		struct plan_func func = {
			.start = m->start + sym->addr,
			.end = m->start + sym->addr + sym->size,
			.action = PLAN_SKIP,
		};

		if (is_function(sym->type) && sym->size < settings->size_filter)
			strbuf_add(out, &func, sizeof(func));
	}
}

/* Calls into libraries that @m makes. */
static void plan_calls(const struct record_settings *settings, const struct control_module *m,
		       struct strbuf *out)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct plt_entries plt cleanup_plt_entries = { 0 };

	if (elf_file_open(&file, m->path, NULL) < 0 || plt_entries_load(&file, &plt) < 0)
		return;

	bool use_got = plt_is_bypassed(&plt);

	for (size_t i = 0; i < plt.nr; i++) {
		const struct plt_entry *e = &plt.entries[i];
		struct plan_call_site call = {
			.load_bias = m->load_bias,
			.slot = m->load_bias + e->slot,
			.addr = m->load_bias + e->addr,
			.reloc = e->reloc,
		};

		if ((e->reloc == PLT_NO_RELOC && !use_got) || e->size < settings->size_filter ||
		    !libcall_is_hooked(e->name, &call.flags))
			continue;
		strbuf_add(out, &call, sizeof(call));
	}
}

bool plan_has_calls(const struct record_settings *settings, const char *path, bool is_program)
{
	return settings->use_libcalls &&
	       (is_program || (settings->nest_libcalls && libcall_is_nested_module(path)));
}

void plan_make(const struct record_settings *settings, struct control_module *const *modules,
	       size_t nr, bool has_program, struct plan_entries *out)
{
	for (size_t i = 0; settings->size_filter && i < nr; i++)
		plan_module(settings, modules[i], &out->funcs);
	if (out->funcs.len)
		qsort(out->funcs.data, out->funcs.len / sizeof(struct plan_func),
		      sizeof(struct plan_func), compare_start);

	for (size_t i = 0; i < nr; i++) {
		if (plan_has_calls(settings, modules[i]->path, has_program && i == 0))
			plan_calls(settings, modules[i], &out->calls);
	}
}

void plan_entries_deinit(struct plan_entries *plan)
{
	strbuf_deinit(&plan->funcs);
	strbuf_deinit(&plan->calls);
}

int plan_memfd(const struct plan_entries *plan)
{
	if (plan->funcs.len + plan->calls.len == 0 || strbuf_oom(&plan->funcs) ||
	    strbuf_oom(&plan->calls))
		return -1;

	int fd = memfd_create("utrail-plan", MFD_CLOEXEC);

	if (fd >= 0 && (fd_write_all(fd, plan->funcs.data, plan->funcs.len) < 0 ||
			fd_write_all(fd, plan->calls.data, plan->calls.len) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}
