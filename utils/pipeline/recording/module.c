/* Modules of a recording and the functions in them (see module.h). */
#include "utils/pipeline/recording/module.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "utils/base/escape.h"
#include "utils/base/fd.h"
#include "utils/base/path.h"
#include "utils/base/containers/vec.h"
#include "utils/format/callables.h"
#include "utils/format/kernel/kallsyms.h"
#include "utils/object/dwarf/srcline.h"
#include "utils/object/names/sym_dir.h"
#include "utils/object/names/symtab.h"
#include "utils/spec/args/aliases.h"

#define SYM_FILE_MAX_BYTES (1UL << 30)

struct old_symbols {
	struct symtab symtab;
	struct dbg dbg;
	struct old_symbols *next;
};

static void old_symbols_destroy(struct old_symbols *old)
{
	for (struct old_symbols *next; old; old = next) {
		next = old->next;
		symtab_deinit(&old->symtab);
		dbg_deinit(&old->dbg);
		free(old);
	}
}

static void module_destroy(struct module *mod)
{
	if (!mod)
		return;
	free(mod->path);
	free(mod->build_id);
	symtab_deinit(&mod->symtab);
	old_symbols_destroy(mod->old);
	free(mod->why);
	free(mod->sym_name);
	dbg_deinit(&mod->dbg);
	enum_defs_deinit(&mod->enums);
	struct_defs_deinit(&mod->structs);
	srcline_close(mod->lines);
	free(mod->funcs);
	free(mod);
}

void module_set_deinit(struct module_set *set)
{
	for (size_t i = 0; i < set->nr_modules; i++)
		module_destroy(set->modules[i]);
	free(set->modules);
	strmap_deinit(&set->by_path);
	for (size_t i = 0; i < set->nr_funcs; i++) {
		free(set->funcs[i]->others);
		free(set->funcs[i]);
	}
	free(set->funcs);
	pthread_mutex_destroy(&set->lock);
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

	mod->basename = path_base(mod->path);
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

struct module *module_set_kernel(struct module_set *set)
{
	if (!set->kernel)
		set->kernel = module_set_get(set, KERNEL_MODULE_PATH, "");
	return set->kernel;
}

/*
 * Load the symbols of the kernel from the recording's file kallsyms. If this file does not exist,
 * load nothing and return 0.
 */
static int load_kernel(struct module_set *set, struct module *mod, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err why = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/kallsyms", set->dir);

	int ret = file_read_all(path, KALLSYMS_MAX_BYTES, &text, &why);

	if (ret < 0)
		return ret == -ENOENT ? 0 : err_set(err, ret, "%s", why.text);
	ret = kallsyms_decode(text.data, text.len, &mod->symtab);
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", path) : 0;
}

static int load_symbols(struct module_set *set, struct module *mod, struct uft_err *err)
{
	struct sym_query query = { .path = mod->path, .build_id = mod->build_id };
	int ret = 0;

	if (set->syms_dir) {
		query.any_path = true;
		mod->sym_dir = set->syms_dir;
		ret = sym_dir_load(mod->sym_dir, &query, &mod->symtab, &mod->sym_name, err);
		query.any_path = false;
	}
	if (ret == 0) {
		mod->sym_dir = set->dir;
		ret = sym_dir_load(mod->sym_dir, &query, &mod->symtab, &mod->sym_name, err);
	}
	if (ret == 0 && set->reads_programs && mod->build_id[0])
		ret = object_symtab_load_same(mod->path, mod->build_id, &mod->symtab, err);
	return ret;
}

/*
 * Returns the present size of the module's symbol file if this file can grow during the recording.
 * Returns 0 for all other modules.
 */
static uint64_t growing_bytes(const struct module_set *set, const struct module *mod)
{
	char path[PATH_MAX];
	struct stat st;

	if (strcmp(mod->path, CALLABLES_MODULE) != 0)
		return 0;
	snprintf(path, sizeof(path), "%s/" CALLABLES_MODULE ".sym", set->dir);
	return stat(path, &st) == 0 ? st.st_size : 0;
}

static int make_funcs(struct module *mod, struct uft_err *err)
{
	if (!mod->symtab.nr)
		return 0;
	mod->funcs = calloc(mod->symtab.nr, sizeof(*mod->funcs));
	return mod->funcs ? 0 : err_set_errno(err, -ENOMEM, "cannot read '%s.sym'", mod->basename);
}

/* True when memory or descriptors were short. A later call may succeed. */
static bool is_passing(int ret)
{
	return ret == -ENOMEM || ret == -EMFILE || ret == -ENFILE;
}

/*
 * Keep the result @ret of reading a symbol file: a negative errno, or at least 0 on success. Many
 * callers ignore errors, and call again. Without the kept error, each call would read a large
 * damaged file again.
 */
static void keep_damage(struct module *mod, int ret, const struct uft_err *why)
{
	free(mod->why);
	mod->why = ret < 0 ? strdup(why->text) : NULL;
	mod->damage = ret < 0 && !is_passing(ret) ? ret : 0;
}

int module_load(struct module_set *set, struct module *mod, struct uft_err *err)
{
	struct uft_err why = { 0 };
	uint64_t bytes;
	int ret;

	if (mod->is_loaded)
		return 0;
	bytes = growing_bytes(set, mod);
	if (mod->damage && bytes == mod->growing_bytes)
		return err_set(err, mod->damage, "%s", mod->why ?: "cannot read symbols");
	mod->growing_bytes = bytes;
	ret = mod == set->kernel ? load_kernel(set, mod, &why) : load_symbols(set, mod, &why);
	if (ret >= 0)
		ret = make_funcs(mod, &why);
	if (ret < 0) {
		err_set_errno(&why, ret, "cannot read the symbols of '%s'", mod->basename);
		symtab_deinit(&mod->symtab);
		free(mod->sym_name);
		mod->sym_name = NULL;
	}
	keep_damage(mod, ret, &why);
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);
	mod->is_loaded = true;
	return 0;
}

