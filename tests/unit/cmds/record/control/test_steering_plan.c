/*
 * Unit tests of cmds/record/control/steering.c: the plans after a change, and how the recording
 * notes the change.
 */
#include "tests/unit/lib/record/recorder.h"

#include <errno.h>
#include <sys/mman.h>

#include "cmds/record/control/steering.h"
#include "cmds/record/plan/modules.h"
#include "utils/format/probe/plan.h"
#include "utils/spec/steer.h"

static int setup(void **state)
{
	int ret = test_recorder_setup(state);
	struct test_recorder *t = *state;

	t->settings.is_steerable = t->settings.has_agent = true;
	t->rec.steering.now = t->settings;
	return ret;
}

/* @text: NULL for none */
static void change(struct test_recorder *t, struct steer_change what, const char *text)
{
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	if (text)
		strbuf_addstr(&what.text, text);
	if (steering_change(&t->rec.steering, &what, &said, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(said.len, 0);
	strbuf_deinit(&what.text);
}

TEST_WITH(limits_are_in_the_plan, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	const struct plan *plan = t->rec.steering.plan;

	change(t,
	       (struct steer_change){ .flags = STEER_DEPTH, .depth = 3, .time_ns = 7, .size = 9 },
	       NULL);
	assert_int_equal(plan->depth, 3);
	assert_int_equal(plan->threshold_ns, 0);
	assert_int_equal(plan->size_filter, 0);
	change(t,
	       (struct steer_change){
		       .flags = STEER_TIME | STEER_SIZE, .depth = 4, .time_ns = 7, .size = 9 },
	       NULL);
	assert_int_equal(plan->depth, 3);
	assert_int_equal(plan->threshold_ns, 7);
	assert_int_equal(plan->size_filter, 9);
	/* A size beyond the plan's range becomes the largest that the plan can hold. */
	change(t, (struct steer_change){ .flags = STEER_SIZE, .size = UINT32_MAX }, NULL);
	assert_int_equal(plan->size_filter, UINT32_MAX);
	change(t, (struct steer_change){ .flags = STEER_SIZE, .size = 1ULL << 32 }, NULL);
	assert_int_equal(plan->size_filter, UINT32_MAX);
	assert_int_equal(t->rec.steering.now.size_filter, 1ULL << 32);
}

TEST_WITH(each_change_is_a_generation, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct steering *steer = &t->rec.steering;
	uint64_t before = settings_now_ns(&t->settings);

	for (unsigned i = 1; i <= 3; i++) {
		change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = i }, NULL);
		assert_int_equal(steer->generation, i);
		assert_int_equal(steer->plan->generation, i);
		assert_int_equal(atomic_load(&t->rec.control->plan_generation), i);
		assert_true(steer->changed_ns >= before);
		assert_true(steer->changed_ns <= settings_now_ns(&t->settings));
	}
	/* A query changes nothing. */
	change(t, (struct steer_change){ .flags = STEER_STATUS }, NULL);
	assert_int_equal(steer->generation, 3);
}

TEST_WITH(on_and_off_are_in_the_plan, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct steering *steer = &t->rec.steering;

	/* Recording stays off until a trigger, or a user, switches it on. */
	steer->now.trace_on = false;
	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 9 }, NULL);
	assert_int_equal(steer->plan->flags & PLAN_TRACE_OFF, PLAN_TRACE_OFF);
	assert_false(steer->planner->is_off);
	assert_int_equal(steer->plan->on_generation, 0);
	change(t, (struct steer_change){ .flags = STEER_ON }, NULL);
	assert_int_equal(steer->plan->flags & PLAN_TRACE_OFF, 0);
	assert_int_equal(steer->plan->on_generation, 2);
	change(t, (struct steer_change){ .flags = STEER_OFF }, NULL);
	assert_true(steer->planner->is_off);
	assert_int_equal(steer->plan->flags & PLAN_TRACE_OFF, 0);
	assert_int_equal(steer->plan->on_generation, 2);
	change(t, (struct steer_change){ .flags = STEER_ON }, NULL);
	assert_false(steer->planner->is_off);
	assert_int_equal(steer->plan->on_generation, 4);
}

