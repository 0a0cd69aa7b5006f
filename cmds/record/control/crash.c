/* The crash reports of probes (see crash.h). */
#include "cmds/record/control/crash.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/escape.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/units.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/recording/session.h"

struct crash {
	struct control_crash report;
	struct crash *next;
};

/* The maximum number of reports that are kept. Users do not need more. */
#define CRASHES_MAX 1000

void crash_keep(struct crash **list, const struct control_crash *report, int32_t pid)
{
	unsigned nr = 0;

	for (; *list; list = &(*list)->next) {
		if ((*list)->report.pid == pid || ++nr == CRASHES_MAX)
			return;
	}

	struct crash *crash = calloc(1, sizeof(*crash));

	if (!crash)
		return;
	crash->report = *report;
	crash->report.pid = pid;
	*list = crash;
}

void crashes_destroy(struct crash *list)
{
	while (list) {
		struct crash *next = list->next;

		free(list);
		list = next;
	}
}

static const char *name_at(const struct trace_data *data, const struct control_crash *report,
			   const struct control_crash_frame *frame)
{
	const struct task *task = data_task(data, report->tid);
	struct session *session = task ? task_session(task, frame->time_ns) : NULL;
	uint64_t until_ns;
	struct addr_space *space = session ? session_space(session, 0, frame->time_ns, &until_ns)
					   : NULL;
	const struct func *func = space ? space_func(space, frame->addr, NULL) : NULL;

	return func ? func->name : NULL;
}

static void add_frame(struct strbuf *text, const struct trace_data *data,
		      const struct control_crash *report, uint32_t i)
{
	const struct control_crash_frame *frame = &report->frames[i];
	const char *name = data ? name_at(data, report, frame) : NULL;

	strbuf_addf(text, "\n  #%-3u", i);
	if (name)
		escape_addstr(text, MEDIUM_TERMINAL, name);
	else
		strbuf_addf(text, "<%llx>", (unsigned long long)frame->addr);
	strbuf_addstr(text, ", for ");
	format_time(report->time_ns > frame->time_ns ? report->time_ns - frame->time_ns : 0, text);
}

static void print_crash(const struct control_crash *report, const struct trace_data *data,
			const struct msg *msg)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text, "task %d was ended by signal %d: %s", report->tid, report->signal,
		    strsignal(report->signal));
	if (report->code > 0 && report->signal != SIGABRT)
		strbuf_addf(&text, " at address %#llx", (unsigned long long)report->address);
	strbuf_addstr(&text, report->nr_frames ? "; it was in" : "; it was in no traced function");
	for (uint32_t i = 0; i < report->nr_frames; i++)
		add_frame(&text, data, report, i);
	if (report->depth > report->nr_frames)
		strbuf_addf(&text, "\n  and %u more around them",
			    report->depth - report->nr_frames);
	if (!strbuf_oom(&text))
		msg_warn_lines(msg, &text);
}

void crashes_print(const struct crash *list, const char *data_dir, const struct msg *msg)
{
	struct trace_data data cleanup_data = { 0 };
	bool is_open = list && data_open(&data, data_dir, DEMANGLE_SIMPLE, NULL) == 0;

	for (; list; list = list->next)
		print_crash(&list->report, is_open ? &data : NULL, msg);
}
