/* `info` and `default.opts`: the facts that they state of a recording. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <time.h>

#include "cmds/record/run/infofile.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/format/header.h"
#include "utils/format/info.h"
#include "utils/object/build_id.h"
#include "utils/spec/filters.h"

#define ALWAYS	 (FEAT_TASK_SESSION | FEAT_SYM_REL_ADDR | FEAT_MAX_STACK | FEAT_AUTO_ARGS)
#define AT_LEAST (INFO_EXE_NAME | INFO_CMDLINE | INFO_VERSION | INFO_PATTERN_TYPE)

struct place {
	struct store_memory memory;
	struct filters filters;
	struct watch_spec watch;
	struct event_rules events;
	struct opts opts;
	struct run run;
	struct recorder rec;
};

static int setup(void **state)
{
	static char *argv[] = { "/usr/bin/utrail", "record", "a b", "it's", NULL };
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	store_memory_init(&p->memory);
	p->opts.argc = 4;
	p->opts.argv = argv;
	p->opts.match = MATCH_GLOB;
	p->run.opts = &p->opts;
	p->run.store = &p->memory.store;
	p->run.settings = (struct record_settings){
		.filters = &p->filters,
		.watch = &p->watch,
		.events = &p->events,
		.clock_id = CLOCK_MONOTONIC,
		.max_stack = 77,
	};
	p->rec.settings = &p->run.settings;
	strcpy(p->run.program.path, "/proc/self/exe");
	p->run.program.facts.endian = 1;
	p->run.program.facts.elf_class = 2;
	p->run.end.status = RECORDER_STATUS_UNKNOWN;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	store_memory_deinit(&p->memory);
	filters_deinit(&p->filters);
	argrules_deinit(&p->run.args);
	event_rules_deinit(&p->events);
	free(p);
	return 0;
}

static void read_back(struct place *p, struct data_header *header, struct info *info)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(store_read(p->run.store, "info", SIZE_MAX, &text), 0);
	assert_true(text.len > HEADER_SIZE);
	assert_int_equal(header_decode((const uint8_t *)text.data, text.len, header, NULL), 0);
	assert_int_equal(info_decode(text.data + HEADER_SIZE, text.len - HEADER_SIZE, info, NULL),
			 0);
	assert_int_equal(header->info_mask, info->mask);
}

TEST_WITH(command_lines, setup, teardown)
{
	struct place *p = *state;
	char *text = infofile_command_line(&p->opts);

	assert_string_equal(text, "utrail record \"a b\" \"it's\"");
	free(text);
	p->opts.argc = 1;
	text = infofile_command_line(&p->opts);
	assert_string_equal(text, "utrail");
	free(text);
	p->opts.argc = 0;
	text = infofile_command_line(&p->opts);
	assert_string_equal(text, "");
	free(text);
}

/* The facts that a reader needs at least. */
TEST_WITH(at_the_beginning, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;
	char *exe = realpath("/proc/self/exe", NULL);

	assert_int_equal(infofile_begin(&p->run, NULL), 0);
	read_back(p, &header, &info);
	assert_int_equal(header.version, HEADER_VERSION);
	assert_int_equal(header.header_size, HEADER_SIZE);
	assert_int_equal(header.endian, 1);
	assert_int_equal(header.elf_class, 2);
	assert_int_equal(header.max_stack, 77);
	assert_int_equal(header.feat_mask, ALWAYS);
	assert_int_equal(info.mask & ~INFO_EXE_BUILD_ID, AT_LEAST);
	assert_string_equal(info.exename, exe);
	assert_string_equal(info.cmdline, "utrail record \"a b\" \"it's\"");
	assert_string_equal(info.pattern_type, "glob");
	free(exe);
}

/* A program has an id if its linker makes one by default, or was asked for one. */
TEST_WITH(the_id_of_the_build, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;
	char hex[BUILD_ID_HEX_SIZE];

	if (object_build_id("/proc/self/exe", hex, NULL) < 0 || !hex[0])
		skip_because("this program has no id");
	assert_int_equal(infofile_begin(&p->run, NULL), 0);
	read_back(p, &header, &info);
	assert_true(info.mask & INFO_EXE_BUILD_ID);
	assert_string_equal(info.build_id, hex);
}

/* If the program's file is missing, the info file has the path by which the program was called. */
TEST_WITH(without_a_file, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;

	strcpy(p->run.program.path, "/nothing/here");
	assert_int_equal(infofile_begin(&p->run, NULL), 0);
	read_back(p, &header, &info);
	assert_string_equal(info.exename, "/nothing/here");
	assert_int_equal(info.mask, AT_LEAST);
}