/* Each change is noted as one line, whatever text it contains. */
TEST_WITH(changes_are_noted_with_their_time, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	uint64_t before = settings_now_ns(&t->settings);
	unsigned long long seconds, rest;
	char *text;
	char *second;

	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 3 }, "depth\n3");
	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 4 }, "depth 4");
	text = test_recorder_file(t, "extern.dat");
	assert_int_equal(sscanf(text, "%llu.%9llu", &seconds, &rest), 2);
	assert_int_equal(strchr(text, ' ') - strchr(text, '.'), 10);
	assert_true(seconds * 1000000000 + rest >= before);
	assert_true(seconds * 1000000000 + rest <= settings_now_ns(&t->settings));
	second = strchr(text, '\n') + 1;
	assert_memory_equal(strchr(text, ' '), " utrail: depth 3\n", 17);
	assert_string_equal(strchr(second, ' '), " utrail: depth 4\n");
	free(text);
}

static int refuse_to_open(struct store *store, const char *name)
{
	return strcmp(name, "extern.dat") == 0 ? -EMFILE : -EIO;
}

static int refuse_to_append(struct store *store, int stream, const struct iovec *parts, int nr)
{
	return -ENOSPC;
}

TEST_WITH(notes_that_cannot_be_written_are_an_error_of_the_store, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct store *store = t->rec.store;
	const struct store_ops *before = store->ops;
	struct store_ops ops = *before;

	ops.open = refuse_to_open;
	store->ops = &ops;
	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 3 }, "depth 3");
	assert_int_equal(atomic_load(&store->error), -EMFILE);
	atomic_store(&store->error, 0);
	ops.open = before->open;
	ops.append = refuse_to_append;
	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 3 }, "depth 3");
	assert_int_equal(atomic_load(&store->error), -ENOSPC);
	store->ops = before;
	atomic_store(&store->error, 0);
}

TEST_WITH(who_stops_it_ends_it, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;

	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 3 }, NULL);
	assert_int_equal(atomic_load(&t->rec.control->finished), 0);
	change(t, (struct steer_change){ .flags = STEER_STOP }, NULL);
	assert_true(atomic_load(&t->rec.control->finished) != 0);
}

/* --- plans for processes --- */

static struct plan plan_of(struct test_recorder *t, struct process *proc)
{
	int fd = steering_plan(&t->rec.steering, proc);
	struct plan_view view;
	struct plan plan;
	struct stat st;
	void *image;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(image, MAP_FAILED);
	assert_int_equal(plan_open(&view, image, st.st_size, NULL), 0);
	assert_int_equal(view.lists[PLAN_SETTINGS].nr, 1);
	plan_copy(&view, PLAN_SETTINGS, &plan);
	munmap(image, st.st_size);
	close(fd);
	return plan;
}

TEST_WITH(a_process_gets_the_newest_plan, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet = { .m = { .start = 4096, .end = 8192, .has_text = 1 } };
	struct control_module *modules[] = { &packet.m };
	struct process proc = { .modules = modules, .nr_kept_modules = 1 };
	struct known_module *known;
	struct plan plan;

	assert_non_null(realpath("/proc/self/exe", packet.m.path));
	known = known_module_get(&t->rec.planner.modules, packet.m.path);
	assert_non_null(known);
	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 6 }, NULL);
	plan = plan_of(t, &proc);
	assert_int_equal(plan.depth, 6);
	assert_int_equal(plan.generation, 1);
	assert_int_equal(plan.flags & PLAN_STACKS, 0);
	assert_int_equal(proc.plan_generation, 1);
	known->switches_stacks = true;
	change(t, (struct steer_change){ .flags = STEER_DEPTH, .depth = 7 }, NULL);
	plan = plan_of(t, &proc);
	assert_int_equal(plan.depth, 7);
	assert_int_equal(plan.flags & PLAN_STACKS, PLAN_STACKS);
	assert_int_equal(proc.plan_generation, 2);
	/* Only the plan of this process has the flag. */
	assert_int_equal(t->rec.steering.plan->flags & PLAN_STACKS, 0);
	proc.nr_kept_modules = 0;
	assert_int_equal(plan_of(t, &proc).flags & PLAN_STACKS, 0);
}
