/* View: the contents of a recording's files, record by record (see dump.h). */
#include "utils/view/dump.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/containers/intmap.h"
#include "utils/base/fd.h"
#include "utils/format/kernel/kernel_dat.h"
#include "utils/format/kernel/perf_dat.h"
#include "utils/format/task_txt.h"
#include "utils/pipeline/recording/cpu_files.h"
#include "utils/pipeline/sources/seek.h"
#include "utils/pipeline/sources/src_kernel.h"
#include "utils/view/values/argtext.h"
#include "utils/view/values/eventtext.h"
#include "utils/view/texts.h"
#include "utils/base/units.h"

#define TASK_FILE_MAX_BYTES (1UL << 30)

struct dump {
	const struct dump_config *config;
	struct trace_data *data;
	struct pipeline pipe;	/* used for its range, filters and tasks, but not run */
	struct intmap selected; /* maps from a tid to a selected task */
	struct event_texts texts;
	struct sink *sink;
	struct uft_err *broken;
	bool has_shown; /* a record was shown */
};

static const char *const feature_names[] = {
	"PLTHOOK",	"TASK_SESSION",	   "KERNEL",   "ARGUMENT",   "RETVAL",
	"SYM_REL_ADDR", "MAX_STACK",	   "EVENT",    "PERF_EVENT", "AUTO_ARGS",
	"DEBUG_INFO",	"ESTIMATE_RETURN", "SYM_SIZE", "CALLSITE",
};

static const char *const info_names[] = {
	"EXE_NAME",	"EXE_BUILD_ID", "EXIT_STATUS", "CMDLINE",  "CPUINFO",  "MEMINFO",
	"OSINFO",	"TASKINFO",	"USAGEINFO",   "LOADINFO", "ARG_SPEC", "RECORD_DATE",
	"PATTERN_TYPE", "VERSION",	"UTC_OFFSET",  "SYSCTL",
};

/* Write "0x263 (PLTHOOK | ...)". Bits without a name are written as a number. */
static void put_mask(struct sink *sink, uint64_t mask, const char *const *names, size_t nr)
{
	bool is_first = true;

	sink_putf(sink, "%#llx (", (unsigned long long)mask);
	for (size_t i = 0; i < nr; i++) {
		if (!(mask & 1ULL << i))
			continue;
		sink_either(sink, is_first, "", " | ");
		sink_str(sink, names[i]);
		is_first = false;
	}
	mask &= ~((1ULL << nr) - 1);
	if (mask) {
		sink_either(sink, is_first, "", " | ");
		sink_putf(sink, "%#llx", (unsigned long long)mask);
	}
	sink_lit(sink, ")\n");
}

/* Write " <offset>: xx xx ...": 16 bytes per row, with a wider gap in the middle. */
static void put_bytes(struct sink *sink, uint64_t offset, const uint8_t *bytes, size_t len)
{
	for (size_t row = 0; row < len; row += 16) {
		sink_putf(sink, " <%016llx>:", (unsigned long long)offset + row);
		for (size_t i = row; i < len && i < row + 16; i++) {
			sink_either(sink, i - row == 8, "  ", " ");
			sink_putf(sink, "%02x", bytes[i]);
		}
		sink_lit(sink, "\n");
	}
}

#define HEADER_PREFIX "uftrace file header:"

static void show_header(struct dump *dump)
{
	const struct data_header *header = &dump->data->header;
	struct sink *sink = dump->sink;
	uint8_t bytes[HEADER_SIZE];

	header_encode(header, bytes);
	sink_lit(sink, HEADER_PREFIX " magic         = ");
	for (size_t i = 0; i < 8; i++)
		sink_putf(sink, "%02x", bytes[i]);
	sink_putf(sink, "\n" HEADER_PREFIX " version       = %u\n", header->version);
	sink_putf(sink, HEADER_PREFIX " header size   = %u\n", header->header_size);
	sink_putf(sink, HEADER_PREFIX " endian        = %u ", header->endian);
	sink_either(sink, header->endian == HEADER_BIG_ENDIAN, "(big)\n", "(little)\n");
	sink_putf(sink, HEADER_PREFIX " class         = %u (%d bit)\n", header->elf_class,
		  header->elf_class == HEADER_CLASS_32 ? 32 : 64);
	sink_lit(sink, HEADER_PREFIX " features      = ");
	put_mask(sink, header->feat_mask, feature_names, ARRAY_SIZE(feature_names));
	sink_lit(sink, HEADER_PREFIX " info          = ");
	put_mask(sink, header->info_mask, info_names, ARRAY_SIZE(info_names));
	if (dump->config->is_verbose)
		put_bytes(sink, 0, bytes, sizeof(bytes));
	sink_lit(sink, "\n");
}

