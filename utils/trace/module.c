/* Modules of a recording and the functions in them (see module.h). */
#include "utils/trace/module.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/fd.h"
#include "utils/base/vec.h"

#define SYM_FILE_MAX_BYTES (1UL << 30)

static void module_destroy(struct module *mod)
{
	if (!mod)
		return;
	free(mod->path);
	free(mod->build_id);
	symtab_deinit(&mod->symtab);
	free(mod->funcs);
	free(mod);
}

void module_set_deinit(struct module_set *set)
{
	for (size_t i = 0; i < set->nr_modules; i++)
		module_destroy(set->modules[i]);
	free(set->modules);
	strmap_deinit(&set->by_path);
	for (size_t i = 0; i < set->nr_funcs; i++)
		free(set->funcs[i]);
	free(set->funcs);
	*set = (struct module_set){ 0 };
}

static struct module *module_create(const char *path, const char *build_id)
{
	struct module *mod = calloc(1, sizeof(*mod));

	if (!mod)
		return NULL;
	mod->path = strdup(path);
	mod->build_id = strdup(build_id);
	if (!mod->path || !mod->build_id) {
		module_destroy(mod);
		return NULL;
	}

	const char *slash = strrchr(mod->path, '/');

	mod->basename = slash ? slash + 1 : mod->path;
	return mod;
}

struct module *module_set_get(struct module_set *set, const char *path, const char *build_id)
{
	struct module *newest = strmap_get(&set->by_path, path);

	for (struct module *mod = newest; mod; mod = mod->next) {
		if (strcmp(mod->build_id, build_id) == 0)
			return mod;
	}

	struct module **modules = vec_grow(set->modules, set->nr_modules, sizeof(struct module *));

	if (!modules)
		return NULL;
	set->modules = modules;

	struct module *mod = module_create(path, build_id);

	if (!mod || strmap_put(&set->by_path, mod->path, mod) < 0) {
		module_destroy(mod);
		return NULL;
	}
	mod->next = newest;
	modules[set->nr_modules++] = mod;
	return mod;
}

/* Does a file with this head speak of @mod? Both are written by one recorder, so paths agree. */
static bool head_is_of(const struct sym_file_head *head, const struct module *mod)
{
	bool knows_ids = head->build_id && mod->build_id[0];

	if (knows_ids && strcmp(head->build_id, mod->build_id) != 0)
		return false;
	return knows_ids || !head->path || strcmp(head->path, mod->path) == 0;
}

/* 1 when @name was the module's file, 0 when it is another one's or there is none. */
static int try_sym_file(struct module_set *set, struct module *mod, const char *name,
			struct uft_err *err)
{
	char path[PATH_MAX];
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err why = { 0 };

	if (snprintf(path, sizeof(path), "%s/%s", set->dir, name) >= (int)sizeof(path))
		return 0;

	int ret = file_read_all(path, SYM_FILE_MAX_BYTES, &text, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);

	struct symtab tab = { 0 };
	struct sym_file_head head;

	ret = sym_file_decode(text.data, text.len, &tab, &head, &why);
	if (ret < 0)
		return err_set(err, ret, "cannot read '%s': %s", path, why.text);

	bool is_ours = head_is_of(&head, mod);

	free(head.path);
	free(head.build_id);
	if (is_ours)
		mod->symtab = tab;
	else
		symtab_deinit(&tab);
	return is_ours;
}

/* "<basename>-<4 hex>.sym": the name of the second and later modules with one basename. */
static bool is_numbered_sym_file(const char *name, const char *basename)
{
	size_t len = strlen(basename);

	return strncmp(name, basename, len) == 0 && strlen(name) == len + 9 && name[len] == '-' &&
	       strspn(name + len + 1, "0123456789abcdef") == 4 &&
	       strcmp(name + len + 5, ".sym") == 0;
}

static int try_numbered_sym_files(struct module_set *set, struct module *mod, struct uft_err *err)
{
	DIR *dir = opendir(set->dir);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", set->dir);
	while (ret == 0 && (entry = readdir(dir))) {
		if (is_numbered_sym_file(entry->d_name, mod->basename))
			ret = try_sym_file(set, mod, entry->d_name, err);
	}
	closedir(dir);
	return ret;
}

int module_load(struct module_set *set, struct module *mod, struct uft_err *err)
{
	char name[NAME_MAX + 1];

	if (mod->is_loaded)
		return 0;
	mod->is_loaded = true;

	int ret = 0;

	if (snprintf(name, sizeof(name), "%s.sym", mod->basename) < (int)sizeof(name))
		ret = try_sym_file(set, mod, name, err);
	if (ret == 0)
		ret = try_numbered_sym_files(set, mod, err);
	if (ret < 0)
		return ret;
	if (mod->symtab.nr) {
		mod->funcs = calloc(mod->symtab.nr, sizeof(*mod->funcs));
		if (!mod->funcs)
			return err_set_errno(err, -ENOMEM, "cannot read '%s'", name);
	}
	return 0;
}

/*
 * The brackets are there already in full demangled names (output.md section 1.4). Debian's
 * uftrace leaves them out behind "operator()" too, and so do we.
 */
static bool wants_brackets(const char *name)
{
	size_t len = strlen(name);

	return !len || name[len - 1] != ')';
}

const struct func *module_set_add_func(struct module_set *set, const char *name)
{
	if (set->nr_funcs == set->cap_funcs) {
		size_t cap = set->cap_funcs ? set->cap_funcs * 2 : 256;
		struct func **funcs = reallocarray(set->funcs, cap, sizeof(struct func *));

		if (!funcs)
			return NULL;
		set->funcs = funcs;
		set->cap_funcs = cap;
	}

	size_t len = strlen(name);
	struct func *func = calloc(1,
				   sizeof(*func) + 2 * len + sizeof("();") + 1 + FUNC_TEXT_SLACK);

	if (!func || len > UINT32_MAX / 2) {
		free(func);
		return NULL;
	}

	char *text = (char *)(func + 1);
	int call_len = sprintf(text, "%s%s;", name, wants_brackets(name) ? "()" : "");
	char *kept = memcpy(text + call_len + 1, name, len + 1);

	*func = (struct func){
		.name = kept,
		.name_len = len,
		.call_text = text,
		.call_len = call_len,
		.id = set->nr_funcs,
	};
	set->funcs[set->nr_funcs++] = func;
	return func;
}

static bool is_exec_name(const char *name)
{
	static const char *const names[] = { "execl",  "execle", "execlp",  "execv",
					     "execve", "execvp", "execvpe", "fexecve" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

const struct func *module_func(struct module_set *set, struct module *mod, const struct symbol *sym)
{
	struct func **slot = &mod->funcs[sym - mod->symtab.syms];

	if (*slot)
		return *slot;

	struct strbuf name cleanup_strbuf = { 0 };

	demangle(sym->name, set->demangle, &name);
	if (strbuf_oom(&name) || !module_set_add_func(set, strbuf_str(&name)))
		return NULL;
	*slot = set->funcs[set->nr_funcs - 1];
	(*slot)->sym = sym;
	(*slot)->module = mod;
	(*slot)->is_libcall = sym->type == 'P';
	(*slot)->is_exec = (*slot)->is_libcall && is_exec_name(sym->name);
	return *slot;
}
