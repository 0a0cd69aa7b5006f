/*
 * The meaning of addresses: maps, symbols, libraries that are loaded late, and the cache before all
 * of these.
 */
#include "tests/unit/lib/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/format/callables.h"
#include "utils/format/kernel/kernel_graph.h"
#include "utils/pipeline/recording/session.h"

static const char map[] = "400000-402000 r-xp 00000000 00:00 0 /bin/prog\n"
			  "7f0000-7f1000 r-xp 00000000 00:00 0 /lib/liba.so\n"
			  "7f1000-7f2000 r-xp 00000000 00:00 0 /lib/nosyms.so\n"
			  "7ffff000-80000000 rw-p 00000000 00:00 0 [stack]\n";

static const char prog_sym[] = "# symbols: 4\n# path name: /bin/prog\n"
			       "0000000000001000 T main\n"
			       "0000000000001040 T _ZN1A1bEv\n"
			       "0000000000001080 P execve\n"
			       "0000000000001090 T fork\n"
			       "00000000000010a0 T execve\n"
			       "00000000000010b0 ? __sym_end\n";

static const char liba_sym[] = "# symbols: 2\n# path name: /lib/liba.so\n"
			       "0000000000000000 T first\n"
			       "0000000000000ff0 T last\n"
			       "0000000000001010 ? __sym_end\n";

static const char late_sym[] = "# symbols: 1\n# path name: /lib/late.so\n"
			       "0000000000000100 T late\n"
			       "0000000000000200 ? __sym_end\n";

struct scene {
	char dir[64];
	struct module_set set;
	struct session *session;
};

