/* View: facts about a recording (see infotext.h). Most lines come from a struct info_row. */
#include "utils/view/infotext.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "utils/base/fd.h"
#include "utils/base/units.h"
#include "utils/pipeline/recording/ending.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/merger.h"
#include "utils/pipeline/recording/left_funcs.h"
#include "utils/pipeline/sources/src_perf.h"
#include "utils/view/texts.h"

#define NOTE_FILE_MAX_BYTES (64UL << 20)

/*
 * @bit: the item of the recording (INFO_...). Without this item, the line is left out
 * @put: appends the value; an empty value suppresses the line
 */
struct info_row {
	const char *label;
	uint64_t bit;
	void (*put)(const struct info *info, struct strbuf *out);
};

#define STRING_ROW(id, field)                                             \
	static void put_##id(const struct info *info, struct strbuf *out) \
	{                                                                 \
		if (info->field)                                          \
			strbuf_addstr(out, info->field);                  \
	}

STRING_ROW(version, version)
STRING_ROW(date, record_date)
STRING_ROW(cmdline, cmdline)
STRING_ROW(cpu, cpu_desc)
STRING_ROW(memory, meminfo)
STRING_ROW(kernel, kernel)
STRING_ROW(hostname, hostname)
STRING_ROW(distro, distro)
STRING_ROW(exe, exename)
STRING_ROW(build_id, build_id)
STRING_ROW(arguments, argspec)
STRING_ROW(retvals, retspec)
STRING_ROW(pattern, pattern_type)

static void put_cpus(const struct info *info, struct strbuf *out)
{
	strbuf_addf(out, "%d / %d (online / possible)", info->cpus_online, info->cpus_possible);
}

static void put_load(const struct info *info, struct strbuf *out)
{
	for (int i = 0; i < 3; i++)
		strbuf_addf(out, "%s%llu.%02llu", i ? " / " : "",
			    (unsigned long long)(info->load_percent[i] / 100),
			    (unsigned long long)(info->load_percent[i] % 100));
	strbuf_addstr(out, " (1 / 5 / 15 min)");
}

static void put_paranoid(const struct info *info, struct strbuf *out)
{
	strbuf_addf(out, "%d", info->perf_event_paranoid);
}

static void put_kptr(const struct info *info, struct strbuf *out)
{
	strbuf_addf(out, "%d", info->kptr_restrict);
}

static void put_auto_args(const struct info *info, struct strbuf *out)
{
	if (info->auto_args)
		strbuf_addstr(out, "true");
}

