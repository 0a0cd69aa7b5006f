/* Streams with a log: who flushes, and when. */
#include "libmcount/posix/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/posixtrace/log.h"

/*
 * @dev, @ino: the file, should the program have closed the descriptor and opened another one of that number
 * @turn: held by who flushes; taken before the handle's locks
 * @nr_names: as many are in the log
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
	uint32_t nr_names;
	struct pxt_log_writer writer;
};

static int check_file(const struct pxt_flusher *flusher)
{
	struct stat st;

	if (fstat(flusher->fd, &st) < 0 || st.st_dev != flusher->dev || st.st_ino != flusher->ino)
		return -EBADF;
	return 0;
}

static int add_names(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	char text[PT_NAME_MAX + 1];
	int error = 0;

	while (!error && flusher->nr_names < PT_NR_NAMED &&
	       pxt_names_get(handle->names, PT_FIRST_NAMED + flusher->nr_names, text)) {
		error = pxt_log_add_name(&flusher->writer, PT_FIRST_NAMED + flusher->nr_names,
					 text);
		flusher->nr_names += !error;
	}
	return error;
}

static void note_status(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	struct pxt_status *status = &flusher->writer.header.status;
	uint32_t run = atomic_load(&stream->run);

	status->is_running = !!(run & PT_RUNS);
	status->is_full = !!(run & PT_IS_FULL);
	status->is_overrun |= atomic_load(&stream->is_overrun);
	status->flush_error = atomic_load(&flusher->error);
	status->lost = atomic_load(&stream->lost);
	if (status->is_log_overrun)
		atomic_store(&flusher->is_log_overrun, 1);
	if (status->is_log_full)
		atomic_store(&flusher->is_log_full, 1);
}

/* A log that is not to lose what it has ends with a STOP, and the stream stops for good. What was not flushed is dropped. */
static void end_full_log(struct pxt_handle *handle)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	struct pxt_flusher *flusher = handle->flusher;
	struct pxt_event event = {
		.id = PT_STOP,
		.len = sizeof(int),
		.time_ns = pxt_now_ns() + handle->view->offset_ns,
	};
	int is_automatic = 1;

	if (!flusher->writer.header.status.is_log_overrun)
		pxt_log_append(&flusher->writer, &event, &is_automatic, true);
	flusher->writer.header.status.is_log_overrun = 1;
	atomic_store(&stream->run, PT_IS_FULL);
	handle->nr_queued = 0;
	handle->has_held = false;
	while (pxt_take(handle, &event) == 1)
		;
	handle->nr_queued = 0;
	handle->has_held = false;
}

/* 0, or why not: -EXFULL when the log has no room for the next one. */
static int copy_until(struct pxt_handle *handle, uint64_t head)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	struct pxt_event event;
	int error = 0;

	while (!error &&
	       (handle->nr_queued || handle->has_held || atomic_load(&stream->tail) < head ||
		atomic_load(&stream->run) & PT_SAYS_STOP) &&
	       pxt_take(handle, &event) == 1) {
		error = pxt_log_append(&handle->flusher->writer, &event, handle->buffer, false);
		if (error && error != -EXFULL)
			pxt_take_back(handle, &event);
	}
	return error;
}

/* Up to where the stream was when it began; not for ever behind one that writes as fast. */
static int copy_events(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	uint64_t head = atomic_load(&atomic_load(&handle->view->stream)->head);
	int error = -EXFULL;

	if (!flusher->writer.header.status.is_log_overrun ||
	    flusher->writer.policy != PT_LOG_UNTIL_FULL)
		error = copy_until(handle, head);
	if (!error && flusher->writer.header.is_closed && pxt_take_last_gap(handle))
		error = copy_until(handle, head);
	if (error != -EXFULL)
		return error;
	end_full_log(handle);
	return 0;
}

/* With the turn. */
static int flush_all(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	int error = check_file(flusher);

	pthread_mutex_lock(&handle->reads);
	if (!error)
		error = copy_events(handle);
	pthread_mutex_unlock(&handle->reads);
	if (!error)
		error = add_names(handle);
	note_status(handle);
	if (!error)
		error = pxt_log_sync(&flusher->writer);
	if (error && !atomic_load(&flusher->error))
		atomic_store(&flusher->error, (uint32_t)-error);
	return error;
}

/* A stream that had stopped because it was full has room again. */
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
	atomic_store(&atomic_load(&handle->view->stream)->wants_flush, 0);
	pxt_put_if_room(handle->view, PT_FLUSH_START);
	error = flush_all(handle);
	if (!error)
		begin_again(handle);
	pxt_put_if_room(handle->view, PT_FLUSH_STOP);
	atomic_store(&flusher->is_flushing, 0);
	pthread_mutex_unlock(&flusher->turn);
	return -error;
}

static void *flush_when_asked(void *argument)
{
	struct pxt_handle *handle = argument;
	struct pxt_stream *stream = atomic_load(&handle->view->stream);

	while (!atomic_load(&handle->flusher->is_ending)) {
		if (atomic_load(&stream->wants_flush))
			pxt_flush(handle);
		else
			pxt_futex(&stream->wants_flush, FUTEX_WAIT_BITSET, 0, NULL);
	}
	return NULL;
}

/* Signals are for the program's own threads. */
static int start_thread(struct pxt_handle *handle)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&handle->flusher->thread, NULL, flush_when_asked, handle);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	handle->flusher->has_thread = !error;
	return error;
}

static void free_flusher(struct pxt_handle *handle)
{
	if (handle->flusher->fd >= 0 && check_file(handle->flusher) == 0)
		close(handle->flusher->fd);
	pthread_mutex_destroy(&handle->flusher->turn);
	free(handle->flusher);
	handle->flusher = NULL;
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
	flusher->fd = fcntl(file_desc, F_DUPFD_CLOEXEC, 0);
	if (flusher->fd < 0 || fstat(flusher->fd, &st) < 0) {
		error = flusher->fd < 0 && errno == EMFILE ? ENOMEM : EBADF;
	} else {
		flusher->dev = st.st_dev;
		flusher->ino = st.st_ino;
		error = -pxt_log_writer_begin(&flusher->writer, flusher->fd, &handle->attr);
	}
	if (!error && handle->view->policy == POSIX_TRACE_FLUSH)
		error = start_thread(handle) ? ENOMEM : 0;
	if (error)
		free_flusher(handle);
	return error;
}

/* What could not be written is lost with the stream, and so is said. */
int pxt_flusher_end(struct pxt_handle *handle)
{
	struct pxt_flusher *flusher = handle->flusher;
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	int error;

	atomic_store(&flusher->is_ending, 1);
	if (flusher->has_thread) {
		atomic_store(&stream->wants_flush, 1);
		pxt_futex_wake(&stream->wants_flush);
		pthread_join(flusher->thread, NULL);
	}
	flusher->writer.header.is_closed = 1;
	atomic_fetch_and(&stream->run, ~(uint32_t)PT_RESTARTS);
	error = pxt_flush(handle);
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

	if (check_file(flusher) == 0)
		pxt_log_clear(&flusher->writer);
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
	struct pxt_handle *handle = pxt_handle_get(trid, PT_WITH_LOG);
	int error;

	if (!handle)
		return EINVAL;
	error = pxt_flush(handle);
	pxt_handle_put(handle);
	return error;
}
