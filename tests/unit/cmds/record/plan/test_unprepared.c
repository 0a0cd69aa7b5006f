/* Functions of a file that was not compiled for tracing: of the library that runs these tests. */
#include "tests/unit/lib/unit.h"

#include <dlfcn.h>
#include <errno.h>

#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/unprepared.h"
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

/* What is chosen is found, once, and the others' verdicts are not touched. */
static void one_of_many(void **state)
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
		skip();
	assert_int_equal(ret, 0);
	assert_null(u.why_not);

	size_t at = find_victim(&u.functions);
	bool *chosen = calloc(u.functions.nr, sizeof(*chosen));
	struct unprepared_verdict *verdicts = calloc(u.functions.nr, sizeof(*verdicts));

	assert_true(chosen && verdicts);
	for (size_t i = 0; i < u.functions.nr; i++)
		verdicts[i].way = UNPREPARED_WAYS;
	assert_int_equal(unprepared_find(&u, chosen, &found, verdicts, NULL), 0);
	assert_int_equal(found.len, 0);

	chosen[at] = true;
	assert_int_equal(unprepared_find(&u, chosen, &found, verdicts, NULL), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
