/* Keeps facts about files that are modules of processes (see modules.h). */
#include "cmds/record/plan/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/base/rights.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/containers/order.h"
#include "utils/base/path.h"
#include "utils/object/program.h"
#include "utils/object/names/sym_dir.h"
#include "utils/object/names/symtab.h"
#include "utils/spec/args/aliases.h"

/*
 * The maximum number of files that are remembered. Without this limit, a traced program could make
 * the recorder remember any number of files.
 */
#define KNOWN_MODULES_MAX 262144

/*
 * True when this thread may read the file. Between rights_enter() and rights_leave(), the thread
 * has the rights of the process that has named the file.
 */
static bool may_read(const char *path)
{
	int fd cleanup_fd = file_open_regular(path, NULL);

	return fd >= 0;
}

struct known_module *known_module_get(struct known_modules *modules, const char *path)
{
	struct object_program program;
	struct known_module *known;

	if (path[0] != '/' || (modules->reads_as_peer && !may_read(path)))
		return NULL;
	known = strmap_get(&modules->by_path, path);
	if (known)
		return known;
	if (modules->by_path.nr >= KNOWN_MODULES_MAX) {
		modules->nr_left_out++;
		return NULL;
	}

	known = calloc(1, sizeof(*known));
	if (known)
		known->path = strdup(path);
	if (!known || !known->path || strmap_put(&modules->by_path, known->path, known) < 0) {
		free(known ? known->path : NULL);
		free(known);
		return NULL;
	}
	if (object_build_id(path, known->build_id, NULL) < 0)
		known->build_id[0] = '\0';
	if (object_check_program(path, &program, NULL) == 0) {
		known->calls_hooks = program.has_mcount || program.has_fentry ||
				     program.has_cyg_profile;
		known->is_instrumented = object_is_instrumented(&program);
		known->has_functions = known->is_instrumented;
		known->switches_stacks = program.switches_stacks;
	}
	known->next = modules->first;
	modules->first = known;
	return known;
}

void known_modules_deinit(struct known_modules *modules)
{
	strmap_deinit(&modules->by_path);
	for (struct known_module *known = modules->first, *next; known; known = next) {
		next = known->next;
		strbuf_deinit(&known->funcs);
		strbuf_deinit(&known->left_out);
		strbuf_deinit(&known->own_frames);
		module_links_deinit(&known->links);
		module_points_deinit(&known->points);
		for (size_t i = 0; i < ARRAY_SIZE(known->patches); i++)
			module_patches_deinit(&known->patches[i]);
		symtab_deinit(&known->unnamed);
		free(known->path);
		free(known);
	}
}

int symbols_load(const struct record_settings *settings, const char *path, const char *build_id,
		 struct symtab *out)
{
	const struct sym_query query = { .path = path, .build_id = build_id, .any_path = true };
	int ret = 0;

	if (settings->syms_dir) {
		/*
		 * The user, and not the traced program, has chosen the directory. So the
		 * recorder reads the directory with the recorder's rights, and not with the rights
		 * of the process.
		 */
		struct rights paused cleanup_rights_pause = rights_pause();

		ret = sym_dir_load(settings->syms_dir, &query, out, NULL, NULL);
	}
	return ret == 0 ? object_symtab_load(path, out, NULL) : MIN(ret, 0);
}

struct asked {
	const struct record_settings *settings;
	const char *module;
};

/*
 * True when a rule of -P or -U names the function. The caller does not know whether the module is
 * a program or a library, so the rules treat the module as a program.
 */
static bool is_to_be_patched(void *arg, const struct strbuf *name, const char *others)
{
	const struct asked *asked = arg;
	const struct patch_subject subject = {
		.name = strbuf_str(name),
		.others = others,
		.module = asked->module,
		.is_program = true,
	};

	return patch_rules_match(asked->settings->patches, &subject);
}

/*
 * True when a rule about arguments matches the function. In this case readers must show the
 * function as @name, because readers look up arguments by the shown name.
 */
static bool has_arguments(void *arg, const struct strbuf *name, const char *others)
{
	const struct asked *asked = arg;
	const struct argrules_subject subject = {
		.name = strbuf_str(name),
		.others = others,
		.module = asked->module,
	};
	struct argspecs args cleanup_argspecs = { 0 };
	struct argspecs retval cleanup_argspecs = { 0 };

	return argrules_collect(asked->settings->captures.rules, &subject, &args, &retval) > 0 ||
	       args.nr + retval.nr > 0;
}

int known_symbols_load(const struct record_settings *settings, const struct known_module *known,
		       struct symtab *out)
{
	struct asked asked = { settings, path_base(known->path) };
	int ret = symbols_load(settings, known->path, known->build_id, out);

	/*
	 * If the symbols of the file cannot be read, @unnamed may contain all functions of the
	 * file. So these functions are added in spite of this error, unless memory is short.
	 */
	if (ret != -ENOMEM && known->unnamed.nr)
		ret = symtab_add_all(out, &known->unnamed);
	if (ret == 0 && settings->filters->nr)
		ret = aliases_prefer_filtered(out, settings->filters, settings->demangle,
					      asked.module);
	if (ret == 0 && settings->patches->nr)
		ret = aliases_prefer(out, settings->demangle, is_to_be_patched, &asked);
	/*
	 * Filters and patches (above) may already have replaced the displayed name of a function.
	 * Rules about arguments come last, so that their choice of the name is final.
	 */
	if (ret == 0 && settings->captures.rules && settings->captures.rules->nr)
		ret = aliases_prefer(out, settings->demangle, has_arguments, &asked);
	return ret;
}

_Static_assert(offsetof(struct module_left_out, func.start) == 0, "ordered by order_u64()");

static size_t nr_left_out(const struct known_module *known)
{
	return known->left_out.len / sizeof(struct module_left_out);
}

/* Returns the innermost left-out function that contains @at, or NULL. */
struct module_left_out *known_left_out_at(const struct known_module *known, uint64_t at)
{
	struct module_left_out *list = (struct module_left_out *)known->left_out.data;
	size_t i = order_count_until(list, nr_left_out(known), sizeof(*list), at);

	while (i-- > 0 && list[i].reach > at) {
		if (at < list[i].func.end)
			return &list[i];
	}
	return NULL;
}

int known_left_out_add(struct known_module *known, const struct module_left_out *left)
{
	size_t nr = nr_left_out(known);
	struct module_left_out *list;
	uint64_t reach = 0;
	size_t at;

	strbuf_add(&known->left_out, left, sizeof(*left));
	if (strbuf_oom(&known->left_out))
		return -ENOMEM;
	list = (struct module_left_out *)known->left_out.data;
	at = order_count_until(list, nr, sizeof(*list), left->func.start);
	memmove(&list[at + 1], &list[at], (nr - at) * sizeof(*list));
	list[at] = *left;
	reach = at ? list[at - 1].reach : 0;
	for (; at <= nr; at++)
		list[at].reach = reach = MAX(reach, list[at].func.end);
	return 0;
}
