/* Modules and their functions: symbols, names, and properties. */
#include "tests/unit/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/format/callables.h"
#include "utils/format/kernel/kernel_graph.h"
#include "utils/pipeline/recording/module.h"

struct scene {
	char dir[32];
	struct module_set set;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	strcpy(s->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	s->set.dir = s->dir;
	s->set.demangle = DEMANGLE_SIMPLE;
	pthread_mutex_init(&s->set.lock, NULL);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	DIR *dir;
	struct dirent *entry;

	module_set_deinit(&s->set);
	assert_null(s->set.modules);
	assert_int_equal(s->set.nr_funcs, 0);
	dir = opendir(s->dir);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(s->dir);
	free(s);
	return 0;
}

static void add_file(struct scene *s, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	assert_int_equal(outfile_put(path, text, strlen(text), NULL), 0);
}

/* Adds a module with symbols like "T main". They begin at 0x1000 and have 16 bytes each. */
static struct module *add_module(struct scene *s, const char *const *symbols)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct module *mod = module_set_get(&s->set, "/x/prog", "");

	strbuf_addstr(&text, "# path name: /x/prog\n");
	for (unsigned i = 0; symbols[i]; i++)
		strbuf_addf(&text, "%x 10 %s\n", 0x1000 + 16 * i, symbols[i]);
	add_file(s, "prog.sym", strbuf_str(&text));
	assert_int_equal(module_load(&s->set, mod, NULL), 0);
	return mod;
}

static const struct func *func_at(struct scene *s, struct module *mod, unsigned i)
{
	assert_true(i < mod->symtab.nr);
	return module_func(&s->set, mod, &mod->symtab.syms[i]);
}

/* A function is found by each of its names, also by the last one, but not by a part of a name. */
TEST_WITH(any_of_its_names, setup, teardown)
{
	static char others[] = "Box::put(int)\0_ZN3Box3putEi\0";
	const struct func func = { .name = "Box::put", .others = others };
	const struct func plain = { .name = "main" };

	assert_true(func_is_called(&func, "Box::put"));
	assert_true(func_is_called(&func, "Box::put(int)"));
	assert_true(func_is_called(&func, "_ZN3Box3putEi"));
	assert_false(func_is_called(&func, "Box::pu"));
	assert_false(func_is_called(&func, "put(int)"));
	assert_false(func_is_called(&func, ""));
	assert_true(func_is_called(&plain, "main"));
	assert_false(func_is_called(&plain, "Box::put"));
}

TEST_WITH(a_module_is_one_by_path_and_build_id, setup, teardown)
{
	struct scene *s = *state;
	struct module *a = module_set_get(&s->set, "/x/prog", "");
	struct module *b = module_set_get(&s->set, "/x/prog", "1234");
	struct module *c = module_set_get(&s->set, "/y/prog", "1234");

	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(b, c);
	assert_int_equal(s->set.nr_modules, 3);
	assert_ptr_equal(module_set_get(&s->set, "/x/prog", ""), a);
	assert_ptr_equal(module_set_get(&s->set, "/x/prog", "1234"), b);
	assert_ptr_equal(module_set_get(&s->set, "/y/prog", "1234"), c);
	assert_int_equal(s->set.nr_modules, 3);
	assert_ptr_equal(s->set.modules[0], a);
	assert_ptr_equal(s->set.modules[2], c);
	assert_string_equal(b->path, "/x/prog");
	assert_string_equal(b->basename, "prog");
	assert_string_equal(b->build_id, "1234");
	assert_ptr_equal(b->next, a);
	assert_null(a->next);
	assert_false(a->is_loaded);
}

TEST_WITH(symbols_are_read_once, setup, teardown)
{
	static const char *const symbols[] = { "T main", "P puts", NULL };
	struct scene *s = *state;
	struct module *mod = add_module(s, symbols);

	assert_int_equal(mod->symtab.nr, 2);
	assert_string_equal(mod->sym_name, "prog.sym");
	assert_ptr_equal(mod->sym_dir, s->dir);
	add_file(s, "prog.sym", "nonsense\n");
	assert_int_equal(module_load(&s->set, mod, NULL), 0);
	assert_int_equal(mod->symtab.nr, 2);
}

TEST_WITH(without_a_file_there_are_no_symbols, setup, teardown)
{
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, "/x/prog", "");

	assert_int_equal(module_load(&s->set, mod, NULL), 0);
	assert_true(mod->is_loaded);
	assert_int_equal(mod->symtab.nr, 0);
	assert_null(mod->funcs);
}

