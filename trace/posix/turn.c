/*
 * A lock for functions that run in signal handlers and in other code. If the handler's own thread
 * holds the lock, the handler does not wait: the handler has interrupted the code that would
 * release the lock. Every other wait has a time limit, because a lock may never be released: a
 * signal handler may have left the holder's code with siglongjmp().
 */
#include "posix/posix.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A waiting thread first yields up to YIELDS_MAX times, since most holders need only microseconds.
 * Then the thread sleeps up to SLEEPS_MAX times for 1 ms, since the holder may be waiting for a
 * file or a CPU.
 */
#define YIELDS_MAX 100
#define SLEEPS_MAX 2000

static bool take_soon(struct pxt_turn *turn, bool waits)
{
	const struct timespec step = { 0, 1000000 };
	uint32_t self = (uint32_t)syscall(SYS_gettid), holder;

	for (int nr = 0; nr < YIELDS_MAX + SLEEPS_MAX; nr++) {
		holder = 0;
		if (atomic_compare_exchange_strong(&turn->holder, &holder, self))
			return true;
		if (!waits || holder == self || holder == atomic_load(&turn->stuck))
			return false;
		if (nr < YIELDS_MAX)
			sched_yield();
		else
			nanosleep(&step, NULL);
	}
	atomic_store(&turn->stuck, holder);
	return false;
}

bool pxt_turn_take(struct pxt_turn *turn, bool waits)
{
	int error = errno;
	bool has_taken = take_soon(turn, waits);

	errno = error;
	return has_taken;
}

void pxt_turn_give(struct pxt_turn *turn)
{
	atomic_store(&turn->stuck, 0);
	atomic_store(&turn->holder, 0);
}
