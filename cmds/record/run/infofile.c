/* Writes `info` and `default.opts` (see infofile.h). */
#include "cmds/record/run/infofile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmds/arg_opts.h"
#include "cmds/record/plan/values/captures.h"
#include "cmds/record/run/sysinfo.h"
#include "cmds/record/store/store.h"
#include "config.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/order.h"
#include "utils/base/path.h"
#include "utils/base/units.h"
#include "utils/base/containers/words.h"
#include "utils/format/header.h"
#include "utils/format/info.h"
#include "utils/object/build_id.h"
#include "utils/spec/args/autoargs.h"

char *infofile_command_line(const struct opts *opts)
{
	struct strbuf text = { 0 };

	for (int i = 0; i < opts->argc; i++) {
		if (i)
			strbuf_addch(&text, ' ');
		words_quote(i ? opts->argv[i] : "utrail", &text);
	}
	if (strbuf_oom(&text)) {
		strbuf_deinit(&text);
		return NULL;
	}
	return text.data ? text.data : strdup("");
}

static uint64_t arg_features(const struct run *run)
{
	struct strbuf text cleanup_strbuf = { 0 };
	uint64_t mask = run->settings.captures.is_auto ? FEAT_ARGUMENT | FEAT_RETVAL : 0;

	arg_opts_put(&run->args, ARGRULES_ARGS, false, &text);
	if (text.len)
		mask |= FEAT_ARGUMENT;
	strbuf_reset(&text);
	arg_opts_put(&run->args, ARGRULES_RETVAL, false, &text);
	return text.len ? mask | FEAT_RETVAL : mask;
}

/* Moves the text to *@field. An empty text leaves *@field unchanged. Returns 0 or -ENOMEM. */
static int keep_text(struct strbuf *text, char **field)
{
	if (strbuf_oom(text))
		return -ENOMEM;
	if (text->len)
		*field = take_ptr(text->data);
	return 0;
}

/*
 * Describes the recorded arguments and return values, so that readers can decode these values
 * (doc/formats/info.md, "Argument specifications").
 */
static int describe_args(const struct run *run, bool has_callables, struct info *info)
{
	struct strbuf texts[5] = { 0 };
	char **fields[5] = { &info->argspec, &info->retspec, &info->argauto, &info->retauto,
			     &info->enumauto };
	int ret = 0;

	if (!capture_is_wanted(&run->settings.captures))
		return 0;
	if (has_callables && run->settings.captures.is_auto) {
		arg_opts_put_auto(run->settings.match, &texts[0]);
		arg_opts_put_auto(run->settings.match, &texts[1]);
	}
	arg_opts_put(&run->args, ARGRULES_ARGS, has_callables, &texts[0]);
	arg_opts_put(&run->args, ARGRULES_RETVAL, has_callables, &texts[1]);
	autoargs_put_args(&texts[2]);
	autoargs_put_retvals(&texts[3]);
	autoargs_put_enums(&texts[4]);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (ret == 0)
			ret = keep_text(&texts[i], fields[i]);
		strbuf_deinit(&texts[i]);
	}
	info->auto_args = run->settings.captures.is_auto;
	info->mask |= INFO_ARG_SPEC;
	return ret;
}

static bool has_callsites(const struct filters *filters)
{
	for (size_t i = 0; i < filters->nr; i++) {
		if (filters->entries[i].spec.trigger.flags & TRIGGER_CALLSITE)
			return true;
	}
	return false;
}

static struct data_header make_header(const struct run *run)
{
	uint64_t perf = run->has_perf ? FEAT_PERF_EVENT : 0;
	uint64_t kernel = run->has_kernel ? FEAT_KERNEL : 0;
	uint64_t plthook = run->settings.use_libcalls ? FEAT_PLTHOOK : 0;
	uint64_t callsite = has_callsites(run->settings.filters) ? FEAT_CALLSITE : 0;
	uint64_t events = run->has_events || points_have_file(&run->settings) ? FEAT_EVENT : 0;
	uint64_t estimate = run->settings.estimates_return ? FEAT_ESTIMATE_RETURN : 0;