TEST_WITH(a_file_that_cannot_be_read_is_told, setup, teardown)
{
	struct uft_err err = { 0 };
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, "/x/prog", "");

	add_file(s, "prog.sym", "# path name: /x/prog\nnonsense\n");
	/* This caller ignores the error. The next one gets it all the same. */
	assert_true(module_load(&s->set, mod, NULL) < 0);
	assert_int_equal(mod->symtab.nr, 0);
	assert_true(module_load(&s->set, mod, &err) < 0);
	assert_non_null(strstr(err.text, "prog.sym"));
	assert_false(mod->is_loaded);
}

/*
 * A damaged file may be large. So it is read only once, even if a caller ignores the error and asks
 * for the module again.
 */
TEST_WITH(a_file_that_cannot_be_read_is_read_once, setup, teardown)
{
	struct uft_err first = { 0 }, second = { 0 };
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, "/x/prog", "");
	int ret;

	add_file(s, "prog.sym", "# path name: /x/prog\nnonsense\n");
	ret = module_load(&s->set, mod, &first);
	assert_true(ret < 0);
	add_file(s, "prog.sym", "# path name: /x/prog\n1000 10 T main\n");
	assert_int_equal(module_load(&s->set, mod, &second), ret);
	assert_int_equal(second.code, first.code);
	assert_string_equal(second.text, first.text);
	assert_int_equal(mod->symtab.nr, 0);
}

/* The file of callables grows while recording. After it has grown, it is read again. */
TEST_WITH(a_damaged_file_that_grows_is_read_again, setup, teardown)
{
	static const char good[] = "# path name: " CALLABLES_MODULE "\n1000 10 T parse\n";
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, CALLABLES_MODULE, "");

	add_file(s, CALLABLES_MODULE ".sym", "# path name: " CALLABLES_MODULE "\nx\n");
	assert_true(module_load(&s->set, mod, NULL) < 0);
	assert_true(module_load(&s->set, mod, NULL) < 0);
	add_file(s, CALLABLES_MODULE ".sym", good);
	assert_int_equal(module_load(&s->set, mod, NULL), 0);
	assert_int_equal(mod->symtab.nr, 1);
	assert_int_equal(mod->damage, 0);
}

/* --with-syms: symbols of another folder go before those of the recording. */
TEST_WITH(symbols_of_another_folder_come_first, setup, teardown)
{
	char other[] = "/tmp/utrail-unit-XXXXXX";
	struct scene *s = *state;
	struct module *a = module_set_get(&s->set, "/x/prog", "");
	struct module *b = module_set_get(&s->set, "/x/lib", "");
	struct module *c;
	static const char other_debug[] = "# path name: /other/prog\nF: 1000 x\nL: 7 /there.c\n";
	char path[64];
	char dbg_path[64];

	assert_non_null(mkdtemp(other));
	snprintf(path, sizeof(path), "%s/prog.sym", other);
	assert_int_equal(outfile_put(path, "# path name: /other/prog\n1000 10 T there\n", 41, NULL),
			 0);
	add_file(s, "prog.sym", "# path name: /x/prog\n1000 10 T here\n");
	add_file(s, "lib.sym", "# path name: /x/lib\n1000 10 T lib\n");
	s->set.syms_dir = other;
	assert_int_equal(module_load(&s->set, a, NULL), 0);
	assert_ptr_equal(symtab_find(&a->symtab, 0x2000), NULL);
	assert_string_equal(symtab_find(&a->symtab, 0x1000)->name, "there");
	assert_int_equal(module_load(&s->set, b, NULL), 0);
	assert_string_equal(symtab_find(&b->symtab, 0x1000)->name, "lib");
	assert_ptr_equal(b->sym_dir, s->dir);
	/* A file that names another path is used only if it is in the other folder. */
	add_file(s, "alien.sym", "# path name: /other/alien\n1000 10 T alien\n");
	c = module_set_get(&s->set, "/x/alien", "");
	assert_int_equal(module_load(&s->set, c, NULL), 0);
	assert_int_equal(c->symtab.nr, 0);
	snprintf(dbg_path, sizeof(dbg_path), "%s/prog.dbg", other);
	assert_int_equal(outfile_put(dbg_path, other_debug, strlen(other_debug), NULL), 0);
	assert_string_equal(module_source(&s->set, a, &a->symtab.syms[0]), "/there.c");
	add_file(s, "lib.dbg", other_debug);
	assert_null(module_source(&s->set, b, &b->symtab.syms[0]));
	unlink(dbg_path);
	unlink(path);
	rmdir(other);
}

