/* What recording costs is looked at again and again while a limit is set, and nothing of that is left afterwards. */
#include "tests/unit/lib/recorder.h"

#include <dirent.h>
#include <sys/timerfd.h>

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

static void without_a_limit(void **state)
{
	struct overhead *o = &((struct test_recorder *)*state)->rec.overhead;

	assert_int_equal(o->timer_fd, -1);
	assert_null(o->writers->sample);
}

static void with_a_limit(void **state)
{
	struct test_recorder *t = *state;
	struct overhead *o = &t->rec.overhead;
	unsigned before = count_fds();
	struct itimerspec timer;

	t->settings.overhead_percent = 5;
	assert_int_equal(overhead_begin(o, NULL), 0);
	assert_non_null(o->writers->sample);
	assert_true(o->budget.limit > 0.04 && o->budget.limit < 0.06);
	assert_int_equal(timerfd_gettime(o->timer_fd, &timer), 0);
	assert_true(timer.it_value.tv_nsec > 0 && timer.it_interval.tv_nsec > 0);
	overhead_end(o);
	assert_int_equal(o->timer_fd, -1);
	assert_null(o->writers->sample);
	assert_int_equal(count_fds(), before);
}

#define each(test) \
	cmocka_unit_test_setup_teardown(test, test_recorder_setup, test_recorder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		each(without_a_limit),
		each(with_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
