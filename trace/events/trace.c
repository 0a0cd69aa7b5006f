/* Makes and ends logs, declares events, and switches events on and off. */
#include "events/trace.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A chunk of events. A process and its children share the chunk's memory (struct fst_page). If one
 * of these processes switches an event on or off, the event is switched in all these processes. The
 * counter nr_used is in the shared memory, because each of these processes may add events.
 */
struct fst_chunk {
	struct fst_chunk *next; /* the next chunk of this process */
	struct fst_page *page;
};

#define CHUNK_BYTES 65536
#define NR_EVENTS   ((CHUNK_BYTES - 64) / sizeof(struct fst_event))

struct fst_page {
	_Atomic uint32_t nr_used;
	_Alignas(64) struct fst_event events[NR_EVENTS];
};

static void *map_shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static fstrace_t *make_trace(void)
{
	fstrace_t *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	atomic_store(&trace->fd, -1);
	atomic_store(&trace->file, FST_NO_FILE);
	atomic_store(&trace->limits.files, -1);
	atomic_store(&trace->limits.seconds, -1);
	atomic_store(&trace->limits.bytes, -1);
	trace->rotate_size = -1;
	return trace;
}

static void free_trace(fstrace_t *trace)
{
	if (trace->shared)
		munmap(trace->shared, sizeof(*trace->shared));
	free(trace->prefix);
	free(trace);
}

fstrace_t *fstrace_open(const char *prefix, ssize_t rotate_size)
{
	fstrace_t *trace = make_trace();

	if (!trace)
		return NULL;
	trace->rotate_size = rotate_size;
	trace->prefix = strdup(prefix);
	trace->shared = map_shared(sizeof(*trace->shared));
	if (!trace->prefix || !trace->shared || fst_lock_open() < 0 ||
	    fst_file_set_aside(prefix) < 0) {
		int error = errno;

		free_trace(trace);
		errno = error;
		return NULL;
	}
	fst_recorded_begin(trace);
	return trace;
}

fstrace_t *fstrace_direct(FILE *f)
{
	fstrace_t *trace = make_trace();

	if (trace) {
		trace->stream = f;
		fst_recorded_begin(trace);
	}
	return trace;
}

static void free_impl(struct fstrace_event_impl *impl)
{
	fst_recorded_free(impl);
	free(impl->id);
	free(impl->head);
	free(impl);
}

int fstrace_close(fstrace_t *trace)
{
	struct fstrace_event_impl *impl = atomic_load(&trace->first);
	int fd = atomic_load(&trace->fd);

	fst_recorded_end(trace);
	fst_file_repair(trace);
	while (impl) {
		struct fstrace_event_impl *next = atomic_load(&impl->next);

		free_impl(impl);
		impl = next;
	}
	while (trace->formats) {
		struct fst_format *next = trace->formats->next;

		fst_format_free(trace->formats);
		trace->formats = next;
	}
	while (trace->chunks) {
		struct fst_chunk *next = trace->chunks->next;

		munmap(trace->chunks->page, CHUNK_BYTES);
		free(trace->chunks);
		trace->chunks = next;
	}
	if (fd >= 0)
		close(fd);
	free_trace(trace);
	return 0;
}

int fstrace_reopen(fstrace_t *trace)
{
	fst_file_reopen(trace);
	return 0;
}

static struct fst_event *take_event(fstrace_t *trace)
{
	for (int tries = 0; tries < 2; tries++) {
		if (trace->chunks) {
			struct fst_page *page = trace->chunks->page;
			uint32_t at = atomic_load(&page->nr_used);

			if (at < NR_EVENTS &&
			    (at = atomic_fetch_add(&page->nr_used, 1)) < NR_EVENTS)
				return &page->events[at];
		}

		struct fst_chunk *chunk = calloc(1, sizeof(*chunk));

		if (!chunk)
			return NULL;
		chunk->page = map_shared(CHUNK_BYTES);
		if (!chunk->page) {
			free(chunk);
			return NULL;
		}
		chunk->next = trace->chunks;
		trace->chunks = chunk;
	}
	return NULL;
}

static struct fstrace_event_impl *make_impl(fstrace_t *trace, const char *id,
					    struct fst_format *format)
{
	struct fstrace_event_impl *impl = calloc(1, sizeof(*impl));

	if (!impl)
		return NULL;
	impl->trace = trace;
	impl->format = format;
	impl->id = strdup(id);
	impl->head_len = strlen(id) + 2;
	impl->head = malloc(impl->head_len + 1);
	impl->event = impl->id && impl->head ? take_event(trace) : NULL;
	if (!impl->event) {
		free_impl(impl);
		return NULL;
	}
	impl->head[0] = ' ';
	memcpy(impl->head + 1, id, impl->head_len - 2);
	strcpy(impl->head + impl->head_len - 1, " ");
	impl->event->public.impl = impl;
	return impl;
}

