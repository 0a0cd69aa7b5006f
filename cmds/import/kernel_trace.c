/* Makes the kernel's part of a recording from the records of a trace.dat (see kernel_trace.h). */
#include "cmds/import/kernel_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmds/cmd.h"
#include "cmds/import/dir.h"
#include "cmds/import/kernel_output.h"
#include "cmds/import/kernel_tasks.h"
#include "cmds/import/tasks.h"
#include "utils/base/cleanup.h"
#include "utils/base/path.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/kinds/event_kinds.h"
#include "utils/tracecmd/records.h"

/* The clock that is assumed when a recording names none. */
#define DEFAULT_CLOCK "mono"

/* A buffer of the file. @shift_ns is added to the buffer's times to get times of the recording. */
struct place {
	const struct tracedat_buffer *buffer;
	int64_t shift_ns;
};

/*
 * The records of one CPU in one buffer. If @has_next is true, @next is the next record, and
 * @time_ns its time in the recording.
 */
struct part {
	const struct place *place;
	const struct tracedat_cpu *cpu;
	struct tracedat_stream stream;
	struct kernel_record next;
	uint64_t time_ns;
	uint64_t missed;
	bool has_next;
};

/*
 * @into: the path of the recording to which records are added; this recording is open
 *         as @data. NULL: a new recording is made
 * @parts: sorted by CPU
 * @nr_of_others: number of records that are left out because of their task. With @into: the
 *         recording @into has neither the task that made the record nor the task that the record
 *         is about. Without @into: the new recording lacks the record's task, and already has the
 *         maximum number of tasks
 * @nr_unusable: number of records that are left out because the record is too large, or because the
 *         number of the record's task is negative
 * @nr_of_tracers: number of records that are left out because they are neither events nor calls
 */
struct kernel_trace {
	const struct opts *opts;
	const char *path;
	const char *into;
	struct tracedat file;
	struct kernel_formats formats;
	struct trace_data data;
	struct store_dir dir;
	struct kernel_trace_tasks tasks;
	struct kernel_output out;
	struct place *places;
	size_t nr_places;
	struct part *parts;
	size_t nr_parts;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t nr_records;
	uint64_t nr_of_others;
	uint64_t nr_unusable;
	uint64_t nr_of_tracers;
};

static void kernel_trace_deinit(struct kernel_trace *kt)
{
	for (size_t i = 0; i < kt->nr_parts; i++)
		tracedat_stream_close(&kt->parts[i].stream);
	free(kt->parts);
	free(kt->places);
	kernel_output_deinit(&kt->out);
	kernel_trace_tasks_deinit(&kt->tasks);
	kernel_formats_deinit(&kt->formats);
	if (kt->data.dir)
		data_close(&kt->data);
	store_dir_close(&kt->dir);
	tracedat_close(&kt->file);
}

/* --- clocks --- */

/*
 * Finds the clock in the command line that made the recording. If `record` was run without --clock,
 * a --clock option of the recorded program is used by mistake.
 */
static void recorded_clock(const struct info *info, char clock[static TRACEDAT_NAME_MAX])
{
	static const char option[] = "--clock";
	const char *at = info->cmdline;

	while (at && (at = strstr(at, option))) {
		at += strlen(option);
		/* "--clock" may end the line, or begin the name of another option. */
		if (*at != '=' && *at != ' ')
			continue;

		size_t len = strcspn(++at, " '\"");

		if (len && len < TRACEDAT_NAME_MAX) {
			memcpy(clock, at, len);
			clock[len] = '\0';
			return;
		}
	}
	strcpy(clock, DEFAULT_CLOCK);
}

/*
 * Finds the difference between the time of day and the recording's clock. Returns false when the
 * recording does not tell this difference.
 */
