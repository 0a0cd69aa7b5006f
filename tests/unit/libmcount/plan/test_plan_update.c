/*
 * The reaction of a process to a new plan: the word that it reads, calls that stubs may skip, and
 * threads that do not look at it.
 */
#include "libmcount/plan/plan_update.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/hot/aside.h"
#include "libmcount/system/module_lock.h"
#include "libmcount/system/modules.h"
#include "libmcount/plan/plans.h"
#include "libmcount/system/seal.h"
#include "tests/unit/lib/probe/sketch.h"
#include "tests/unit/lib/unit.h"

static struct pair pair;
static struct thread *t;
static struct arena *arena;
static struct control_page *control;
static unsigned nr_asked;
static uint64_t stack[64];

/* Connecting to the recorder always fails. */
static int refuse(void *arg)
{
	nr_asked++;
	return -ECONNREFUSED;
}

static void start(uint32_t flags)
{
	struct sketch sketch = { "--------", 0, 64, PLAN_SELECTIVE | flags };
	int fd;

	pair_init(&pair);
	pair_open(&pair);
	fd = sketch_image(&sketch);
	assert_int_equal(plans_begin(fd), 0);
	close(fd);
	arena = probe.arena;
	control = pair.rec.control;
	plan_update_begin();
	t = self = pair_thread();
	assert_non_null(t);
	nr_asked = 0;
	pair_before(SYS_socket, refuse, NULL);
}

static void stop(void)
{
	pair_before(0, NULL, NULL);
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	assert_int_equal(plans_reclaim(), 0);
}

/* Check the state after all news were handled. */
static void check_quiet(void)
{
	assert_int_equal(arena->news, 0);
	assert_true(probe_skips);
	assert_false(plan_update_has_news());
}

TEST(a_process_begins_by_looking)
{
	start(PLAN_STEERABLE);
	assert_ptr_equal(probe.news, &arena->news);
	assert_true(plan_update_has_news());
	assert_false(probe_skips);
	plan_update_obey(t);
	check_quiet();
	assert_int_equal(nr_asked, 0);
	/* Stubs skip no calls while there are news that no thread has taken. */
	arena->may_skip = 0;
	arena->news = 1;
	assert_false(probe_skips);
	plan_update_obey(t);
	check_quiet();
	assert_int_equal(arena->may_skip, 1);
	stop();
}

TEST(the_end_is_the_end_for_all)
{
	for (unsigned i = 0; i < 2; i++) {
		start(i ? PLAN_STEERABLE : 0);
		assert_true(probe.tracing);
		control->finished = 1;
		plan_update_obey(t);
		assert_false(probe.tracing);
		assert_false(probe.plain);
		control->finished = 0;
		stop();
	}
}

TEST(who_is_not_to_be_steered_looks_at_nothing)
{
	start(0);
	assert_ptr_equal(probe.news, &control->finished);
	control->plan_generation = 5;
	probe_skips = false;
	plan_update_obey(t);
	assert_false(probe_skips);
	assert_int_equal(nr_asked, 0);
	plan_update_after_fork();
	assert_ptr_equal(probe.news, &control->finished);
	control->plan_generation = 0;
	stop();
}

/* A plan that cannot be fetched is requested once. The next plan is requested again. */
TEST(a_plan_that_cannot_be_had_is_given_up)
{
	start(PLAN_STEERABLE);
	plan_update_obey(t);
	control->plan_generation = 5;
	for (unsigned i = 0; i < 3; i++) {
		arena->news = 1;
		plan_update_obey(t);
		assert_int_equal(nr_asked, 1);
		check_quiet();
	}
	control->plan_generation = 6;
	arena->news = 1;
	plan_update_obey(t);
	assert_int_equal(nr_asked, 2);
	check_quiet();
	control->plan_generation = 0;
	stop();
}

/*
 * Calls of a handler do not look for a plan. With PLAN_ESTIMATE (-e) probe_skips stays false, since
 * each call needs its hook.
 */