	return (struct data_header){
		.version = HEADER_VERSION,
		.header_size = HEADER_SIZE,
		.endian = run->program.facts.endian,
		.elf_class = run->program.facts.elf_class,
		.feat_mask = arg_features(run) | (run->has_debug ? FEAT_DEBUG_INFO : 0) |
			     FEAT_TASK_SESSION | FEAT_SYM_REL_ADDR | FEAT_MAX_STACK |
			     FEAT_AUTO_ARGS | perf | kernel | plthook | estimate | callsite |
			     events,
		.max_stack = run->settings.max_stack,
	};
}

static int write_info(const struct run *run, const struct info *info, struct uft_err *err)
{
	struct data_header header = make_header(run);
	uint8_t bytes[HEADER_SIZE];
	struct strbuf text cleanup_strbuf = { 0 };

	header.info_mask = info->mask;
	header_encode(&header, bytes);
	strbuf_add(&text, bytes, sizeof(bytes));
	info_encode(info, &text);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return store_publish(run->store, "info", text.data, text.len, err);
}

static int describe_program(const struct run *run, bool has_callables, struct info *info)
{
	char hex[BUILD_ID_HEX_SIZE];
	char *real = realpath(run->program.path, NULL);

	info->exename = real ? real : strdup(run->program.path);
	info->cmdline = infofile_command_line(run->opts);
	info->version = strdup(UTRAIL_VERSION_TEXT);
	info->pattern_type = strdup(pattern_match_name(run->opts->match));
	if (!info->exename || !info->cmdline || !info->version || !info->pattern_type)
		return -ENOMEM;
	info->mask |= INFO_EXE_NAME | INFO_CMDLINE | INFO_VERSION | INFO_PATTERN_TYPE;
	int ret = describe_args(run, has_callables, info);

	if (ret < 0)
		return ret;
	if (object_build_id(run->program.path, hex, NULL) == 0 && hex[0]) {
		info->build_id = strdup(hex);
		if (!info->build_id)
			return -ENOMEM;
		info->mask |= INFO_EXE_BUILD_ID;
	}
	return 0;
}

static int describe_tasks(struct recorder *rec, struct info *info)
{
	if (!rec->tasks.nr_tids)
		return 0;
	qsort(rec->tasks.tids, rec->tasks.nr_tids, sizeof(*rec->tasks.tids), order_i32);
	info->tids = malloc(rec->tasks.nr_tids * sizeof(*rec->tasks.tids));
	if (!info->tids)
		return -ENOMEM;
	for (size_t i = 0; i < rec->tasks.nr_tids; i++) {
		if (i == 0 || rec->tasks.tids[i] != rec->tasks.tids[i - 1])
			info->tids[info->nr_tids++] = rec->tasks.tids[i];
	}
	info->mask |= INFO_TASKINFO;
	return 0;
}

static int describe_time(const struct run *run, struct recorder *rec, struct info *info)
{
	time_t now = time(NULL);
	char date[64];

	if (!ctime_r(&now, date))
		return 0;
	date[strcspn(date, "\n")] = '\0';
	info->record_date = strdup(date);
	if (!info->record_date)
		return -ENOMEM;
	info->elapsed_ns = run->elapsed_ns;
	info->utc_offset_s = (int64_t)(clock_now_ns(CLOCK_REALTIME) / 1000000000ULL) -
			     (int64_t)(settings_now_ns(rec->settings) / 1000000000ULL);
	info->mask |= INFO_RECORD_DATE | INFO_UTC_OFFSET;
	return 0;
}

/* Makes a line such as "98977 calls, deeper than 1024 levels (task 11525: 98977)". */
static int describe_too_deep(const struct run *run, const struct tasks *tasks, struct info *info)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (!tasks->nr_too_deep)
		return 0;
	strbuf_addf(&text, "%llu calls, deeper than %u levels (",
		    (unsigned long long)tasks->nr_too_deep, run->settings.max_stack);
	for (size_t i = 0; i < tasks->nr_deep_tasks; i++)
		strbuf_addf(&text, "%stask %d: %llu", i ? ", " : "", tasks->too_deep[i].tid,
			    (unsigned long long)tasks->too_deep[i].nr);
	strbuf_addch(&text, ')');
	return keep_text(&text, &info->too_deep);
}

/*
 * Makes a line such as "calls from libnode.so.108 (builtin functions of V8)". The words in
 * parentheses are also in a message that `record -v` prints.
 */
