/*
 * The objects that trace_id_t values stand for. The values are valid only in the process that made
 * them.
 */
#include "posix/posix.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_HANDLES     (2 * TRACE_SYS_MAX) /* TRACE_SYS_MAX streams and TRACE_SYS_MAX logs */
#define GENERATION_MAX 0x7fffff

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_gone = PTHREAD_COND_INITIALIZER;
static struct pxt_handle *handles[NR_HANDLES];
static uint32_t generations[NR_HANDLES];

/* Called with the lock. */
static struct pxt_handle *find_trace_handle(trace_id_t trid, int kinds)
{
	struct pxt_handle *handle;

	if (trid <= 0)
		return NULL;
	handle = handles[trid % NR_HANDLES];
	if (!handle || !(handle->kind & (uint32_t)kinds) || handle->is_closing ||
	    handle->generation != (uint32_t)trid / NR_HANDLES || handle->creator != getpid())
		return NULL;
	return handle;
}

struct pxt_handle *pxt_handle_get(trace_id_t trid, int kinds)
{
	struct pxt_handle *handle;

	pthread_mutex_lock(&lock);
	handle = find_trace_handle(trid, kinds);
	if (handle)
		handle->nr_users++;
	pthread_mutex_unlock(&lock);
	return handle;
}

void pxt_handle_put(struct pxt_handle *handle)
{
	pthread_mutex_lock(&lock);
	handle->nr_users--;
	if (atomic_load(&handle->is_closing))
		pthread_cond_broadcast(&has_gone);
	pthread_mutex_unlock(&lock);
}

/*
 * The number of a handle (trace_id_t) consists of its slot and the generation of the slot. Each new
 * handle in a slot gets the next generation, so the number of an ended handle is not used again for
 * a long time.
 */
struct pxt_handle *pxt_handle_new(void)
{
	struct pxt_handle *handle = aligned_alloc(64, (sizeof(*handle) + 63) / 64 * 64);
	uint32_t slot;

	if (!handle)
		return NULL;
	memset(handle, 0, sizeof(*handle));
	handle->creator = getpid();
	pthread_mutex_init(&handle->reads, NULL);
	pthread_mutex_init(&handle->controls, NULL);
	pthread_mutex_lock(&lock);
	for (slot = 0; slot < NR_HANDLES && handles[slot]; slot++)
		;
	if (slot < NR_HANDLES) {
		generations[slot] = generations[slot] % GENERATION_MAX + 1;
		handle->generation = generations[slot];
		handles[slot] = handle;
	}
	pthread_mutex_unlock(&lock);
	if (slot < NR_HANDLES)
		return handle;
	free(handle);
	return NULL;
}

static uint32_t slot_of(const struct pxt_handle *handle)
{
	uint32_t slot = 0;

	while (slot < NR_HANDLES && handles[slot] != handle)
		slot++;
	return slot;
}

trace_id_t pxt_handle_publish(struct pxt_handle *handle, enum pxt_kind kind)
{
	trace_id_t trid;

	pthread_mutex_lock(&lock);
	handle->kind = kind;
	trid = (trace_id_t)(handle->generation * NR_HANDLES + slot_of(handle));
	pthread_mutex_unlock(&lock);
	return trid;
}

void pxt_handle_discard(struct pxt_handle *handle)
{
	uint32_t slot;

	pthread_mutex_lock(&lock);
	slot = slot_of(handle);
	if (slot < NR_HANDLES)
		handles[slot] = NULL;
	pthread_mutex_unlock(&lock);
	pthread_mutex_destroy(&handle->reads);
	pthread_mutex_destroy(&handle->controls);
	free(handle->buffer);
	free(handle);
}

struct pxt_handle *pxt_handle_end(trace_id_t trid, int kinds)
{
	struct pxt_handle *handle;
	struct pxt_stream *stream;

	pthread_mutex_lock(&lock);
	handle = find_trace_handle(trid, kinds);
	if (handle) {
		atomic_store(&handle->is_closing, 1);
		stream = handle->view ? atomic_load(&handle->view->stream) : NULL;
		if (stream)
			pxt_wake_readers(stream);
		while (handle->nr_users)
			pthread_cond_wait(&has_gone, &lock);
	}
	pthread_mutex_unlock(&lock);
	return handle;
}

void pxt_handles_wake_flushers(void)
{
	pthread_mutex_lock(&lock);
	for (uint32_t slot = 0; slot < NR_HANDLES; slot++) {
		struct pxt_handle *handle = handles[slot];
		struct pxt_stream *stream;

		stream = handle && handle->kind == PT_WITH_LOG ? atomic_load(&handle->view->stream)
							       : NULL;
		if (stream)
			pxt_want_look(stream);
	}
	pthread_mutex_unlock(&lock);
}

void pxt_handles_lock(void)
{
	pthread_mutex_lock(&lock);
}

void pxt_handles_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/*
 * The memory of handles is not freed. If a signal handler has forked, the child goes on with the
 * code that the handler interrupted. This code may use the memory.
 */
void pxt_handles_forget(void)
{
	static struct pxt_handle *forgotten;

	for (uint32_t slot = 0; slot < NR_HANDLES; slot++) {
		struct pxt_handle *handle = handles[slot];

		if (!handle)
			continue;
		pxt_flusher_forget(handle);
		handle->next_forgotten = forgotten;
		forgotten = handle;
		handles[slot] = NULL;
	}
	pthread_cond_init(&has_gone, NULL);
}

void pxt_handles_shutdown(void)
{
	for (uint32_t slot = 0; slot < NR_HANDLES; slot++) {
		struct pxt_handle *handle = NULL;

		pthread_mutex_lock(&lock);
		if (handles[slot] && handles[slot]->kind & PT_ACTIVE &&
		    !atomic_load(&handles[slot]->is_closing)) {
			handle = handles[slot];
			atomic_store(&handle->is_closing, 1);
			pxt_wake_readers(atomic_load(&handle->view->stream));
		}
		pthread_mutex_unlock(&lock);
		if (handle && !handle->nr_users)
			pxt_shutdown(handle, NULL);
	}
}
