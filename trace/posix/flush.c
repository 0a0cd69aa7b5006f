/* The thread that flushes a stream into its log. */
#include "posix/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The time after which a flusher checks again whether only flushers are left in the process. */
#define LOOK_NS 100000000

/*
 * @turn: a thread holds this lock while the thread flushes the stream or clears the log. A thread
 *        that also needs pxt_handle.reads or pxt_handle.controls takes @turn first
 * @dev, @ino: identify the log's file. If @fd refers to another file, @fd is no longer used
 */
struct pxt_flusher {
	pthread_t thread;
	bool has_thread;
	_Atomic uint32_t is_ending;
	_Atomic uint32_t is_flushing;
	_Atomic uint32_t error;
	_Atomic uint32_t is_log_overrun;
	_Atomic uint32_t is_log_full;
	pthread_mutex_t turn;
	int fd;
	dev_t dev;
	ino_t ino;
	struct pxt_drain drain;
};

static int check_file(const struct pxt_flusher *flusher)
{
	return pxt_is_file(flusher->fd, flusher->dev, flusher->ino) ? 0 : -EBADF;
}

static void note_status(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	struct pxt_status *status = &flusher->drain.writer.header.status;

	pxt_drain_status(handle, &flusher->drain);
	status->flush_error = atomic_load(&flusher->error);
	/*
	 * posix_trace_get_status() clears @is_log_overrun, so that each loss is reported only once.
	 * The status in the log's header is not cleared.
	 */
	if (flusher->drain.writer.has_lost)
		atomic_store(&flusher->is_log_overrun, 1);
	flusher->drain.writer.has_lost = false;
	if (status->is_log_full)
		atomic_store(&flusher->is_log_full, 1);
}

/*
 * Copies the events up to the present end of the stream. Events that come during the copying stay
 * in the stream. Otherwise a fast writer could keep the flush busy forever.
 */
static int copy_events(struct pxt_handle *handle)
{
	struct pxt_drain *drain = &handle->flusher->drain;
	uint64_t head = atomic_load(&atomic_load(&handle->view->stream)->head);
	int error = -EXFULL;

	if (!drain->writer.header.status.is_log_overrun ||
	    drain->writer.policy != PT_LOG_UNTIL_FULL)
		error = pxt_drain_until(handle, drain, head);
	if (!error && drain->writer.header.is_closed)
		error = pxt_drain_last_gap(handle, drain);
	if (error != -EXFULL)
		return error;
	pxt_drain_end_full(handle, drain);
	return 0;
}

/* Called with the lock @turn held. */
static int flush_all(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	int error = check_file(flusher);

	pthread_mutex_lock(&handle->reads);
	if (!error)
		error = copy_events(handle);
	pthread_mutex_unlock(&handle->reads);
	if (!error)
		error = pxt_drain_names(handle, &flusher->drain);
	note_status(handle);
	if (!error)
		error = pxt_log_sync(&flusher->drain.writer);
	if (error && !atomic_load(&flusher->error))
		atomic_store(&flusher->error, (uint32_t)-error);
	return error;
}

/* Restarts a stream that has stopped because it was full. */
static void begin_again(struct pxt_handle *handle)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);

	pthread_mutex_lock(&handle->controls);
	if (atomic_load(&stream->run) & PT_RESTARTS)
		pxt_restart(handle->view);
	pthread_mutex_unlock(&handle->controls);
}

int pxt_flush(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	int error;

	pthread_mutex_lock(&flusher->turn);
	atomic_store(&flusher->is_flushing, 1);
	/* Only the request to flush is taken: PT_WANTS_LOOK stays set. */
	atomic_fetch_and(&atomic_load(&handle->view->stream)->wants_flush,
			 ~(uint32_t)PT_WANTS_FLUSH);
	pxt_put_if_room(handle->view, PT_FLUSH_START);
	error = flush_all(handle);
	if (!error)
		begin_again(handle);
	pxt_put_if_room(handle->view, PT_FLUSH_STOP);
	atomic_store(&flusher->is_flushing, 0);
	pthread_mutex_unlock(&flusher->turn);
	return -error;
}

/*
 * Set when the main thread has ended by pthread_exit(). After that, the process should end with the
 * last of the program's own threads. Therefore flushers end when only flushers are left.
 */
static _Atomic uint32_t first_has_ended;
static _Atomic uint32_t first_is_unwatched;
static _Atomic uint32_t nr_flushers;

/*
 * Requests a check whether the flusher should end. PT_WANTS_LOOK changes the word of the futex, so
 * that a flusher that is about to sleep does not miss the request.
 */