static uint64_t features(struct place *p)
{
	struct info info cleanup_info = { 0 };
	struct data_header header;

	assert_int_equal(infofile_begin(&p->run, NULL), 0);
	read_back(p, &header, &info);
	return header.feat_mask & ~(uint64_t)ALWAYS;
}

TEST_WITH(bits_of_features, setup, teardown)
{
	struct place *p = *state;

	p->run.has_perf = true;
	assert_int_equal(features(p), FEAT_PERF_EVENT);
	p->run.has_perf = false;
	p->run.has_kernel = true;
	assert_int_equal(features(p), FEAT_KERNEL);
	p->run.has_kernel = false;
	p->run.has_debug = true;
	assert_int_equal(features(p), FEAT_DEBUG_INFO);
	p->run.has_debug = false;
	p->run.has_events = true;
	assert_int_equal(features(p), FEAT_EVENT);
	p->run.has_events = false;
	p->run.settings.use_libcalls = true;
	assert_int_equal(features(p), FEAT_PLTHOOK);
	p->run.settings.use_libcalls = false;
	p->run.settings.estimates_return = true;
	assert_int_equal(features(p), FEAT_ESTIMATE_RETURN);
	p->run.settings.estimates_return = false;
	p->run.settings.captures.is_auto = true;
	assert_int_equal(features(p), FEAT_ARGUMENT | FEAT_RETVAL);
	p->run.settings.captures.is_auto = false;
	/* events.txt exists for events of the program, and for counters. */
	assert_int_equal(event_rules_parse("a:b", MATCH_GLOB, &p->events, NULL), 0);
	assert_int_equal(features(p), FEAT_EVENT);
	event_rules_deinit(&p->events);
	p->events = (struct event_rules){ 0 };
	assert_int_equal(
		filters_add(&p->filters, SPEC_TRIGGER, MATCH_GLOB, "f@depth=3;g@trace", NULL), 0);
	assert_int_equal(features(p), 0);
	assert_int_equal(filters_add(&p->filters, SPEC_TRIGGER, MATCH_GLOB, "f@callsite", NULL), 0);
	assert_int_equal(features(p), FEAT_CALLSITE);
}

static void add_rules(struct place *p, const char *text, enum argrules_about about)
{
	const struct argrules_source source = { MATCH_GLOB, about, 8, false, false };

	assert_int_equal(argrules_parse(&p->run.args, text, &source, NULL), 0);
	p->run.settings.captures.rules = &p->run.args;
}

/* The specifications that readers need for payloads. */
TEST_WITH(arguments, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;

	add_rules(p, "f@arg1", ARGRULES_ARGS);
	assert_int_equal(features(p), FEAT_ARGUMENT);
	add_rules(p, "g@retval", ARGRULES_RETVAL);
	assert_int_equal(infofile_begin(&p->run, NULL), 0);
	read_back(p, &header, &info);
	assert_int_equal(header.feat_mask, ALWAYS | FEAT_ARGUMENT | FEAT_RETVAL);
	assert_true(info.mask & INFO_ARG_SPEC);
	assert_string_equal(info.argspec, "f@arg1");
	assert_string_equal(info.retspec, "g@retval");
	assert_non_null(info.argauto);
	assert_non_null(info.retauto);
	assert_non_null(info.enumauto);
	assert_false(info.auto_args);
}

TEST_WITH(results_alone, setup, teardown)
{
	struct place *p = *state;

	add_rules(p, "g@retval", ARGRULES_RETVAL);
	assert_int_equal(features(p), FEAT_RETVAL);
}

TEST_WITH(all_that_is_known, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;

	p->run.settings.captures.is_auto = true;
	assert_int_equal(infofile_begin(&p->run, NULL), 0);
	read_back(p, &header, &info);
	assert_true(info.auto_args);
	assert_null(info.argspec);
	assert_null(info.retspec);
}