static bool recorded_offset(struct kernel_trace *kt, int64_t *offset_ns)
{
	struct event_kinds kinds;

	if (kt->data.has_declared && event_kinds_load(&kinds, &kt->data, NULL) == 0) {
		*offset_ns = kinds.declared.offset_ns;
		event_kinds_deinit(&kinds);
		return true;
	}
	if (!(kt->data.header.info_mask & INFO_UTC_OFFSET) ||
	    __builtin_mul_overflow(kt->data.info.utc_offset_s, 1000000000LL, offset_ns))
		return false;
	msg_warn(&kt->opts->msg,
		 "'%s' knows the time of day to the second only: events of the kernel may be that "
		 "much too early or late",
		 kt->into);
	return true;
}

/*
 * Computes place->shift_ns with the help of the time of day. Returns false when the file or the
 * recording does not relate its clock to the time of day.
 */
static bool align_by_date(struct kernel_trace *kt, struct place *place)
{
	int64_t offset_ns;

	return kt->file.has_date && recorded_offset(kt, &offset_ns) &&
	       !__builtin_sub_overflow(kt->file.date_ns, offset_ns, &place->shift_ns);
}

static bool is_same_clock(const struct kernel_trace *kt, const char *clock, const char *recorded)
{
	return !kt->file.has_tsc && strcmp(clock, recorded) == 0;
}

/*
 * Finds the difference between the buffer's times and those of the recording. Returns false with
 * the reason in @why when the difference is unknown.
 */
static bool align(struct kernel_trace *kt, struct place *place, struct uft_err *why)
{
	const char *clock = place->buffer->clock;
	char recorded[TRACEDAT_NAME_MAX];

	if (!kt->into) {
		if (!tracedat_clock_is_time(&kt->file, clock))
			msg_warn(&kt->opts->msg,
				 "the clock '%s' does not count nanoseconds: times are shown as if "
				 "it did",
				 clock);
		return true;
	}
	recorded_clock(&kt->data.info, recorded);
	if (is_same_clock(kt, clock, recorded))
		return true;
	if (!kt->file.has_tsc && tracedat_clock_is_time(&kt->file, clock) &&
	    align_by_date(kt, place))
		return true;
	err_set(why, -EINVAL,
		"times cannot be aligned: '%s' was recorded with the clock '%s', '%s' with '%s'%s; "
		"use trace-cmd record -C %s",
		kt->into, recorded, kt->path, *clock ? clock : "(it does not say which)",
		kt->file.has_tsc ? ", converted" : "", recorded);
	return false;
}

/*
 * Aligns all buffers that have CPUs. Leaves out each buffer that cannot be aligned. It is an error
 * if buffers were left out and no aligned buffer remains.
 */
static int align_all(struct kernel_trace *kt, struct uft_err *err)
{
	struct uft_err why = { 0 };

	kt->places = calloc(kt->file.nr_buffers + 1, sizeof(*kt->places));
	if (!kt->places)
		return err_set_errno(err, -ENOMEM, "cannot import '%s'", kt->path);
	for (size_t i = 0; i < kt->file.nr_buffers; i++) {
		const struct tracedat_buffer *buffer = &kt->file.buffers[i];
		struct place place = { .buffer = buffer };
		struct uft_err reason = { 0 };

		if (!buffer->nr_cpus)
			continue;
		if (align(kt, &place, &reason)) {
			kt->places[kt->nr_places++] = place;
			continue;
		}
		err_set(&why, reason.code, "%s", reason.text);
		tracedat_note(&kt->file, "buffer '%s': %s", buffer->name, reason.text);
	}
	return kt->nr_places || !why.code ? 0 : err_set(err, why.code, "%s", why.text);
}

/* --- records --- */

/*
 * Reads the next record of @part, and converts the time of the record to a time of the recording.
 * Returns 1 on success, 0 at the end of the records, or a negative errno.
 */
