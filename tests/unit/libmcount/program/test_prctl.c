/*
 * A thread that forbids itself to read the time-stamp counter, which hooks need, is not recorded
 * from then on.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "cmds/record/tasks/process.h"
#include "libmcount/system/seal.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/sanitized.h"
#include "tests/unit/lib/unit.h"

#define PLACES 16

static struct arch_regs no_regs;

struct scene {
	struct pair pair;
	struct thread *t;
	uint64_t stack[PLACES];
};

static bool is_recorded(struct scene *s)
{
	uint64_t *slot = &s->stack[8];
	bool is;

	*slot = 42;
	is = probe_entry(slot, 0x400000, &no_regs) == 1;
	if (is)
		assert_int_equal(probe_exit((uint64_t)slot, &no_regs), 42);
	assert_int_equal(*slot == 42, !is);
	return is;
}

static void *call_in_thread(void *arg)
{
	return is_recorded(arg) ? arg : NULL;
}

static void *result_of_thread(struct scene *s)
{
	pthread_t thread;
	void *result = s;

	assert_int_equal(pthread_create(&thread, NULL, call_in_thread, s), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return result;
}

/*
 * A thread that is made now is also forbidden to read the counter. The runtime of a sanitizer reads
 * it in each new thread, so then no thread is made. Returns the number of threads.
 */
static unsigned check_new_thread(struct scene *s)
{
	if (IS_SANITIZED)
		return 0;
	assert_null(result_of_thread(s));
	return 1;
}

TEST(the_clock_is_taken_away)
{
	struct sock_filter allow_all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow_all };
	struct scene s = { 0 };
	unsigned nr_new;

	pair_init(&s.pair);
	pair_open(&s.pair);
	s.t = self = pair_thread();
	assert_true(is_recorded(&s));
	/* Allowing the counter changes nothing. Neither do other options with the same values. */
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	assert_true(is_recorded(&s));
	prctl(PR_SET_KEEPCAPS, PR_TSC_SIGSEGV);
	prctl(PR_SET_KEEPCAPS, 0);
	assert_true(is_recorded(&s));
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	nr_new = check_new_thread(&s);
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	assert_false(is_recorded(&s));
	assert_int_equal(s.pair.proc->arena->threads_caged, 1 + nr_new);
	/* A thread that may read it is recorded. */
	assert_non_null(result_of_thread(&s));
	/* So is a thread of a sealed program whose filter allows prctl(2). */
	seal_before_filter((uint64_t)&program);
	assert_true(atomic_load(&seal.is_on));
	assert_non_null(result_of_thread(&s));
	memset(&seal, 0, sizeof(seal));
	pair_stop(&s.pair);
	pair_close(&s.pair);
}