/* At the end, the file gets the status, and each task once. */
TEST_WITH(at_the_end, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;
	int32_t tids[] = { 30, 10, 30, 20, 10 };

	p->run.end.status = 0x300;
	p->run.end.usage.ru_maxrss = 99;
	p->run.elapsed_ns = 5000;
	p->rec.tasks.tids = tids;
	p->rec.tasks.nr_tids = 5;
	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &info);
	assert_int_equal(info.exit_status, 0x300);
	assert_int_equal(info.nr_tids, 3);
	assert_int_equal(info.tids[0], 10);
	assert_int_equal(info.tids[1], 20);
	assert_int_equal(info.tids[2], 30);
	assert_true(info.mask & INFO_TASKINFO);
	assert_true(info.mask & INFO_EXIT_STATUS);
	assert_true(info.mask & INFO_USAGEINFO);
	assert_int_equal(info.maxrss_kb, 99);
	assert_true(info.mask & INFO_RECORD_DATE);
	assert_true(info.mask & INFO_UTC_OFFSET);
	assert_true(info.mask & INFO_OSINFO);
	assert_int_equal(info.mask & AT_LEAST, AT_LEAST);
	assert_null(strchr(info.record_date, '\n'));

	/* The clock's time plus the offset is the time of day, apart from rounding. */
	int64_t earliest = time(NULL) - info.utc_offset_s;
	int64_t now = settings_now_ns(&p->run.settings) / 1000000000ULL;
	int64_t latest = time(NULL) - info.utc_offset_s;

	assert_true(earliest - now <= 2 && latest - now >= -2);
}

/* The status is not known, so the use of resources is not known either. */
TEST_WITH(an_end_that_is_not_known, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;

	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &info);
	assert_int_equal(info.exit_status, RECORDER_STATUS_UNKNOWN);
	assert_false(info.mask & INFO_USAGEINFO);
	assert_false(info.mask & INFO_TASKINFO);
}

static const char *default_opts(struct place *p)
{
	static char text[256];
	struct strbuf content cleanup_strbuf = { 0 };

	assert_int_equal(infofile_default_opts(&p->run, NULL), 0);
	assert_int_equal(store_read(p->run.store, "default.opts", sizeof(text) - 1, &content), 0);
	return strcpy(text, strbuf_str(&content));
}

/* default.opts keeps readers from dropping calls that were recorded in spite of the threshold. */
TEST_WITH(options_for_readers, setup, teardown)
{
	struct place *p = *state;

	assert_string_equal(default_opts(p), "");
	p->run.settings.proc_way = PROC_WAY_AUTO;
	assert_string_equal(default_opts(p), "--event-full\n");
	p->run.settings.threshold_ns = 5000;
	assert_string_equal(default_opts(p), "--event-full\n-t 5us\n");
	p->run.settings.proc_way = PROC_WAY_NOT;
	assert_string_equal(default_opts(p), "-t 5us\n");
	assert_int_equal(filters_add(&p->filters, SPEC_TRIGGER, MATCH_GLOB, "f@depth=3", NULL), 0);
	assert_string_equal(default_opts(p), "-t 5us\n");
	assert_int_equal(filters_add(&p->filters, SPEC_TRIGGER, MATCH_GLOB, "f@time=1us", NULL), 0);
	assert_string_equal(default_opts(p), "");
}

TEST_WITH(short_calls_that_are_kept, setup, teardown)
{
	struct place *p = *state;

	p->run.settings.threshold_ns = 5000;
	assert_int_equal(filters_add(&p->filters, SPEC_TRIGGER, MATCH_GLOB, "f@trace", NULL), 0);
	assert_string_equal(default_opts(p), "");
}

/* --- the end of a recording --- */

TEST_WITH(nothing_special_has_no_lines, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;

	p->run.elapsed_ns = 123456789;
	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &info);
	assert_int_equal(info.state, INFO_STATE_ENDED);
	assert_int_equal(info.elapsed_ns / 1000, 123456);
	assert_int_equal(info.records_lost, 0);
	assert_int_equal(info.write_error, 0);
	assert_null(info.too_deep);
	assert_null(info.kept_returns);
	assert_null(info.cut_events);
	assert_null(info.argspec);
}

TEST_WITH(a_recording_that_runs_says_so, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;

	assert_int_equal(infofile_begin(&p->run, NULL), 0);
	read_back(p, &header, &info);
	assert_int_equal(info.state, INFO_STATE_RUNNING);
}

TEST_WITH(losses_are_stated, setup, teardown)
{
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct data_header header;

	p->rec.writers.records_lost = 41;
	store_note_error(p->run.store, -EDQUOT);
	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &info);
	assert_int_equal(info.records_lost, 41);
	assert_int_equal(info.write_error, EDQUOT);
}

TEST_WITH(calls_that_were_too_deep_are_stated_by_task, setup, teardown)
{
	static const char *const expected[] = {
		"10 calls, deeper than 77 levels (task 5: 7)",
		"10 calls, deeper than 77 levels (task 5: 7, task 9: 2)",
		"10 calls, deeper than 77 levels (task 5: 7, task 9: 2, task 1: 1)",
	};
	struct too_deep tasks[] = { { .tid = 5, .nr = 7 },
				    { .tid = 9, .nr = 2 },
				    { .tid = 1, .nr = 1 } };
	struct place *p = *state;

	p->rec.tasks.too_deep = tasks;
	p->rec.tasks.nr_too_deep = 10;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		struct info info cleanup_info = { 0 };
		struct data_header header;

		p->rec.tasks.nr_deep_tasks = i + 1;
		assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
		read_back(p, &header, &info);
		assert_string_equal(info.too_deep, expected[i]);
	}
}

