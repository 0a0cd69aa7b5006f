/*
 * Images with their maps, and symbols of modules: each is written once, if calls of the module can
 * be recorded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/plan/values/debuginfo.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

static const char *library(void)
{
	Dl_info info;

	assert_true(dladdr((void *)_cmocka_run_group_tests, &info));
	return info.dli_fname;
}

TEST(saved_once)
{
	struct pair pair;
	struct sessions *sessions = &pair.rec.sessions;
	struct known_module *known;
	char name[NAME_MAX + 1];
	char path[PATH_MAX];

	pair_init(&pair);
	pair_open(&pair);
	known = known_module_get(&sessions->planner->modules, library());
	assert_non_null(known);
	assert_true(store_choose_name(sessions->store, known->path, known->build_id, name,
				      sizeof(name)));
	snprintf(path, sizeof(path), "%s/%s", pair.dir, name);
	assert_int_equal(sessions_save_module(sessions, known->path, NULL), 0);
	assert_int_not_equal(access(path, F_OK), 0);
	known->has_functions = true;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sessions_save_module(sessions, known->path, NULL), 0);
		assert_int_equal(access(path, F_OK), i == 0 ? 0 : -1);
		unlink(path);
	}
	/* More names are to be saved now, so the file is written again. */
	known->is_saved = false;
	assert_int_equal(sessions_save_module(sessions, known->path, NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	pair_stop(&pair);
	pair_close(&pair);
}

/* --- images --- */

TEST(an_image_is_the_newest_and_has_an_id_of_its_own)
{
	struct sessions sessions = { 0 };
	char exe[] = "/bin/prog";
	struct image *first = image_create(&sessions, 11, exe);
	struct image *second = image_create(&sessions, 12, "");

	assert_true(first && second);
	assert_ptr_equal(sessions.first, second);
	assert_ptr_equal(second->next, first);
	assert_null(first->next);
	assert_int_equal(first->pid, 11);
	assert_int_equal(second->pid, 12);
	exe[0] = 'x';
	assert_string_equal(first->exe, "/bin/prog");
	assert_string_equal(second->exe, "");
	assert_int_equal(strspn(first->sid, "0123456789abcdef"), 16);
	assert_int_equal(strlen(first->sid), 16);
	assert_string_not_equal(first->sid, second->sid);
	assert_false(first->announced);
	sessions_deinit(&sessions);
}

/* A control_module has any length. */
union packet {
	struct control_module m;
	char bytes[sizeof(struct control_module) + PATH_MAX];
};

static union packet packet(uint64_t start, uint64_t end, const char *path)
{
	union packet p = { .m = { .start = start, .end = end, .has_text = true } };

	strcpy(p.m.path, path);
	return p;
}

TEST(only_modules_with_code_are_in_the_map)
{
	struct sessions sessions = { 0 };
	struct image *s = image_create(&sessions, 11, "/bin/prog");
	union packet p = packet(0x1000, 0x3000, "/lib/a.so");

	assert_int_equal(image_add_module(s, &p.m), 0);
	p.m.has_text = false;
	assert_int_equal(image_add_module(s, &p.m), 0);
	assert_int_equal(s->map.nr, 1);
	assert_int_equal(s->map.entries[0].start, 0x1000);
	assert_int_equal(s->map.entries[0].end, 0x3000);
	assert_string_equal(s->map.entries[0].prot, "r-xp");
	assert_string_equal(s->map.entries[0].path, "/lib/a.so");
	assert_ptr_not_equal(s->map.entries[0].path, p.m.path);
	sessions_deinit(&sessions);
}

TEST(the_stack_is_in_the_map)
{
	struct sessions sessions = { 0 };
	struct image *s = image_create(&sessions, 11, "/bin/prog");
	uint64_t here = (uintptr_t)&sessions;
	int self = syscall(SYS_pidfd_open, getpid(), 0);

	image_note_stack(s, getpid(), self);
	close(self);
	assert_string_equal(s->stack.path, "[stack]");
	assert_true(s->stack.start <= here && here < s->stack.end);
	sessions_deinit(&sessions);
}

/*
 * A stack at an unknown place is taken to be at the usual one. So is a stack of a process whose
 * number another process may have by now.
 */
TEST(a_stack_that_is_hidden_is_guessed)
{
	struct sessions sessions = { 0 };
	struct image *s = image_create(&sessions, 11, "/bin/prog");

	image_note_stack(s, getpid(), -1);
	assert_int_equal(s->stack.start, 0x7ffffffde000);
	assert_int_equal(s->stack.end, 0x7ffffffff000);
	assert_string_equal(s->stack.prot, "rw-p");
	assert_string_equal(s->stack.path, "[stack]");
	sessions_deinit(&sessions);
}

/* --- maps and symbols that are saved --- */

struct saving {
	struct pair pair;
	struct debuginfo debug;
	struct argrules rules;
	struct sessions *sessions;
	struct image *image;
	char self[PATH_MAX];
};

static int begin_saving(void **state)
{
	struct saving *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	pair_init(&t->pair);
	pair_open(&t->pair);
	assert_non_null(realpath("/proc/self/exe", t->self));
	t->sessions = &t->pair.rec.sessions;
	t->image = image_create(t->sessions, 11, t->self);
	assert_non_null(t->image);
	*state = t;
	return 0;
}

static int end_saving(void **state)
{
	struct saving *t = *state;

	pair_stop(&t->pair);
	pair_close(&t->pair);
	debuginfo_deinit(&t->debug);
	free(t);
	return 0;
}

static void add(struct saving *t, uint64_t start, const char *path)
{
	union packet p = packet(start, start + 0x1000, path);

	assert_int_equal(image_add_module(t->image, &p.m), 0);
}

static struct known_module *known(struct saving *t, const char *path)
{
	struct known_module *m = known_module_get(&t->sessions->planner->modules, path);

	assert_non_null(m);
	return m;
}

/* True when there is a file "<basename of the module><end>". */
static bool has(struct saving *t, const char *path, const char *end)
{
	char name[NAME_MAX + 1];
	const char *base = strrchr(path, '/');

	snprintf(name, sizeof(name), "%s%s", base ? base + 1 : path, end);
	return faccessat(t->pair.dir_fd, name, F_OK, 0) == 0;
}

static void save(struct saving *t)
{
	struct uft_err err = { 0 };

	image_identify_modules(t->sessions, t->image);
	if (image_save_map(t->image, t->sessions->store, &err) < 0 ||
	    image_save_symbols(t->sessions, t->image, &err) < 0)
		fail_msg("%s", err.text);
}

static void check_map(struct saving *t, const char *expected)
{
	char name[64];

	snprintf(name, sizeof(name), "sid-%s.map", t->image->sid);

	struct strbuf text cleanup_strbuf = pair_file(&t->pair, name);

	assert_string_equal(strbuf_str(&text), expected);
}

TEST_WITH(a_map_is_in_the_order_of_addresses, begin_saving, end_saving)
{
	struct saving *t = *state;
	struct strbuf expected cleanup_strbuf = { 0 };
	struct module_map sorted cleanup_module_map = { 0 };
	struct map_entry entries[] = {
		{ .start = 0x1000, .end = 0x2000, .prot = "r-xp", .path = (char *)library() },
		{ .start = 0x3000, .end = 0x4000, .prot = "r-xp", .path = (char *)"/no/such.so" },
		{ .start = 0x5000, .end = 0x6000, .prot = "r-xp", .path = t->self },
	};

	add(t, 0x5000, t->self);
	add(t, 0x1000, library());
	add(t, 0x3000, "/no/such.so");
	save(t);
	strcpy(entries[0].build_id, known(t, library())->build_id);
	strcpy(entries[2].build_id, known(t, t->self)->build_id);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(module_map_add(&sorted, &entries[i]), 0);
	module_map_encode(&sorted, &expected);
	check_map(t, strbuf_str(&expected));
	/* No symbols are saved, since neither module can have records. */
	assert_false(has(t, t->self, ".sym"));
	assert_false(has(t, library(), ".sym"));
}

TEST_WITH(symbols_of_what_can_have_records_are_saved, begin_saving, end_saving)
{
	struct saving *t = *state;
	struct strbuf text cleanup_strbuf = { 0 };
	struct symtab symbols cleanup_symtab = { 0 };
	struct sym_file_head head = { 0 };
	const char *name = strrchr(t->self, '/') + 1;
	char file[NAME_MAX + 1];

	add(t, 0x5000, t->self);
	add(t, 0x1000, library());
	known(t, t->self)->has_functions = true;
	save(t);
	assert_true(has(t, t->self, ".sym"));
	assert_false(has(t, library(), ".sym"));
	assert_false(has(t, t->self, ".dbg"));
	assert_false(t->sessions->has_debug);
	assert_true(known(t, t->self)->is_saved);
	assert_false(known(t, library())->is_saved);
	snprintf(file, sizeof(file), "%s.sym", name);
	text = pair_file(&t->pair, file);
	assert_int_equal(sym_file_decode(text.data, text.len, &symbols, &head, NULL), 0);
	assert_string_equal(head.path, t->self);
	if (known(t, t->self)->build_id[0])
		assert_string_equal(head.build_id, known(t, t->self)->build_id);
	else
		assert_null(head.build_id);
	assert_true(symbols.nr > 0);
	free(head.path);
	free(head.build_id);
}

/* The libraries that the program is linked with are saved, too. */
TEST_WITH(where_library_calls_are_recorded_the_libraries_are_saved, begin_saving, end_saving)
{
	struct saving *t = *state;

	t->pair.settings.use_libcalls = true;
	add(t, 0x1000, library());
	add(t, 0x5000, t->self);
	save(t);
	assert_true(has(t, t->self, ".sym"));
	assert_true(has(t, library(), ".sym"));
}

/* The program is another file here, so both modules are libraries. */
TEST_WITH(of_a_library_the_libraries_are_not_saved, begin_saving, end_saving)
{
	struct saving *t = *state;

	t->pair.settings.use_libcalls = true;
	free(t->image->exe);
	t->image->exe = strdup("/bin/other");
	add(t, 0x1000, library());
	add(t, 0x5000, t->self);
	save(t);
	assert_false(has(t, t->self, ".sym"));
	assert_false(has(t, library(), ".sym"));
}

TEST_WITH(debug_information_is_saved_beside_the_symbols, begin_saving, end_saving)
{
	struct saving *t = *state;
	char file[NAME_MAX + 1];

	t->pair.settings.captures.debug = &t->debug;
	t->pair.settings.captures.rules = &t->rules;
	t->pair.settings.captures.has_lines = true;
	t->pair.settings.use_libcalls = true;
	add(t, 0x5000, t->self);
	/* Only calls into the library are recorded, so its functions need no debug information. */
	save(t);
	assert_true(has(t, t->self, ".sym"));
	assert_false(has(t, t->self, ".dbg"));
	known(t, t->self)->is_saved = false;
	known(t, t->self)->has_functions = true;
	snprintf(file, sizeof(file), "%s.sym", strrchr(t->self, '/') + 1);
	assert_int_equal(unlinkat(t->pair.dir_fd, file, 0), 0);
	save(t);
	assert_non_null(debuginfo_of(&t->debug, t->self));
	if (!debuginfo_of(&t->debug, t->self)->nr_funcs)
		skip_because("this build has no debug information, or cannot read it");
	assert_true(has(t, t->self, ".dbg"));
	assert_true(t->sessions->has_debug);
}

/* --- libraries that are loaded later --- */

static int save_late(struct saving *t, uint64_t start, uint64_t end, const char *path)
{
	union packet p = packet(start, end, path);

	return image_save_late(t->sessions, t->image, &p.m, NULL);
}

TEST_WITH(a_late_library_has_its_symbols_saved, begin_saving, end_saving)
{
	struct saving *t = *state;

	assert_int_equal(save_late(t, 0x1000, 0x2000, library()), 0);
	assert_false(has(t, library(), ".sym"));
	known(t, library())->has_functions = true;
	assert_int_equal(save_late(t, 0x1000, 0x2000, library()), 0);
	assert_true(has(t, library(), ".sym"));
	/* Symbols do not need an entry in the map. */
	assert_int_equal(t->image->map.nr, 0);
	assert_int_equal(save_late(t, 0x1000, 0x2000, "/no/such.so"), 0);
}

/* A module that overlaps another one, even by one byte, does not come into the map. */
TEST_WITH(with_arguments_it_comes_into_the_map_where_nothing_was, begin_saving, end_saving)
{
	struct saving *t = *state;

	t->pair.settings.captures.is_auto = true;
	t->pair.settings.captures.debug = &t->debug;
	t->pair.settings.captures.rules = &t->rules;
	add(t, 0x5000, t->self);
	assert_int_equal(save_late(t, 0x4000, 0x5001, "/no/such.so"), 0);
	assert_int_equal(save_late(t, 0x5fff, 0x7000, "/no/such.so"), 0);
	assert_int_equal(save_late(t, 0x5100, 0x5200, "/no/such.so"), 0);
	assert_int_equal(t->image->map.nr, 1);
	assert_int_equal(save_late(t, 0x4000, 0x5000, "/no/such.so"), 0);
	assert_int_equal(t->image->map.nr, 2);
	assert_int_equal(save_late(t, 0x6000, 0x7000, "/no/other.so"), 0);
	assert_int_equal(t->image->map.nr, 3);

	const struct map_entry *noted = t->image->map.entries;
	struct map_entry sorted[] = { noted[1], noted[0], noted[2] };
	struct module_map map = { sorted, 3 };
	struct strbuf expected cleanup_strbuf = { 0 };

	assert_string_equal(noted[0].path, t->self);
	assert_string_equal(noted[1].path, "/no/such.so");
	assert_string_equal(noted[2].path, "/no/other.so");
	module_map_encode(&map, &expected);
	check_map(t, strbuf_str(&expected));
}

/*
 * The map stays the same in memory: a writer thread may save it while the control thread reads it.
 */
TEST_WITH(the_map_is_not_changed_when_it_is_saved, begin_saving, end_saving)
{
	struct saving *t = *state;
	const struct map_entry *before;
	struct uft_err err = { 0 };

	add(t, 0x5000, t->self);
	add(t, 0x1000, "/no/such.so");
	before = t->image->map.entries;
	image_note_stack(t->image, getpid(), -1);
	assert_int_equal(image_save_map(t->image, t->sessions->store, &err), 0);
	assert_int_equal(t->image->map.nr, 2);
	assert_ptr_equal(t->image->map.entries, before);
	assert_int_equal(before[0].start, 0x5000);
	assert_int_equal(before[1].start, 0x1000);
}

static int refuse(struct store *store, const char *name, const struct iovec *parts, int nr,
		  int *stream, struct uft_err *err)
{
	return err_set(err, -ENOSPC, "no room for '%s'", strrchr(name, '.'));
}

TEST_WITH(what_cannot_be_written_is_told, begin_saving, end_saving)
{
	struct saving *t = *state;
	struct store *store = t->sessions->store;
	const struct store_ops *before = store->ops;
	struct store_ops ops = *before;
	struct uft_err err = { 0 };

	ops.publish = refuse;
	store->ops = &ops;
	add(t, 0x5000, t->self);
	known(t, t->self)->has_functions = true;
	assert_int_equal(image_save_map(t->image, store, &err), -ENOSPC);
	assert_string_equal(err.text, "no room for '.map'");
	assert_false(known(t, t->self)->is_saved);
	err = (struct uft_err){ 0 };
	assert_int_equal(image_save_symbols(t->sessions, t->image, &err), -ENOSPC);
	assert_string_equal(err.text, "no room for '.sym'");
	known(t, t->self)->is_saved = false;
	err = (struct uft_err){ 0 };
	assert_int_equal(sessions_save_module(t->sessions, t->self, &err), -ENOSPC);
	assert_string_equal(err.text, "no room for '.sym'");
	store->ops = before;
}