static int describe_kept_returns(const struct recorder *rec, struct info *info)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (const struct known_module *m = rec->planner.modules.first; m; m = m->next) {
		if (m->callers_why)
			strbuf_addf(&text, "%s%s (%s)", text.len ? ", " : "calls from ",
				    path_base(m->path), m->callers_why);
	}
	return text.len || strbuf_oom(&text) ? keep_text(&text, &info->kept_returns) : 0;
}

/*
 * If data of the program's events were cut, makes a line such as "2 events say more than was
 * recorded of them".
 */
static int describe_cut_events(const struct recorder *rec, struct info *info)
{
	struct strbuf text cleanup_strbuf = { 0 };
	unsigned long long nr = rec->processes.notes.events_cut;

	if (!nr)
		return 0;
	strbuf_addf(&text, "%llu event%s more than was recorded of %s", nr,
		    nr == 1 ? " says" : "s say", nr == 1 ? "it" : "them");
	return keep_text(&text, &info->cut_events);
}

static void describe_losses(const struct run *run, struct recorder *rec, struct info *info)
{
	info->state = INFO_STATE_ENDED;
	info->records_lost = atomic_load(&rec->writers.records_lost);
	info->write_error = -atomic_load(&run->store->error);
}

/* Overwrites the last line of `info` with the status, even when the disk is full. */
static int write_state(const struct run *run, const struct info *info)
{
	struct strbuf line cleanup_strbuf = { 0 };

	info_encode_state(info, &line);
	return strbuf_oom(&line) ? -ENOMEM
				 : store_overwrite_end(run->store, "info", line.data, line.len);
}

int infofile_finish(const struct run *run, struct recorder *rec, struct uft_err *err)
{
	struct info info cleanup_info = { .exit_status = run->end.status,
					  .mask = INFO_EXIT_STATUS };
	int ret = describe_program(run, rec->planner.callables.nr, &info);

	if (ret == 0)
		ret = describe_tasks(rec, &info);
	if (ret == 0)
		ret = describe_time(run, rec, &info);
	if (ret == 0)
		ret = describe_too_deep(run, &rec->tasks, &info);
	if (ret == 0)
		ret = describe_kept_returns(rec, &info);
	if (ret == 0)
		ret = describe_cut_events(rec, &info);
	if (ret == 0)
		ret = sysinfo_add_machine(&info);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot write 'info'");
	if (run->end.status != RECORDER_STATUS_UNKNOWN)
		sysinfo_add_usage(&info, &run->end.usage);
	describe_losses(run, rec, &info);
	ret = write_info(run, &info, err);
	if (ret < 0) {
		store_note_error(run->store, ret);
		describe_losses(run, rec, &info);
		write_state(run, &info);
	}
	return ret;
}

int infofile_begin(const struct run *run, struct uft_err *err)
{
	struct info info cleanup_info = { .state = INFO_STATE_RUNNING };
	int ret = describe_program(run, false, &info);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot write 'info'");
	return write_info(run, &info, err);
}

/* True when an action of a filter keeps calls that are shorter than the threshold. */
static bool keeps_short_calls(const struct filters *filters)
{
	uint32_t uses = 0;

	for (size_t i = 0; i < filters->nr; i++)
		uses |= filters->entries[i].spec.trigger.flags;
	return uses & (TRIGGER_TRACE | TRIGGER_TIME);
}

/*
 * Readers apply the option -t in default.opts to all calls, and to the events of the scheduler.
 * Therefore -t is not written if an action of a filter (f@trace, f@time=1us) keeps calls that are
 * shorter than -t.
 */
int infofile_default_opts(const struct run *run, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };

	/*
	 * Most events of --proc happen outside of recorded functions. Readers show such events only
	 * with --event-full.
	 */
	if (run->settings.proc_way)
		strbuf_addstr(&text, "--event-full\n");

	if (run->settings.threshold_ns && !keeps_short_calls(run->settings.filters)) {
		strbuf_addstr(&text, "-t ");
		format_time(run->settings.threshold_ns, &text);
		strbuf_addch(&text, '\n');
	}
	return store_publish(run->store, "default.opts", strbuf_str(&text), text.len, err);
}
