/* Reads events, with or without a wait. */
#include "posix/posix.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

/* The interval after which the reader checks again if the writer of the next event is alive. */
#define LOOK_NS 20000000

enum waits {
	WAITS_NOT,
	WAITS,
	WAITS_UNTIL,
};

/*
 * A request to read an event. The members tell where the parts of the event are stored, and whether
 * and how long the reader waits for an event.
 */
struct reading {
	struct posix_trace_event_info *info;
	void *data;
	size_t num_bytes;
	size_t *data_len;
	enum waits waits;
	const struct timespec *until;
};

void pxt_deliver(const struct pxt_event *event, const void *from,
		 struct posix_trace_event_info *info, void *data, size_t num_bytes,
		 size_t *data_len)
{
	size_t len = event->len < num_bytes ? event->len : num_bytes;

	memset(info, 0, sizeof(*info));
	info->posix_event_id = event->id;
	info->posix_pid = (pid_t)event->pid;
	info->posix_prog_address = (void *)(uintptr_t)event->address;
	info->posix_thread_id = (pthread_t)event->thread;
	info->posix_timestamp = pxt_timespec(event->time_ns);
	info->posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	if (event->flags & PT_TRUNCATED)
		info->posix_truncation_status = POSIX_TRACE_TRUNCATED_RECORD;
	if (len < event->len)
		info->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
	if (len && from)
		memcpy(data, from, len);
	*data_len = len;
}

static int look_for_event(struct pxt_handle *handle, const struct reading *reading)
{
	struct pxt_event event;
	int found;

	pthread_mutex_lock(&handle->reads);
	found = handle->kind == PT_WITH_LOG ? pxt_follow(handle, &event) : pxt_take(handle, &event);
	if (found == 1)
		pxt_deliver(&event, handle->buffer, reading->info, reading->data,
			    reading->num_bytes, reading->data_len);
	pthread_mutex_unlock(&handle->reads);
	return found;
}

static bool is_before(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec < other->tv_sec ||
	       (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

/* Waits on a futex. The thread can be cancelled during the wait, since it holds no lock. */
static long wait_on(_Atomic uint32_t *word, uint32_t value, const struct timespec *until)
{
	int type;
	long ret;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = pxt_futex(word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, value, until);
	pthread_setcanceltype(type, NULL);
	return ret;
}

/*
 * Waits for an event. Returns 0 if the caller should look again, or an error number.
 *
 * @is_writing: a process is writing a record. The wait is short, since the process may be killed
 *              before it wakes the reader
 */
static int wait_once(struct pxt_stream *stream, uint32_t wake, const struct reading *reading,
		     bool is_writing)
{
	struct timespec soon = pxt_timespec(pxt_clock_ns(CLOCK_REALTIME) + LOOK_NS);
	const struct timespec *until = reading->until;
	bool is_short = is_writing && (!until || is_before(&soon, until));

	if (until && (until->tv_nsec < 0 || until->tv_nsec >= PT_NS_PER_SECOND))
		return EINVAL;
	if (until && until->tv_sec < 0)
		return ETIMEDOUT; /* the kernel does not take negative times */
	if (is_short)
		until = &soon;
	if (wait_on(&stream->wake, wake, until) == 0)
		return 0;
	if (errno == EINTR)
		return EINTR;
	return errno == ETIMEDOUT && !is_short ? ETIMEDOUT : 0;
}

/*
 * @has_said: the reader has announced that it waits. The variable is volatile, because the
 *            compiler does not know that end_waiting() also runs when the thread is cancelled
 */
struct waiting {
	struct pxt_handle *handle;
	volatile bool *has_said;
};

/* Ends a wait. Called when the wait is over, or when the waiting thread is cancelled. */
static void end_waiting(void *argument)
{
	struct waiting *waiting = argument;
	struct pxt_stream *stream = atomic_load(&waiting->handle->view->stream);

	if (*waiting->has_said)
		atomic_fetch_sub(&stream->nr_waiting, 1);
	pxt_handle_put(waiting->handle);
}

/*
 * Reads an event. If there is no event, the function waits for an event, unless @reading has
 * WAITS_NOT. Before the first wait, the function announces the wait, and then looks for an event
 * once more. A writer that has not seen the announcement wakes no waiting thread. The second look
 * finds the event of such a writer.
 */
static int read_event(struct waiting *waiting, const struct reading *reading, int *unavailable)
{
	struct pxt_handle *handle = waiting->handle;
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	int error = 0;

	while (!error) {
		uint32_t wake = atomic_load(&stream->wake);
		int found;

		if (atomic_load(&handle->is_closing))
			return EINVAL;
		found = look_for_event(handle, reading);
		if (found == 1 || reading->waits == WAITS_NOT) {
			*unavailable = found != 1;
			return 0;
		}
		if (*waiting->has_said) {
			error = wait_once(stream, wake, reading, found == -EAGAIN);
		} else {
			atomic_fetch_add(&stream->nr_waiting, 1);
			*waiting->has_said = true;
		}
	}
	return error;
}

static int read_stream(struct pxt_handle *handle, const struct reading *reading, int *unavailable)
{
	volatile bool has_said = false;
	struct waiting waiting = { handle, &has_said };
	int error;

	pthread_cleanup_push(end_waiting, &waiting);
	error = read_event(&waiting, reading, unavailable);
	pthread_cleanup_pop(1);
	return error;
}

static int read_any(trace_id_t trid, int kinds, const struct reading *reading, int *unavailable)
{
	bool is_good = reading->info && reading->data_len && unavailable &&
		       (reading->data || !reading->num_bytes) &&
		       (reading->waits != WAITS_UNTIL || reading->until);
	struct pxt_handle *handle = is_good ? pxt_handle_get(trid, kinds) : NULL;
	int error;

	if (!handle)
		return EINVAL;
	if (handle->kind != PT_LOG)
		return read_stream(handle, reading, unavailable);
	error = pxt_log_getnext(handle, reading->info, reading->data, reading->num_bytes,
				reading->data_len, unavailable);
	pxt_handle_put(handle);
	return error;
}

int posix_trace_getnext_event(trace_id_t trid, struct posix_trace_event_info *restrict info,
			      void *restrict data, size_t num_bytes, size_t *restrict data_len,
			      int *restrict unavailable)
{
	struct reading reading = { info, data, num_bytes, data_len, WAITS, NULL };

	return read_any(trid, PT_ANY, &reading, unavailable);
}

int posix_trace_timedgetnext_event(trace_id_t trid, struct posix_trace_event_info *restrict info,
				   void *restrict data, size_t num_bytes, size_t *restrict data_len,
				   int *restrict unavailable,
				   const struct timespec *restrict abstime)
{
	struct reading reading = { info, data, num_bytes, data_len, WAITS_UNTIL, abstime };

	return read_any(trid, PT_ACTIVE, &reading, unavailable);
}

int posix_trace_trygetnext_event(trace_id_t trid, struct posix_trace_event_info *restrict info,
				 void *restrict data, size_t num_bytes, size_t *restrict data_len,
				 int *restrict unavailable)
{
	struct reading reading = { info, data, num_bytes, data_len, WAITS_NOT, NULL };

	return read_any(trid, PT_STREAM, &reading, unavailable);
}