fstrace_event_t *fstrace_declare(fstrace_t *trace, const char *id, const char *text)
{
	struct fst_format *format = fst_format_make(text);
	struct fstrace_event_impl *impl;
	struct fst_held held;

	if (!format)
		return NULL;
	fst_lock_threads(&held);
	impl = make_impl(trace, id, format);
	if (impl) {
		format->next = trace->formats;
		trace->formats = format;
		/* From now on, a signal handler that switches events on or off finds this event. */
		if (trace->last)
			atomic_store(&trace->last->next, impl);
		else
			atomic_store(&trace->first, impl);
		trace->last = impl;
		fst_recorded_declare(impl);
		fst_choose(impl, false);
	}
	fst_unlock_threads(&held);
	if (!impl)
		fst_format_free(format);
	return impl ? &impl->event->public : NULL;
}

void fstrace_set_common_format(fstrace_t *trace, const char *text)
{
	struct fst_format *format = text && *text ? fst_format_make(text) : NULL;
	struct fst_held held;

	if (format && !fst_format_is_bare(format)) {
		fst_format_free(format);
		format = NULL;
	}
	fst_lock_threads(&held);
	if (format) {
		format->next = trace->formats;
		trace->formats = format;
	}
	atomic_store(&trace->common, format);
	for (struct fstrace_event_impl *impl = atomic_load(&trace->first); impl;
	     impl = atomic_load(&impl->next))
		fst_recorded_declare(impl);
	fst_unlock_threads(&held);
}

/* True when the recorder gets the event. */
static bool goes_to_ring(const struct fstrace_event_impl *impl, bool wants_text)
{
	const struct fst_recorded *recorded = atomic_load(&impl->recorded);

	if (!recorded)
		return false;
	return recorded->choice ? recorded->choice > 0 : wants_text;
}

void fst_choose(struct fstrace_event_impl *impl, bool wants_text)
{
	uint32_t consumers = (wants_text ? FST_TO_TEXT : 0) |
			     (goes_to_ring(impl, wants_text) ? FST_TO_RING : 0);

	atomic_store(&impl->event->consumers, consumers);
	impl->event->public.enabled = consumers != 0;
}

void fstrace_select_event(fstrace_event_t *event, int selection)
{
	if (event && selection)
		fst_choose(event->impl, selection > 0);
}

void fstrace_select(fstrace_t *trace, int (*cb)(void *data, const char *id), void *data)
{
	struct fstrace_event_impl *impl = atomic_load(&trace->first);

	for (; impl; impl = atomic_load(&impl->next))
		fstrace_select_event(&impl->event->public, cb(data, impl->id));
}

void fstrace_select_safe(fstrace_t *trace, int (*cb)(void *data, const char *id), void *data)
{
	struct fst_held held;

	fst_lock_threads(&held);
	fstrace_select(trace, cb, data);
	fst_unlock_threads(&held);
}

struct choice {
	const regex_t *include, *exclude; /* each may be NULL */
};

static int choose_id(void *data, const char *id)
{
	const struct choice *choice = data;

	if (!choice->include || regexec(choice->include, id, 0, NULL, 0) != 0)
		return -1;
	return choice->exclude && regexec(choice->exclude, id, 0, NULL, 0) == 0 ? -1 : 1;
}

bool fstrace_select_regex(fstrace_t *trace, const char *include_re, const char *exclude_re)
{
	regex_t include, exclude;

	if (include_re && regcomp(&include, include_re, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	if (exclude_re && regcomp(&exclude, exclude_re, REG_EXTENDED | REG_NOSUB) != 0) {
		if (include_re)
			regfree(&include);
		return false;
	}
	fstrace_select_safe(
		trace, choose_id,
		&(struct choice){ include_re ? &include : NULL, exclude_re ? &exclude : NULL });
	if (include_re)
		regfree(&include);
	if (exclude_re)
		regfree(&exclude);
	return true;
}

static int64_t limit_of(int64_t limit)
{
	return limit < 0 ? -1 : limit;
}

void fstrace_limit_rotation_file_count(fstrace_t *trace, int count)
{
	atomic_store(&trace->limits.files, limit_of(count));
}

void fstrace_limit_rotation_file_age(fstrace_t *trace, int seconds)
{
	atomic_store(&trace->limits.seconds, limit_of(seconds));
}

void fstrace_limit_rotation_byte_count(fstrace_t *trace, int64_t count)
{
	atomic_store(&trace->limits.bytes, limit_of(count));
}