static int advance_part(struct kernel_trace *kt, struct part *part, struct uft_err *err)
{
	int64_t shift_ns = part->place->shift_ns;
	int ret = tracedat_stream_next(&part->stream, &part->next, &part->missed, err);
	uint64_t time_ns;

	part->has_next = ret > 0;
	if (ret <= 0)
		return ret;
	time_ns = tracedat_time_ns(&kt->file, part->next.time_ns);
	if (shift_ns < 0)
		time_ns -= MIN(time_ns, (uint64_t)-shift_ns);
	else
		time_ns += shift_ns;
	/* The time 0 means "no time", so no record may have it. */
	part->time_ns = MAX(time_ns, 1ULL);
	return 1;
}

/*
 * True for a record that a tracer of the kernel has written, except records of function calls.
 * Readers do not show a record for which the result is true.
 */
static bool is_of_tracer(const struct kernel_event_type *type)
{
	return type && type->is_tracer && !type->graph.kind;
}

/*
 * Stores the number of the record's task in @number. Stores -E2BIG in @ret when there are too many
 * tasks, or -ENOMEM. Returns false when the record is left out.
 */
static bool choose_task(struct kernel_trace *kt, const struct part *part, int32_t *number, int *ret)
{
	const struct kernel_record *rec = &part->next;
	const struct kernel_event_type *type = kernel_formats_find(&kt->formats, rec->id);
	int32_t other = kernel_formats_other_task(&kt->formats, type, rec);

	*number = rec->pid;
	if (is_of_tracer(type)) {
		kt->nr_of_tracers++;
		return false;
	}
	if (rec->pid < 0) {
		kt->nr_unusable++;
		return false;
	}
	if (kt->into && !data_task(&kt->data, rec->pid) &&
	    !(other && data_task(&kt->data, other))) {
		kt->nr_of_others++;
		return false;
	}
	if (!kt->into)
		*ret = kernel_trace_tasks_see(&kt->tasks, rec->pid, part->cpu->cpu, part->time_ns,
					      number);
	return true;
}

static int take_part_record(struct kernel_trace *kt, const struct part *part, uint64_t *missed,
			    struct uft_err *err)
{
	int32_t number;
	int ret = 0;

	if (!choose_task(kt, part, &number, &ret))
		return 0;
	if (ret == -E2BIG) {
		kt->nr_of_others++;
		return 0;
	}
	if (ret == 0)
		ret = kernel_pages_add(&kt->out.pages, &part->next, part->time_ns, number, *missed);
	if (ret == -EMSGSIZE) {
		kt->nr_unusable++;
		return 0;
	}
	if (ret < 0)
		return err_set_errno(err, ret, "cannot write the records of CPU %u",
				     part->cpu->cpu);
	*missed = 0;
	kernel_output_see(&kt->out, part->next.id);
	kt->first_ns = kt->nr_records++ ? MIN(kt->first_ns, part->time_ns) : part->time_ns;
	kt->last_ns = MAX(kt->last_ns, part->time_ns);
	return 0;
}

static struct part *earliest_part(struct part *parts, size_t nr)
{
	struct part *first = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (parts[i].has_next && (!first || parts[i].time_ns < first->time_ns))
			first = &parts[i];
	}
	return first;
}

static void count_missed(uint64_t *sum, uint64_t more)
{
	*sum = more == UINT64_MAX || *sum > UINT64_MAX - 1 - more ? UINT64_MAX : *sum + more;
}

