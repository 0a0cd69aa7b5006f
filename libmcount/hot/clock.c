/* The recording's clock: a kernel clock, or the CPU's counter fitted to it. */
#include "libmcount/hot/probe.h"

#include <time.h>

#include "libmcount/hot/hot.h"
#include "libmcount/program/interpose.h"

#define NSEC_PER_SEC 1000000000ULL

/*
 * The first interval between two fits of the clock's scale. Each next interval is twice as long,
 * until an interval has at least FIT_LAST_NS. The first interval may be short: a reading is
 * accurate to 10 ns, so a scale from two readings 1 ms apart has an error of only 10 ppm.
 */
#define FIT_FIRST_NS 1000000ULL
#define FIT_LAST_NS  100000000ULL

struct clock_reading {
	uint64_t counter;
	uint64_t ns;
};

/*
 * After clock_setup(), this is normally libc's clock_gettime(). The program may define another
 * clock_gettime(), which may call functions of libc. If the probe called the program's function,
 * the probe would record the calls of these libc functions.
 */
static int (*real_clock_gettime)(clockid_t clock, struct timespec *ts) = clock_gettime;

uint64_t clock_kernel_ns(void)
{
	struct timespec ts;

	real_clock_gettime(probe.plan.clock_id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/*
 * True when a test has shown that reading the kernel's clock changes no vector register. The vDSO
 * for x86 changes no vector register.
 */
static bool leaves_vectors;

static void read_kernel_clock(void *arg)
{
	clock_kernel_ns();
}

static void look_at_kernel_clock(void *arg)
{
	leaves_vectors = arch_leaves_vectors(read_kernel_clock, NULL);
}

/*
 * Reads the CPU's counter and the kernel's clock at almost the same moment. Makes three attempts,
 * and returns the readings of the attempt that took the least time.
 */
static struct clock_reading read_both(void)
{
	struct clock_reading best = { 0 };
	uint64_t best_gap = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = arch_counter_read();
		uint64_t ns = clock_kernel_ns();
		uint64_t gap = arch_counter_read() - before;

		if (gap < best_gap) {
			best_gap = gap;
			best = (struct clock_reading){ before + gap / 2, ns };
		}
	}
	return best;
}

/*
 * Returns the nanoseconds per tick between two readings, with 32 fractional bits. Returns 0 when
 * the readings give no scale.
 */
static uint64_t scale_between(struct clock_reading from, struct clock_reading to)
{
	uint64_t ticks = to.counter - from.counter;
	uint64_t ns = to.ns - from.ns;

	/*
	 * If the interval were 2^32 ns or longer, the shift by 32 bits would overflow. When this
	 * function returns 0, refit() keeps the former scale.
	 */
	if (to.counter <= from.counter || to.ns <= from.ns || ns >> 32)
		return 0;
	return (ns << 32) / ticks;
}

struct refit {
	struct thread *t;
	uint64_t now_ns;
};

static void refit(void *arg)
{
	struct refit *r = arg;
	struct thread *t = r->t;

	if (!probe.has_counter) {
		r->now_ns = clock_kernel_ns();
		return;
	}

	struct clock_reading from = { t->base_counter, t->base_ns };
	struct clock_reading now = read_both();

	if (t->base_counter == 0)
		from = (struct clock_reading){ probe.plan.anchor_counter, probe.plan.anchor_ns };

	uint64_t mult = scale_between(from, now);

	/*
	 * If a signal handler leaves this function with longjmp(3), the next reading makes a new
	 * fit.
	 */
	t->refit_ticks = 0;
	guard_barrier();
	if (mult)
		t->mult = mult;
	if (t->fit_ns < FIT_LAST_NS)
		t->fit_ns *= 2;
	t->base_counter = now.counter;
	t->base_ns = now.ns;
	guard_barrier();
	t->refit_ticks = t->mult ? (t->fit_ns << 32) / t->mult : 0;
	r->now_ns = now.ns;
}

uint64_t clock_refit(struct thread *t)
{
	struct refit r = { .t = t };

	/*
	 * slow_call() saves the vector registers. This takes ten times as long as reading the
	 * kernel's clock. If the kernel's clock leaves these registers unchanged, slow_call() is
	 * not needed.
	 */
	if (!probe.has_counter && leaves_vectors)
		return clock_kernel_ns();
	if (t->fit_ns == 0)
		t->fit_ns = FIT_FIRST_NS / 2;
	slow_call(refit, &r);
	return r.now_ns;
}

void clock_setup(void)
{
	static void *cache;
	void *real = interposed(&cache, "clock_gettime");

	if (real)
		real_clock_gettime = real;
	probe.has_counter = probe.plan.clock == PLAN_CLOCK_COUNTER;
	if (!probe.has_counter)
		slow_call(look_at_kernel_clock, NULL);
}
