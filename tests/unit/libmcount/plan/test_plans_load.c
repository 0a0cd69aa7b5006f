/*
 * Plans are replaced while eight threads make calls. The records of each call match, and plans that
 * no thread needs are freed.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "libmcount/plan/plans.h"
#include "tests/unit/lib/probe/sketch.h"
#include "tests/unit/lib/unit.h"

#define NR_THREADS   8
#define REPLACEMENTS 10000

static const struct sketch sketches[] = {
	{ "++++++++", 0, 64,
	  PLAN_SELECTIVE }, /* the first and the last plan: they record everything */
	{ "-nf-t-d-", 0, 64, PLAN_SELECTIVE },
	{ "-f-Fn-+-", 0, 64, PLAN_SELECTIVE | PLAN_OPT_IN_FILTER },
	{ "-------f", 0, 64, PLAN_SELECTIVE | PLAN_OPT_IN_FILTER },
	{ "-+T+-+n-", 2000, 3, PLAN_SELECTIVE },
	{ "--------", 0, 2, PLAN_SELECTIVE },
	{ "n-------", 0, 64,
	  PLAN_SELECTIVE }, /* no records inside of function 0, which is always open */
};

struct runner {
	pthread_t id;
	_Atomic unsigned trees; /* the number of trees that the thread has called */
	int32_t tid;
	struct thread *t;
	uint64_t stack[64];
};

static _Atomic unsigned replaced; /* the number of replacements so far */
static _Atomic unsigned inside;	  /* the number of threads in function 0 */

static void *run(void *arg)
{
	struct runner *r = arg;
	uint64_t *outer = &r->stack[60];

	self = r->t;
	sketch_call(outer, 0);
	atomic_fetch_add(&inside, 1);
	/* A thread makes few calls under each plan, so that the recording stays small. */
	while (atomic_load(&replaced) < REPLACEMENTS) {
		if (r->trees <= atomic_load(&replaced)) {
			sketch_tree(outer - 2, 1);
			atomic_fetch_add(&r->trees, 1);
		} else {
			sched_yield();
		}
	}
	sketch_leave(outer, 0);
	sketch_tree(outer, 1);
	return NULL;
}

/*
 * Wait until each thread has called so many trees. By then it has seen the plan, even if it skipped
 * earlier ones.
 */
static void wait_for_trees(struct runner *runners, unsigned nr)
{
	for (unsigned i = 0; i < NR_THREADS; i++) {
		while (atomic_load(&runners[i].trees) < nr)
			sched_yield();
		assert_ptr_equal(runners[i].t->planned->plan, probe.live);
	}
}

TEST(under_load)
{
	static struct runner runners[NR_THREADS];
	int fds[ARRAY_SIZE(sketches)];
	struct pair pair;

	pair_init(&pair);
	pair.settings.nr_writers = 1;
	pair_open(&pair);
	for (unsigned i = 0; i < ARRAY_SIZE(sketches); i++)
		fds[i] = sketch_image(&sketches[i]);
	assert_int_equal(plans_begin(fds[0]), 0);
	for (unsigned i = 0; i < NR_THREADS; i++) {
		runners[i].t = pair_thread();
		runners[i].tid = runners[i].t->ring->tid;
		assert_int_equal(pthread_create(&runners[i].id, NULL, run, &runners[i]), 0);
	}
	while (atomic_load(&inside) < NR_THREADS)
		sched_yield();
	for (unsigned i = 1; i <= REPLACEMENTS; i++) {
		int fd = fds[i == REPLACEMENTS ? 0 : i % ARRAY_SIZE(sketches)];

		if (i == REPLACEMENTS)
			wait_for_trees(runners, i);
		assert_int_equal(plans_replace(fd), 0);
		/*
		 * A thread keeps four kinds of plans: the one that it knows, the next one, the one
		 * that it has just left, and those that its open calls need.
		 */
		assert_in_range(plans_reclaim(), 1, NR_THREADS * (SKETCH_LEVELS + 3));
		atomic_store(&replaced, i);
	}
	for (unsigned i = 0; i < NR_THREADS; i++)
		pthread_join(runners[i].id, NULL);
	assert_int_equal(plans_reclaim(), 0);
	pair_stop(&pair);
	for (unsigned i = 0; i < NR_THREADS; i++) {
		struct sketch_reader r = { .file = pair_data(&pair, runners[i].tid) };

		sketch_check_end(&r);
		strbuf_deinit(&r.file);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(sketches); i++)
		close(fds[i]);
	pair_close(&pair);
}