void pxt_want_look(struct pxt_stream *stream)
{
	atomic_fetch_or(&stream->wants_flush, PT_WANTS_LOOK);
	pxt_futex_wake(&stream->wants_flush);
}

/*
 * Called after the handle was published. If the main thread ended earlier,
 * pxt_flushers_first_ended() may have missed this handle, so the flusher is woken here.
 */
void pxt_flusher_published(struct pxt_handle *handle)
{
	if (handle->flusher && atomic_load(&first_has_ended))
		pxt_want_look(atomic_load(&handle->view->stream));
}

void pxt_flushers_first_ended(void)
{
	atomic_store(&first_has_ended, 1);
	pxt_handles_wake_flushers();
}

void pxt_flushers_watch_first(bool is_told)
{
	atomic_store(&first_is_unwatched, !is_told);
}

void pxt_flushers_in_child(void)
{
	atomic_store(&first_has_ended, 0);
	atomic_store(&nr_flushers, 0);
}

/*
 * True when flushers must check whether only flushers are left. This is necessary when the main
 * thread has ended, or when nothing would report the end of the main thread.
 */
static bool must_look(void)
{
	return atomic_load(&first_has_ended) || atomic_load(&first_is_unwatched);
}

/*
 * True when only flushers are left. The kernel counts the main thread until the process ends, even
 * if the main thread has ended earlier.
 */
static bool are_last(void)
{
	uint64_t nr_threads;

	if (!atomic_load(&first_has_ended) && !pxt_process_first_is_dead(getpid()))
		return false;
	return pxt_process_field(getpid(), 20, &nr_threads) == 0 &&
	       nr_threads <= atomic_load(&nr_flushers) + 1;
}

static void wait_for_work(struct pxt_stream *stream)
{
	struct timespec until = pxt_timespec(pxt_clock_ns(CLOCK_MONOTONIC) + LOOK_NS);

	pxt_futex(&stream->wants_flush, FUTEX_WAIT_BITSET, PT_WANTS_NOTHING,
		  must_look() ? &until : NULL);
}

static void *flush_when_asked(void *argument)
{
	struct pxt_handle *handle = argument;
	struct pxt_stream *stream = atomic_load(&handle->view->stream);

	while (!atomic_load(&handle->flusher->is_ending)) {
		/*
		 * If a flush is requested, this round of the loop flushes. In this case a later
		 * round checks whether only flushers are left.
		 */
		if (atomic_fetch_and(&stream->wants_flush, PT_WANTS_FLUSH) & PT_WANTS_FLUSH)
			pxt_flush(handle);
		else if (must_look() && are_last())
			break;
		else
			wait_for_work(stream);
	}
	return NULL;
}

/* Starts the flusher with signals blocked, since signals are for the program's own threads. */
static int start_thread(struct pxt_handle *handle)
{
	sigset_t before;
	int error;

	pxt_block_signals(&before);
	error = pthread_create(&handle->flusher->thread, NULL, flush_when_asked, handle);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	handle->flusher->has_thread = !error;
	atomic_fetch_add(&nr_flushers, !error);
	return error;
}

static void free_flusher(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;

	/*
	 * Clear this pointer before the flusher is freed. If another thread forks meanwhile, the
	 * child finds no flusher.
	 */
	handle->flusher = NULL;
	if (flusher->fd >= 0 && check_file(flusher) == 0)
		close(flusher->fd);
	pthread_mutex_destroy(&flusher->turn);
	free(flusher);
}

/*
 * Closes the log in a forked child. If a signal handler has forked, the child may go on with the
 * flush that the handler interrupted. In this case /dev/null takes the descriptor number of the
 * log. If the number were free, the program could open a file with this number, and the flush would
 * write to this file.
 */
void pxt_flusher_forget(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	int nothing;

	if (!flusher || check_file(flusher) < 0)
		return;
	/*
	 * If the lock @turn is free, no flush was interrupted. In this case the log is only closed.
	 * /dev/null is not needed, and a sandbox may forbid opening /dev/null.
	 */
	if (pthread_mutex_trylock(&flusher->turn) == 0) {
		close(flusher->fd);
		pthread_mutex_unlock(&flusher->turn);
		return;
	}
	nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing < 0)
		return;
	dup3(nothing, flusher->fd, O_CLOEXEC);
	close(nothing);
}

/*
 * Returns a new descriptor of the log. If @file_desc is write-only, the log is opened again for
 * reading and writing. If the log cannot be opened again, the new descriptor is write-only.
 *
 * The descriptor needs to be readable in two cases: a flush reads a log that overwrites its oldest
 * records (POSIX_TRACE_LOOP), and a process that continues a log reads this log first.
 */
