/* Source of events: kernel-cpu<N>.dat (see src_kernel.h). */
#include "utils/pipeline/sources/src_kernel.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/pipeline/recording/cpu_files.h"
#include "utils/pipeline/merger.h"
#include "utils/pipeline/stages/stage.h"

/*
 * The number of bytes that one read asks for. The size of a page is a power of two, and at most
 * BUFFER_BYTES. So BUFFER_BYTES is a multiple of the page size, and each read gets whole pages.
 */
#define BUFFER_BYTES (64 * 1024)

/*
 * The tids of the tasks to which a record may belong. If the record is not wanted, both tids are 0.
 *
 * @tid: the task that has made the record
 * @other_tid: the task that the record is about; used if the recording does not have the task @tid
 */
struct owners {
	int32_t tid;
	int32_t other_tid;
};

/*
 * One file. If @has_next, the next record is already read: @next, in @page.
 *
 * @bufs: one of the two buffers is the current buffer. Returned events may point into the other
 *        buffer
 * @nr_switches: changes from one buffer to the other; the last bit is the current buffer's index
 * @has_switched: the latest call of read() has switched buffers. So no event of that call points
 *                into the current buffer
 * @at: the offset of @page in the current buffer
 * @len: the number of bytes in the current buffer
 * @start: the offset in the file of the current buffer's first byte
 * @next_type: the type of the event that is made from @next
 * @next_call: if @next_type is ENTRY or EXIT, the call in @next
 * @has_lost: records before @next are missing, and this loss is not reported yet
 * @lost: with @has_lost, the number of missing records; 0: unknown
 * @code: a read error, negative
 * @why: room for the error of a record; a struct uft_err is too large to be initialized for each
 *       record
 */
struct src_kernel {
	struct source source;
	struct source_context context;
	uint32_t cpu;
	int fd;
	uint8_t *bufs[2];
	unsigned nr_switches;
	bool has_switched;
	size_t at;
	size_t len;
	uint64_t start;
	struct kernel_page page;
	bool has_page;
	struct kernel_record next;
	enum event_type next_type;
	struct kernel_call next_call;
	struct owners owners;
	bool has_lost;
	uint64_t lost;
	bool has_next;
	bool at_end;
	int code;
	struct uft_err why;
};

static struct owners find_owners(const struct trace_data *data,
				 const struct kernel_event_type *type,
				 const struct kernel_record *rec)
{
	if (type && type->is_tracer && !type->graph.kind)
		return (struct owners){ 0 };
	return (struct owners){ rec->pid, kernel_formats_other_task(&data->kernel, type, rec) };
}

static const struct task *task_of(const struct trace_data *data, struct owners owners)
{
	const struct task *task = owners.tid ? data_task(data, owners.tid) : NULL;

	return task || !owners.other_tid ? task : data_task(data, owners.other_tid);
}

const struct task *src_kernel_task(const struct trace_data *data, const struct kernel_record *rec)
{
	return task_of(data, find_owners(data, kernel_formats_find(&data->kernel, rec->id), rec));
}

/* --- pages --- */

static void note_missed(const struct src_kernel *src)
{
	struct kernel_losses *losses = src->context.losses;

	if (!src->context.takes_notes)
		return;
	if (src->page.missed == UINT64_MAX)
		losses->has_more_lost = true;
	else
		losses->lost += src->page.missed;
}

/*
 * Write the error of a damaged page to src->context.broken, unless another error is already there.
 * read() does not return an error for damage, so the undamaged pages are still read.
 */
static void note_damage(const struct src_kernel *src, const struct uft_err *why)
{
	err_set(src->context.broken, why->code,
		"cannot read '%s/kernel-cpu%u.dat': page at offset %llu: %s",
		src->context.data->dir, src->cpu, (unsigned long long)(src->start + src->at),
		why->text);
}

static uint8_t *buffer(const struct src_kernel *src)
{
	return src->bufs[src->nr_switches & 1];
}