/* If there was no descriptor for a file, it is read again later. A damaged file is not. */
TEST_WITH(a_file_without_a_descriptor_is_read_again, setup, teardown)
{
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, "/x/prog", "");
	struct uft_err err = { 0 };
	struct rlimit before, none;
	int ret;

	add_file(s, "prog.sym", "# path name: /x/prog\n1000 10 T main\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	ret = module_load(&s->set, mod, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(ret, -EMFILE);
	assert_non_null(strstr(err.text, "prog"));
	assert_int_equal(mod->damage, 0);
	assert_false(mod->is_loaded);
	assert_int_equal(module_load(&s->set, mod, NULL), 0);
	assert_true(mod->is_loaded);
	assert_null(mod->why);
	assert_string_equal(symtab_find(&mod->symtab, 0x1000)->name, "main");
}

TEST_WITH(names_and_what_they_are_shown_as, setup, teardown)
{
	static const struct {
		const char *name;
		const char *text;
		unsigned shown_len;
	} rows[] = {
		{ "main", "main();", 4 },
		{ "f(int)", "f(int);", 6 },
		{ "", "();", 0 },
		{ ")", ");", 1 },
		{ "a\nb", "a\\x0ab();", 6 },
		{ "operator()", "operator()();", 10 },
		{ "A::operator()", "A::operator()();", 13 },
		{ "operator()(int)", "operator()(int);", 15 },
		{ "xperator()", "xperator();", 10 },
		{ "(operator()", "(operator()();", 11 },
		{ "()", "();", 2 },
	};
	struct scene *s = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct func *func = module_set_add_func(&s->set, rows[i].name);

		assert_string_equal(func->name, rows[i].name);
		assert_int_equal(func->name_len, strlen(rows[i].name));
		assert_string_equal(func->call_text, rows[i].text);
		assert_int_equal(func->shown_len, rows[i].shown_len);
		assert_int_equal(func->call_len, strlen(rows[i].text));
		assert_int_equal(func->id, i);
		assert_int_equal(func->count_id, i);
		assert_ptr_equal(s->set.funcs[i], func);
		assert_null(func->sym);
		assert_null(func->module);
		/* Views copy names in large pieces, so zeros must follow. */
		for (unsigned k = 0; k < FUNC_TEXT_SLACK; k++)
			assert_int_equal(func->name[func->name_len + k], 0);
	}
	assert_int_equal(s->set.nr_funcs, ARRAY_SIZE(rows));
}

TEST_WITH(addresses_without_symbols, setup, teardown)
{
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, "/x/prog", "");
	const struct func *func = module_set_add_unknown(&s->set, 0xabc, mod);

	assert_string_equal(func->name, "<abc>");
	assert_ptr_equal(func->module, mod);
	assert_false(func->is_kernel);
	func = module_set_add_unknown(&s->set, UINT64_MAX, NULL);
	assert_string_equal(func->name, "<ffffffffffffffff>");
	assert_null(func->module);
	assert_false(func->is_kernel);
	func = module_set_add_unknown(&s->set, 1, module_set_kernel(&s->set));
	assert_true(func->is_kernel);
}

/*
 * Functions that end a process, replace its program, or return twice. Apart from forks, only
 * library calls count.
 */
