/* Walks of calls by chance, of which the recorder has to have what the model of keeping.h says. */
#ifndef UTRAIL_TESTS_WALKS_H
#define UTRAIL_TESTS_WALKS_H

#include <unistd.h>

#include "libmcount/plans.h"
#include "tests/unit/lib/keeping.h"
#include "tests/unit/lib/pair.h"
#include "tests/unit/lib/unit.h"

/* The probe is given @plan. */
static inline int walks_obey(int (*how)(int fd), const struct keeping_plan *plan)
{
	int fd = keeping_image(plan);
	int ret = how(fd);

	close(fd);
	return ret;
}

/* All calls of @t are over: what was recorded is what @k expects. Others begin without what this walk has left. */
static inline void walks_end(struct pair *pair, struct keeping *k, const struct thread *t)
{
	int32_t tid = t->ring->tid;

	pair_look(pair, true);

	struct strbuf file cleanup_strbuf = pair_data(pair, tid);

	assert_int_equal(t->busy, 0);
	assert_int_equal(t->ring->lost, 0);
	keeping_check(k, &file);
	strbuf_deinit(&k->expected);
	pair_stop(pair);
	pair_close(pair);
	atomic_store(&probe_threads, NULL);
	assert_int_equal(plans_reclaim(), 0);
}

#endif