static void put_status(const struct info *info, struct strbuf *out)
{
	int status = info->exit_status;

	if (status == INFO_FINISHED_BY_TRIGGER)
		strbuf_addstr(out, "terminated by finish trigger");
	else if (WIFEXITED(status))
		strbuf_addf(out, "exited with code: %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		strbuf_addf(out, "terminated by signal: %d (%s)", WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
	else
		strbuf_addf(out, "unknown exit status: %d", status);
}

static void put_elapsed(const struct info *info, struct strbuf *out)
{
	strbuf_addf(out, SECONDS_FORMAT " sec", SECONDS_OF(info->elapsed_ns));
}

static void put_cpu_time(const struct info *info, struct strbuf *out)
{
	strbuf_addf(out, "%.3f / %.3f sec (sys / user)", info->systime_us / 1e6,
		    info->usrtime_us / 1e6);
}

static void put_pair(struct strbuf *out, int64_t first, int64_t second, const char *names)
{
	strbuf_addf(out, "%lld / %lld (%s)", (long long)first, (long long)second, names);
}

static void put_ctxsw(const struct info *info, struct strbuf *out)
{
	put_pair(out, info->ctxsw_voluntary, info->ctxsw_involuntary, "voluntary / involuntary");
}

static void put_maxrss(const struct info *info, struct strbuf *out)
{
	strbuf_addf(out, "%lld KB", (long long)info->maxrss_kb);
}

static void put_faults(const struct info *info, struct strbuf *out)
{
	put_pair(out, info->pagefault_major, info->pagefault_minor, "major / minor");
}

static void put_iops(const struct info *info, struct strbuf *out)
{
	put_pair(out, info->iops_read, info->iops_write, "read / write");
}

static const struct info_row recording_rows[] = {
	{ "program version", INFO_VERSION, put_version },
	{ "recorded on", INFO_RECORD_DATE, put_date },
	{ "cmdline", INFO_CMDLINE, put_cmdline },
};

static const struct info_row machine_rows[] = {
	{ "cpu info", INFO_CPUINFO, put_cpu },
	{ "number of cpus", INFO_CPUINFO, put_cpus },
	{ "memory info", INFO_MEMINFO, put_memory },
	{ "system load", INFO_LOADINFO, put_load },
	{ "kernel version", INFO_OSINFO, put_kernel },
	{ "hostname", INFO_OSINFO, put_hostname },
	{ "distro", INFO_OSINFO, put_distro },
	{ "perf_event_paranoid", INFO_SYSCTL, put_paranoid },
	{ "kptr_restrict", INFO_SYSCTL, put_kptr },
};

static const struct info_row program_rows[] = {
	{ "exe image", INFO_EXE_NAME, put_exe },
	{ "build id", INFO_EXE_BUILD_ID, put_build_id },
	{ "arguments", INFO_ARG_SPEC, put_arguments },
	{ "return values", INFO_ARG_SPEC, put_retvals },
	{ "auto-args", INFO_ARG_SPEC, put_auto_args },
	{ "pattern", INFO_PATTERN_TYPE, put_pattern },
	{ "exit status", INFO_EXIT_STATUS, put_status },
	{ "elapsed time", INFO_RECORD_DATE, put_elapsed },
	{ "cpu time", INFO_USAGEINFO, put_cpu_time },
	{ "context switch", INFO_USAGEINFO, put_ctxsw },
	{ "max rss", INFO_USAGEINFO, put_maxrss },
	{ "page fault", INFO_USAGEINFO, put_faults },
	{ "disk iops", INFO_USAGEINFO, put_iops },
};

static void put_line(struct sink *sink, const char *lead, const char *label, const char *value)
{
	sink_str(sink, lead);
	sink_str_padded(sink, label, 20);
	sink_lit(sink, ": ");
	sink_str(sink, value);
	sink_lit(sink, "\n");
}

static void put_rows(struct sink *sink, const char *lead, const struct info_row *rows, size_t nr,
		     const struct info *info)
{
	for (size_t i = 0; i < nr; i++) {
		struct strbuf value cleanup_strbuf = { 0 };

		if (!(info->mask & rows[i].bit))
			continue;
		rows[i].put(info, &value);
		if (value.len)
			put_line(sink, lead, rows[i].label, strbuf_str(&value));
	}
}

static void put_title(struct sink *sink, const char *title)
{
	sink_lit(sink, "# ");
	sink_str(sink, title);
	sink_lit(sink, "\n# ");
	sink_fill(sink, '=', strlen(title));
	sink_lit(sink, "\n");
}

/* Write "11525(fk), 11527(fk)". */
static void put_tasks(const struct trace_data *data, struct sink *sink)
{
	const struct info *info = &data->info;
	struct strbuf list cleanup_strbuf = { 0 };
	char count[24];

	if (!(info->mask & INFO_TASKINFO))
		return;
	snprintf(count, sizeof(count), "%zu", info->nr_tids);
	put_line(sink, "# ", "number of tasks", count);
	for (size_t i = 0; i < info->nr_tids; i++) {
		const struct task *task = data_task(data, info->tids[i]);

		strbuf_addf(&list, "%s%d(%s)", i ? ", " : "", info->tids[i],
			    task ? task_name_at(task, UINT64_MAX) : "");
	}
	put_line(sink, "# ", "task list", strbuf_str(&list));
}

/* Write the text of note.txt. Newlines and tabs stay as they are: sink_text() would escape them. */
static void put_lines(struct sink *sink, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t end = at;

		while (end < len && text[end] != '\n' && text[end] != '\t')
			end++;
		sink_text(sink, text + at, end - at);
		if (end < len)
			sink_either(sink, text[end] == '\n', "\n", "\t");
		at = end + 1;
	}
}