TEST_WITH(modules_whose_returns_were_kept_are_stated, setup, teardown)
{
	struct known_module third = { .path = "/lib/libthird.so", .callers_why = "the third" };
	struct known_module second = { .path = "/lib/libsecond.so", .next = &third };
	struct known_module first = { .path = "/a/libfirst.so.1",
				      .callers_why = "the first",
				      .next = &second };
	struct place *p = *state;
	struct info info cleanup_info = { 0 };
	struct info both cleanup_info = { 0 };
	struct data_header header;

	p->rec.planner.modules.first = &second;
	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &info);
	assert_string_equal(info.kept_returns, "calls from libthird.so (the third)");
	p->rec.planner.modules.first = &first;
	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &both);
	assert_string_equal(both.kept_returns,
			    "calls from libfirst.so.1 (the first), libthird.so (the third)");
}

TEST_WITH(cut_events_are_counted, setup, teardown)
{
	struct place *p = *state;
	struct info one cleanup_info = { 0 };
	struct info two cleanup_info = { 0 };
	struct data_header header;

	p->rec.processes.notes.events_cut = 1;
	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &one);
	assert_string_equal(one.cut_events, "1 event says more than was recorded of it");
	p->rec.processes.notes.events_cut = 2;
	assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
	read_back(p, &header, &two);
	assert_string_equal(two.cut_events, "2 events say more than was recorded of them");
}

/* Functions of an interpreter (callables) get rules of their own. */
TEST_WITH(callables_have_rules_of_their_own, setup, teardown)
{
	static const struct {
		bool has_callables, is_auto;
		const char *args, *results;
	} cases[] = {
		{ false, false, NULL, "g@retval" },
		{ true, false, NULL, "g@retval;g@python.fake,retval/s" },
		{ false, true, NULL, "g@retval" },
		{ true, true, ".@python.fake", ".@python.fake;g@retval;g@python.fake,retval/s" },
	};
	struct place *p = *state;

	add_rules(p, "g@retval", ARGRULES_RETVAL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct info info cleanup_info = { 0 };
		struct data_header header;

		p->rec.planner.callables.nr = cases[i].has_callables;
		p->run.settings.captures.is_auto = cases[i].is_auto;
		assert_int_equal(infofile_finish(&p->run, &p->rec, NULL), 0);
		read_back(p, &header, &info);
		assert_string_equal(info.retspec, cases[i].results);
		if (cases[i].args)
			assert_string_equal(info.argspec, cases[i].args);
		else
			assert_null(info.argspec);
	}
	p->rec.planner.callables.nr = 0;
}

/* --- a disk that is full --- */

static char overwritten[512];

static int fail_to_publish(struct store *store, const char *name, const struct iovec *parts, int nr,
			   int *stream, struct uft_err *err)
{
	return err_set_errno(err, -ENOSPC, "cannot write '%s'", name);
}

static int overwrite_end(struct store *store, const char *name, const void *data, size_t len)
{
	assert_string_equal(name, "info");
	snprintf(overwritten, sizeof(overwritten), "%.*s", (int)len, (const char *)data);
	return 0;
}

/* If no new info file can be written, the status is written over the end of the first one. */
TEST_WITH(the_status_is_stated_on_a_full_disk_too, setup, teardown)
{
	const struct info expected = {
		.state = INFO_STATE_ENDED,
		.records_lost = 3,
		.write_error = ENOSPC,
	};
	struct place *p = *state;
	struct store_ops full = *p->memory.store.ops;
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	full.publish = fail_to_publish;
	full.overwrite_end = overwrite_end;
	p->memory.store.ops = &full;
	overwritten[0] = '\0';
	assert_int_equal(infofile_begin(&p->run, &err), -ENOSPC);
	assert_string_equal(overwritten, "");
	p->rec.writers.records_lost = 3;
	assert_int_equal(infofile_finish(&p->run, &p->rec, &err), -ENOSPC);
	info_encode_state(&expected, &text);
	assert_string_equal(overwritten, strbuf_str(&text));
	assert_int_equal(p->run.store->error, -ENOSPC);
	assert_int_equal(infofile_default_opts(&p->run, &err), -ENOSPC);
}
