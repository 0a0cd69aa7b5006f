/*
 * A signal handler runs at each instruction of a call's hooks. The handler's calls and the
 * interrupted call are recorded, and both return to the right place. The processor's trap flag
 * sends a signal after each instruction.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>

#include "libmcount/hot/guard.h"
#include "libmcount/hot/state.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/probe/step.h"
#include "tests/unit/lib/unit.h"

#define FUNC	0x400000
#define HANDLER 0x600000
#define ROUNDS	2000

#define LONG_ENOUGH_NS 1000

static struct arch_regs no_regs;
static uint64_t stack[8];
static unsigned nr_steps;
static unsigned handler_at;
static unsigned nr_bad;
static bool with_short_one;
static bool is_short_one_over;
static struct pair pair;

/*
 * Let a call last longer than any threshold here, also on a CPU whose counter hardly moves between
 * two readings.
 */
static void let_time_pass(void)
{
	uint64_t begin_ns = clock_kernel_ns();

	while (clock_kernel_ns() - begin_ns < LONG_ENOUGH_NS)
		;
}

/* Call a function as the handler does. Its stack is below the interrupted one. */
static void be_the_handler(void)
{
	stack[2] = 21;
	nr_bad += probe_entry(&stack[2], HANDLER, &no_regs) != 1;
	let_time_pass();
	nr_bad += probe_exit((uint64_t)&stack[2], &no_regs) != 21;
}

/*
 * Make a call that is too short to be recorded: the hook looks into the aside, and finds nothing.
 */
static void be_a_short_one(struct thread *t)
{
	uint64_t before = t->aside->threshold_ns;

	t->aside->threshold_ns = UINT64_MAX;
	be_the_handler();
	t->aside->threshold_ns = before;
}

/* True when this round needs no more steps. Each step takes some 10 us on virtual machines. */
static bool has_interrupted(void)
{
	return nr_steps >= handler_at && (!with_short_one || is_short_one_over);
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	if (with_short_one && !is_short_one_over && self->busy) {
		is_short_one_over = true;
		be_a_short_one(self);
	}
	if (++nr_steps == handler_at)
		be_the_handler();
	if (has_interrupted())
		LEAVE_STEPS(context);
}

/* The probe blocks signals for a moment. No steps come until it unblocks them. */
static int on_mask(void *arg)
{
	static bool is_masked;
	sigset_t none;

	is_masked = !is_masked;
	if (is_masked) {
		END_STEPS();
		return 0;
	}
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	if (!has_interrupted())
		BEGIN_STEPS();
	return 0;
}

struct seen {
	unsigned entries[2];
	unsigned exits[2];
	unsigned depth;
};

static void look(struct thread *t, struct seen *seen)
{
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, t->ring->tid);
	const struct record *r = (const struct record *)strbuf_str(&file);

	*seen = (struct seen){ 0 };
	for (size_t i = 0; i < file.len / sizeof(*r); i++) {
		unsigned which = record_addr(r[i].data) == HANDLER;
		bool is_exit = record_type(r[i].data) == RECORD_EXIT;

		assert_int_equal(record_addr(r[i].data), which ? HANDLER : FUNC);
		seen->depth -= is_exit;
		assert_int_equal(record_depth(r[i].data), seen->depth);
		seen->depth += !is_exit;
		++*(is_exit ? &seen->exits[which] : &seen->entries[which]);
		assert_true(i == 0 || r[i].time_ns >= r[i - 1].time_ns);
	}
}

/* @threshold_ns: that of -t; calls that it holds back are written before those of handlers */
static void interrupt_anywhere(uint64_t threshold_ns)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	struct sigaction before;
	struct seen seen;
	unsigned nr = 0;

	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	STEPPED(nr_bad = 0);
	if (!nr_steps)
		skip_because(
			"this machine does not go on step by step: it is another one, or emulated");
	self = pair_thread();
	assert_non_null(self);

	struct thread *t = self;

	/* The handler's first call allocates the aside's memory. */
	t->busy = 1;
	be_the_handler();
	guard_leave(t);
	t->threshold_ns = threshold_ns;
	state_begin(t);
	t->aside->threshold_ns = threshold_ns;
	state_begin(t->aside);
	with_short_one = threshold_ns != 0;
	pair_before(SYS_rt_sigprocmask, on_mask, NULL);
	for (bool is_over = false; !is_over && nr < ROUNDS; nr++) {
		uint32_t replaced;
		uint64_t ret;

		nr_steps = 0;
		is_short_one_over = false;
		handler_at = nr + 1;
		stack[4] = 42;
		STEPPED(replaced = probe_entry(&stack[4], FUNC, &no_regs));
		if (has_interrupted())
			ret = probe_exit((uint64_t)&stack[4], &no_regs);
		else
			STEPPED(ret = probe_exit((uint64_t)&stack[4], &no_regs));
		is_over = nr_steps < handler_at;
		assert_int_equal(replaced, 1);
		assert_int_equal(ret, 42);
		assert_int_equal(t->busy, 0);
		assert_ptr_equal(t->top, t->frames);
		pair_look(&pair, true);
	}
	pair_before(SYS_rt_sigprocmask, NULL, NULL);
	with_short_one = false;
	sigaction(SIGTRAP, &before, NULL);
	assert_int_equal(nr_bad, 0);
	/*
	 * The next hook writes calls that came at the very end of a hook. In the last round there
	 * are none.
	 */
	assert_int_equal(t->has_aside_records, 0);
	/*
	 * Each instruction was interrupted once. The last round had no signal during the hooks, the
	 * first round had.
	 */
	assert_in_range(nr, 50, ROUNDS - 1);
	look(t, &seen);
	assert_int_equal(seen.entries[0], nr);
	assert_int_equal(seen.exits[0], nr);
	assert_int_equal(seen.entries[1], nr);
	assert_int_equal(seen.exits[1], nr);
}