static size_t page_bytes(const struct src_kernel *src)
{
	return src->context.data->kernel.header.layout.page_bytes;
}

/*
 * Fill the buffer with the next pages of the file. In a growing recording, an incomplete last page
 * is left for later. Returns 1 on success, 0 at the end of the file, or a negative errno.
 */
static int refill_kernel(struct src_kernel *src)
{
	uint64_t start = src->start + src->at;
	ssize_t got;

	/*
	 * kernel_read() may call refill_kernel() several times before it returns. The data of the
	 * returned events is in the buffer that was current when kernel_read() began. Keep this
	 * buffer, and refill the other buffer.
	 */
	if (!src->has_switched)
		src->nr_switches++;
	src->has_switched = true;
	got = fd_pread_full(src->fd, buffer(src), BUFFER_BYTES, start);
	if (got < 0)
		return got;
	if (src->context.data->growth)
		got -= got % page_bytes(src);
	src->start = start;
	src->at = 0;
	src->len = got;
	return got > 0;
}

/* Increase src->lost by the number of records that are missing before the page's first record. */
static void note_lost_here(struct src_kernel *src)
{
	if (!src->page.missed)
		return;
	/* If src->lost or src->page.missed is unknown, src->lost becomes 0, which means unknown. */
	if (src->page.missed == UINT64_MAX || (src->has_lost && !src->lost))
		src->lost = 0;
	else
		src->lost += src->page.missed;
	src->has_lost = true;
}

/* Go to the next page. Returns 1 on success, 0 at the end of the file, or a negative errno. */
static int next_page(struct src_kernel *src)
{
	struct uft_err why = { 0 };

	if (src->has_page)
		src->at += MIN(page_bytes(src), src->len - src->at);
	src->has_page = false;
	if (src->at >= src->len) {
		int ret = refill_kernel(src);

		if (ret <= 0)
			return ret;
	}

	int ret = kernel_page_open(&src->page, &src->context.data->kernel.header.layout,
				   buffer(src) + src->at, src->len - src->at, &why);

	src->has_page = true;
	if (ret < 0) {
		if (src->len - src->at >= page_bytes(src))
			note_damage(src, &why);
		src->page.at = src->page.end = buffer(src);
		return 1;
	}
	/*
	 * The kernel writes no empty pages, so an empty page is a hole in the file. The size of the
	 * hole is unknown. Treat the hole as the end of the file.
	 */
	if (src->page.at == src->page.end)
		return 0;
	note_missed(src);
	note_lost_here(src);
	return 1;
}

/* Go to the next record of the page. Returns 1 on success, or 0 at the end of the page. */
static inline int next_record(struct src_kernel *src)
{
	if (kernel_page_next_plain(&src->page, &src->next))
		return 1;
	if (!src->has_page || src->page.at == src->page.end)
		return 0;

	int ret = kernel_page_next(&src->page, &src->next, &src->why);

	if (ret >= 0)
		return ret;
	/* The error is noted only for a whole page: a truncated page often ends within a record. */
	if (src->len - src->at >= page_bytes(src))
		note_damage(src, &src->why);
	err_clear(&src->why);
	src->page.at = src->page.end;
	return 0;
}

/*
 * Determine the kind and the owners of the current record. A record that is not wanted has no
 * owners.
 */
static inline void sort_record(struct src_kernel *src)
{
	const struct trace_data *data = src->context.data;
	const struct kernel_event_type *type = kernel_formats_find(&data->kernel, src->next.id);

	if (likely(type && type->graph.kind)) {
		src->next_type = type->graph.kind == KERNEL_GRAPH_ENTRY ? EVENT_ENTRY : EVENT_EXIT;
		src->owners = (struct owners){ src->next.pid, 0 };
		if (!kernel_graph_get(&type->graph, &src->next, src->page.is_big_endian,
				      &src->next_call))
			src->owners.tid = 0;
		return;
	}
	src->next_type = EVENT_POINT;
	src->owners = src->context.wants_points ? find_owners(data, type, &src->next)
						: (struct owners){ 0 };
}