TEST(some_do_not_ask)
{
	start(PLAN_STEERABLE);
	plan_update_obey(t);
	control->plan_generation = 5;
	arena->news = 1;
	t->is_aside = 1;
	plan_update_obey(t);
	t->is_aside = 0;
	assert_int_equal(arena->news, 1);
	assert_int_equal(nr_asked, 0);
	control->plan_generation = 0;
	probe.plan.flags |= PLAN_ESTIMATE;
	plan_update_obey(t);
	assert_int_equal(arena->news, 0);
	assert_false(probe_skips);
	probe.plan.flags &= ~(uint32_t)PLAN_ESTIMATE;
	stop();
}

/* While another thread has the lock of modules, the plan stays. The next call looks again. */
TEST(who_cannot_look_now_looks_again)
{
	start(PLAN_STEERABLE);
	plan_update_obey(t);
	control->plan_generation = 7;
	arena->news = 0;
	assert_true(module_try_lock());
	plan_update_obey(t);
	assert_int_equal(nr_asked, 0);
	assert_int_equal(arena->news, 1);
	assert_false(probe_skips);
	module_unlock();
	plan_update_obey(t);
	assert_int_equal(nr_asked, 1);
	check_quiet();
	control->plan_generation = 0;
	stop();
}

static uint64_t mask(void)
{
	uint64_t now;

	syscall(SYS_rt_sigprocmask, 0, NULL, &now, sizeof(now));
	return now;
}

TEST(the_mask_is_what_it_was)
{
	uint64_t before = mask();

	start(PLAN_STEERABLE);
	plan_update_obey(t);
	assert_int_equal(mask(), before);
	stop();
}

/* The child has its parent's arena. Until it has its own, it looks for news at each call. */
TEST(a_forked_child_looks_at_each_call)
{
	start(PLAN_STEERABLE);
	plan_update_obey(t);
	check_quiet();
	plan_update_after_fork();
	assert_true(plan_update_has_news());
	assert_false(probe_skips);
	/* The child takes no news from its parent's page, and does not clear them. */
	arena->news = 1;
	plan_update_obey(t);
	assert_int_equal(arena->news, 1);
	assert_false(probe_skips);
	assert_int_equal(nr_asked, 0);
	control->plan_generation = 8;
	plan_update_obey(t);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(arena->news, 1);
	assert_false(probe_skips);
	plan_update_obey(t);
	assert_int_equal(nr_asked, 1);
	plan_update_begin();
	assert_ptr_equal(probe.news, &arena->news);
	control->plan_generation = 0;
	stop();
}

/*
 * The header cannot be mapped a second time, because it is private. Some kernels unmap the page at
 * the new address before mremap(2) fails. The stubs can still read the page, and each hook looks
 * for news.
 */
TEST(a_header_that_cannot_be_mapped_again)
{
	start(PLAN_STEERABLE);
	probe.arena = mmap(NULL, RING_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	assert_true(probe.arena != MAP_FAILED);
	plan_update_begin();
	assert_false(probe_skips);
	assert_true(plan_update_has_news());
	assert_int_equal(munmap(probe.arena, RING_PAGE), 0);
	probe.arena = arena;
	plan_update_begin();
	assert_ptr_equal(probe.news, &arena->news);
	stop();
}

/*
 * The stub has just noted that a function may be skipped. The note is dropped if the plan has
 * changed since.
 */
TEST(what_is_skipped_is_so_by_the_plan_in_force)
{
	uint64_t noted = 5;

	start(PLAN_STEERABLE);
	sketch_call(&stack[40], 0);
	plan_update_check_skip(t->planned, &noted);
	assert_int_equal(noted, 5);
	t->planned->plan = NULL;
	plan_update_check_skip(t->planned, &noted);
	assert_int_equal(noted, 0);
	t->planned->plan = probe.live;
	sketch_leave(&stack[40], 0);
	stop();
}

/* This is the last test, since a process cannot leave a seal. */
TEST(in_a_cage_nobody_asks)
{
	start(PLAN_STEERABLE);
	assert_true(seal_may_talk());
	seal_all();
	assert_false(seal_may_talk());
	control->plan_generation = 9;
	arena->news = 1;
	plan_update_obey(t);
	assert_int_equal(nr_asked, 0);
	check_quiet();
	plan_update_after_fork();
	plan_update_obey(t);
	assert_int_equal(nr_asked, 0);
	control->plan_generation = 0;
	stop();
}