/* Writes all records of one CPU. The array @parts has the @nr parts of this CPU. */
static int take_cpu(struct kernel_trace *kt, struct part *parts, size_t nr, struct uft_err *err)
{
	struct part *part;
	uint64_t missed = 0;
	int ret = kernel_output_begin(&kt->out, parts->cpu->cpu, err);

	for (size_t i = 0; ret >= 0 && i < nr; i++) {
		struct uft_err why = { 0 };

		ret = tracedat_stream_open(&parts[i].stream, &kt->file, parts[i].place->buffer,
					   parts[i].cpu, &why);
		if (ret == -EBADMSG) {
			tracedat_note(&kt->file, "%s", why.text);
			ret = 0;
			continue;
		}
		ret = ret < 0 ? err_set(err, ret, "%s", why.text)
			      : advance_part(kt, &parts[i], err);
	}
	while (ret >= 0 && (part = earliest_part(parts, nr))) {
		count_missed(&missed, part->missed);
		ret = take_part_record(kt, part, &missed, err);
		if (ret >= 0)
			ret = advance_part(kt, part, err);
	}
	for (size_t i = 0; i < nr; i++)
		tracedat_stream_close(&parts[i].stream);
	return ret < 0 ? ret : kernel_output_end(&kt->out, err);
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a;
	const struct part *y = b;

	if (x->cpu->cpu != y->cpu->cpu)
		return x->cpu->cpu < y->cpu->cpu ? -1 : 1;
	/*
	 * The buffers of a CPU keep the order that they have in the file. In the file, the buffer
	 * of the kernel's top tracing instance comes first.
	 */
	return (x->place > y->place) - (x->place < y->place);
}

static int find_parts(struct kernel_trace *kt, struct uft_err *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < kt->nr_places; i++) {
		nr += kt->places[i].buffer->nr_cpus;
		kt->out.layout.page_bytes = MAX(kt->out.layout.page_bytes,
						kt->places[i].buffer->page_bytes);
	}
	kt->parts = calloc(nr + 1, sizeof(*kt->parts));
	if (!kt->parts)
		return err_set_errno(err, -ENOMEM, "cannot import '%s'", kt->path);
	for (size_t i = 0; i < kt->nr_places; i++) {
		const struct place *place = &kt->places[i];

		for (size_t k = 0; k < place->buffer->nr_cpus; k++)
			kt->parts[kt->nr_parts++] = (struct part){
				.place = place,
				.cpu = &place->buffer->cpus[k],
			};
	}
	qsort(kt->parts, kt->nr_parts, sizeof(*kt->parts), compare_parts);
	return 0;
}

static int take_all(struct kernel_trace *kt, struct uft_err *err)
{
	struct part *at = kt->parts;
	struct part *end = at + kt->nr_parts;
	int ret = 0;

	while (ret >= 0 && at < end) {
		struct part *next = at + 1;

		while (next < end && next->cpu->cpu == at->cpu->cpu)
			next++;
		ret = take_cpu(kt, at, next - at, err);
		at = next;
	}
	return ret;
}

/* --- the file, and the recording --- */

/*
 * Reads the formats of events. A record may be about another task than the task that has made the
 * record. The number of this other task can be read only when the format of the record is known.
 */
static int read_formats(struct kernel_trace *kt, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	const struct kernel_layout layout = {
		.page_bytes = kt->out.layout.page_bytes,
		.long_size = kt->file.long_size,
		.is_big_endian = kt->file.is_big_endian,
	};

	kt->out.layout = layout;
	kernel_header_put_layout(&text, &layout);
	strbuf_add(&text, strbuf_str(&kt->file.files), kt->file.files.len);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot import '%s'", kt->path);

	struct uft_err why = { 0 };
	int ret = kernel_formats_read(&kt->formats, &text, &why);

	return ret < 0 ? err_set(err, ret, "cannot read '%s': %s", kt->path, why.text) : 0;
}

static int check_file(const struct kernel_trace *kt, struct uft_err *err)
{
	for (size_t i = 0; i < kt->file.nr_buffers; i++) {
		if (kt->file.buffers[i].nr_cpus)
			return 0;
	}
	if (kt->file.has_text)
		return err_set(err, -ENODATA,
			       "'%s' has text, and no records of the kernel (trace-cmd record "
			       "makes those; -p LATENCY_TRACER makes text)",
			       kt->path);
	return err_set(err, -ENODATA, "'%s' has no records of the kernel", kt->path);
}

