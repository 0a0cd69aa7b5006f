/* Symbols of modules: written when something of a module can be recorded, and once. */
#include <dlfcn.h>
#include <unistd.h>

#include "tests/unit/lib/pair.h"
#include "tests/unit/lib/unit.h"

static const char *library(void)
{
	Dl_info info;

	assert_true(dladdr((void *)_cmocka_run_group_tests, &info));
	return info.dli_fname;
}

static void saved_once(void **state)
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
	/* There are more names than there were. */
	known->is_saved = false;
	assert_int_equal(sessions_save_module(sessions, known->path, NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	pair_stop(&pair);
	pair_close(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saved_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
