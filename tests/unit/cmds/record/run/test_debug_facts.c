/* Unit tests of cmds/record/run/debug_facts.c: the lines of --debug about a made-up recording. */
#include "tests/unit/lib/unit.h"

#include <unistd.h>

#include "cmds/record/run/debug_facts.h"
#include "utils/spec/filters.h"

/* A file with functions victim_* that have room for hooks. */
static const char *with_room;

struct place {
	struct filters filters;
	struct event_rules events;
	struct patch_rules patches;
	struct watch_spec watch;
	struct opts opts;
	struct run run;
	struct recorder rec;
	char said[8192];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->opts.filters = &p->filters;
	p->run.opts = &p->opts;
	p->run.settings = (struct record_settings){
		.data_dir = "some.data",
		.filters = &p->filters,
		.events = &p->events,
		.patches = &p->patches,
		.watch = &p->watch,
	};
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	known_modules_deinit(&p->rec.planner.modules);
	strbuf_deinit(&p->rec.overhead.said);
	debuginfo_deinit(&p->run.debug);
	filters_deinit(&p->filters);
	free(p);
	return 0;
}

static void open_said(struct place *p)
{
	memset(p->said, 0, sizeof(p->said));
	p->opts.msg.file = fmemopen(p->said, sizeof(p->said), "w");
	assert_non_null(p->opts.msg.file);
}

static const char *before(struct place *p, int level)
{
	open_said(p);
	p->opts.msg.level = level;
	debug_facts_before_run(&p->run);
	fclose(p->opts.msg.file);
	return p->said;
}

/* Returns the messages of one domain. */
static const char *after(struct place *p, enum msg_domain domain, int level)
{
	open_said(p);
	p->opts.msg.levels[domain] = level;
	debug_facts_after_run(&p->run, &p->rec);
	fclose(p->opts.msg.file);
	p->opts.msg.levels[domain] = 0;
	return p->said;
}

/* --- messages before the recording --- */

TEST_WITH(nobody_is_told_who_does_not_ask, setup, teardown)
{
	struct place *p = *state;

	assert_string_equal(before(p, 0), "");
	assert_string_equal(after(p, MSG_UTRAIL, 0), "");
}

TEST_WITH(the_program_and_the_probe_are_named, setup, teardown)
{
	struct place *p = *state;

	strcpy(p->run.program.path, "/bin/prog");
	strcpy(p->run.library, "/lib/probe.so");
	p->run.settings.use_names = true;
	assert_string_equal(before(p, 1),
			    "utrail: the program is '/bin/prog'\n"
			    "utrail: the probe is '/lib/probe.so'\n"
			    "event: of each task: begin and end: no, names: yes, switches: no\n");
	p->run.settings = (struct record_settings){ .use_tasks = true };
	assert_non_null(strstr(before(p, 1), "begin and end: yes, names: no, switches: no\n"));
	p->run.settings = (struct record_settings){ .use_switches = true };
	assert_non_null(strstr(before(p, 1), "begin and end: no, names: no, switches: yes\n"));
}

static const char *calls(struct place *p, bool mcount, bool fentry, bool cyg, bool prepared)
{
	struct object_program *facts = &p->run.program.facts;
	char *line;

	facts->has_mcount = mcount;
	facts->has_fentry = fentry;
	facts->has_cyg_profile = cyg;
	facts->is_prepared = prepared;
	before(p, 2);
	line = strstr(p->said, "utrail: the program calls");
	assert_non_null(line);
	*strchr(line, '\n') = '\0';
	return line + strlen("utrail: the program calls");
}

TEST_WITH(what_the_program_calls_is_told, setup, teardown)
{
	struct place *p = *state;

	p->run.settings.nr_writers = 3;
	p->run.settings.segment_bytes = 1ULL << 33;
	assert_non_null(strstr(before(p, 2), "utrail: 3 writers; buffers of 8589934592 bytes\n"));
	assert_string_equal(calls(p, false, false, false, false), " none of the probe's functions");
	assert_string_equal(calls(p, true, false, false, false), " mcount");
	assert_string_equal(calls(p, false, true, false, false), " __fentry__");
	assert_string_equal(calls(p, false, false, true, false), " __cyg_profile_func_enter");
	assert_string_equal(calls(p, true, true, false, true),
			    " mcount __fentry__; it has room for such calls");
	assert_string_equal(calls(p, false, false, false, true),
			    " none of the probe's functions; it has room for such calls");
}