static void put_file(const struct scene *s, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void begin(struct scene *s)
{
	struct task_line line = {
		.type = TASK_LINE_SESSION,
		.time_ns = 10,
		.pid = 7,
		.sid = "0123456789abcdef",
		.path = "/bin/prog and more",
		.path_len = 9,
	};

	*s = (struct scene){ .dir = "/tmp/utrail-session.XXXXXX" };
	assert_non_null(mkdtemp(s->dir));
	pthread_mutex_init(&s->set.lock, NULL);
	s->set.dir = s->dir;
	s->set.demangle = DEMANGLE_SIMPLE;
	s->session = session_create(&s->set, &line);
	assert_non_null(s->session);
	assert_string_equal(s->session->exename, "/bin/prog");
	assert_string_equal(s->session->sid, "0123456789abcdef");
	assert_int_equal(s->session->start_ns, 10);
	assert_int_equal(s->session->pid, 7);
	put_file(s, "sid-0123456789abcdef.map", map);
	put_file(s, "prog.sym", prog_sym);
	put_file(s, "liba.so.sym", liba_sym);
	put_file(s, "late.so.sym", late_sym);
}

static void end(struct scene *s)
{
	static const char *const names[] = {
		"sid-0123456789abcdef.map", "prog.sym", "liba.so.sym", "late.so.sym", "kallsyms",
		CALLABLES_MODULE ".sym"
	};

	session_destroy(s->session);
	module_set_deinit(&s->set);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", s->dir, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(s->dir), 0);
}

static const char *name_at(struct scene *s, uint64_t addr, uint64_t time_ns)
{
	uint64_t until_ns;
	struct addr_space *space = session_space(s->session, 0, time_ns, &until_ns);

	assert_non_null(space);

	const struct func *func = space_func(space, addr, NULL);

	assert_non_null(func);
	/*
	 * The second look-up finds the function in the cache. The third one, space_symbol(), does
	 * not use the cache.
	 */
	assert_ptr_equal(space_func(space, addr, NULL), func);
	if (space_symbol(space, addr))
		assert_ptr_equal(space_symbol(space, addr), func);
	else
		assert_int_equal(func->name[0], '<');
	return func->name;
}

TEST(functions)
{
	struct scene s;

	begin(&s);
	assert_int_equal(session_load_map(s.session, NULL), 0);
	assert_string_equal(name_at(&s, 0x401000, 0), "main");
	assert_string_equal(name_at(&s, 0x40103f, 0), "main");
	assert_string_equal(name_at(&s, 0x401040, 0), "A::b");
	assert_string_equal(name_at(&s, 0x400fff, 0), "<400fff>");
	assert_string_equal(name_at(&s, 0x4010b0, 0), "<4010b0>");
	assert_string_equal(name_at(&s, 0x3fffff, 0), "<3fffff>");
	assert_string_equal(name_at(&s, 0x402000, 0), "<402000>");
	assert_string_equal(name_at(&s, 0x7f0000, 0), "first");
	assert_string_equal(name_at(&s, 0x7effff, 0), "<7effff>");
	assert_string_equal(name_at(&s, 0x7f0fff, 0), "last");
	/* Symbols do not reach beyond the end of their module. */
	assert_string_equal(name_at(&s, 0x7f1000, 0), "<7f1000>");
	assert_string_equal(name_at(&s, 0x7ffff000, 0), "<7ffff000>");
	end(&s);
}

static const struct func *func_at(struct scene *s, uint64_t addr)
{
	uint64_t until_ns;

	return space_func(session_space(s->session, 0, 0, &until_ns), addr, NULL);
}

TEST(kinds_of_functions)
{
	struct scene s;

	begin(&s);
	assert_int_equal(session_load_map(s.session, NULL), 0);
	assert_false(func_at(&s, 0x401000)->is_libcall);
	assert_false(func_at(&s, 0x401000)->is_fork);
	assert_true(func_at(&s, 0x401080)->is_libcall);
	assert_true(func_at(&s, 0x401080)->is_exec);
	assert_false(func_at(&s, 0x4010a0)->is_exec); /* a function of the program itself */
	assert_true(func_at(&s, 0x401090)->is_fork);
	assert_false(func_at(&s, 0x401090)->is_libcall);
	assert_string_equal(func_at(&s, 0x401000)->module->basename, "prog");
	assert_string_equal(func_at(&s, 0x400500)->module->basename, "prog");
	assert_string_equal(func_at(&s, 0x7f1000)->module->basename, "nosyms.so");
	assert_null(func_at(&s, 0x900000)->module);
	assert_null(func_at(&s, 0x7ffff000)->module);

	const struct func *func = func_at(&s, 0x401040);

	assert_string_equal(func->call_text, "A::b();");
	assert_int_equal(func->name_len, 4);
	assert_int_equal(func->shown_len, 4);
	assert_int_equal(func->call_len, 7);
	assert_ptr_equal(s.set.funcs[func->id], func);
	end(&s);
}

/*
 * A library function is known by its name to end the program, or to execute another one. Functions
 * that return twice are known by their names, too, also if they are no library functions.
 */
TEST(what_functions_do)
{
	static const struct {
		const char *name;
		char type;
		bool is_end, is_exec, is_fork;
	} rows[] = {
		{ "exit", 'P', .is_end = true },
		{ "_exit", 'P', .is_end = true },
		{ "pthread_exit", 'P', .is_end = true },
		{ "thrd_exit", 'P', .is_end = true },
		{ "exit", 'T' },
		{ "execl", 'P', .is_exec = true },
		{ "fexecve", 'P', .is_exec = true },
		{ "execl", 'T' },
		{ "vfork", 'P', .is_fork = true },
		{ "clone", 'T', .is_fork = true },
		{ "puts", 'P' },
		{ "forks", 'P' },
	};
	struct strbuf text cleanup_strbuf = { 0 };
	struct scene s;

	begin(&s);
	strbuf_addstr(&text, "# path name: /bin/prog\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		strbuf_addf(&text, "%zx 10 %c %s\n", 0x1000 + i * 0x10, rows[i].type, rows[i].name);
	put_file(&s, "prog.sym", strbuf_str(&text));
	assert_int_equal(session_load_map(s.session, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct func *func = func_at(&s, 0x401000 + i * 0x10);

		assert_string_equal(func->name, rows[i].name);
		assert_int_equal(func->is_end, rows[i].is_end);
		assert_int_equal(func->is_exec, rows[i].is_exec);
		assert_int_equal(func->is_fork, rows[i].is_fork);
		assert_int_equal(func->is_libcall, rows[i].type == 'P');
	}
	end(&s);
}

/*
 * A part that the compiler has split off has the name of its function, and counts as that function.
 * One with a similar name does not.
 */
TEST(parts_of_functions)
{
	struct scene s;

	begin(&s);
	put_file(&s, "prog.sym",
		 "# path name: /bin/prog\n"
		 "1000 10 T run\n1010 10 T runner\n1020 10 t run.part.0\n1030 10 t lost.part.0\n");
	assert_int_equal(session_load_map(s.session, NULL), 0);

	const struct func *part = func_at(&s, 0x401020);
	const struct func *run = func_at(&s, 0x401000);

	assert_string_equal(part->name, "run");
	assert_int_equal(part->count_id, run->count_id);
	assert_int_not_equal(part->id, run->id);
	assert_int_not_equal(func_at(&s, 0x401010)->count_id, run->count_id);
	assert_int_not_equal(func_at(&s, 0x401030)->count_id, run->count_id);
	end(&s);
}

TEST(offsets)
{
	struct scene s;
	uint64_t until_ns;
	uint64_t offset = 4711;

	begin(&s);
	assert_int_equal(session_load_map(s.session, NULL), 0);

	struct addr_space *space = session_space(s.session, 0, 0, &until_ns);

	assert_string_equal(space_symbol_offset(space, 0x401047, &offset)->name, "A::b");
	assert_int_equal(offset, 0x1047);
	assert_string_equal(space_symbol_offset(space, 0x7f0001, &offset)->name, "first");
	assert_int_equal(offset, 1);
	assert_null(space_symbol_offset(space, 0x400000, &offset));
	assert_int_equal(offset, 1);
	end(&s);
}

static void add_late(struct scene *s, uint64_t time_ns, uint64_t base, const char *path)
{
	struct task_line line = {
		.type = TASK_LINE_DLOPEN,
		.time_ns = time_ns,
		.base = base,
		.path = path,
		.path_len = strlen(path),
	};

	assert_int_equal(session_add_late(s->session, &line), 0);
}

/*
 * A library is found from the time on at which it was loaded. If several libraries have an address,
 * the library that was loaded last is found.
 */
TEST(late_libraries)
{
	struct scene s;
	uint64_t until_ns;

	begin(&s);
	assert_int_equal(session_load_map(s.session, NULL), 0);
	add_late(&s, 300, 0xa00000, "/lib/liba.so");
	add_late(&s, 100, 0x900000, "/lib/late.so");
	add_late(&s, 200, 0xa00000, "/lib/late.so");
	assert_int_equal(s.session->nr_late, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(s.session->late[i].time_ns, 100 * (i + 1));

	assert_string_equal(name_at(&s, 0x900100, 99), "<900100>");
	assert_string_equal(name_at(&s, 0x900100, 100), "late");
	assert_string_equal(name_at(&s, 0x9001ff, 100), "late");
	assert_string_equal(name_at(&s, 0x900200, 100), "<900200>");
	assert_string_equal(name_at(&s, 0xa00100, 199), "<a00100>");
	assert_string_equal(name_at(&s, 0xa00100, 200), "late");
	assert_string_equal(name_at(&s, 0xa00100, 299), "late");
	assert_string_equal(name_at(&s, 0xa00100, 300), "first");
	assert_string_equal(name_at(&s, 0x900100, UINT64_MAX), "late");
	assert_string_equal(name_at(&s, 0x401000, UINT64_MAX), "main");

	struct addr_space *space = session_space(s.session, 0, 0, &until_ns);

	assert_int_equal(until_ns, 100);
	assert_ptr_equal(session_space(s.session, 0, 99, &until_ns), space);
	assert_ptr_not_equal(session_space(s.session, 0, 100, &until_ns), space);
	assert_int_equal(until_ns, 200);
	assert_ptr_not_equal(session_space(s.session, 1, 0, &until_ns), space);
	session_space(s.session, READERS_MAX - 1, 1000, &until_ns);
	assert_int_equal(until_ns, UINT64_MAX);
	end(&s);
}

/* If two libraries have one address and one time, the later line counts. */
TEST(late_libraries_at_one_moment)
{
	struct scene s;
	uint64_t until_ns;
	uint64_t offset = 4711;

	begin(&s);
	assert_int_equal(session_load_map(s.session, NULL), 0);
	add_late(&s, 100, 0xa00000, "/lib/late.so");
	add_late(&s, 100, 0xa00000, "/lib/liba.so");
	assert_string_equal(name_at(&s, 0xa00000, 100), "first");
	assert_string_equal(name_at(&s, 0xa00100, 100), "first");
	assert_string_equal(name_at(&s, 0xa01000, 100), "last");
	assert_string_equal(name_at(&s, 0xa01010, 100), "<a01010>");
	assert_string_equal(name_at(&s, 0x9fffff, 100), "<9fffff>");
	/* The offset is relative to the place of the library. */
	struct addr_space *space = session_space(s.session, 0, 100, &until_ns);

	assert_string_equal(space_symbol_offset(space, 0xa00ff3, &offset)->name, "last");
	assert_int_equal(offset, 0xff3);
	assert_null(space_symbol_offset(space, 0xa01010, &offset));
	assert_int_equal(offset, 0xff3);
	assert_ptr_equal(space->session, s.session);
	assert_int_equal(space->nr_late, 2);
	end(&s);
}

/* A library may be loaded when all readers have looked up addresses already. */
TEST(libraries_that_come_while_readers_look)
{
	const struct task_line line = { .type = TASK_LINE_DLOPEN,
					.time_ns = 50,
					.base = 0x900000,
					.path = "/lib/late.so and more",
					.path_len = 12 };
	struct scene s;
	uint64_t until_ns;

	begin(&s);
	assert_int_equal(session_load_map(s.session, NULL), 0);
	for (unsigned reader = 0; reader < READERS_MAX; reader++) {
		struct addr_space *space = session_space(s.session, reader, 50, &until_ns);

		assert_true(until_ns == UINT64_MAX);
		assert_string_equal(space_func(space, 0x900100, NULL)->name, "<900100>");
	}
	assert_int_equal(session_add_late(s.session, &line), 0);
	assert_null(s.session->spaces);
	assert_int_equal(s.session->nr_late, 1);
	assert_int_equal(s.session->late[0].base, 0x900000);
	assert_string_equal(s.session->late[0].module->path, "/lib/late.so");
	for (unsigned reader = 0; reader < READERS_MAX; reader++) {
		struct addr_space *space = session_space(s.session, reader, 50, &until_ns);

		assert_string_equal(space_func(space, 0x900100, NULL)->name, "late");
		space = session_space(s.session, reader, 49, &until_ns);
		assert_int_equal(until_ns, 50);
		assert_string_equal(space_func(space, 0x900100, NULL)->name, "<900100>");
	}
	end(&s);
}

/* Addresses of the kernel have their names in kallsyms, whatever the process has mapped. */
TEST(functions_of_the_kernel)
{
	const uint64_t low = KERNEL_ADDR_BIT | 0x1000;
	const struct func *func;
	struct scene s;

	begin(&s);
	put_file(&s, "kallsyms",
		 "8000000000001000 T do_open\n8000000000001040 t do_close\n"
		 "8000000000001080 T end\n");
	put_file(&s, "sid-0123456789abcdef.map",
		 "8000000000001000-8000000000002000 r-xp 00000000 00:00 0 /lib/liba.so\n");
	assert_int_equal(session_load_map(s.session, NULL), 0);
	assert_string_equal(name_at(&s, low, 0), "do_open");
	assert_string_equal(name_at(&s, low + 0x3f, 0), "do_open");
	assert_string_equal(name_at(&s, low + 0x40, 0), "do_close");
	func = func_at(&s, low + 0x40);
	assert_true(func->is_kernel);
	assert_ptr_equal(func->module, s.set.kernel);
	/* An address without a symbol belongs to the kernel, too. */
	func = func_at(&s, low - 1);
	assert_string_equal(func->name, "<8000000000000fff>");
	assert_true(func->is_kernel);
	assert_ptr_equal(func->module, s.set.kernel);
	end(&s);
}

/* A damaged symbol file gives an error at each look-up, and no function. */
TEST(symbol_files_that_are_damaged)
{
	struct uft_err err = { 0 };
	uint64_t offset = 4711;
	uint64_t until_ns;
	struct scene s;

	begin(&s);
	put_file(&s, "liba.so.sym", "# path name: /lib/liba.so\nnonsense\n");
	put_file(&s, "late.so.sym", "# path name: /lib/late.so\nnonsense\n");
	assert_int_equal(session_load_map(s.session, NULL), 0);
	add_late(&s, 0, 0x900000, "/lib/late.so");
	struct addr_space *space = session_space(s.session, 0, 0, &until_ns);

	assert_null(space_func(space, 0x7f0000, &err));
	assert_true(err.code < 0);
	assert_non_null(strstr(err.text, "liba.so.sym"));
	err = (struct uft_err){ 0 };
	assert_null(space_func(space, 0x900100, &err));
	assert_non_null(strstr(err.text, "late.so.sym"));
	assert_int_equal(space->nr_used, 0);
	assert_null(space_symbol(space, 0x7f0000));
	assert_null(space_symbol_offset(space, 0x7f0000, &offset));
	assert_int_equal(offset, 4711);
	/* Functions of other modules are still found. */
	assert_string_equal(space_func(space, 0x401000, &err)->name, "main");
	assert_int_equal(space->nr_used, 1);
	end(&s);
}

/* A symbol file that grows is read again for an address that it did not have. */
TEST(symbol_files_that_grow)
{
	static const char head[] = "# path name: " CALLABLES_MODULE "\n"
				   "0000000000000001 00000001 T one\n";
	struct strbuf text cleanup_strbuf = { 0 };
	uint64_t until_ns;
	struct scene s;

	begin(&s);
	strbuf_addstr(&text, head);
	put_file(&s, CALLABLES_MODULE ".sym", head);
	add_late(&s, 0, 0x500000, CALLABLES_MODULE);
	struct addr_space *space = session_space(s.session, 0, 0, &until_ns);

	assert_string_equal(space_symbol(space, 0x500001)->name, "one");
	assert_null(space_symbol(space, 0x500002));
	strbuf_addstr(&text, "0000000000000002 00000001 T two\n");
	put_file(&s, CALLABLES_MODULE ".sym", strbuf_str(&text));
	assert_string_equal(space_symbol(space, 0x500001)->name, "one");
	assert_string_equal(space_symbol(space, 0x500002)->name, "two");
	assert_null(space_symbol(space, 0x500003));
	end(&s);
}

/* There are more addresses than the cache has places at first. */
TEST(many_addresses)
{
	struct scene s;
	uint64_t until_ns;

	begin(&s);
	assert_int_equal(session_load_map(s.session, NULL), 0);
	for (uint64_t addr = 0x401000; addr < 0x4010b0; addr++)
		func_at(&s, addr);
	for (uint64_t i = 0; i < 5000; i++)
		func_at(&s, 0x7f0000 + i % 0x1000 + (i >> 12 << 20));
	struct addr_space *space = session_space(s.session, 0, 0, &until_ns);

	assert_int_equal(space->nr_used, 0xb0 + 5000);
	assert_true(space->nr_used * 2 <= space->mask + 1);
	assert_int_equal(space->mask & (space->mask + 1), 0);
	assert_string_equal(func_at(&s, 0x40103f)->name, "main");
	assert_string_equal(func_at(&s, 0x7f0010)->name, "first");
	assert_int_equal(space->nr_used, 0xb0 + 5000);
	/* No address is lost when the cache grows. */
	for (uint64_t addr = 0x401000; addr < 0x4010b0; addr++)
		func_at(&s, addr);
	for (uint64_t i = 0; i < 5000; i++)
		func_at(&s, 0x7f0000 + i % 0x1000 + (i >> 12 << 20));
	assert_int_equal(space->nr_used, 0xb0 + 5000);
	end(&s);
}

TEST(maps)
{
	struct uft_err err = { 0 };
	char path[128];
	struct scene s;

	begin(&s);
	put_file(&s, "sid-0123456789abcdef.map", "nonsense\n");
	assert_true(session_load_map(s.session, &err) < 0);
	assert_non_null(strstr(err.text, "sid-0123456789abcdef.map"));
	end(&s);

	/* A map that is there, but cannot be read, is an error. */
	begin(&s);
	snprintf(path, sizeof(path), "%s/sid-0123456789abcdef.map", s.dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	err = (struct uft_err){ 0 };
	assert_true(session_load_map(s.session, &err) < 0);
	assert_non_null(strstr(err.text, path));
	assert_null(s.session->modules);
	assert_int_equal(rmdir(path), 0);
	end(&s);

	begin(&s);
	s.set.dir = "/tmp/utrail-there-is-no-such-directory";
	assert_int_equal(session_load_map(s.session, NULL), 0);
	assert_string_equal(name_at(&s, 0x401000, 0), "<401000>");
	end(&s);
}

/* Each pair of a path and a build-id is one module. */
TEST(modules)
{
	struct scene s;

	begin(&s);
	struct module *a = module_set_get(&s.set, "/lib/x", "01");
	struct module *b = module_set_get(&s.set, "/lib/x", "02");
	struct module *c = module_set_get(&s.set, "/lib/y", "01");

	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_ptr_equal(module_set_get(&s.set, "/lib/x", "01"), a);
	assert_ptr_equal(module_set_get(&s.set, "/lib/x", "02"), b);
	assert_ptr_equal(module_set_get(&s.set, "/lib/y", "01"), c);
	assert_int_equal(s.set.nr_modules, 3);
	assert_string_equal(a->basename, "x");
	assert_string_equal(module_set_get(&s.set, "plain", "")->basename, "plain");
	assert_string_equal(module_set_add_func(&s.set, "f(int)")->call_text, "f(int);");
	assert_string_equal(module_set_add_func(&s.set, "")->call_text, "();");
	for (int i = 0; i < 1000; i++)
		assert_int_equal(module_set_add_func(&s.set, "g")->id, i + 2);
	end(&s);
}
