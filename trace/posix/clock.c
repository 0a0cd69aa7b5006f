/*
 * The time of events, which is CLOCK_MONOTONIC. If the kernel's clock source is the CPU's counter,
 * the library computes the time from this counter.
 */
#include "posix/posix.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* When the kernel's clock source is the CPU's counter, the clock source has this name. */
#ifdef __x86_64__
#define COUNTER	       "tsc\n"
#define counter_read() __builtin_ia32_rdtsc()
#else
#define COUNTER	       "\n"
#define counter_read() 0
#endif

/*
 * A fit is the line through two readings. A reading is a value of the counter together with the
 * value of the clock at the same moment, with an error of about 10 ns. The second reading is at
 * least FIT_FIRST_NS later than the first one. The kernel changes the speed of its clock, so a fit
 * is used for at most FIT_LAST_NS. If fits were used longer, processes that share a stream would
 * visibly disagree about the time.
 */
#define FIT_FIRST_NS 1000000
#define FIT_LAST_NS  10000000

static _Atomic uint32_t has_counter;

void pxt_clock_begin(void)
{
	char name[64];
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, name, sizeof(name));

	atomic_store(&has_counter, len == (ssize_t)strlen(COUNTER) && !memcmp(name, COUNTER, len));
	if (fd >= 0)
		close(fd);
}

/* Reads the counter and the clock at one moment. Makes three attempts, and uses the fastest one. */
static uint64_t read_both(uint64_t *ns)
{
	uint64_t best = 0, best_gap = UINT64_MAX;

	for (int nr = 0; nr < 3; nr++) {
		uint64_t before = counter_read();
		uint64_t now = pxt_clock_ns(CLOCK_MONOTONIC);
		uint64_t gap = counter_read() - before;

		if (gap < best_gap) {
			best_gap = gap;
			best = before + gap / 2;
			*ns = now;
		}
	}
	return best;
}

uint64_t pxt_clock_offset_ns(void)
{
	uint64_t best = 0, best_gap = UINT64_MAX;

	for (int nr = 0; nr < 3; nr++) {
		uint64_t before = pxt_clock_ns(CLOCK_MONOTONIC);
		uint64_t real = pxt_clock_ns(CLOCK_REALTIME);
		uint64_t gap = pxt_clock_ns(CLOCK_MONOTONIC) - before;

		if (gap < best_gap) {
			best_gap = gap;
			best = real - before - gap / 2;
		}
	}
	return best;
}

#ifdef __SIZEOF_INT128__
/*
 * Returns the nanoseconds per tick, with 32 fractional bits. Returns 0 if a tick takes 1 ns or
 * more, or an unknown time.
 */
static uint64_t scale_ticks(uint64_t ns, uint64_t ticks)
{
	unsigned __int128 scaled = ticks ? ((unsigned __int128)ns << 32) / ticks : 0;

	return scaled >> 32 ? 0 : (uint64_t)scaled;
}
#else
static uint64_t scale_ticks(uint64_t ns, uint64_t ticks)
{
	return 0;
}
#endif

/*
 * Computes a new fit. While the members of the fit change, fit.limit is 0: no time after the last
 * reading is within the limit. So a signal handler that interrupts the change asks the kernel for
 * the time, and does not use the half-changed fit.
 */
static void fit(struct pxt_thread *thread, uint64_t counter, uint64_t now)
{
	struct pxt_fit *old = &thread->fit;
	uint64_t passed = now - old->base_ns;

	if (thread->is_fitting || (old->base_counter && passed < FIT_FIRST_NS))
		return;
	thread->is_fitting = 1;
	atomic_signal_fence(memory_order_seq_cst);
	old->limit = 0;
	atomic_signal_fence(memory_order_seq_cst);
	old->scale = old->base_counter ? scale_ticks(passed, counter - old->base_counter) : 0;
	old->base_counter = counter;
	old->base_ns = now;
	atomic_signal_fence(memory_order_seq_cst);
	if (passed > FIT_LAST_NS)
		passed = FIT_LAST_NS;
	if (old->scale)
		old->limit = (passed << 32) / old->scale;
	atomic_signal_fence(memory_order_seq_cst);
	thread->is_fitting = 0;
}

uint64_t pxt_clock_slow(struct pxt_thread *thread)
{
	uint64_t counter, ns = 0;

	if (!thread || thread == &pxt_nobody || !atomic_load(&has_counter))
		return pxt_clock_ns(CLOCK_MONOTONIC);
	counter = read_both(&ns);
	fit(thread, counter, ns);
	return ns;
}