/* Go to the next record that may belong to a task. */
static inline void advance_kernel(struct src_kernel *src)
{
	src->has_next = false;
	while (!src->has_next && !src->at_end) {
		if (next_record(src) > 0) {
			sort_record(src);
			src->has_next = src->owners.tid || src->owners.other_tid;
			/* Keep the time below UINT64_MAX, which stands for "no event". */
			src->next.time_ns = MIN(src->next.time_ns, UINT64_MAX - 1);
			continue;
		}

		int ret = next_page(src);

		src->at_end = ret <= 0;
		src->code = ret;
	}
}

/* --- the source --- */

static uint64_t kernel_next_ns(struct source *source)
{
	const struct src_kernel *src = (const struct src_kernel *)source;

	return src->has_next ? src->next.time_ns : src->code < 0 ? 0 : UINT64_MAX;
}

static struct event event_of(const struct src_kernel *src)
{
	if (src->next_type == EVENT_POINT)
		return (struct event){
			.time_ns = src->next.time_ns,
			.id = src->next.id,
			.type = EVENT_POINT,
			.data = src->next.data,
			.data_len = MIN(src->next.len, (uint32_t)UINT16_MAX),
		};
	return (struct event){
		.time_ns = src->next.time_ns,
		.addr = src->next_call.addr,
		.depth = src->next_call.depth,
		.type = src->next_type,
	};
}

static ssize_t kernel_read(struct source *source, struct event *events, size_t max,
			   uint64_t until_ns, struct uft_err *err)
{
	struct src_kernel *src = (struct src_kernel *)source;
	const struct owners owners = src->owners;
	unsigned nr_switches = src->nr_switches;
	size_t nr = 0;

	src->has_switched = false;
	if (!src->has_next && src->code < 0)
		return err_set_errno(err, src->code, "cannot read '%s/kernel-cpu%u.dat'",
				     src->context.data->dir, src->cpu);
	/* The task of the lost records is unknown: report the loss in the next record's task. */
	if (src->has_lost && src->has_next && src->next.time_ns <= until_ns) {
		src->has_lost = false;
		events[nr++] = (struct event){
			.time_ns = src->next.time_ns,
			.addr = src->lost,
			.type = EVENT_LOST,
			.flags = EVENT_KERNEL_LOST,
		};
		src->lost = 0;
	}
	while (nr < max && src->has_next && !src->has_lost && src->next.time_ns <= until_ns &&
	       src->owners.tid == owners.tid && src->owners.other_tid == owners.other_tid &&
	       src->nr_switches == nr_switches) {
		events[nr++] = event_of(src);
		advance_kernel(src);
	}
	source->tid = owners.tid;
	source->other_tid = owners.other_tid;
	source->task = task_of(src->context.data, owners);
	return nr;
}

/*
 * HOT: do the work of read_calls() for the rest of the page. Stop at a record that is not a call,
 * belongs to another task, or is not in the format of a 64-bit kernel.
 */
static size_t read_plain_calls(struct src_kernel *src, struct queued *calls, size_t max,
			       uint64_t until_ns)
{
	const struct kernel_formats *formats = &src->context.data->kernel;
	const int32_t tid = src->owners.tid;
	struct kernel_page page = src->page;
	struct kernel_record rec;
	size_t nr = 0;

	while (nr < max && kernel_page_next_plain(&page, &rec)) {
		const struct kernel_event_type *type = kernel_formats_find(formats, rec.id);

		if (rec.pid != tid || rec.time_ns > until_ns || !type ||
		    !kernel_graph_is_plain(&type->graph, &rec))
			break;

		uint32_t depth = get_u32(rec.data + type->graph.depth.offset, false);

		if (depth >= KERNEL_DEPTH_UNKNOWN)
			break;
		calls[nr++] = (struct queued){
			.time_ns = rec.time_ns,
			.addr = get_u64(rec.data + type->graph.func.offset, false) |
				KERNEL_ADDR_BIT,
			.depth = depth,
			.type = type->graph.kind == KERNEL_GRAPH_ENTRY ? EVENT_ENTRY : EVENT_EXIT,
		};
		src->page.at = page.at;
		src->page.time_ns = page.time_ns;
	}
	return nr;
}