/* Put the functions of the old table into the new table, by the addresses of their symbols. */
static void take_funcs(struct module *mod, const struct symtab *old, struct func **funcs)
{
	for (size_t i = 0; i < old->nr; i++) {
		const struct symbol *sym = funcs[i] ? symtab_find(&mod->symtab, old->syms[i].addr)
						    : NULL;

		if (sym && sym->addr == old->syms[i].addr)
			mod->funcs[sym - mod->symtab.syms] = funcs[i];
	}
}

bool module_has_grown(struct module_set *set, struct module *mod, struct uft_err *err)
{
	uint64_t bytes = growing_bytes(set, mod);
	struct old_symbols *old = bytes == mod->growing_bytes ? NULL : calloc(1, sizeof(*old));
	struct func **funcs = mod->funcs;

	if (!old)
		return false;
	old->symtab = mod->symtab;
	old->next = mod->old;
	mod->old = old;
	old->dbg = mod->dbg;
	mod->dbg = (struct dbg){ 0 };
	mod->has_debug = false;
	mod->symtab = (struct symtab){ 0 };
	mod->funcs = NULL;
	mod->is_loaded = false;
	free(mod->sym_name);
	mod->sym_name = NULL;
	if (module_load(set, mod, err) == 0 && mod->funcs && funcs)
		take_funcs(mod, &old->symtab, funcs);
	/* After an error, the file is read again only when the file has grown since this call. */
	mod->is_loaded = true;
	free(funcs);
	return mod->symtab.nr != 0;
}