static int put_note(const struct trace_data *data, struct sink *sink, struct uft_err *err)
{
	struct strbuf note cleanup_strbuf = { 0 };
	struct uft_err why = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/note.txt", data->dir);

	int ret = file_read_all(path, NOTE_FILE_MAX_BYTES, &note, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);
	sink_lit(sink, "#\n");
	put_title(sink, "extra note information");
	put_lines(sink, strbuf_str(&note), note.len);
	return 0;
}

static int put_left_out(struct trace_data *data, struct sink *sink, struct uft_err *err)
{
	struct left_funcs left cleanup_left_funcs = { 0 };
	uint64_t start_ns = UINT64_MAX;
	int ret = left_funcs_read(data, &left, err);

	if (ret < 0 || !left.nr)
		return ret;
	for (size_t i = 0; i < data->nr_tasks; i++)
		start_ns = MIN(start_ns, data->tasks[i].start_ns);
	sink_lit(sink, "#\n");
	put_title(sink, "functions that were left out (--overhead)");
	for (size_t i = 0; i < left.nr; i++) {
		const struct left_func *f = &left.all[i];

		if (f->kind != LEFT_OUT_FUNCTION)
			continue;
		sink_lit(sink, "# ");
		sink_func(sink, f->func);
		sink_format(sink, ": since %.3f s, then %.1f %% of calls",
			    (double)(f->since_ns - MIN(start_ns, f->since_ns)) / NSEC_PER_SEC,
			    f->permille / 10.0);
		if (f->until_ns)
			sink_format(sink, "; again since %.3f s",
				    (double)(f->until_ns - MIN(start_ns, f->until_ns)) /
					    NSEC_PER_SEC);
		sink_lit(sink, "\n");
	}
	return 0;
}

/*
 * Read the names of tasks, and the times when tasks are first seen, from the perf files. *@out
 * becomes an array, whose index is task->index. The caller frees the array with free(3).
 */
static int survey_perf(struct trace_data *data, struct survey **out, struct uft_err *broken,
		       struct uft_err *err)
{
	static const struct source_kind *const kinds[] = { &src_perf_kind, NULL };
	const struct source_context context = { .data = data,
						.broken = broken,
						.takes_notes = true };
	struct merger feed cleanup(merger_close) = { 0 };
	int ret;

	*out = calloc(data->nr_tasks + 1, sizeof(**out));
	if (!*out)
		return err_set_errno(err, -ENOMEM, "cannot read perf files");
	ret = merger_open(&feed, &context, kinds, err);
	return ret < 0 ? ret : merger_survey(&feed, *out, err);
}

/* Write the facts about missing parts of a recording. */
static void put_end(const struct trace_data *data, struct sink *sink)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (data->info.too_deep)
		put_line(sink, "# ", "too deep", data->info.too_deep);
	if (data->info.kept_returns)
		put_line(sink, "# ", "estimated ends", data->info.kept_returns);
	if (data_describe_end(data, &text))
		put_line(sink, "# ", "recording", strbuf_str(&text));
}