/* Read a run of calls of one task. */
static size_t kernel_read_calls(struct source *source, struct queued *calls, size_t max,
				uint64_t until_ns)
{
	struct src_kernel *src = (struct src_kernel *)source;
	const struct owners owners = src->owners;
	size_t nr = 0;

	while (nr < max && src->has_next && src->next_type != EVENT_POINT &&
	       src->next.time_ns <= until_ns && src->owners.tid == owners.tid && !src->has_lost) {
		calls[nr++] = (struct queued){
			.time_ns = src->next.time_ns,
			.addr = src->next_call.addr,
			.depth = src->next_call.depth,
			.type = src->next_type,
		};
		nr += read_plain_calls(src, calls + nr, max - nr, until_ns);
		advance_kernel(src);
	}
	source->tid = owners.tid;
	source->other_tid = 0;
	source->task = nr ? task_of(src->context.data, owners) : NULL;
	return nr;
}

static int kernel_more(struct source *source, struct uft_err *err)
{
	struct src_kernel *src = (struct src_kernel *)source;

	if (!src->has_next && src->code == 0) {
		src->at_end = false;
		advance_kernel(src);
	}
	return 0;
}

static void kernel_close(struct source *source)
{
	struct src_kernel *src = (struct src_kernel *)source;

	if (src->fd >= 0)
		close(src->fd);
	free(src->bufs[0]);
	free(src->bufs[1]);
	free(src);
}

static int open_file(void *self, const char *name, uint32_t cpu)
{
	static const struct source_ops ops = {
		.next_ns = kernel_next_ns,
		.read = kernel_read,
		.read_calls = kernel_read_calls,
		.more = kernel_more,
		.close = kernel_close,
	};
	struct source_opening *in = self;
	struct src_kernel *src = calloc(1, sizeof(*src));

	if (!src)
		return err_set_errno(in->err, -ENOMEM, "cannot read kernel files");
	*src = (struct src_kernel){
		.source = { .ops = &ops },
		.context = *in->context,
		.cpu = cpu,
		.bufs = { malloc(BUFFER_BYTES), malloc(BUFFER_BYTES) },
		.fd = source_open_file(in, name),
	};

	int ret = src->fd < 0 ? src->fd : src->bufs[0] && src->bufs[1] ? 0 : -ENOMEM;

	if (ret < 0) {
		kernel_close(&src->source);
	} else {
		advance_kernel(src);
		ret = source_list_add(in->list, &src->source);
	}
	return ret < 0 ? err_set_errno(in->err, ret, "cannot read kernel files") : 0;
}

static int open_files(const struct source_context *context, struct source_list *list,
		      struct uft_err *err)
{
	struct source_opening in = { context, list, err };
	struct trace_data *data = context->data;
	int ret;

	/* All readers share the data that kernel_formats_load() changes, hence the lock. */
	pthread_mutex_lock(&data->modules.lock);
	ret = kernel_formats_load(&data->kernel, data->dir, context->broken, err);
	pthread_mutex_unlock(&data->modules.lock);
	if (ret <= 0)
		return ret;
	/*
	 * All events in the files are calls or points (EVENT_POINT). If points are not wanted,
	 * files without calls need not be read.
	 */
	if (!context->wants_points && !kernel_formats_have_calls(&data->kernel))
		return 0;
	if (context->takes_notes)
		context->losses->has_files = true;
	return cpu_files_each(data->dir, "kernel-cpu", open_file, &in, err);
}

const struct source_kind src_kernel_kind = {
	.name = "kernel",
	.open = open_files,
};
