/*
 * Tracks the threads that are inside of a stream: a thread is inside from pxt_inside_enter() to
 * pxt_inside_leave(). When no thread is inside, the stream's memory can be unmapped. A thread that
 * enters sets a mark in its own word (an element of threads[]) by a plain store. The thread that
 * waits to unmap the memory calls membarrier(2) to see this store. Without membarrier(2), counters
 * in the stream's view (struct pxt_view) are used instead of words.
 */
#include "posix/posix.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The number of words in threads[]. A thread that finds no free word is counted in struct pxt_view
 * while the thread is inside of a stream.
 */
#define NR_THREADS 512

static struct pxt_thread threads[NR_THREADS];
static _Atomic uint32_t nr_used;
static _Atomic bool is_ordered;

struct pxt_thread pxt_nobody;
__thread struct pxt_thread *pxt_thread PXT_TLS;
__thread volatile uint32_t pxt_nr_counted PXT_TLS;

static bool ask_kernel(int command)
{
#ifdef SYS_membarrier
	return syscall(SYS_membarrier, command, 0, 0) == 0;
#else
	return false;
#endif
}

void pxt_inside_begin(void)
{
	atomic_store(&is_ordered, ask_kernel(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
					  ask_kernel(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

static bool is_gone(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) < 0;
}

static bool take_thread(struct pxt_thread *thread, uint32_t old, uint32_t tid)
{
	return atomic_compare_exchange_strong(&thread->tid, &old, tid);
}

/*
 * Finds a free word (an element of threads[]) for this thread. The thread keeps the word until the
 * thread ends. After the end, another thread may take the word.
 */
static struct pxt_thread *find_word(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	uint32_t nr = atomic_load(&nr_used);

	pxt_thread = &pxt_nobody;
	while (atomic_load(&is_ordered) && nr < NR_THREADS) {
		if (!atomic_compare_exchange_strong(&nr_used, &nr, nr + 1))
			continue;
		atomic_store(&threads[nr].tid, tid);
		pxt_thread = &threads[nr];
		return pxt_thread;
	}
	for (nr = 0; atomic_load(&is_ordered) && nr < NR_THREADS; nr++) {
		uint32_t old = atomic_load(&threads[nr].tid);

		/*
		 * While a thread is inside of a stream, @turn in the thread's word is odd. If the
		 * thread @old ended inside, or left the stream by siglongjmp(3), @turn is still
		 * odd.
		 */
		if (old && is_gone(old) && take_thread(&threads[nr], old, tid)) {
			atomic_store(&threads[nr].turn, 0);
			pxt_thread = &threads[nr];
			return pxt_thread;
		}
	}
	return pxt_thread;
}

/* Finds a struct pxt_thread for this thread. Signal-safe. */
struct pxt_thread *pxt_inside_new(void)
{
	int error = errno;
	struct pxt_thread *thread = find_word();

	errno = error;
	return thread;
}

/*
 * Called in a forked child. The child has only the calling thread, so the elements of threads[]
 * that belong to the parent's other threads become free.
 */
void pxt_inside_in_child(void)
{
	uint32_t nr = atomic_load(&nr_used);

	pxt_inside_begin();
	for (uint32_t at = 0; at < nr; at++) {
		if (&threads[at] == pxt_thread) {
			atomic_store(&threads[at].tid, (uint32_t)getpid());
		} else {
			atomic_store(&threads[at].tid, UINT32_MAX); /* no thread has this number */
			atomic_store(&threads[at].turn, 0);
		}
	}
}

/*
 * Waits until each thread that was inside has left. Threads that enter later see the values that
 * were stored before the call. Returns false when @tries are used up, or when the calling thread
 * itself is inside.
 */
bool pxt_inside_wait(int *tries)
{
	struct timespec step = { 0, 1000000 };
	uint32_t nr;

	if (!atomic_load(&is_ordered))
		return true;
	ask_kernel(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	nr = atomic_load(&nr_used);
	for (uint32_t at = 0; at < nr; at++) {
		uint32_t turn = atomic_load_explicit(&threads[at].turn, memory_order_acquire);

		for (; turn & 1 &&
		       atomic_load_explicit(&threads[at].turn, memory_order_acquire) == turn;
		     --*tries) {
			/*
			 * Do not wait for this thread itself. If this thread is inside, a signal
			 * handler has interrupted it there, and the wait would be in vain.
			 */
			if (&threads[at] == pxt_thread || *tries <= 0)
				return false;
			if (*tries > 1000)
				sched_yield();
			else
				nanosleep(&step, NULL);
		}
	}
	return true;
}