/* --- messages after the recording --- */

TEST_WITH(how_long_it_took_is_told, setup, teardown)
{
	struct place *p = *state;

	p->rec.tasks.nr_tids = 7;
	p->run.elapsed_ns = 1500000;
	p->run.stop_ns = 20;
	assert_string_equal(after(p, MSG_UTRAIL, 1),
			    "utrail: 'some.data': tasks with records: 7; the program took 1.5ms, "
			    "and taking the rest of its records 20ns\n");
}

#define LOST "records lost: 10, of them inside of the probe: 9; threads untraced: 8\n"

TEST_WITH(processes_are_told_with_their_plans, setup, teardown)
{
	struct place *p = *state;
	struct image session = { .sid = "0123456789abcdef", .exe = (char *)"/bin/prog" };
	struct process second = { .os_pid = 12,
				  .is_fork = true,
				  .session = &session,
				  .nr_modules = 4,
				  .planned = { [PLAN_FUNCS] = 1,
					       [PLAN_CALLS] = 2,
					       [PLAN_RULES] = 3,
					       [PLAN_CONDS] = 4,
					       [PLAN_STEPS] = 5,
					       [PLAN_PATCHES] = 6 } };
	struct process first = { .os_pid = 11, .session = &session, .next = &second };

	p->rec.writers.records_lost = 10;
	p->rec.writers.records_lost_inside = 9;
	p->rec.writers.threads_untraced = 8;
	assert_string_equal(after(p, MSG_MCOUNT, 1), "mcount: processes: 0; " LOST);
	p->rec.processes.first = &first;
	assert_string_equal(
		after(p, MSG_MCOUNT, 1),
		"mcount: process 11 reported itself: a new program; modules: 0, planned "
		"functions: 0, planned library calls: 0\n"
		"mcount: process 12 reported itself: a forked child; modules: 4, "
		"planned functions: 1, planned library calls: 2\n"
		"mcount: processes: 2; " LOST);
	after(p, MSG_MCOUNT, 2);
	assert_non_null(strstr(p->said,
			       "planned library calls: 2\n"
			       "mcount: process 12: rules: 3, conditions: 4, capture steps: 5, "
			       "patches: 6; session 0123456789abcdef\n"
			       "mcount: processes: 2; "));
}

TEST_WITH(sessions_are_told_with_their_maps, setup, teardown)
{
	struct map_entry entries[] = {
		{ .start = 0x1000, .end = 0x2000, .path = (char *)"/bin/prog" },
		{ .start = 0x3000, .end = 0x4000, .path = (char *)"[stack]" },
	};
	struct place *p = *state;
	struct image second = { .sid = "2", .pid = 22, .exe = (char *)"/bin/other" };
	struct image first = { .sid = "1",
			       .pid = 21,
			       .exe = (char *)"/bin/prog",
			       .map = { entries, ARRAY_SIZE(entries) },
			       .next = &second };

	p->rec.sessions.first = &first;
	assert_string_equal(after(p, MSG_SESSION, 1),
			    "session: 1: '/bin/prog' in process 21: modules: 1\n"
			    "session: 2: '/bin/other' in process 22: modules: 0\n");
	assert_string_equal(after(p, MSG_SESSION, 2),
			    "session: 1: '/bin/prog' in process 21: modules: 1\n"
			    "session: 1: 0x1000-0x2000 '/bin/prog'\n"
			    "session: 1: 0x3000-0x4000 '[stack]'\n"
			    "session: 2: '/bin/other' in process 22: modules: 0\n");
}

static struct known_module *know(struct place *p, const char *path)
{
	struct known_module *known = known_module_get(&p->rec.planner.modules, path);

	assert_non_null(known);
	return known;
}