static void show_task_line(struct sink *sink, const struct task_line *line)
{
	sink_putf(sink, SECONDS_FORMAT "  ", SECONDS_OF(line->time_ns));
	switch (line->type) {
	case TASK_LINE_SESSION:
		sink_putf(sink, "session of task %d: ", line->pid);
		sink_str(sink, line->sid);
		sink_lit(sink, " (");
		sink_text(sink, line->path, line->path_len);
		sink_lit(sink, ")\n");
		break;
	case TASK_LINE_TASK:
		sink_putf(sink, "task tid %d (pid %d)\n", line->tid, line->pid);
		break;
	case TASK_LINE_FORK:
		sink_putf(sink, "fork pid %d (ppid %d)\n", line->pid, line->ppid);
		break;
	case TASK_LINE_DLOPEN:
		sink_putf(sink, "dlopen of task %d: %llx (", line->tid,
			  (unsigned long long)line->base);
		sink_text(sink, line->path, line->path_len);
		sink_lit(sink, ")\n");
		break;
	}
}

static int show_task_log(struct dump *dump, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/task.txt", dump->data->dir);

	int ret = file_read_all(path, TASK_FILE_MAX_BYTES, &text, err);

	if (ret < 0)
		return ret;

	struct text in = text_of(text.data, text.len);
	struct task_line line;

	sink_putf(dump->sink, "%zu tasks found\n", dump->data->nr_tasks);
	while (task_txt_next(&in, &line, NULL) > 0)
		show_task_line(dump->sink, &line);
	sink_lit(dump->sink, "\n");
	return 0;
}

static void put_prefix(struct dump *dump, uint64_t time_ns, int32_t tid, const char *kind)
{
	dump->has_shown = true;
	sink_putf(dump->sink, SECONDS_FORMAT "  %7d: [", SECONDS_OF(time_ns), tid);
	sink_str(dump->sink, kind);
	sink_lit(dump->sink, "] ");
}

static void put_event_name(struct dump *dump, const struct event *event)
{
	struct strbuf name cleanup_strbuf = { 0 };

	event_put_name(&dump->texts, event, &name);
	sink_text(dump->sink, strbuf_str(&name), name.len);
}

/* Write the payload on lines below its event. The payload of a POINT is written as "name: data". */
static void show_payload(struct dump *dump, const struct task *task, const struct event *event)
{
	static const char *const kinds[] = {
		[EVENT_ENTRY] = "args ",
		[EVENT_EXIT] = "retval",
		[EVENT_POINT] = "data ",
	};
	struct strbuf text cleanup_strbuf = { 0 };

	/* Records of counters have no payload, so no length is written. */
	if (event->type != EVENT_POINT || !event_id_is_counter(event->id)) {
		put_prefix(dump, event->time_ns, task->tid, kinds[event->type]);
		sink_putf(dump->sink, "length = %u\n", event->data_len);
	}
	if (event->type != EVENT_POINT) {
		struct argtext args = { dump->data, COLOR_MODE_OFF };

		argtext_put_raw(&args, task, event, &text);
		sink_put_made(dump->sink, &text);
		return;
	}
	event_put_raw_data(&dump->texts, task, event, &text);
	if (text.len) {
		sink_lit(dump->sink, "  ");
		put_event_name(dump, event);
		sink_lit(dump->sink, ": ");
		sink_text(dump->sink, strbuf_str(&text), text.len);
		sink_lit(dump->sink, "\n");
	}
}