/* Load the debug information in "<name>.dbg", which lies beside "<name>.sym". */
static void load_debug(struct module_set *set, struct module *mod)
{
	char path[PATH_MAX];
	struct strbuf text cleanup_strbuf = { 0 };
	struct dbg dbg cleanup_dbg = { 0 };

	mod->has_debug = true;
	if (!mod->sym_name ||
	    snprintf(path, sizeof(path), "%s/%.*s.dbg", mod->sym_dir,
		     (int)(strlen(mod->sym_name) - strlen(".sym")),
		     mod->sym_name) >= (int)sizeof(path) ||
	    file_read_all(path, SYM_FILE_MAX_BYTES, &text, NULL) < 0 ||
	    dbg_decode(text.data, text.len, &dbg, NULL) < 0)
		return;

	const struct sym_file_head head = { (char *)dbg.path, (char *)dbg.build_id };
	const struct sym_query query = { mod->path, mod->build_id, mod->sym_dir == set->syms_dir };

	if (!sym_head_is_of(&head, &query))
		return;
	for (size_t i = 0; i < dbg.nr_enums; i++)
		enum_defs_parse(&mod->enums, dbg.enums[i], strlen(dbg.enums[i]), NULL);
	for (size_t i = 0; i < dbg.nr_structs; i++)
		struct_defs_parse(&mod->structs, dbg.structs[i], strlen(dbg.structs[i]));
	mod->dbg = dbg;
	dbg = (struct dbg){ 0 };
}

const char *module_source(struct module_set *set, struct module *mod, const struct symbol *sym)
{
	const struct func func = { .sym = sym, .module = mod, .is_libcall = sym->type == 'P' };
	const struct dbg_func *debug = module_debug(set, &func);

	return debug ? debug->file : NULL;
}

const struct dbg_func *module_debug(struct module_set *set, const struct func *func)
{
	struct module *mod = (struct module *)func->module;

	if (!mod || !func->sym || func->is_libcall)
		return NULL;
	if (!mod->has_debug)
		load_debug(set, mod);
	return dbg_find(&mod->dbg, func->sym->addr);
}

/*
 * True when "()" must be appended to @name. With --demangle=full, most names of C++ functions end
 * in ")" already (doc/facts/text.md, "Names").
 */
static bool wants_brackets(const char *name)
{
	static const char call_operator[] = "operator()";
	size_t len = strlen(name);
	size_t own = strlen(call_operator);

	return !len || name[len - 1] != ')' ||
	       (len >= own && strcmp(name + len - own, call_operator) == 0);
}

const struct func *module_set_add_func(struct module_set *set, const char *name)
{
	struct func **funcs = vec_grow(set->funcs, set->nr_funcs, sizeof(struct func *));

	if (!funcs)
		return NULL;
	set->funcs = funcs;

	struct strbuf shown cleanup_strbuf = { 0 };
	size_t len = strlen(name);

	/* Names are escaped here once, and not for each line of a view. */
	escape_addstr(&shown, MEDIUM_TERMINAL, name);

	size_t shown_len = shown.len;

	strbuf_addstr(&shown, wants_brackets(name) ? "();" : ";");

	struct func *func = calloc(1, sizeof(*func) + shown.len + 1 + len + 1 + FUNC_TEXT_SLACK);

	if (!func || strbuf_oom(&shown) || shown.len > UINT32_MAX / 2) {
		free(func);
		return NULL;
	}

	char *text = memcpy((char *)(func + 1), shown.data, shown.len + 1);
	char *kept = memcpy(text + shown.len + 1, name, len + 1);

	*func = (struct func){
		.name = kept,
		.name_len = len,
		.call_text = text,
		.shown_len = shown_len,
		.call_len = shown.len,
		.id = set->nr_funcs,
		.count_id = set->nr_funcs,
	};
	set->funcs[set->nr_funcs++] = func;
	return func;
}

const struct func *module_set_add_unknown(struct module_set *set, uint64_t addr,
					  const struct module *mod)
{
	char name[24];

	snprintf(name, sizeof(name), "<%llx>", (unsigned long long)addr);
	if (!module_set_add_func(set, name))
		return NULL;

	struct func *func = set->funcs[set->nr_funcs - 1];

	func->module = mod;
	func->is_kernel = mod && mod == set->kernel;
	return func;
}

static const char *const end_names[] = { "_exit",      "_Exit",	       "exit",
					 "quick_exit", "pthread_exit", "thrd_exit" };
static const char *const exec_names[] = { "execl",  "execle", "execlp",	 "execv",
					  "execve", "execvp", "execvpe", "fexecve" };
static const char *const fork_names[] = { "fork",	 "vfork",   "_Fork",  "__fork", "__vfork",
					  "__libc_fork", "forkpty", "daemon", "clone" };

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Find the function that a compiler has copied or split to make @sym: "f" for "f.part.0". Returns
 * NULL if there is none, or if views do not show @sym under that function's name.
 */