static int open_into(struct kernel_trace *kt, struct uft_err *err)
{
	struct stat st;
	int ret = import_dir_lock(&kt->dir, kt->into, err);

	kt->out.hides = true;
	if (ret == 0)
		ret = data_open(&kt->data, kt->into, DEMANGLE_NO, err);
	if (ret == 0 && fstatat(kt->dir.fd, "kernel_header", &st, 0) == 0)
		ret = err_set(err, -EEXIST,
			      "cannot import into '%s': it has the kernel's part already "
			      "(kernel_header)",
			      kt->into);
	return ret;
}

static int open_output(struct kernel_trace *kt, struct uft_err *err)
{
	/*
	 * All events are outside of functions. Readers show such events only with these options.
	 */
	return import_dir_make(&kt->dir, kt->opts->data_dir, "--event-full\n--kernel-full\n", err);
}

static int write_info(struct kernel_trace *kt, struct uft_err *err)
{
	struct info info cleanup_info = { .elapsed_ns = kt->last_ns - kt->first_ns };
	struct data_header header = import_dir_header(kt->opts);
	const char *name = path_base(kt->path);
	int32_t *tids cleanup_free = calloc(kt->tasks.nr + 1, sizeof(*tids));
	int ret = tids ? import_dir_describe(kt->opts, name, strlen(name), &info) : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < kt->tasks.nr; i++)
		tids[i] = kt->tasks.all[i]->tid;
	if (ret == 0)
		ret = import_dir_add_tids(&info, tids, kt->tasks.nr);
	if (ret < 0)
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	header.feat_mask |= FEAT_KERNEL;
	if (kt->file.has_date)
		info.utc_offset_s = kt->file.date_ns / 1000000000;
	else
		info.mask &= ~(uint64_t)INFO_UTC_OFFSET;
	return import_dir_publish(&kt->dir, &header, &info, err);
}

static int finish_kernel_import(struct kernel_trace *kt, struct uft_err *err)
{
	int ret = kernel_output_publish(&kt->out, &kt->formats, &kt->file.kallsyms, kt->dir.fd,
					err);

	if (ret == 0 && kt->into) {
		kt->data.header.feat_mask |= FEAT_KERNEL;
		ret = import_dir_publish(&kt->dir, &kt->data.header, &kt->data.info, err);
	} else if (ret == 0) {
		ret = kernel_trace_tasks_write(&kt->tasks, &kt->dir.store, err);
		if (ret == 0)
			ret = write_info(kt, err);
	}
	if (ret == 0)
		store_dir_give_to_user(&kt->dir);
	return ret;
}

/* --- all of it --- */

static void tell_damage(const struct kernel_trace *kt)
{
	const struct tracedat *file = &kt->file;
	const char *line = NULL;

	while ((line = strbuf_list_next(&file->damage, line)))
		msg_warn(&kt->opts->msg, "'%s': %s", kt->path, line);
	if (file->nr_damage > TRACEDAT_NOTES_MAX)
		msg_warn(&kt->opts->msg, "'%s': and %zu more of that kind", kt->path,
			 file->nr_damage - TRACEDAT_NOTES_MAX);
	if (file->has_other_clocks)
		msg_warn(&kt->opts->msg,
			 "'%s' is of a guest of another machine; times are the guest's own",
			 kt->path);
	if (!kt->into && kt->nr_of_others)
		msg_warn(&kt->opts->msg,
			 "'%s': %llu %s left out: the records are of more than %zu tasks, "
			 "which is the limit%s",
			 kt->path, (unsigned long long)kt->nr_of_others,
			 kt->nr_of_others == 1 ? "record was" : "records were", kt->tasks.nr,
			 kt->tasks.nr < IMPORT_TASKS_MAX ? " for a file of this size (--no-limit)"
							 : "");
	if (kt->nr_unusable)
		msg_warn(&kt->opts->msg,
			 "'%s': %llu %s left out: too large, or with a negative task number",
			 kt->path, (unsigned long long)kt->nr_unusable,
			 kt->nr_unusable == 1 ? "record was" : "records were");
	if (kt->nr_of_tracers)
		msg_warn(&kt->opts->msg,
			 "'%s': %llu %s of tracers other than function_graph %s left out", kt->path,
			 (unsigned long long)kt->nr_of_tracers,
			 kt->nr_of_tracers == 1 ? "record" : "records",
			 kt->nr_of_tracers == 1 ? "was" : "were");
}