int info_show(struct trace_data *data, struct sink *sink, struct uft_err *err)
{
	struct survey *surveys cleanup_free = NULL;
	struct uft_err broken = { 0 };
	int ret = survey_perf(data, &surveys, &broken, err);

	if (ret < 0)
		return ret;
	put_title(sink, "system information");
	put_rows(sink, "# ", recording_rows, ARRAY_SIZE(recording_rows), &data->info);
	put_rows(sink, "# ", machine_rows, ARRAY_SIZE(machine_rows), &data->info);
	sink_lit(sink, "#\n");
	put_title(sink, "process information");
	put_tasks(data, sink);
	put_rows(sink, "# ", program_rows, ARRAY_SIZE(program_rows), &data->info);
	put_end(data, sink);
	ret = put_left_out(data, sink, err);
	if (ret == 0)
		ret = put_note(data, sink, err);
	sink_lit(sink, "\n");
	if (ret == 0 && broken.code)
		ret = err_set(err, broken.code, "%s", broken.text);
	return ret;
}

void info_show_machine(const struct info *info, struct sink *sink)
{
	put_rows(sink, "", machine_rows, ARRAY_SIZE(machine_rows), info);
}

/* Returns the time when the task is first seen, in task.txt or in the perf files. */
static uint64_t first_sign(const struct task *task, const struct survey *survey)
{
	if (survey->first_sign_ns == UINT64_MAX)
		return task->start_ns;
	return task->start_ns ? MIN(survey->first_sign_ns, task->start_ns) : survey->first_sign_ns;
}

int info_show_tasks(struct trace_data *data, struct sink *sink, struct uft_err *err)
{
	struct survey *surveys cleanup_free = NULL;
	struct uft_err broken = { 0 };
	int ret = survey_perf(data, &surveys, &broken, err);

	if (ret < 0)
		return ret;
	sink_lit(sink, "#         TIMESTAMP       FLAGS     TID     TASK              DATA SIZE\n");
	for (size_t i = 0; i < data->nr_tasks; i++) {
		const struct task *task = &data->tasks[i];
		uint64_t time_ns = first_sign(task, &surveys[i]);

		sink_putf(sink, "%14llu.%09llu  ", SECONDS_OF(time_ns));
		sink_either(sink, task->pid == task->tid, "F", " ");
		sink_either(sink, task->has_session, "S", " ");
		sink_putf(sink, "     [%7d]  ", task->tid);
		sink_str_padded(sink, task_name_at(task, UINT64_MAX), 16);
		sink_putf(sink, "   %8.3f MB\n", (double)(task->data_bytes * 1000 >> 20) / 1000);
	}
	return broken.code ? err_set(err, broken.code, "%s", broken.text) : 0;
}

static void put_symbols(const struct trace_data *data, const struct symtab *tab, bool is_dynamic,
			struct sink *sink)
{
	for (size_t i = 0; i < tab->nr; i++) {
		const struct symbol *sym = &tab->syms[i];
		struct strbuf name cleanup_strbuf = { 0 };

		if ((sym->type == 'P') != is_dynamic)
			continue;
		demangle(sym->name, data->modules.demangle, &name);
		sink_putf(sink, "[%2zu] %#llx: ", i, (unsigned long long)sym->addr);
		sink_text(sink, strbuf_str(&name), name.len);
		sink_putf(sink, " (size: %llu)\n", (unsigned long long)sym->size);
	}
}

/* Returns the module of the program itself, in the first session. */
static struct module *program_module(const struct trace_data *data)
{
	const struct session *session = data->nr_sessions ? data->sessions[0] : NULL;

	for (size_t i = 0; session && i < session->map.nr; i++) {
		struct module *mod = session->modules[i];

		if (mod && strcmp(mod->path, session->exename) == 0)
			return mod;
	}
	return NULL;
}

int info_show_symbols(struct trace_data *data, struct sink *sink, struct uft_err *err)
{
	static const struct symtab none;
	struct module *mod = program_module(data);
	const struct symtab *tab = mod ? &mod->symtab : &none;
	int ret = mod ? module_load(&data->modules, mod, err) : 0;

	if (ret < 0)
		return ret;
	sink_lit(sink, "Normal symbols\n==============\n");
	put_symbols(data, tab, false, sink);
	sink_lit(sink, "\n\nDynamic symbols\n===============\n");
	put_symbols(data, tab, true, sink);
	return 0;
}