TEST_WITH(a_module_that_was_needed_tells_where_its_symbols_are_from, setup, teardown)
{
	struct place *p = *state;
	struct known_module *known = know(p, with_room);
	struct symtab symbols cleanup_symtab = { 0 };
	char expected[1024];

	assert_int_equal(known_symbols_load(&p->run.settings, known, &symbols), 0);
	assert_true(symbols.nr > 3);
	assert_string_equal(after(p, MSG_SYMBOL, 1), "");
	snprintf(expected, sizeof(expected),
		 "symbol: '%s': %zu symbols from the file itself; they were not needed\n",
		 with_room, symbols.nr);
	assert_string_equal(after(p, MSG_SYMBOL, 2), expected);
	known->is_saved = true;
	snprintf(expected, sizeof(expected), "symbol: '%s': %zu symbols from the file itself\n",
		 with_room, symbols.nr);
	assert_string_equal(after(p, MSG_SYMBOL, 1), expected);
}

/* Make a directory of symbol files, with a file of two symbols for @path. */
static void put_symbols(char *dir, char *file, size_t size, const char *path)
{
	struct symtab symbols cleanup_symtab = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	FILE *to;

	assert_int_equal(symtab_add(&symbols, 0x10, 8, 'T', "one", 3), 0);
	assert_int_equal(symtab_add(&symbols, 0x20, 8, 'T', "two", 3), 0);
	sym_file_encode(&symbols, path, NULL, &text);
	assert_non_null(mkdtemp(dir));
	snprintf(file, size, "%s/%s.sym", dir, strrchr(path, '/') + 1);
	to = fopen(file, "we");
	assert_non_null(to);
	assert_int_equal(fwrite(text.data, 1, text.len, to), text.len);
	fclose(to);
}

TEST_WITH(symbols_of_a_directory_are_told_as_such, setup, teardown)
{
	struct place *p = *state;
	struct known_module *known = know(p, with_room);
	char dir[] = "/tmp/utrail-unit-XXXXXX";
	char expected[1024];
	char file[256];

	known->is_saved = true;
	put_symbols(dir, file, sizeof(file), with_room);
	p->run.settings.syms_dir = dir;
	snprintf(expected, sizeof(expected), "symbol: '%s': 2 symbols from '%s' (--with-syms)\n",
		 with_room, dir);
	assert_string_equal(after(p, MSG_SYMBOL, 1), expected);
	unlink(file);
	after(p, MSG_SYMBOL, 1);
	assert_non_null(strstr(p->said, " symbols from the file itself\n"));
	rmdir(dir);
}

TEST_WITH(symbols_that_cannot_be_read_are_told, setup, teardown)
{
	struct place *p = *state;
	struct known_module *known = know(p, with_room);

	known->is_saved = true;
	free(known->path);
	known->path = strdup("/dev/null/none");
	assert_string_equal(after(p, MSG_SYMBOL, 1),
			    "symbol: '/dev/null/none': its symbols cannot be read\n");
}

TEST_WITH(debug_information_is_told_when_it_was_asked_for, setup, teardown)
{
	struct place *p = *state;
	char expected[1024];
	const struct dwarf_info *info;

	know(p, with_room);
	assert_string_equal(after(p, MSG_DWARF, 1), "");
	snprintf(expected, sizeof(expected),
		 "dwarf: '%s': its debug information was not asked for\n", with_room);
	assert_string_equal(after(p, MSG_DWARF, 2), expected);
	info = debuginfo_of(&p->run.debug, with_room);
	assert_non_null(info);
	snprintf(expected, sizeof(expected), "dwarf: '%s': functions with types: %zu\n", with_room,
		 info->nr_funcs);
	assert_string_equal(after(p, MSG_DWARF, 1), expected);
}