/*
 * Without --no-limit, the maximum number of tasks is TASKS_MIN plus one for each BYTES_PER_TASK
 * bytes of the input. With or without --no-limit, there are at most IMPORT_TASKS_MAX tasks. The
 * limits are needed because each task becomes a file.
 */
#define TASKS_MIN      4096
#define BYTES_PER_TASK 16

static size_t tasks_max(const struct kernel_trace *kt)
{
	return kt->opts->no_limit ? SIZE_MAX : TASKS_MIN + kt->file.bytes / BYTES_PER_TASK;
}

static int run_kernel_import(struct kernel_trace *kt, struct uft_err *err)
{
	int ret = tracedat_open(&kt->file, kt->path,
				kt->opts->no_limit ? TRACEDAT_UNLIMITED : TRACEDAT_LIMITED, err);

	kt->tasks.max = tasks_max(kt);
	if (ret == 0)
		ret = check_file(kt, err);
	if (ret == 0 && kt->into)
		ret = open_into(kt, err);
	if (ret == 0)
		ret = align_all(kt, err);
	if (ret == 0)
		ret = find_parts(kt, err);
	if (ret == 0)
		ret = read_formats(kt, err);
	if (ret == 0 && !kt->into)
		ret = kernel_trace_tasks_name(
			      &kt->tasks, text_of(kt->file.cmdlines.data, kt->file.cmdlines.len))
			      ? err_set_errno(err, -ENOMEM, "cannot import '%s'", kt->path)
			      : open_output(kt, err);
	if (ret == 0)
		ret = take_all(kt, err);
	tell_damage(kt);
	if (ret >= 0 && !kt->nr_records)
		ret = err_set(err, -ENODATA,
			      kt->into ? "no record of '%s' is of a task of '%s'"
				       : "'%s' has no records of the kernel",
			      kt->path, kt->into);
	return ret < 0 ? ret : finish_kernel_import(kt, err);
}

int kernel_trace_import(const struct opts *opts, struct uft_err *err)
{
	struct kernel_trace kt cleanup(kernel_trace_deinit) = {
		.opts = opts,
		.path = opts->args[0],
		.into = opts->import_into,
		.file = { .fd = -1 },
		.dir = STORE_DIR_CLOSED,
		.out = { .stream = -1 },
	};

	kt.out.store = &kt.dir.store;

	int ret = run_kernel_import(&kt, err);

	if (ret < 0) {
		/*
		 * The import has failed. Remove the files of the kernel's part. With --into, these
		 * files would otherwise stay in a recording that existed before the import.
		 */
		if (kt.out.nr_cpus)
			kernel_output_remove(&kt.out);
		return ret;
	}
	if (kt.into)
		msg_list("%llu records are in '%s', %llu of other tasks were left out",
			 (unsigned long long)kt.nr_records, kt.into,
			 (unsigned long long)kt.nr_of_others);
	else
		msg_list("%llu records of %zu tasks are in '%s'", (unsigned long long)kt.nr_records,
			 kt.tasks.nr, opts->data_dir);
	/*
	 * With --into, it is no failure to leave out records of other tasks. Without --into,
	 * records are left out when the file has too many tasks. This is a failure.
	 */
	return kt.file.nr_damage || kt.nr_unusable || (!kt.into && kt.nr_of_others) ? CMD_FAILED
										    : CMD_DONE;
}