static void show_record(struct dump *dump, const struct task *task, const struct event *event)
{
	struct sink *sink = dump->sink;

	switch (event->type) {
	case EVENT_ENTRY:
	case EVENT_EXIT:
		put_prefix(dump, event->time_ns, task->tid,
			   event->type == EVENT_ENTRY ? "entry" : "exit ");
		sink_func(sink, event->func);
		sink_putf(sink, "(%llx) depth: %u\n", (unsigned long long)event->addr,
			  event->indent);
		break;
	case EVENT_LOST:
		put_prefix(dump, 0, task->tid, "lost ");
		sink_putf(sink, "<%llu>(%llu) depth: %u\n", (unsigned long long)event->addr,
			  (unsigned long long)event->addr, event->indent);
		break;
	default:
		put_prefix(dump, event->time_ns, task->tid, "event");
		put_event_name(dump, event);
		sink_putf(sink, "(%llx) depth: %u\n", (unsigned long long)event->addr,
			  event->indent);
		break;
	}
	if (event->data && (event->type == EVENT_POINT || dump->config->shows_args))
		show_payload(dump, task, event);
}

static void show_backwards(struct sink *sink)
{
	sink_lit(sink, "\n*************************************\n"
		       "* inverted time - data seems broken *\n"
		       "*************************************\n\n");
}

static bool is_in_range(const struct dump *dump, uint64_t time_ns)
{
	return time_ns >= dump->pipe.start_ns && time_ns <= dump->pipe.stop_ns;
}

/* The stages of one task. Stages that need the durations of calls are left out. */
struct stages {
	struct stg_calls calls;
	struct stg_filter filter;
};

/* Returns 1 when the event is shown, 0 when it is left out, or a negative errno with @err. */
static int pass_dumped(struct dump *dump, struct stages *stages, struct event *event,
		       struct uft_err *err)
{
	int ret = stg_calls(&stages->calls, event, 1, err);
	ssize_t nr = 1;

	if (ret < 0)
		return ret;
	if (dump->pipe.is_filtered)
		nr = stg_filter(&stages->filter, event, 1);
	if (nr < 0)
		return err_set_errno(err, nr, "cannot filter calls");
	return nr && stg_select(&dump->pipe.config.stages, event, 1) == 1;
}

/* Returns the file offset at which the source decodes the next record. */
static uint64_t next_offset_of(const struct src_user *src)
{
	return src->next_offset - (src->len - src->at);
}

/*
 * Show the record at @offset, which the source has just decoded. If requested, show its bytes, too.
 */
static int show_event(struct dump *dump, struct stages *stages, const struct src_user *src,
		      uint64_t offset, struct event *event, struct uft_err *err)
{
	size_t len = next_offset_of(src) - offset;
	uint16_t depth = event->indent;

	if (!is_in_range(dump, event->time_ns))
		return 0;

	int ret = pass_dumped(dump, stages, event, err);

	if (ret <= 0)
		return ret;
	event->indent = depth;
	if ((event->flags & EVENT_BACKWARDS) || (event->type == EVENT_LOST && event->time_ns))
		show_backwards(dump->sink);
	show_record(dump, stages->calls.task, event);
	if (dump->config->is_verbose)
		put_bytes(dump->sink, offset, src->buf + src->at - len, len);
	return dump->sink->failed;
}