static int open_file(int file_desc)
{
	int fd = -1;

	if ((fcntl(file_desc, F_GETFL) & O_ACCMODE) == O_WRONLY)
		fd = pxt_open_again(file_desc);
	return fd >= 0 ? fd : fcntl(file_desc, F_DUPFD_CLOEXEC, 0);
}

static int begin_log(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	struct pxt_log_part *part = pxt_log_part_of(handle->view);
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	int error = pxt_log_writer_begin(&flusher->drain.writer, flusher->fd, &handle->attr,
					 part->buffer);

	if (error)
		return error;
	part->dev = flusher->dev;
	part->ino = flusher->ino;
	part->mapped_bytes = handle->view->map_bytes;
	part->mapped_at = pxt_place_of(stream, handle->view->map_bytes);
	pxt_drain_begin(&flusher->drain, part, atomic_load(&stream->tail));
	return 0;
}

int pxt_flusher_start(struct pxt_handle *handle, int file_desc)
{
	struct pxt_flusher *flusher = calloc(1, sizeof(*flusher));
	struct stat st;
	int error = 0;

	if (!flusher)
		return ENOMEM;
	handle->flusher = flusher;
	pthread_mutex_init(&flusher->turn, NULL);
	flusher->fd = open_file(file_desc);
	if (flusher->fd < 0 || fstat(flusher->fd, &st) < 0) {
		error = flusher->fd < 0 && errno == EMFILE ? ENOMEM : EBADF;
	} else {
		flusher->dev = st.st_dev;
		flusher->ino = st.st_ino;
		error = -begin_log(handle);
	}
	if (!error && handle->view->policy == POSIX_TRACE_FLUSH)
		error = start_thread(handle) ? ENOMEM : 0;
	if (error)
		free_flusher(handle);
	return error;
}

int pxt_flusher_file(const struct pxt_handle *handle)
{
	return handle->flusher ? handle->flusher->fd : -1;
}

/*
 * Returns 0, or an errno if the log cannot be written. The caller removes the stream in both cases,
 * so events that are not in the log are lost.
 */
int pxt_flusher_end(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	int error;

	atomic_store(&flusher->is_ending, 1);
	if (flusher->has_thread) {
		atomic_fetch_or(&stream->wants_flush, PT_WANTS_FLUSH);
		pxt_futex_wake(&stream->wants_flush);
		pthread_join(flusher->thread, NULL);
		atomic_fetch_sub(&nr_flushers, 1);
	}
	flusher->drain.writer.header.is_closed = 1;
	atomic_fetch_and(&stream->run, ~(uint32_t)PT_RESTARTS);
	error = pxt_flush(handle);
	atomic_store(&flusher->drain.part->is_done, 1);
	free_flusher(handle);
	return error;
}

void pxt_flusher_begin_clear(struct pxt_handle *handle)
{
	pthread_mutex_lock(&handle->flusher->turn);
}

void pxt_flusher_end_clear(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	struct pxt_stream *stream = atomic_load(&handle->view->stream);

	if (check_file(flusher) == 0)
		pxt_log_clear(&flusher->drain.writer);
	atomic_store(&flusher->drain.part->overflow_ns, 0);
	flusher->drain.has_stop = PT_NO_STOP;
	pxt_drain_begin(&flusher->drain, flusher->drain.part, atomic_load(&stream->tail));
	atomic_store(&flusher->is_log_full, 0);
	atomic_store(&flusher->is_log_overrun, 0);
	pthread_mutex_unlock(&flusher->turn);
}

void pxt_flusher_status(struct pxt_handle *handle, struct posix_trace_status_info *status)
{
	struct pxt_flusher *flusher = handle->flusher;

	status->posix_stream_flush_status = atomic_load(&flusher->is_flushing)
						    ? POSIX_TRACE_FLUSHING
						    : POSIX_TRACE_NOT_FLUSHING;
	status->posix_stream_flush_error = (int)atomic_exchange(&flusher->error, 0);
	status->posix_log_overrun_status = atomic_exchange(&flusher->is_log_overrun, 0)
						   ? POSIX_TRACE_OVERRUN
						   : POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = atomic_load(&flusher->is_log_full) ? POSIX_TRACE_FULL
									   : POSIX_TRACE_NOT_FULL;
}

int posix_trace_flush(trace_id_t trid)
{
	PXT_NO_CANCEL;
	struct pxt_handle *handle = pxt_handle_get(trid, PT_WITH_LOG);
	int error;

	if (!handle)
		return EINVAL;
	error = pxt_flush(handle);
	pxt_handle_put(handle);
	return error;
}
