/* A recorder that cannot begin: it says why, and leaves nothing open. */
#include "tests/unit/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "cmds/record/run/recorder.h"

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* As where the data directory could not be made. All descriptors are others', number 0 first of all. */
static void never_opened(void **unused)
{
	unsigned before = count_fds();
	struct recorder rec = { 0 };

	recorder_close(&rec);
	assert_int_equal(count_fds(), before);
}

static int refuse(struct store *store, const char *name)
{
	assert_string_equal(name, "task.txt");
	return -ENOSPC;
}

static void store_that_takes_nothing(void **unused)
{
	const struct store_ops ops = { .open = refuse };
	struct store store = { .ops = &ops };
	struct filters filters = { 0 };
	const struct watch_spec watch = { 0 };
	const struct event_rules events = { 0 };
	struct patch_rules patches = { 0 };
	const struct record_settings settings = {
		.filters = &filters,
		.watch = &watch,
		.events = &events,
		.patches = &patches,
		.segment_bytes = RING_PAGE,
		.clock_id = CLOCK_MONOTONIC,
	};
	unsigned before = count_fds();
	struct uft_err err = { 0 };
	struct recorder rec;

	assert_int_equal(recorder_open(&rec, &settings, &store, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot create 'task.txt': No space left on device");
	recorder_close(&rec);
	assert_int_equal(count_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_opened),
		cmocka_unit_test(store_that_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
