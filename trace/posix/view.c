/* Maps streams into this process. A stream is checked once, and its values are copied. */
#include "posix/keeper.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

static struct pxt_turn mapping;

int pxt_view_set(struct pxt_view *view, struct pxt_stream *stream, size_t bytes, uint32_t serial)
{
	uint64_t nr_cells = stream->nr_cells;
	uint32_t max_data = stream->max_data, log_bytes = stream->log_bytes;

	if (stream->magic != PT_MAGIC || stream->version != PT_VERSION ||
	    stream->serial != serial || nr_cells < 64 || nr_cells > PT_SIZE_MAX / PT_CELL_BYTES ||
	    (nr_cells & (nr_cells - 1)) || max_data > PT_DATA_MAX ||
	    pxt_cells_of(max_data) > nr_cells ||
	    (log_bytes && log_bytes != sizeof(struct pxt_log_part)) ||
	    bytes != PT_CELLS_OFFSET + nr_cells * PT_CELL_BYTES + log_bytes)
		return -EINVAL;
	view->cells = (struct pxt_cell *)((char *)stream + PT_CELLS_OFFSET);
	view->map_bytes = bytes;
	view->nr_cells = nr_cells;
	view->shift = (uint32_t)__builtin_ctzll(nr_cells);
	view->max_data = max_data;
	view->policy = stream->policy;
	view->has_log = log_bytes;
	view->has_functions = stream->attr.functions;
	view->offset_ns = stream->offset_ns;
	view->owner_pid = stream->owner_pid;
	atomic_store(&view->stream, stream);
	atomic_store(&view->serial, serial);
	return 0;
}

/*
 * Waits until no thread uses the stream. Usually a thread uses a stream for a few instructions. But
 * if a signal handler interrupts these instructions and calls siglongjmp(), the thread counts as a
 * user of the stream forever. In that case pxt_view_wait() returns false, and the stream's memory
 * stays mapped.
 */
bool pxt_view_wait(struct pxt_view *view, int tries)
{
	struct timespec step = { 0, 1000000 };

	if (!pxt_inside_wait(&tries))
		return false;
	for (int nr = 0; nr < PT_NR_USERS; nr++) {
		for (; atomic_load(&view->users[nr].nr); tries--) {
			if (tries <= 0)
				return false;
			if (tries > 1000)
				sched_yield();
			else
				nanosleep(&step, NULL);
		}
	}
	return true;
}

void pxt_view_drop(struct pxt_view *view)
{
	struct pxt_stream *stream = atomic_exchange(&view->stream, NULL);

	/* The memory of a forgotten view stays (pxt_view_forget()). */
	if (stream && atomic_load(&view->serial) && pxt_view_wait(view, 2000))
		munmap(stream, view->map_bytes);
}

/* Replaces the memory with zeros. If mmap(2) fails for lack of memory, the old content stays. */
void pxt_forget_memory(void *memory, size_t bytes)
{
	mmap(memory, bytes, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/*
 * Drops a view in a forked child. If a signal handler has forked, the handler may return to code
 * that uses the view. So the memory of the view stays mapped, filled with zeros. The interrupted
 * code reads the zeros as a stopped stream without records.
 */
void pxt_view_forget(struct pxt_view *view)
{
	struct pxt_stream *stream = atomic_load(&view->stream);

	atomic_store(&view->serial, 0);
	if (stream)
		pxt_forget_memory(stream, view->map_bytes);
}

/*
 * Maps the stream with the given number. The view may still map an older stream with this number. A
 * signal handler may call this function while the interrupted code uses the older stream. In that
 * case the older stream stays mapped, and the next event calls this function again.
 */
static void map_number(struct pxt_view *view, unsigned int number, uint32_t serial)
{
	struct pxt_stream *old = atomic_exchange(&view->stream, NULL), *stream;
	size_t bytes;
	int place;

	if (!atomic_load(&view->serial))
		old = NULL; /* the memory of a forgotten view stays (pxt_view_forget()) */
	if (old && !pxt_view_wait(view, 1)) {
		atomic_store(&view->stream, old);
		return;
	}
	if (old)
		munmap(old, view->map_bytes);
	place = pxt_place_open();
	if (place < 0)
		return;
	stream = pxt_place_map_stream(place, number, &bytes);
	close(place);
	if (stream && pxt_view_set(view, stream, bytes, serial) < 0)
		munmap(stream, bytes);
	atomic_store(&view->serial, serial);
}

/*
 * Signal-safe. One thread maps the stream. Other threads wait until the mapping is finished, but
 * only for some seconds. A signal handler that has interrupted the mapping does not wait. Returns
 * false if the stream is not mapped.
 */
bool pxt_view_map(unsigned int number, uint32_t serial)
{
	PXT_NO_CANCEL;
	struct pxt_view *view = &pxt_process.views[number];
	int error = errno;

	if (atomic_load(&view->serial) != serial && pxt_turn_take(&mapping, true)) {
		if (atomic_load(&view->serial) != serial)
			map_number(view, number, serial);
		errno = error;
		pxt_turn_give(&mapping);
	}
	return atomic_load(&view->serial) == serial && atomic_load(&view->stream);
}

/*
 * Detaches the stream with @number and @serial. If a new stream with @number has just been
 * attached, the new stream stays attached.
 */
void pxt_view_detach(struct pxt_registry *registry, unsigned int number, uint32_t serial)
{
	unsigned long bit = 1ul << number % PT_ATTACHED_BITS;
	_Atomic unsigned long *word = &registry->attached[number / PT_ATTACHED_BITS];

	if (atomic_load(&registry->serial[number]) != serial)
		return;
	atomic_fetch_and(word, ~bit);
	if (atomic_load(&registry->serial[number]) != serial)
		atomic_fetch_or(word, bit);
}

/*
 * Called in a forked child, which has only a copy of the thread that forked. Lowers the counters of
 * each view's users, so that the counters count only this thread.
 *
 * A signal handler may fork while the interrupted thread uses a stream. In the child, this thread
 * stays a user of the stream until the thread leaves the stream. The handler may have interrupted
 * the thread between two changes: the change of pxt_nr_counted, and the change of the view's
 * counter. In that case the view's counter in the child may stay greater by 1 than the number of
 * users, and the view stays mapped.
 */
void pxt_view_in_child(void)
{
	for (int number = 0; number < TRACE_SYS_MAX; number++) {
		struct pxt_view *view = &pxt_process.views[number];
		const _Atomic uint32_t *own = pxt_view_user(view);

		for (int nr = 0; nr < PT_NR_USERS; nr++) {
			_Atomic uint32_t *user = &view->users[nr].nr;
			uint32_t most = user == own ? pxt_nr_counted : 0;

			if (atomic_load(user) > most)
				atomic_store(user, most);
		}
	}
	pxt_turn_give(&mapping);
}