TEST_WITH(functions_that_do_more_than_return, setup, teardown)
{
	static const struct {
		const char *symbol;
		const char *what;
	} rows[] = {
		{ "P _exit", "P e" },	   { "P _Exit", "P e" },	{ "P exit", "P e" },
		{ "P quick_exit", "P e" }, { "P pthread_exit", "P e" }, { "P thrd_exit", "P e" },
		{ "P execl", "P x" },	   { "P execle", "P x" },	{ "P execlp", "P x" },
		{ "P execv", "P x" },	   { "P execve", "P x" },	{ "P execvp", "P x" },
		{ "P execvpe", "P x" },	   { "P fexecve", "P x" },	{ "P fork", "P f" },
		{ "T vfork", "f" },	   { "T _Fork", "f" },		{ "T __fork", "f" },
		{ "T __vfork", "f" },	   { "T __libc_fork", "f" },	{ "T forkpty", "f" },
		{ "T daemon", "f" },	   { "T clone", "f" },		{ "T clones", "" },
		{ "P puts", "P " },	   { "P exits", "P " },		{ "T main", "" },
	};
	const char *symbols[ARRAY_SIZE(rows) + 1] = { 0 };
	struct scene *s = *state;
	struct module *mod;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		symbols[i] = rows[i].symbol;
	mod = add_module(s, symbols);
	assert_int_equal(mod->symtab.nr, ARRAY_SIZE(rows));
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct func *func = func_at(s, mod, i);
		char what[8];

		snprintf(what, sizeof(what), "%s%s%s%s%s", func->is_libcall ? "P " : "",
			 func->is_end ? "e" : "", func->is_exec ? "x" : "",
			 func->is_fork ? "f" : "", func->is_kernel ? "k" : "");
		assert_string_equal(what, rows[i].what);
		assert_string_equal(func->name, rows[i].symbol + 2);
		assert_ptr_equal(func->module, mod);
		assert_ptr_equal(func->sym, &mod->symtab.syms[i]);
		assert_ptr_equal(func_at(s, mod, i), func);
		assert_int_equal(func->id, i);
		assert_null(func->others);
	}
}

/* A function of the program itself ends or replaces no program, whatever its name is. */
TEST_WITH(functions_of_the_program_with_such_names, setup, teardown)
{
	static const char *const symbols[] = { "T exit", "T execve", NULL };
	struct scene *s = *state;
	struct module *mod = add_module(s, symbols);

	assert_false(func_at(s, mod, 0)->is_end);
	assert_false(func_at(s, mod, 1)->is_exec);
}

/* A compiler may split a function. Calls of its parts count as calls of the function. */
TEST_WITH(parts_of_functions_count_as_these, setup, teardown)
{
	static const char *const symbols[] = { "t work.part.0", "t work.cold", "T worker", "T work",
					       "t lone.part.0", "t wo",	       NULL };
	struct scene *s = *state;
	struct module *mod = add_module(s, symbols);
	const struct func *part = func_at(s, mod, 0);
	const struct func *work = func_at(s, mod, 3);

	assert_ptr_not_equal(part, work);
	assert_int_equal(part->count_id, work->id);
	assert_string_equal(part->name, "work");
	assert_true(func_is_called(part, "work.part.0"));
	assert_false(func_is_called(work, "work.part.0"));
	assert_int_equal(work->count_id, work->id);
	assert_int_equal(func_at(s, mod, 1)->count_id, work->id);
	assert_int_equal(func_at(s, mod, 2)->count_id, func_at(s, mod, 2)->id);
	assert_int_equal(func_at(s, mod, 4)->count_id, func_at(s, mod, 4)->id);
	/* Without demangling, a part is another function. */
	s->set.demangle = DEMANGLE_NO;
	mod = module_set_get(&s->set, "/x/prog2", "");
	add_file(s, "prog2.sym", "# path name: /x/prog2\n1000 10 T f\n1010 10 t f.part.0\n");
	assert_int_equal(module_load(&s->set, mod, NULL), 0);
	assert_int_equal(func_at(s, mod, 1)->count_id, func_at(s, mod, 1)->id);
}

TEST_WITH(names_are_demangled, setup, teardown)
{
	static const char *const symbols[] = { "T _ZN3Box3putEi", NULL };
	struct scene *s = *state;
	const struct func *func = func_at(s, add_module(s, symbols), 0);

	assert_string_equal(func->name, "Box::put");
}

TEST_WITH(functions_of_the_kernel, setup, teardown)
{
	struct scene *s = *state;
	struct uft_err err = { 0 };
	const struct func *func = NULL;
	struct module *kernel = module_set_kernel(&s->set);

	assert_string_equal(kernel->path, KERNEL_MODULE_PATH);
	assert_ptr_equal(module_set_kernel(&s->set), kernel);
	add_file(s, "kallsyms",
		 "ffffffff81000000 T vfs_read\nffffffff81000100 t fork\n"
		 "ffffffff81000200 T _ZN1a1bEv\nffffffff81000300 T end\n");
	assert_int_equal(module_set_kernel_func(&s->set, 0xffffffff81000010, &func, &err), 1);
	assert_string_equal(func->name, "vfs_read");
	assert_true(func->is_kernel);
	assert_false(func->is_libcall);
	assert_int_equal(module_set_kernel_func(&s->set, 0xffffffff81000100, &func, &err), 1);
	assert_string_equal(func->name, "fork");
	assert_false(func->is_fork);
	assert_int_equal(module_set_kernel_func(&s->set, 0xffffffff81000200, &func, &err), 1);
	assert_string_equal(func->name, "_ZN1a1bEv");
	assert_null(func->others);
	assert_int_equal(module_set_kernel_func(&s->set, KERNEL_ADDR_BIT, &func, &err), 0);
}

