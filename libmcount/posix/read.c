/* Events are read: now, when there is one, or until some time. */
#include "libmcount/posix/posix.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

/* How often to look whether who writes the next event still lives. */
#define LOOK_NS 20000000

enum waits {
	WAITS_NOT,
	WAITS,
	WAITS_UNTIL,
};

/* Where an event goes. */
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

static int look(struct pxt_handle *handle, const struct reading *reading)
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

/* 0 when another look is worth it. @is_writing: somebody is, who may be killed, and then nobody says so. */
static int wait_once(struct pxt_stream *stream, uint32_t wake, const struct reading *reading,
		     bool is_writing)
{
	struct timespec soon = pxt_timespec(pxt_clock_ns(CLOCK_REALTIME) + LOOK_NS);
	const struct timespec *until = reading->until;
	bool is_short = is_writing && (!until || is_before(&soon, until));

	if (until && (until->tv_nsec < 0 || until->tv_nsec >= PT_NS_PER_SECOND))
		return EINVAL;
	if (until && until->tv_sec < 0)
		return ETIMEDOUT; /* the kernel does not take such times */
	if (is_short)
		until = &soon;
	if (pxt_futex(&stream->wake, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, wake, until) == 0)
		return 0;
	if (errno == EINTR)
		return EINTR;
	return errno == ETIMEDOUT && !is_short ? ETIMEDOUT : 0;
}

/* Who waits says so first and then looks again, or an event that comes in between would wake nobody. */
static int read_event(struct pxt_handle *handle, const struct reading *reading, int *unavailable)
{
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	bool has_said = false;
	int error = 0;

	while (!error) {
		uint32_t wake = atomic_load(&stream->wake);
		int found;

		if (atomic_load(&handle->is_closing)) {
			error = EINVAL;
			break;
		}
		found = look(handle, reading);
		if (found == 1 || reading->waits == WAITS_NOT) {
			*unavailable = found != 1;
			break;
		}
		if (has_said) {
			error = wait_once(stream, wake, reading, found == -EAGAIN);
		} else {
			atomic_fetch_add(&stream->nr_waiting, 1);
			has_said = true;
		}
	}
	if (has_said)
		atomic_fetch_sub(&stream->nr_waiting, 1);
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
	if (handle->kind == PT_LOG)
		error = pxt_log_getnext(handle, reading->info, reading->data, reading->num_bytes,
					reading->data_len, unavailable);
	else
		error = read_event(handle, reading, unavailable);
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
