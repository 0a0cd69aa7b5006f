/* Functions of a file that was not compiled for tracing: the library that runs these tests. */
#include "tests/unit/lib/unit.h"

#include <dlfcn.h>
#include <errno.h>

#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/unprepared.h"
#include "utils/base/compiler.h"
#include "utils/object/elf_file.h"

#define VICTIM "_cmocka_run_group_tests"

static size_t find_victim(const struct functions *functions)
{
	for (size_t i = 0; i < functions->nr; i++) {
		const char *name = functions->list[i].name;

		if (name && strcmp(name, VICTIM) == 0)
			return i;
	}
	fail_msg("there is no such function");
	return 0;
}

/* The functions that a test has chosen, and their results. @verdicts may be NULL. */
struct choice {
	const struct unprepared *u;
	const bool *chosen;
	struct strbuf *found;
	struct unprepared_verdict *verdicts;
};

static void take_chosen(const struct function *function, const struct unprepared_verdict *verdict,
			const struct strbuf *found, void *arg)
{
	const struct choice *choice = arg;
	size_t index = function - choice->u->functions.list;

	if (!choice->chosen[index])
		return;
	strbuf_add(choice->found, found->data, found->len);
	if (choice->verdicts)
		choice->verdicts[index] = *verdict;
}

static void find_chosen(const struct unprepared *u, const bool *chosen, struct strbuf *found,
			struct unprepared_verdict *verdicts)
{
	struct choice choice = { u, chosen, found, verdicts };

	assert_int_equal(unprepared_find_all(u, take_chosen, &choice, NULL), 0);
}

/* A chosen function is found once; other functions keep their verdicts. */
TEST(one_of_many)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct unprepared u cleanup_unprepared = { 0 };
	struct strbuf found cleanup_strbuf = { 0 };
	Dl_info library;
	int ret;

	assert_true(dladdr((void *)_cmocka_run_group_tests, &library));
	assert_int_equal(elf_file_open(&file, library.dli_fname, NULL), 0);
	ret = unprepared_open(&u, &file, library.dli_fname, NULL, NULL);
	if (ret == -ENOSYS)
		skip_because("this build knows no instructions of this machine");
	assert_int_equal(ret, 0);
	assert_null(u.why_not);

	size_t at = find_victim(&u.functions);
	bool *chosen = calloc(u.functions.nr, sizeof(*chosen));
	struct unprepared_verdict *verdicts = calloc(u.functions.nr, sizeof(*verdicts));

	assert_true(chosen && verdicts);
	for (size_t i = 0; i < u.functions.nr; i++)
		verdicts[i].way = UNPREPARED_WAYS;
	find_chosen(&u, chosen, &found, verdicts);
	assert_int_equal(found.len, 0);

	chosen[at] = true;
	find_chosen(&u, chosen, &found, verdicts);
	assert_true(found.len >= sizeof(struct found_patch));
	assert_true(verdicts[at].way < UNPREPARED_CANNOT);
	assert_string_equal(verdicts[at].why_not, "");
	for (size_t i = 0; i < u.functions.nr; i++)
		assert_true(i == at || verdicts[i].way == UNPREPARED_WAYS);

	const struct found_patch *list = (const struct found_patch *)found.data;
	size_t nr = found.len / sizeof(*list);

	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(list[i].func, u.functions.list[at].start);
		assert_int_equal(found_patch_is_function(&list[i]), i == nr - 1);
	}
	free(chosen);
	free(verdicts);
}

/* --- functions of all shapes --- */

/* The library made of lib/probe/shapes.c. */
static const char *shapes;

struct looked {
	struct elf_file file;
	struct unprepared u;
	struct strbuf found;
	struct unprepared_verdict verdicts[64];
	bool chosen[64];
};

static struct looked *look(const char *path)
{
	static struct looked l;
	int ret;

	l = (struct looked){ .file = ELF_FILE_CLOSED };
	assert_int_equal(elf_file_open(&l.file, shapes, NULL), 0);
	ret = unprepared_open(&l.u, &l.file, path, NULL, NULL);
	assert_int_equal(ret, 0);
	assert_true(l.u.functions.nr <= ARRAY_SIZE(l.chosen));
	return &l;
}

