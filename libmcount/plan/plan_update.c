/* Plans that change while the program runs (see plan_update.h). */
#include "libmcount/plan/plan_update.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "libmcount/system/channel.h"
#include "libmcount/system/module_lock.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/hot/planned.h"
#include "libmcount/plan/plans.h"

/*
 * This page contains the byte probe_skips, which the stubs read. With PLAN_STEERABLE,
 * plan_update_begin() maps the arena's header at this page, so that the recorder can clear the
 * byte. Without PLAN_STEERABLE, the page is ordinary memory, and the recorder cannot access the
 * page.
 */
union {
	struct arena header;
	char bytes[RING_PAGE];
} steer_page __attribute__((aligned(RING_PAGE), visibility("hidden")));

#define TEXT_OF(number)	 TEXT_OF_(number)
#define TEXT_OF_(number) #number
__asm__(".globl probe_skips\n"
	".hidden probe_skips\n"
	".type probe_skips, @object\n"
	".size probe_skips, 1\n"
	".set probe_skips, steer_page + " TEXT_OF(ARENA_MAY_SKIP) "\n");

/*
 * In a forked child without an arena of its own, probe.news points to `always` instead of
 * arena.news, because the arena belongs to the parent process. So the child looks for a new plan at
 * each call.
 */
static const _Atomic uint32_t always = 1;

/*
 * @is_asking: a thread asks for the plan, with signals blocked
 * @given_up: the generation number of a plan that this process could not get; 0: none
 * @not_before_ns: no thread asks for the plan before this time; set when too many plans are in use
 */
static struct {
	_Atomic uint32_t is_asking;
	uint32_t given_up;
	uint64_t not_before_ns;
} steer;

#define ASK_AGAIN_NS 10000000

/*
 * True when the recorder can tell this process about a new plan. Otherwise each call looks for a
 * new plan, and the stubs skip nothing.
 */
static bool is_told(void)
{
	return probe.news != &always;
}

/* Makes the next call of any thread look for a new plan. */
static void look_again(void)
{
	probe_skips = false;
	if (is_told())
		atomic_store(&probe.arena->news, 1);
}

static bool is_behind(void)
{
	uint32_t newest = atomic_load(&probe.control->plan_generation);

	return newest != probe.plan.generation && newest != steer.given_up;
}

/*
 * Asks the recorder for the plan, and installs it. Returns 0 or a negative errno. -EBUSY means that
 * the caller must try again later.
 */
static int fetch_plan(void)
{
	struct channel ch cleanup(channel_close);
	struct control_set_plan answer;

	channel_init(&ch);
	if (!channel_greet(&ch, CONTROL_STEER) ||
	    !channel_finish(&ch, CONTROL_SET_PLAN, &answer, sizeof(answer)))
		return -ECONNREFUSED;
	return plans_replace(ch.fds[0]);
}

static void get_plan(uint32_t newest)
{
	int ret = fetch_plan();

	if (ret == -EBUSY)
		steer.not_before_ns = clock_kernel_ns() + ASK_AGAIN_NS;
	else if (ret < 0)
		steer.given_up = newest;
}

/*
 * The recorder first writes plan_generation, and then arena.news and probe_skips. This thread
 * writes arena.news and probe_skips, and reads plan_generation after each of the two writes. If
 * the last read returns the old generation, the recorder writes arena.news and probe_skips later
 * than this thread. Then a later call finds the new plan.
 */
static void look_for_plan(void)
{
	bool skips = !(probe.plan.flags & PLAN_ESTIMATE) && is_told();

	if (!module_try_lock()) {
		look_again();
		return;
	}
	/*
	 * If is_told() is false, the arena may belong to the parent process. Do not write to that
	 * arena.
	 */
	if (is_told())
		atomic_store(&probe.arena->news, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (is_behind() && seal_may_talk())
		get_plan(atomic_load(&probe.control->plan_generation));
	module_unlock();
	__atomic_store_n(&probe_skips, skips, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (is_behind() && seal_may_talk())
		look_again();
}

static void look_alone(void *arg)
{
	uint32_t idle = 0;
	uint64_t mask;
	/* Signals are blocked: is_asking would stay 1 if a signal handler jumped out of here. */
	bool is_quiet = own_quiet_begin(&mask);

	if (is_quiet && atomic_compare_exchange_strong(&steer.is_asking, &idle, 1)) {
		look_for_plan();
		atomic_store(&steer.is_asking, 0);
	}
	if (is_quiet)
		own_quiet_end(mask);
}

void plan_update_obey(struct thread *t)
{
	if (atomic_load_explicit(&probe.control->finished, memory_order_relaxed)) {
		probe_stop();
		return;
	}
	if (!(probe.plan.flags & PLAN_STEERABLE) || t->is_aside || t->lender ||
	    atomic_load(&steer.is_asking))
		return;
	/* If the recorder cannot be asked, this process keeps its plan. */
	if (!seal_may_talk()) {
		if (is_told()) {
			atomic_store(&probe.arena->news, 0);
			probe_skips = !(probe.plan.flags & PLAN_ESTIMATE);
		}
		return;
	}
	if (!is_told() && !is_behind())
		return;
	if (steer.not_before_ns && clock_kernel_ns() < steer.not_before_ns)
		return;
	slow_call(look_alone, NULL);
}

void plan_update_check_skip(const struct planned *p, uint64_t *noted)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!planned_is_current(p))
		*noted = 0;
}

/* Maps an empty page at steer_page. An older mapping of this address, if any, is replaced. */
static void empty_steer_page(void)
{
	own_syscall(SYS_mmap, &steer_page, (unsigned long)RING_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L);
}

void plan_update_begin(void)
{
	if (!(probe.plan.flags & PLAN_STEERABLE))
		return;

	void *page = (void *)own_syscall(SYS_mremap, probe.arena, 0UL, (unsigned long)RING_PAGE,
					 MREMAP_MAYMOVE | MREMAP_FIXED, &steer_page);

	if (page == MAP_FAILED) {
		/* On failure, some kernels leave no page mapped at steer_page. */
		empty_steer_page();
		/*
		 * The arena's header is not mapped at steer_page, so the recorder cannot clear
		 * probe_skips to announce a new plan. Without an announcement, each call must look
		 * for a new plan. While probe_skips is false, the stubs skip no calls, and each
		 * call runs a hook. With &always, each hook looks for a new plan.
		 */
		probe.news = &always;
		probe_skips = false;
		return;
	}
	probe.news = &probe.arena->news;
	look_again();
}

void plan_update_after_fork(void)
{
	if (!(probe.plan.flags & PLAN_STEERABLE))
		return;
	probe.news = &always;
	empty_steer_page();
	steer.not_before_ns = 0;
	atomic_store(&steer.is_asking, 0);
}