static const struct symbol *original_of(const struct module_set *set, const struct module *mod,
					const struct symbol *sym)
{
	size_t len = demangle_plain_length(sym->name);

	if (!sym->name[len] || set->demangle != DEMANGLE_SIMPLE)
		return NULL;
	for (size_t i = 0; i < mod->symtab.nr; i++) {
		const struct symbol *other = &mod->symtab.syms[i];

		if (strncmp(other->name, sym->name, len) == 0 && !other->name[len])
			return other;
	}
	return NULL;
}

const struct func *module_func(struct module_set *set, struct module *mod, const struct symbol *sym)
{
	struct func **slot = &mod->funcs[sym - mod->symtab.syms];

	if (*slot)
		return *slot;

	bool is_kernel = sym->type == 'K';
	const struct symbol *original = is_kernel ? NULL : original_of(set, mod, sym);
	const struct func *counted = original ? module_func(set, mod, original) : NULL;
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf others cleanup_strbuf = { 0 };

	aliases_all_names(&mod->symtab, sym, set->demangle, &name, &others);
	if (strbuf_oom(&name) || strbuf_oom(&others) ||
	    !module_set_add_func(set, strbuf_str(&name)))
		return NULL;
	*slot = set->funcs[set->nr_funcs - 1];
	if (others.len) {
		(*slot)->others = others.data;
		others = (struct strbuf){ 0 };
	}
	if (counted)
		(*slot)->count_id = counted->count_id;
	(*slot)->sym = sym;
	(*slot)->module = mod;
	(*slot)->is_libcall = sym->type == 'P';
	(*slot)->is_end = (*slot)->is_libcall &&
			  is_one_of(sym->name, end_names, ARRAY_SIZE(end_names));
	(*slot)->is_exec = (*slot)->is_libcall &&
			   is_one_of(sym->name, exec_names, ARRAY_SIZE(exec_names));
	(*slot)->is_fork = !is_kernel && is_one_of(sym->name, fork_names, ARRAY_SIZE(fork_names));
	(*slot)->is_kernel = is_kernel;
	return *slot;
}

int module_set_kernel_func(struct module_set *set, uint64_t addr, const struct func **func,
			   struct uft_err *err)
{
	struct module *kernel = module_set_kernel(set);
	int ret = kernel ? module_load(set, kernel, err) : -ENOMEM;
	const struct symbol *sym = ret < 0 ? NULL : symtab_find(&kernel->symtab, addr);

	if (sym)
		*func = module_func(set, kernel, sym);
	if (ret == 0 && sym && !*func)
		ret = -ENOMEM;
	return ret < 0 ? err_set_errno(err, ret, "cannot name a function") : sym != NULL;
}

static bool is_among(const char *name, const char *others, const char *wanted)
{
	if (strcmp(name, wanted) == 0)
		return true;
	for (const char *at = others; at && *at; at += strlen(at) + 1) {
		if (strcmp(at, wanted) == 0)
			return true;
	}
	return false;
}

bool func_is_called(const struct func *func, const char *name)
{
	return is_among(func->name, func->others, name);
}

static bool is_wanted(void *wanted, const struct strbuf *name, const char *others)
{
	return is_among(strbuf_str(name), others, wanted);
}

int module_set_prefer(struct module_set *set, const char *name, struct uft_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < set->nr_modules; i++) {
		struct module *mod = set->modules[i];

		if (mod == set->kernel)
			continue;
		ret = module_load(set, mod, err);
		if (ret == 0 &&
		    aliases_prefer(&mod->symtab, set->demangle, is_wanted, (char *)name) < 0)
			ret = err_set_errno(err, -ENOMEM, "cannot find names of functions");
	}
	return ret;
}

bool module_put_line(const struct func *func, uint64_t offset, struct strbuf *out)
{
	struct module *mod = (struct module *)func->module;

	if (!mod)
		return false;
	if (!mod->has_lines) {
		mod->has_lines = true;
		mod->lines = srcline_open(mod->path, mod->build_id);
	}
	return srcline_put(mod->lines, offset, out);
}