static void look_away(struct looked *l)
{
	strbuf_deinit(&l->found);
	unprepared_close(&l->u);
	assert_null(l->u.functions.list);
	assert_null(l->u.insns);
	elf_file_close(&l->file);
}

static size_t index_of(const struct looked *l, const char *name)
{
	for (size_t i = 0; i < l->u.functions.nr; i++) {
		const char *has = l->u.functions.list[i].name;

		if (has && strcmp(has, name) == 0)
			return i;
	}
	fail_msg("there is no %s", name);
	return 0;
}

static void choose_all(struct looked *l)
{
	memset(l->chosen, true, sizeof(l->chosen));
	find_chosen(&l->u, l->chosen, &l->found, l->verdicts);
}

static void check_verdict(const struct looked *l, const char *name, unsigned way, const char *text)
{
	const struct unprepared_verdict *verdict = &l->verdicts[index_of(l, name)];

	if (verdict->way != way || strcmp(verdict->why_not, text) != 0)
		fail_msg("%s: %u '%s'", name, verdict->way, verdict->why_not);
}

/* Returns the patch that stands for the function. */
static const struct found_patch *patch_of(const struct looked *l, const char *name)
{
	const struct found_patch *list = (const struct found_patch *)l->found.data;
	uint64_t start = l->u.functions.list[index_of(l, name)].start;

	for (size_t i = 0; i < l->found.len / sizeof(*list); i++) {
		if (list[i].func == start && found_patch_is_function(&list[i]))
			return &list[i];
	}
	return NULL;
}

static uint64_t start_of(const struct looked *l, const char *name)
{
	return l->u.functions.list[index_of(l, name)].start;
}

TEST(each_shape_is_patched_in_its_way)
{
	struct looked *l = look("/lib/libshapes.so");

	choose_all(l);
	check_verdict(l, "shape_plain", UNPREPARED_JUMP, "");
	check_verdict(l, "shape_pad", UNPREPARED_JUMP, "");
	check_verdict(l, "shape_exact", UNPREPARED_JUMP, "");
	check_verdict(l, "shape_loop", UNPREPARED_LOOP, "");
	check_verdict(l, "shape_short", UNPREPARED_ISLAND, "");
	check_verdict(l, "memcpy", UNPREPARED_JUMP, "");
	check_verdict(l, "shape_chosen", UNPREPARED_CANNOT + FUNCTION_RESOLVER,
		      "the loader calls it to choose a function");
	/* The reason against shape_byte is a detailed one about its code. */
	assert_true(l->verdicts[index_of(l, "shape_byte")].way >
		    UNPREPARED_CANNOT + FUNCTION_KINDS);
	assert_true(l->verdicts[index_of(l, "shape_byte")].why_not[0]);
	assert_null(patch_of(l, "shape_chosen"));
	assert_null(patch_of(l, "shape_byte"));
	look_away(l);
}

/*
 * A landing pad for indirect jumps stays before the patch. Records have the address after the jump,
 * if that address still belongs to the function.
 */
TEST(a_patch_is_behind_the_landing_pad)
{
	struct looked *l = look("/lib/libshapes.so");

	choose_all(l);
	assert_int_equal(patch_of(l, "shape_plain")->patch.what, PATCH_ENTRY);
	assert_int_equal(patch_of(l, "shape_plain")->patch.site, start_of(l, "shape_plain"));
	assert_int_equal(patch_of(l, "shape_plain")->patch.addr, start_of(l, "shape_plain") + 5);
	assert_int_equal(patch_of(l, "shape_pad")->patch.site, start_of(l, "shape_pad") + 4);
	assert_int_equal(patch_of(l, "shape_pad")->patch.addr, start_of(l, "shape_pad") + 9);
	assert_int_equal(patch_of(l, "shape_exact")->patch.site, start_of(l, "shape_exact"));
	assert_int_equal(patch_of(l, "shape_exact")->patch.addr, start_of(l, "shape_exact"));
	assert_int_equal(patch_of(l, "shape_short")->patch.addr, start_of(l, "shape_short"));
	look_away(l);
}

