/* Changes of a recording that goes on: what was not asked for stays as it is, and what is refused changes nothing. */
#include "tests/unit/lib/recorder.h"

#include <errno.h>

static int setup(void **state)
{
	int ret = test_recorder_setup(state);
	struct test_recorder *t = *state;

	t->settings.is_steerable = t->settings.has_agent = true;
	t->rec.steering.now = t->settings;
	return ret;
}

static void change(struct recorder *rec, uint32_t flags)
{
	const struct steer_change change = { .flags = flags, .depth = 3, .time_ns = 7, .size = 9 };

	struct strbuf said cleanup_strbuf = { 0 };

	assert_int_equal(steering_change(&rec->steering, &change, &said, NULL), 0);
}

/* Who has switched it off, or waits for a trigger, and then sets a limit does not want to be recorded because of that. */
static void limits_do_not_switch_it_on(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;

	steer->now.trace_on = false;
	change(rec, STEER_DEPTH);
	assert_int_equal(steer->now.depth, 3);
	assert_int_equal(steer->now.size_filter, 0);
	assert_int_equal(steer->now.threshold_ns, 0);
	assert_true(steer->is_on);
	assert_false(steer->now.trace_on);
	change(rec, STEER_OFF);
	change(rec, STEER_TIME | STEER_SIZE);
	assert_int_equal(steer->now.threshold_ns, 7);
	assert_int_equal(steer->now.size_filter, 9);
	assert_false(steer->is_on);
	assert_false(steer->now.trace_on);
	change(rec, STEER_ON);
	assert_true(steer->is_on);
	assert_true(steer->now.trace_on);
	change(rec, STEER_DEPTH);
	assert_true(steer->is_on);
}

/* While it is off, plans let in what no function is. That does not outlast it. */
static void off_and_on(void **state)
{
	const uint32_t opt_in = PLAN_OPT_IN_FILTER | PLAN_OPT_IN_CALLER | PLAN_OPT_IN_LOCATION;
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	const struct plan *plan = rec->steering.plan;

	for (unsigned i = 1; i < 6; i += 2) {
		change(rec, STEER_OFF);
		assert_int_equal(plan->flags & opt_in, PLAN_OPT_IN_FILTER);
		assert_int_equal(plan->generation, i);
		change(rec, STEER_ON);
		assert_int_equal(plan->flags & opt_in, 0);
		assert_int_equal(plan->generation, i + 1);
	}
}

/* Plans that are made later know nothing of filters that were refused. */
static void what_is_refused_leaves_nothing(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;
	struct steer_change wrong cleanup_steer_change = { .flags = STEER_SPECS,
							   .match = MATCH_SIMPLE };
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet = { .m = { .start = 4096, .end = 8192, .has_text = 1 } };
	struct control_module *modules[] = { &packet.m };
	struct process proc = { .peer = { getpid(), getuid(), getgid() },
				.modules = modules,
				.nr_kept_modules = 1 };
	struct known_module *known;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	assert_non_null(realpath("/proc/self/exe", packet.m.path));
	known = known_module_get(&steer->planner->modules, packet.m.path);
	assert_non_null(known);
	known->has_functions = true;
	rec->processes.live = &proc;
	/* The first one is there. */
	strbuf_addstr(&wrong.specs[SPEC_FILTER], "main;no_such_function");
	assert_int_equal(steering_change(steer, &wrong, &said, &err), -ENOENT);
	rec->processes.live = NULL;
	assert_non_null(strstr(err.text, "no_such_function"));
	assert_int_equal(steer->generation, 0);
	assert_int_equal(steer->now.filters->nr, 0);
	assert_false(known->is_bound);
	assert_int_equal(known->funcs.len, 0);
	assert_int_equal(steer->planner->binder.entries.lists[PLAN_RULES].len, 0);
}

#define each(test) cmocka_unit_test_setup_teardown(test, setup, test_recorder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		each(limits_do_not_switch_it_on),
		each(off_and_on),
		each(what_is_refused_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