static int show_records(struct dump *dump, struct src_user *src, struct stages *stages,
			struct uft_err *err)
{
	while (!src->at_end) {
		uint64_t offset = next_offset_of(src);
		struct event event = { 0 };
		struct uft_err why = { 0 };
		ssize_t nr = src_user_read(src, &event, 1, UINT64_MAX, &why);

		if (nr < 0) {
			err_set(dump->broken, nr, "%s", why.text);
			return 0;
		}
		if (nr == 0)
			continue;

		int ret = show_event(dump, stages, src, offset, &event, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static bool is_selected(const struct dump *dump, int32_t tid)
{
	return intmap_get(&dump->selected, (uint32_t)tid) != NULL;
}

static int select_tasks(struct dump *dump, struct uft_err *err)
{
	for (size_t i = 0; i < dump->pipe.nr_lanes; i++) {
		struct task *task = dump->pipe.lanes[i].task;

		if (intmap_put(&dump->selected, (uint32_t)task->tid, task) < 0)
			return err_set_errno(err, -ENOMEM, "cannot keep %zu tasks",
					     dump->pipe.nr_lanes);
	}
	return 0;
}

static int show_task(struct dump *dump, const struct task *task, struct uft_err *err)
{
	const struct src_user_plan plan = src_user_plan(1);
	struct stages stages = {
		.calls.config = &dump->pipe.config.stages,
		.calls.task = task,
		.calls.pseudo = &dump->pipe.pseudo,
		/* Do not guess calls that began before the first record of the file. */
		.calls.has_first = true,
	};
	struct src_user src;

	if (!task->data_bytes)
		return 0;
	sink_putf(dump->sink, "reading %d.dat\n", task->tid);
	if (!is_selected(dump, task->tid))
		return 0;

	int ret = src_user_open(&src, dump->data, task->tid, &plan, err);

	if (ret < 0)
		return ret;
	/* Records before the range are skipped. */
	if (dump->pipe.start_ns)
		seek_time(&src, dump->pipe.start_ns);
	stg_filter_init(&stages.filter, &dump->pipe.filter, task->index);
	ret = show_records(dump, &src, &stages, err);
	src_user_close(&src);
	stg_filter_deinit(&stages.filter);
	stg_calls_deinit(&stages.calls);
	return ret;
}

static bool wants_perf(const struct dump *dump, const struct perf_record *rec, uint64_t id)
{
	const struct stage_config *config = &dump->pipe.config.stages;
	bool is_sched = rec->type < PERF_REC_TASK_NEW;
	const struct event event = {
		.type = is_sched ? EVENT_SCHED_OUT : EVENT_POINT,
		.id = id,
	};

	if (rec->type == PERF_REC_OTHER || !is_selected(dump, rec->tid) ||
	    !is_in_range(dump, rec->time_ns) || (is_sched && config->sched == STAGE_SCHED_NONE))
		return false;
	return !config->choice || event_choice_has(config->choice, &event);
}

/*
 * A part of a file that is read sequentially.
 *
 * @at, @len: the bytes [@at, @len) of @bytes are not shown yet
 * @start: the file offset of @bytes[0]
 */
struct part {
	uint8_t *bytes;
	size_t at;
	size_t len;
	uint64_t start;
	int fd;
};

#define PART_BYTES (256 * 1024)

static void part_close(struct part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	free(part->bytes);
}

/*
 * Move the bytes that are not shown yet to the front of the buffer, and fill the rest of the buffer
 * from the file. Returns 1 on success, 0 at the end of the file, or a negative errno.
 */
static int part_read_on(struct part *part)
{
	size_t left = part->len - part->at;

	memmove(part->bytes, part->bytes + part->at, left);
	part->start += part->at;
	part->at = 0;
	part->len = left;

	ssize_t got = fd_pread_full(part->fd, part->bytes + left, PART_BYTES - left,
				    part->start + left);

	if (got > 0)
		part->len += got;
	return got < 0 ? got : got > 0;
}

/*
 * Open the file "<what>-cpu<cpu>.dat", and read its first part. Returns 1 on success, 0 when the
 * file is missing or empty, or a negative errno.
 */
static int part_open(struct part *part, const struct dump *dump, const char *what, uint32_t cpu,
		     struct uft_err *err)
{
	char path[PATH_MAX];
	struct uft_err why = { 0 };

	snprintf(path, sizeof(path), "%s/%s-cpu%u.dat", dump->data->dir, what, cpu);
	part->fd = file_open_regular(path, &why);
	if (part->fd < 0)
		return part->fd == -ENOENT ? 0 : err_set(err, part->fd, "%s", why.text);
	part->bytes = malloc(PART_BYTES);

	int ret = part->bytes ? part_read_on(part) : -ENOMEM;

	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", path) : ret;
}

static int show_perf_file(struct dump *dump, uint32_t cpu, struct uft_err *err)
{
	struct part part cleanup(part_close) = { .fd = -1 };
	struct perf_record rec;
	ssize_t len;
	int ret = part_open(&part, dump, "perf", cpu, err);

	if (ret <= 0)
		return ret;
	/* As in uftrace, an empty line is written only before the file of CPU 0. */
	sink_either(dump->sink, cpu == 0, "\n", "");
	sink_putf(dump->sink, "reading perf-cpu%u.dat\n", cpu);
	for (;; part.at += len) {
		len = perf_record_decode(part.bytes + part.at, part.len - part.at,
					 dump->data->is_big_endian, &rec, dump->broken);
		if (len < 0)
			return 0;
		if (len == 0) {
			ret = part_read_on(&part);
			if (ret <= 0)
				return ret;
			continue;
		}
		if (!wants_perf(dump, &rec, event_id_of_perf(rec.type)))
			continue;

		struct event event = { .id = event_id_of_perf(rec.type) };

		put_prefix(dump, rec.time_ns, rec.tid, "event");
		put_event_name(dump, &event);
		sink_putf(dump->sink, "(%u)\n", (unsigned)event.id);
		if (dump->config->is_verbose)
			put_bytes(dump->sink, part.start + part.at, part.bytes + part.at, len);
	}
}

static int show_perf_files(struct dump *dump, struct uft_err *err)
{
	uint32_t nr_cpus = cpu_files_count(dump->data->dir, "perf-cpu");
	int ret = 0;

	if (!dump->config->stages.stages.show_events)
		return 0;
	for (uint32_t cpu = 0; ret == 0 && cpu < nr_cpus; cpu++)
		ret = show_perf_file(dump, cpu, err);
	return ret;
}

/* Addresses are cut to 48 bits, the width of addresses in records of user-space calls. */
static int show_kernel_call(struct dump *dump, const struct task *task,
			    const struct kernel_event_type *type, const struct kernel_record *rec,
			    struct uft_err *err)
{
	bool big = dump->data->kernel.header.layout.is_big_endian;
	struct kernel_call call;
	const struct func *func;
	int ret;

	if (!kernel_graph_get(&type->graph, rec, big, &call))
		return 0;
	ret = module_set_kernel_func(&dump->data->modules, call.addr, &func, err);
	if (ret < 0)
		return ret;
	put_prefix(dump, rec->time_ns, task->tid,
		   type->graph.kind == KERNEL_GRAPH_ENTRY ? "entry" : "exit ");
	if (ret)
		sink_func(dump->sink, func);
	else
		sink_putf(dump->sink, "<%llx>", (unsigned long long)call.addr);
	sink_putf(dump->sink, "(%llx) depth: %u\n",
		  (unsigned long long)(call.addr & ((1ULL << 48) - 1)), call.depth);
	return 0;
}

/* As in uftrace, the data of the event are written without brackets. */
static void show_kernel_point(struct dump *dump, const struct task *task,
			      const struct kernel_record *rec)
{
	struct event event = {
		.time_ns = rec->time_ns,
		.id = rec->id,
		.type = EVENT_POINT,
		.data = rec->data,
		.data_len = MIN(rec->len, (uint32_t)UINT16_MAX),
	};
	struct strbuf text cleanup_strbuf = { 0 };

	event_put_raw_data(&dump->texts, task, &event, &text);
	put_prefix(dump, rec->time_ns, task->tid, "event");
	put_event_name(dump, &event);
	sink_putf(dump->sink, "(%u)", rec->id);
	sink_either(dump->sink, text.len, " ", "");
	sink_text(dump->sink, strbuf_str(&text), text.len);
	sink_lit(dump->sink, "\n");
}

static int show_kernel_record(struct dump *dump, const struct task *task,
			      const struct kernel_record *rec, struct uft_err *err)
{
	const struct kernel_event_type *type = kernel_formats_find(&dump->data->kernel, rec->id);

	if (type && type->graph.kind)
		return show_kernel_call(dump, task, type, rec, err);
	if (dump->config->stages.stages.show_events)
		show_kernel_point(dump, task, rec);
	return 0;
}

/* @offset: the offset of the page in its file */
static int show_kernel_page(struct dump *dump, const uint8_t *bytes, size_t len, uint64_t offset,
			    struct uft_err *err)
{
	const struct kernel_layout *layout = &dump->data->kernel.header.layout;
	struct kernel_page page;
	struct kernel_record rec;

	/* If the page is damaged, the pipeline has already warned of it. */
	if (kernel_page_open(&page, layout, bytes, len, NULL) < 0)
		return 0;
	if (page.missed == UINT64_MAX)
		sink_lit(dump->sink, "events were lost here\n");
	else if (page.missed)
		sink_putf(dump->sink, "%llu events were lost here\n",
			  (unsigned long long)page.missed);
	while (kernel_page_next(&page, &rec, NULL) > 0) {
		const struct task *task = src_kernel_task(dump->data, &rec);

		if (!task || !is_selected(dump, task->tid) || !is_in_range(dump, rec.time_ns))
			continue;

		int ret = show_kernel_record(dump, task, &rec, err);

		if (ret < 0)
			return ret;
		if (dump->config->is_verbose)
			put_bytes(dump->sink, offset + (rec.start - bytes), rec.start,
				  rec.data + rec.len - rec.start);
	}
	return 0;
}

static int show_kernel_file(struct dump *dump, uint32_t cpu, struct uft_err *err)
{
	size_t page_bytes = dump->data->kernel.header.layout.page_bytes;
	struct part part cleanup(part_close) = { .fd = -1 };
	int ret = part_open(&part, dump, "kernel", cpu, err);

	if (ret <= 0)
		return ret;
	sink_putf(dump->sink, "reading kernel-cpu%u.dat\n", cpu);
	/* A part consists of whole pages, except at the end of the file. */
	for (; ret > 0; ret = part_read_on(&part)) {
		for (; part.at < part.len; part.at += MIN(page_bytes, part.len - part.at)) {
			int shown = show_kernel_page(dump, part.bytes + part.at,
						     MIN(part.len - part.at, page_bytes),
						     part.start + part.at, err);

			if (shown < 0)
				return shown;
		}
	}
	return ret;
}

static int show_kernel_files(struct dump *dump, struct uft_err *err)
{
	uint32_t nr_cpus = dump->pipe.kernel.has_files
				   ? cpu_files_count(dump->data->dir, "kernel-cpu")
				   : 0;

	int ret = 0;

	if (nr_cpus)
		sink_lit(dump->sink, "\n");
	for (uint32_t cpu = 0; ret == 0 && cpu < nr_cpus; cpu++)
		ret = show_kernel_file(dump, cpu, err);
	return ret;
}

static int show_all(struct dump *dump, struct uft_err *err)
{
	int ret = 0;

	show_header(dump);
	if (dump->config->is_verbose)
		ret = show_task_log(dump, err);
	for (size_t i = 0; ret == 0 && i < dump->data->nr_tasks; i++)
		ret = show_task(dump, &dump->data->tasks[i], err);
	if (ret == 0)
		ret = show_kernel_files(dump, err);
	return ret == 0 ? show_perf_files(dump, err) : ret;
}

int dump_show(struct trace_data *data, const struct dump_config *config, struct sink *sink,
	      struct uft_err *broken, struct uft_err *err)
{
	struct dump dump = { .config = config, .data = data, .sink = sink, .broken = broken };
	int ret = pipeline_open(&dump.pipe, data, &config->stages, err);

	if (ret < 0)
		return ret;
	ret = select_tasks(&dump, err);
	if (ret == 0)
		ret = event_texts_load(&dump.texts, data, err);
	if (ret == 0)
		ret = show_all(&dump, err);
	event_texts_deinit(&dump.texts);
	intmap_deinit(&dump.selected);
	pipeline_close(&dump.pipe);
	return ret < 0 ? ret : dump.has_shown;
}