TEST(verdicts_need_not_be_asked_for)
{
	struct looked *l = look("/lib/libshapes.so");

	l->chosen[index_of(l, "shape_chosen")] = true;
	l->chosen[index_of(l, "memcpy")] = true;
	find_chosen(&l->u, l->chosen, &l->found, NULL);
	assert_int_equal(l->found.len, sizeof(struct found_patch));
	assert_non_null(patch_of(l, "memcpy"));
	look_away(l);
}

/*
 * Functions of the C library that the probe calls are left alone, whatever the version. Functions
 * of other libraries are not.
 */
TEST(what_the_probe_calls_of_the_c_library_is_left_alone)
{
	static const char *const paths[] = { "/lib/libc.so.6", "/lib/libc-2.31.so",
					     "/lib/libc.musl-x86_64.so.1" };
	static const char *const needed[] = { "memcpy",	     "__memcpy",	  "__memcpy_any",
					      "__GI_memcpy", "__GI___memcpy_any", "errno_location",
					      "syscall" };
	static const char *const others[] = { "memcpy_any", "__memcpyx",    "memcp",
					      "xmemcpy",    "__GI_nothing", "shape_plain" };

	for (size_t k = 0; k < ARRAY_SIZE(paths); k++) {
		struct looked *l = look(paths[k]);

		choose_all(l);
		for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
			check_verdict(l, needed[i], UNPREPARED_CANNOT + FUNCTION_NEEDED,
				      "the probe calls it itself");
		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			check_verdict(l, others[i], UNPREPARED_JUMP, "");
		/* A reason from the function itself counts before this one. */
		check_verdict(l, "shape_chosen", UNPREPARED_CANNOT + FUNCTION_RESOLVER,
			      "the loader calls it to choose a function");
		look_away(l);
	}
	struct looked *l = look("/lib/libc.so/libm.so");

	choose_all(l);
	check_verdict(l, "memcpy", UNPREPARED_JUMP, "");
	look_away(l);
}

TEST(a_loader_is_left_alone)
{
	static const char *const paths[] = { "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x.so.1",
					     "/lib/ld-2.31.so", "/opt/libmcount.so" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct looked *l = look(paths[i]);

		assert_string_equal(l->u.why_not, "it is needed before anything can be recorded");
		assert_int_equal(l->u.functions.nr, 0);
		look_away(l);
	}
	struct looked *l = look("/ld-linux/prog");

	assert_null(l->u.why_not);
	look_away(l);
}

TEST(code_of_another_machine_is_left_alone)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct unprepared u cleanup_unprepared = { 0 };

	assert_int_equal(elf_file_open(&file, shapes, NULL), 0);
	file.head.e_machine++;
	assert_int_equal(unprepared_open(&u, &file, shapes, NULL, NULL), 0);
	assert_string_equal(u.why_not, "it is code of another machine");
	file.head.e_machine--;
	file.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(unprepared_open(&u, &file, shapes, NULL, NULL), 0);
	assert_string_equal(u.why_not, "it is code of another machine");
}

TEST(each_way_has_its_words)
{
	assert_string_equal(unprepared_way_text(UNPREPARED_JUMP), "a jump");
	assert_string_equal(unprepared_way_text(UNPREPARED_LOOP),
			    "a jump, and a loop that is moved");
	assert_string_equal(unprepared_way_text(UNPREPARED_ISLAND), "a short jump to a long one");
	assert_null(unprepared_way_text(UNPREPARED_CANNOT + FUNCTION_WHOLE));
	for (unsigned i = 1; i < FUNCTION_KINDS; i++)
		assert_string_equal(unprepared_way_text(UNPREPARED_CANNOT + i),
				    function_kind_text(i));
	for (unsigned i = 0; i < SITE_REFUSALS; i++)
		assert_string_equal(unprepared_way_text(UNPREPARED_CANNOT + FUNCTION_KINDS + i),
				    site_refusal_text(i));
}

int main(int argc, char *argv[])
{
	if (argc != 2)
		return 2;
	shapes = argv[1];
	return unit_run();
}