TEST_WITH(without_kallsyms_they_have_no_names, setup, teardown)
{
	struct scene *s = *state;
	const struct func *func = NULL;

	assert_int_equal(module_set_kernel_func(&s->set, KERNEL_ADDR_BIT, &func, NULL), 0);
	assert_null(func);
}

TEST_WITH(kallsyms_that_cannot_be_read_is_told, setup, teardown)
{
	struct scene *s = *state;
	struct uft_err err = { 0 };
	const struct func *func = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%s/kallsyms", s->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(module_set_kernel_func(&s->set, KERNEL_ADDR_BIT, &func, &err) < 0);
	assert_non_null(strstr(err.text, path));
	rmdir(path);
}

static const char debug_text[] = "# path name: /x/prog\nF: 1000 main\nL: 7 /src/main.c\n";

/* "<name>.dbg" is used if it is of the same file as "<name>.sym". */
TEST_WITH(debug_information, setup, teardown)
{
	static const char *const symbols[] = { "T main", "P puts", "T other", NULL };
	struct scene *s = *state;
	struct module *mod;
	const struct dbg_func *debug;

	add_file(s, "prog.dbg", debug_text);
	mod = add_module(s, symbols);
	assert_false(mod->has_debug);
	debug = module_debug(&s->set, func_at(s, mod, 0));
	assert_true(mod->has_debug);
	assert_non_null(debug);
	assert_string_equal(debug->file, "/src/main.c");
	assert_null(module_debug(&s->set, func_at(s, mod, 1)));
	assert_null(module_debug(&s->set, func_at(s, mod, 2)));
	assert_string_equal(module_source(&s->set, mod, &mod->symtab.syms[0]), "/src/main.c");
	assert_null(module_source(&s->set, mod, &mod->symtab.syms[1]));
	assert_null(module_debug(&s->set, module_set_add_func(&s->set, "x")));
	assert_null(module_debug(&s->set, module_set_add_unknown(&s->set, 0x1000, mod)));
}

/* Debug information is optional, so a wrong file is only ignored. */
TEST_WITH(debug_information_of_something_else_does_not_count, setup, teardown)
{
	static const char *const texts[] = {
		"# path name: /y/prog\nF: 1000 main\nL: 7 /src/main.c\n",
		"nonsense\n",
		NULL,
	};
	static const char *const symbols[] = { "T main", NULL };
	struct scene *s = *state;
	struct module *mod;

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		module_set_deinit(&s->set);
		s->set.dir = s->dir;
		if (texts[i])
			add_file(s, "prog.dbg", texts[i]);
		mod = add_module(s, symbols);
		assert_null(module_debug(&s->set, func_at(s, mod, 0)));
	}
}

TEST_WITH(lines_of_a_file_that_is_not_there, setup, teardown)
{
	static const char *const symbols[] = { "T main", NULL };
	struct scene *s = *state;
	struct strbuf out cleanup_strbuf = { 0 };
	struct module *mod = add_module(s, symbols);

	assert_false(module_put_line(module_set_add_func(&s->set, "x"), 0x1000, &out));
	assert_false(module_put_line(func_at(s, mod, 0), 0x1000, &out));
	assert_true(mod->has_lines);
	assert_null(mod->lines);
	assert_int_equal(out.len, 0);
}

/* --- a symbol file that grows --- */

#define PYTHON "# path name: " CALLABLES_MODULE "\n"

static const struct func *func_called(struct scene *s, struct module *mod, uint64_t number)
{
	const struct symbol *sym = symtab_find(&mod->symtab, number);

	assert_non_null(sym);
	return module_func(&s->set, mod, sym);
}