TEST_WITH(patches_are_told_with_the_ways, setup, teardown)
{
	struct place *p = *state;
	struct known_module *known = know(p, with_room);
	char expected[2048];

	known->patches[0].nr_functions = 9;
	known->patches[0].counts[UNPREPARED_JUMP] = 9;
	assert_string_equal(after(p, MSG_DYNAMIC, 1), "");
	known->patches[1].nr_chosen = 4;
	known->patches[1].nr_functions = 3;
	known->patches[1].counts[UNPREPARED_LOOP] = 3;
	known->patches[1].counts[UNPREPARED_WAYS - 1] = 1;
	snprintf(expected, sizeof(expected),
		 "dynamic: '%s': functions chosen: 4, patched: 3\n"
		 "dynamic: '%s': 3: %s\ndynamic: '%s': 1: %s\n",
		 with_room, with_room, unprepared_way_text(UNPREPARED_LOOP), with_room,
		 unprepared_way_text(UNPREPARED_WAYS - 1));
	assert_string_equal(after(p, MSG_DYNAMIC, 1), expected);
	/* The same file as a library comes before the program. */
	known->patches[0].nr_chosen = 9;
	snprintf(expected, sizeof(expected), "dynamic: '%s': functions chosen: 9, patched: 9\n",
		 with_room);
	after(p, MSG_DYNAMIC, 1);
	assert_memory_equal(p->said, expected, strlen(expected));
	assert_non_null(strstr(p->said, "functions chosen: 4, patched: 3\n"));
}

TEST_WITH(what_overhead_has_said_is_told, setup, teardown)
{
	struct place *p = *state;

	strbuf_list_add(&p->rec.overhead.said, "one thing");
	strbuf_list_add(&p->rec.overhead.said, "and another");
	assert_string_equal(after(p, MSG_DYNAMIC, 1), "dynamic: one thing\ndynamic: and another\n");
}

TEST_WITH(filters_are_counted_where_functions_can_have_records, setup, teardown)
{
	struct place *p = *state;
	struct known_module *known = know(p, with_room);
	struct image session = { .exe = (char *)with_room };
	const char *name = strrchr(with_room, '/') + 1;
	char expected[1024];

	assert_int_equal(filters_add(&p->filters, SPEC_FILTER, MATCH_GLOB, "victim_l*", NULL), 0);
	assert_int_equal(filters_prepare(&p->filters, NULL), 0);
	known->has_functions = false;
	assert_string_equal(
		after(p, MSG_FILTER, 1),
		"filter: functions that match --filter 'victim_l*': 0 (in no module)\n");
	known->has_functions = true;
	snprintf(expected, sizeof(expected),
		 "filter: functions that match --filter 'victim_l*': 2 (%s 2)\n", name);
	assert_string_equal(after(p, MSG_FILTER, 1), expected);
	/* Library calls of the program are recorded; those of a library are not. */
	known->has_functions = false;
	p->run.settings.use_libcalls = true;
	after(p, MSG_FILTER, 1);
	assert_non_null(strstr(p->said, ": 0 (in no module)"));
	p->rec.sessions.first = &session;
	assert_string_equal(after(p, MSG_FILTER, 1), expected);
}

TEST_WITH(events_are_told, setup, teardown)
{
	struct point_event events[] = { { .name = (char *)"a:one" }, { .name = (char *)"a:two" } };
	struct place *p = *state;

	assert_string_equal(after(p, MSG_EVENT, 1),
			    "event: tasks are watched by perf_event_open(2): no\n"
			    "event: chosen events of the program: 0\n");
	p->run.has_perf = true;
	p->rec.planner.points.events = events;
	p->rec.planner.points.nr_events = 2;
	assert_string_equal(after(p, MSG_EVENT, 2),
			    "event: tasks are watched by perf_event_open(2): yes\n"
			    "event: chosen events of the program: 2\n"
			    "event: 'a:one' is chosen\nevent: 'a:two' is chosen\n");
	assert_string_equal(after(p, MSG_KERNEL, 1),
			    "kernel: tracepoints are recorded: no; bytes of them: 0, events lost: "
			    "0\n");
	p->run.has_kernel = true;
	p->rec.kernel.bytes_written = 1ULL << 32;
	p->rec.kernel.lost = 5;
	assert_string_equal(after(p, MSG_KERNEL, 1),
			    "kernel: tracepoints are recorded: yes; bytes of them: 4294967296, "
			    "events lost: 5\n");
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		return 2;
	with_room = argv[1];
	return unit_run();
}