static int end(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	return 0;
}

static int begin(void **state)
{
	pair_init(&pair);
	pair.settings.segment_bytes = 64 * RING_PAGE;
	pair_open(&pair);
	return 0;
}

TEST_WITH(handlers_anywhere, begin, end)
{
	interrupt_anywhere(0);
}

TEST_WITH(held_back_comes_first, begin, end)
{
	interrupt_anywhere(1);
}

static sigjmp_buf outside;

static void on_step_jump(int sig)
{
	if (++nr_steps != handler_at)
		return;
	be_the_handler();
	pair_before(SYS_rt_sigprocmask, NULL, NULL);
	siglongjmp(outside, 1);
}

/* Leave room for @nr more records in this segment of the ring. */
static void leave_room_for(struct thread *t, unsigned nr_records)
{
	while ((uint64_t)(t->end - t->at) / sizeof(struct record) != nr_records)
		hot_commit(t, put_record(hot_reserve(t, sizeof(struct record)), hot_clock(t),
					 record_data(RECORD_EVENT, 0, 0)));
}

/*
 * Count the handler's records in the ring; check that none is missing, and that none is there
 * twice.
 */
static unsigned count_of_handler(struct thread *t)
{
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, t->ring->tid);
	const struct record *r = (const struct record *)strbuf_str(&file);
	unsigned nr = 0;

	for (size_t i = 0; i < file.len / sizeof(*r); i++) {
		if (record_addr(r[i].data) != HANDLER)
			continue;
		assert_int_equal(record_type(r[i].data), nr % 2 ? RECORD_EXIT : RECORD_ENTRY);
		nr++;
	}
	return nr;
}

/*
 * With each value of @room, every fifth instruction is interrupted. The five values together
 * interrupt all instructions.
 */
#define ROOMS 5

/*
 * A hook moves the records of earlier handlers to the ring, @room records before the end of a
 * segment. A handler jumps out of it. All records must get to the ring, and only once.
 */
static void jump_out_of_moving(unsigned room)
{
	struct sigaction action = { .sa_handler = on_step_jump };
	struct sigaction before;
	volatile unsigned nr = 0;
	volatile bool is_over = false;

	handler_at = 0;
	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	self = pair_thread();
	assert_non_null(self);

	struct thread *t = self;

	guard_take(t);
	be_the_handler();
	guard_leave(t);
	for (; !is_over && nr < ROUNDS; nr++) {
		leave_room_for(t, room);
		guard_take(t);
		be_the_handler();
		be_the_handler();
		nr_steps = 0;
		handler_at = room + 1 + nr * ROOMS;
		pair_before(SYS_rt_sigprocmask, on_mask, NULL);
		if (sigsetjmp(outside, 1) == 0) {
			STEPPED(guard_leave(t));
			is_over = true;
		}
		END_STEPS();
		pair_before(SYS_rt_sigprocmask, NULL, NULL);
		assert_int_equal(t->busy, 0);
		assert_int_equal(t->has_aside_records, 0);
		pair_look(&pair, true);
	}
	sigaction(SIGTRAP, &before, NULL);
	assert_in_range(nr, 20, ROUNDS - 1);
	assert_int_equal(t->ring->lost, 0);
	/* There is one call at first, and three in each round; the last round has two. */
	assert_int_equal(count_of_handler(t), 2 * (1 + 3 * nr - 1));
}

static int begin_with_small_segments(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	return 0;
}

TEST_WITH(jumps_out_of_moving, begin_with_small_segments, end)
{
	if (!nr_steps)
		skip_because(
			"this machine does not go on step by step: it is another one, or emulated");
	for (unsigned room = 0; room < ROOMS; room++)
		jump_out_of_moving(room);
}