/* Functions that are known stay the same ones. Their old names stay valid. */
TEST_WITH(a_symbol_file_that_grows, setup, teardown)
{
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, CALLABLES_MODULE, "");
	const struct func *b;
	const struct func *c;
	const struct symbol *old;
	struct uft_err err = { 0 };

	add_file(s, CALLABLES_MODULE ".sym",
		 PYTHON "0000000000000001 00000001 T a\n0000000000000002 00000001 T b\n");
	assert_int_equal(module_load(&s->set, mod, NULL), 0);
	b = func_called(s, mod, 2);
	old = b->sym;
	assert_false(module_has_grown(&s->set, mod, NULL));
	assert_int_equal(mod->symtab.nr, 2);
	add_file(s, CALLABLES_MODULE ".dbg",
		 "# path name: " CALLABLES_MODULE "\nF: 3 c\nL: 7 c.py\n");
	assert_null(module_debug(&s->set, func_called(s, mod, 1)));
	add_file(s, CALLABLES_MODULE ".sym",
		 PYTHON "0000000000000001 00000001 T a\n0000000000000002 00000001 T b\n"
			"0000000000000003 00000001 T c\n");
	assert_true(module_has_grown(&s->set, mod, NULL));
	assert_int_equal(mod->symtab.nr, 3);
	assert_false(module_has_grown(&s->set, mod, NULL));
	assert_ptr_equal(func_called(s, mod, 2), b);
	assert_ptr_equal(b->sym, old);
	assert_string_equal(old->name, "b");
	c = func_called(s, mod, 3);
	assert_string_equal(c->name, "c");
	assert_string_equal(module_debug(&s->set, c)->file, "c.py");
	assert_string_equal(func_called(s, mod, 1)->name, "a");
	/* In a file that was made anew, the first function has another number. */
	add_file(s, CALLABLES_MODULE ".sym",
		 PYTHON "0000000000000002 00000001 T b\n0000000000000003 00000001 T c\n"
			"0000000000000004 00000001 T d\n0000000000000005 00000001 T e\n");
	assert_true(module_has_grown(&s->set, mod, NULL));
	assert_int_equal(mod->symtab.nr, 4);
	assert_ptr_equal(func_called(s, mod, 2), b);
	assert_ptr_equal(func_called(s, mod, 3), c);
	assert_string_equal(func_called(s, mod, 4)->name, "d");
	assert_string_equal(func_called(s, mod, 5)->name, "e");
	/* A file that is wrong, and one that is gone, have no symbols. */
	add_file(s, CALLABLES_MODULE ".sym", "x\n");
	assert_false(module_has_grown(&s->set, mod, &err));
	assert_non_null(strstr(err.text, CALLABLES_MODULE ".sym"));
	assert_int_equal(mod->symtab.nr, 0);
	assert_string_equal(b->name, "b");
}

/* Symbol files of programs do not grow. */
TEST_WITH(other_files_are_read_once, setup, teardown)
{
	static const char *const symbols[] = { "T main", NULL };
	struct scene *s = *state;
	struct module *mod = add_module(s, symbols);

	add_file(s, CALLABLES_MODULE ".sym", PYTHON "0000000000000001 00000001 T a\n");
	add_file(s, "prog.sym", "# path name: /x/prog\n1000 10 T main\n1010 10 T other\n");
	assert_false(module_has_grown(&s->set, mod, NULL));
	assert_int_equal(mod->symtab.nr, 1);
	assert_int_equal(mod->growing_bytes, 0);
}

/* --- names that are wanted --- */

/* A function is shown by the wanted one of its names. The kernel's functions are left out. */
TEST_WITH(a_name_that_is_preferred, setup, teardown)
{
	struct scene *s = *state;
	struct module *mod = module_set_get(&s->set, "/x/prog", "");
	struct module *other = module_set_get(&s->set, "/x/wrong", "");
	struct uft_err err = { 0 };

	add_file(s, "kallsyms", "nonsense");
	add_file(s, "prog.sym",
		 "# path name: /x/prog\n1000 10 T first\n# alias: 1000 second\n"
		 "1010 10 T other\n");
	assert_non_null(module_set_kernel(&s->set));
	assert_int_equal(module_set_prefer(&s->set, "second", NULL), 0);
	assert_true(mod->is_loaded);
	assert_true(other->is_loaded);
	assert_false(s->set.kernel->is_loaded);
	assert_string_equal(func_at(s, mod, 0)->name, "second");
	assert_true(func_is_called(func_at(s, mod, 0), "first"));
	assert_string_equal(func_at(s, mod, 1)->name, "other");
	/* A file that cannot be read is an error. */
	module_set_get(&s->set, "/x/bad", "");
	add_file(s, "bad.sym", "# path name: /x/bad\nx\n");
	assert_int_equal(module_set_prefer(&s->set, "second", &err), -EINVAL);
	assert_non_null(strstr(err.text, "bad.sym"));
}
