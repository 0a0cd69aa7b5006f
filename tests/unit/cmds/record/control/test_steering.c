/*
 * Changes of a running recording: members that were not requested stay, and a refused change has no
 * effect.
 */
#include "tests/unit/lib/record/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "arch/isa.h"
#include "cmds/record/plan/patches.h"
#include "utils/base/cleanup.h"
#include "utils/spec/steer.h"

static int setup(void **state)
{
	int ret = test_recorder_setup(state);
	struct test_recorder *t = *state;

	t->settings.is_steerable = t->settings.has_agent = true;
	t->rec.steering.now = t->settings;
	return ret;
}

static void change(struct recorder *rec, uint32_t flags)
{
	const struct steer_change change = { .flags = flags, .depth = 3, .time_ns = 7, .size = 9 };

	struct strbuf said cleanup_strbuf = { 0 };

	assert_int_equal(steering_change(&rec->steering, &change, &said, NULL), 0);
}

/* A recording that is off, or that waits for a trigger, stays so when a limit is set. */
TEST_WITH(limits_do_not_switch_it_on, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;

	steer->now.trace_on = false;
	change(rec, STEER_DEPTH);
	assert_int_equal(steer->now.depth, 3);
	assert_int_equal(steer->now.size_filter, 0);
	assert_int_equal(steer->now.threshold_ns, 0);
	assert_true(steer->is_on);
	assert_false(steer->now.trace_on);
	change(rec, STEER_OFF);
	change(rec, STEER_TIME | STEER_SIZE);
	assert_int_equal(steer->now.threshold_ns, 7);
	assert_int_equal(steer->now.size_filter, 9);
	assert_false(steer->is_on);
	assert_false(steer->now.trace_on);
	change(rec, STEER_ON);
	assert_true(steer->is_on);
	assert_true(steer->now.trace_on);
	change(rec, STEER_DEPTH);
	assert_true(steer->is_on);
}

/*
 * While recording is off, plans opt in a function that does not exist. The opt-in flags go when
 * recording is on again.
 */
TEST_WITH(off_and_on, setup, test_recorder_teardown)
{
	const uint32_t opt_in = PLAN_OPT_IN_FILTER | PLAN_OPT_IN_CALLER | PLAN_OPT_IN_LOCATION;
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	const struct plan *plan = rec->steering.plan;

	for (unsigned i = 1; i < 6; i += 2) {
		change(rec, STEER_OFF);
		assert_int_equal(plan->flags & opt_in, PLAN_OPT_IN_FILTER);
		assert_int_equal(plan->generation, i);
		change(rec, STEER_ON);
		assert_int_equal(plan->flags & opt_in, 0);
		assert_int_equal(plan->generation, i + 1);
	}
}

/* Later plans do not contain filters that were refused. */
TEST_WITH(what_is_refused_leaves_nothing, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;
	struct steer_change wrong cleanup_steer_change = { .flags = STEER_SPECS,
							   .match = MATCH_SIMPLE };
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet = { .m = { .start = 4096, .end = 8192, .has_text = 1 } };
	struct control_module *modules[] = { &packet.m };
	struct process proc = { .peer = { getpid(), getuid(), getgid() },
				.modules = modules,
				.nr_kept_modules = 1 };
	struct known_module *known;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	assert_non_null(realpath("/proc/self/exe", packet.m.path));
	known = known_module_get(&steer->planner->modules, packet.m.path);
	assert_non_null(known);
	known->has_functions = true;
	rec->processes.live = &proc;
	/*
	 * The first filter is known. The trigger asks for an argument, and arguments cannot change.
	 */
	strbuf_addstr(&wrong.specs[SPEC_FILTER], "main");
	strbuf_addstr(&wrong.specs[SPEC_TRIGGER], "no_such_function@arg1");
	assert_int_equal(steering_change(steer, &wrong, &said, &err), -ERR_USAGE);
	rec->processes.live = NULL;
	assert_non_null(strstr(err.text, "no_such_function"));
	assert_int_equal(steer->generation, 0);
	assert_int_equal(steer->now.filters->nr, 0);
	assert_false(known->is_bound);
	assert_int_equal(known->funcs.len, 0);
	assert_int_equal(steer->planner->binder.entries.lists[PLAN_RULES].len, 0);
}

/* --- processes --- */

/* This program as one that is recorded, and the messages that it gets from the recorder. */
struct traced {
	struct control_module *modules[1];
	struct process proc;
	int ret;
	size_t left;
	unsigned nr_told;
	int32_t choices[8];
	size_t nr_choices;
	size_t nr_sites;
	size_t nr_wanted;
	/* The last member, since a control_module has any length. */
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet;
};

static int told_choices(void *arg, pid_t pid, const struct attach_choice *choices, size_t nr,
			struct uft_err *err)
{
	struct traced *traced = arg;

	assert_int_equal(pid, getpid());
	assert_true(nr <= ARRAY_SIZE(traced->choices));
	traced->nr_told++;
	traced->nr_choices = nr;
	for (size_t i = 0; i < nr; i++) {
		assert_true(choices[i].event > 0);
		traced->choices[i] = choices[i].choice;
	}
	return traced->ret < 0 ? err_set(err, traced->ret, "it does not want to") : 0;
}

static int told_patches(void *arg, pid_t pid, const struct process_patches *patches,
			size_t *nr_left, struct uft_err *err)
{
	struct traced *traced = arg;

	assert_int_equal(pid, getpid());
	traced->nr_told++;
	traced->nr_sites = patches->sites.len / sizeof(uint64_t);
	traced->nr_wanted = patches->wanted.len / sizeof(uint64_t);
	*nr_left = traced->left;
	return traced->ret < 0 ? err_set(err, traced->ret, "it does not want to") : 0;
}

static void begin_traced(struct recorder *rec, struct traced *traced)
{
	/* The arena has the flag that tells the process of a new plan. */
	static char arena[RING_PAGE] __attribute__((aligned(RING_PAGE)));
	struct steering *steer = &rec->steering;

	*traced = (struct traced){ .packet.m = { .start = 4096, .end = 1 << 30, .has_text = 1 } };
	assert_non_null(realpath("/proc/self/exe", traced->packet.m.path));
	traced->modules[0] = &traced->packet.m;
	traced->proc = (struct process){
		.peer = { getpid(), getuid(), getgid() },
		.os_pid = getpid(),
		.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0),
		.arena = (struct arena *)arena,
		.has_declared = true,
		.modules = traced->modules,
		.nr_kept_modules = 1,
	};
	assert_true(traced->proc.pidfd >= 0);
	steer->choose = told_choices;
	steer->repatch = told_patches;
	steer->processes_arg = traced;
}

static void end_traced(struct recorder *rec, struct traced *traced)
{
	rec->processes.live = NULL;
	close(traced->proc.pidfd);
}

/* Call steering_change() while this process is the only live one. */
static int change_with(struct recorder *rec, struct traced *traced,
		       const struct steer_change *change, struct strbuf *said, struct uft_err *err)
{
	int ret;

	strbuf_reset(said);
	*err = (struct uft_err){ 0 };
	traced->nr_told = 0;
	rec->processes.live = &traced->proc;
	ret = steering_change(&rec->steering, change, said, err);
	rec->processes.live = NULL;
	return ret;
}

static int choose(struct recorder *rec, struct traced *traced, const char *in, const char *out,
		  struct strbuf *said, struct uft_err *err)
{
	struct steer_change change cleanup_steer_change = {
		.flags = (in ? STEER_TRACE_INCLUDE : 0) | (out ? STEER_TRACE_EXCLUDE : 0),
	};

	strbuf_addstr(&change.trace_include, in ? in : "");
	strbuf_addstr(&change.trace_exclude, out ? out : "");
	return change_with(rec, traced, &change, said, err);
}

static void check_choices(const struct traced *traced, const int32_t expected[3])
{
	assert_int_equal(traced->nr_choices, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(traced->choices[i], expected[i]);
}

#define CHOICES(...) ((const int32_t[]){ __VA_ARGS__ })

TEST_WITH(declared_events, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;
	struct declared *declared = &steer->planner->declared;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;

	begin_traced(rec, &traced);
	assert_int_equal(choose(rec, &traced, "alpha", NULL, &said, &err), -ENOENT);
	assert_string_equal(err.text, "'trace-include': no program has declared an event so far");
	assert_true(declared_add(declared, "alpha_one", "", "") > 0);
	assert_true(declared_add(declared, "alpha_two", "", "") > 0);
	assert_true(declared_add(declared, "beta", "", "") > 0);

	assert_int_equal(choose(rec, &traced, "alpha", NULL, &said, &err), 0);
	assert_string_equal(strbuf_str(&said), "events: 2 on, 1 off\n");
	assert_int_equal(traced.nr_told, 1);
	check_choices(&traced, CHOICES(1, 1, -1));
	assert_string_equal(steer->now.trace_include->text, "alpha");
	assert_null(steer->now.trace_exclude);
	assert_int_equal(steer->generation, 1);
	assert_int_equal(choose(rec, &traced, NULL, "_two", &said, &err), 0);
	assert_string_equal(strbuf_str(&said), "events: 1 on, 2 off\n");
	check_choices(&traced, CHOICES(1, -1, -1));
	assert_string_equal(steer->now.trace_include->text, "alpha");
	assert_string_equal(steer->now.trace_exclude->text, "_two");

	/* A refused change has no effect. */
	assert_int_equal(choose(rec, &traced, "betaa", NULL, &said, &err), -ENOENT);
	assert_string_equal(err.text, "'trace-include': no declared event matches 'betaa'; the "
				      "nearest: beta");
	assert_int_equal(choose(rec, &traced, "beta", "gamma", &said, &err), -ENOENT);
	assert_non_null(strstr(err.text, "'trace-exclude': no declared event matches 'gamma'"));
	assert_int_equal(choose(rec, &traced, "(", NULL, &said, &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "'trace-include'"));
	assert_int_equal(traced.nr_told, 0);
	assert_int_equal(steer->generation, 2);
	assert_string_equal(steer->now.trace_include->text, "alpha");
	assert_string_equal(steer->now.trace_exclude->text, "_two");

	/* After a failure the old choice is sent again. */
	traced.ret = -EPERM;
	assert_int_equal(choose(rec, &traced, "beta", "one", &said, &err), -EPERM);
	assert_string_equal(err.text, "it does not want to");
	assert_int_equal(traced.nr_told, 2);
	check_choices(&traced, CHOICES(1, -1, -1));
	assert_string_equal(steer->now.trace_include->text, "alpha");
	assert_string_equal(steer->now.trace_exclude->text, "_two");
	/* A process that has ended is not asked. */
	traced.ret = -ESRCH;
	assert_int_equal(choose(rec, &traced, "beta", "one", &said, &err), 0);
	assert_string_equal(strbuf_str(&said), "events: 1 on, 2 off\n");
	check_choices(&traced, CHOICES(-1, -1, 1));
	traced.ret = 0;
	/* A process that declares no events, or has ended, is told nothing either. */
	traced.proc.has_declared = false;
	assert_int_equal(choose(rec, &traced, NULL, "beta", &said, &err), 0);
	assert_int_equal(traced.nr_told, 0);
	end_traced(rec, &traced);
}

/* Without --trace-include the program chooses its events. */
TEST_WITH(as_the_program_says, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct declared *declared = &rec->steering.planner->declared;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;

	begin_traced(rec, &traced);
	assert_true(declared_add(declared, "alpha_one", "", "") > 0);
	assert_true(declared_add(declared, "alpha_two", "", "") > 0);
	assert_true(declared_add(declared, "beta", "", "") > 0);
	assert_int_equal(choose(rec, &traced, NULL, "beta", &said, &err), 0);
	assert_string_equal(strbuf_str(&said), "events: 0 on, 1 off, 2 as the program says\n");
	check_choices(&traced, CHOICES(0, 0, -1));
	end_traced(rec, &traced);
}

static int patch(struct recorder *rec, struct traced *traced, const char *rules,
		 struct strbuf *said, struct uft_err *err)
{
	struct steer_change change cleanup_steer_change = { .flags = STEER_PATCH,
							    .match = MATCH_SIMPLE };

	strbuf_addstr(&change.patches, rules);
	return change_with(rec, traced, &change, said, err);
}

TEST_WITH(hooks, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;
	struct insns *insns cleanup_insns = NULL;
	Dl_info library;

	begin_traced(rec, &traced);
	/*
	 * This test program contains names of OCaml's run time, so it counts as an OCaml program,
	 * which is not patched. So cmocka's library is patched.
	 */
	assert_true(dladdr((void *)_cmocka_run_group_tests, &library));
	assert_non_null(realpath(library.dli_fname, traced.packet.m.path));
	if (insns_open(&insns, isa_of(arch_elf_machine, 0), &err) < 0)
		skip_because("%s", err.text);
	assert_int_equal(patch(rec, &traced, "_cmocka_run_group_tests", &said, &err), 0);
	assert_string_equal(strbuf_str(&said), "patched: 1 functions\nunpatched: 0 functions\n");
	assert_int_equal(traced.nr_told, 1);
	assert_true(traced.nr_sites > 1);
	assert_int_equal(traced.nr_wanted, 1);
	assert_int_equal(t->patches.nr, 1);

	assert_int_equal(patch(rec, &traced, "no_such_function", &said, &err), -ENOENT);
	assert_non_null(strstr(err.text, "'patch': no function of the program matches "
					 "'no_such_function'"));
	assert_int_equal(traced.nr_told, 0);
	assert_int_equal(t->patches.nr, 1);
	assert_true(patch(rec, &traced, "", &said, &err) < 0);

	traced.ret = -EPERM;
	assert_int_equal(patch(rec, &traced, "cmocka_set_message_output", &said, &err), -EPERM);
	assert_string_equal(err.text, "it does not want to");
	assert_int_equal(traced.nr_told, 2);
	assert_int_equal(traced.nr_wanted, 1);
	assert_int_equal(t->patches.nr, 1);

	traced.ret = 0;
	traced.left = 3;
	assert_int_equal(patch(rec, &traced, "!_cmocka_run_group_tests;cmocka_set_message_output",
			       &said, &err),
			 0);
	assert_non_null(strstr(strbuf_str(&said), ": 3 places stay as they are: "));
	assert_non_null(
		strstr(strbuf_str(&said), "patched: 1 functions\nunpatched: 1 functions\n"));
	assert_int_equal(traced.nr_wanted, 1);
	/* A rule with the same text replaces the earlier one. */
	assert_int_equal(t->patches.nr, 2);

	/* A module whose file cannot be found, and a module without text, have no sites. */
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} others[2] = { { .m = { .start = 1 << 30, .end = (1 << 30) + 4096, .has_text = 1 } } };
	struct control_module *modules[] = { &traced.packet.m, &others[0].m, &others[1].m };
	size_t nr_sites = traced.nr_sites;

	strcpy(others[0].m.path, "no_path");
	assert_null(known_module_get(&rec->planner.modules, "no_path"));
	memcpy(&others[1], &traced.packet, sizeof(others[1]));
	others[1].m.start = 1 << 30;
	others[1].m.has_text = 0;
	traced.proc.modules = modules;
	traced.proc.nr_kept_modules = 3;
	traced.left = 1;
	assert_int_equal(patch(rec, &traced, "_cmocka_run_group_tests", &said, &err), 0);
	assert_int_equal(traced.nr_told, 1);
	assert_int_equal(traced.nr_sites, nr_sites);
	assert_int_equal(traced.nr_wanted, 2);
	assert_non_null(strstr(strbuf_str(&said), ": 1 place stays as it is: "));
	traced.left = 0;
	assert_int_equal(patch(rec, &traced, "!_cmocka_run_group_tests", &said, &err), 0);
	assert_string_equal(strbuf_str(&said), "patched: 0 functions\nunpatched: 1 functions\n");
	assert_int_equal(traced.nr_wanted, 1);
	end_traced(rec, &traced);
	patch_rules_deinit(&t->patches);
	t->patches = (struct patch_rules){ 0 };
}

/* --- status --- */

static void check_status(struct recorder *rec, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	steering_status(&rec->steering, &text);
	assert_string_equal(strbuf_str(&text), expected);
}

TEST_WITH(what_is_in_force, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct image image = { .exe = "/bin/program" };
	struct process second = { .os_pid = 8, .plan_generation = 1 };
	struct process first = { .os_pid = 7, .next_live = &second, .session = &image };

	t->rec.steering.now.trace_on = true;
	check_status(rec, "recording: on\nsteerable: yes\ndepth: 0\nchanges: 0\n");
	t->rec.steering.now.trace_on = false;
	check_status(
		rec,
		"recording: off, until a trigger or signal\nsteerable: yes\ndepth: 0\nchanges: "
		"0\n");
	change(rec, STEER_OFF | STEER_DEPTH | STEER_TIME | STEER_SIZE);
	assert_int_equal(patch_rules_parse("one;!two@lib", MATCH_SIMPLE, &t->patches, NULL), 0);
	rec->processes.live = &first;
	check_status(rec, "recording: off\nsteerable: yes\npatch: one\nunpatch: two@lib\ndepth: 3\n"
			  "time: 7ns\nsize: 9\nchanges: 1\n"
			  "process: 7 /bin/program (has not asked for the last change yet)\n"
			  "process: 8\n");
	rec->processes.live = NULL;
	patch_rules_deinit(&t->patches);
	t->patches = (struct patch_rules){ 0 };
	t->settings.has_agent = false;
	atomic_store(&rec->processes.control->finished, 1);
	check_status(rec,
		     "recording: stopped\nsteerable: no (record --agent)\ndepth: 3\ntime: 7ns\n"
		     "size: 9\nchanges: 1\n");
}

/* --- filters that are taken --- */

/* Sends a change as other commands do: words, each with a NUL after it. */
static int say(struct recorder *rec, struct traced *traced, const char *words, struct strbuf *said,
	       struct uft_err *err)
{
	struct steer_change change cleanup_steer_change = { 0 };
	struct strbuf list cleanup_strbuf = { 0 };
	char *copy = strdup(words);
	char *left = copy;

	for (char *word; (word = strsep(&left, " "));)
		strbuf_list_add(&list, word);
	free(copy);
	err_clear(err);
	assert_int_equal(steer_parse(&list, &change, NULL), 0);
	return change_with(rec, traced, &change, said, err);
}

static const char *status(struct recorder *rec)
{
	static char text[2048];
	struct strbuf out cleanup_strbuf = { 0 };

	steering_status(&rec->steering, &out);
	assert_true(out.len < sizeof(text));
	return strcpy(text, strbuf_str(&out));
}

static void begin_filters(struct recorder *rec, struct traced *traced)
{
	struct known_module *known;

	begin_traced(rec, traced);
	known = known_module_get(&rec->planner.modules, traced->packet.m.path);
	assert_non_null(known);
	known->has_functions = true;
}

/* Filters of a change are added after the present ones, or replace them. */
TEST_WITH(filters_are_added, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;

	begin_filters(rec, &traced);
	assert_int_equal(say(rec, &traced, "filter main", &said, &err), 0);
	assert_int_equal(steer->generation, 1);
	assert_int_equal(steer->now.filters->nr, 1);
	assert_int_equal(steer->plan->flags & PLAN_OPT_IN_FILTER, PLAN_OPT_IN_FILTER);
	assert_non_null(strstr(status(rec), "\nfilter: main\n"));
	assert_non_null(strstr(status(rec), "\nchanges: 1\n"));
	assert_int_equal(say(rec, &traced, "filter setup", &said, &err), 0);
	assert_int_equal(steer->now.filters->nr, 2);
	assert_non_null(strstr(status(rec), "\nfilter: main;setup\n"));
	assert_null(strstr(status(rec), "trigger:"));
	assert_int_equal(say(rec, &traced, "trigger main@depth=2", &said, &err), 0);
	assert_non_null(strstr(status(rec), "\ntrigger: main@depth=2\n"));
	assert_non_null(strstr(status(rec), "\nfilter: main;setup\n"));
	assert_int_equal(steer->now.filters->nr, 3);

	/* A new filter that matches nothing causes a warning; old filters are not checked again. */
	assert_int_equal(say(rec, &traced, "filter no_such_function", &said, &err), 0);
	assert_non_null(
		strstr(strbuf_str(&said),
		       "WARN: no function of the running processes matches 'no_such_function'"));
	assert_int_equal(steer->generation, 4);
	assert_non_null(strstr(status(rec), "\nfilter: main;setup;no_such_function\n"));
	assert_int_equal(say(rec, &traced, "trigger setup@no_action", &said, &err), 0);
	assert_non_null(strstr(strbuf_str(&said), "'no_action' is no action"));
	assert_null(strstr(strbuf_str(&said), "no_such_function"));
	assert_int_equal(say(rec, &traced, "clear filter main", &said, &err), 0);
	assert_int_equal(steer->now.filters->nr, 1);
	assert_non_null(strstr(status(rec), "\nfilter: main\n"));
	assert_null(strstr(status(rec), "trigger:"));
	assert_int_equal(say(rec, &traced, "clear", &said, &err), 0);
	assert_int_equal(steer->now.filters->nr, 0);
	assert_int_equal(steer->plan->flags & PLAN_OPT_IN_FILTER, 0);
	assert_null(strstr(status(rec), "filter:"));
	end_traced(rec, &traced);
}

/* The word "match" is about the specs of its own change. */
TEST_WITH(filters_keep_their_match, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;

	begin_filters(rec, &traced);
	assert_int_equal(say(rec, &traced, "match glob filter ma*", &said, &err), 0);
	assert_int_equal(say(rec, &traced, "filter ^setup$", &said, &err), 0);
	assert_int_equal(steer->now.filters->nr, 2);
	assert_int_equal(steer->now.filters->entries[0].spec.pattern.match, MATCH_GLOB);
	assert_int_equal(steer->now.filters->entries[1].spec.pattern.match, MATCH_REGEX);
	assert_non_null(strstr(status(rec), "\nfilter: ma*;^setup$\n"));
	end_traced(rec, &traced);
}

/* Specs that no longer have an effect are dropped. A filter that comes after them is checked. */
TEST_WITH(filters_after_cleared_ones_are_new, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;

	begin_filters(rec, &traced);
	assert_int_equal(say(rec, &traced, "filter main", &said, &err), 0);
	assert_int_equal(say(rec, &traced, "filter main@clear", &said, &err), 0);
	assert_null(strstr(status(rec), "filter:"));
	assert_int_equal(say(rec, &traced, "filter no_such_function", &said, &err), 0);
	assert_non_null(strstr(strbuf_str(&said), "matches 'no_such_function'"));
	assert_int_equal(steer->now.filters->nr, 1);
	end_traced(rec, &traced);
}

/* Filters from the start of the recording are in force, too, and new filters are added to them. */
TEST_WITH(filters_of_the_start, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	char *specs[SPEC_OPTIONS] = { [SPEC_FILTER] = "no_such_function" };
	struct traced traced;

	begin_filters(&t->rec, &traced);
	t->settings.specs = specs;
	assert_int_equal(
		filters_add(&t->filters, SPEC_FILTER, MATCH_SIMPLE, specs[SPEC_FILTER], NULL), 0);
	assert_non_null(strstr(status(&t->rec), "\nfilter: no_such_function\n"));
	assert_int_equal(say(&t->rec, &traced, "filter main", &said, &err), 0);
	assert_non_null(strstr(status(&t->rec), "\nfilter: no_such_function;main\n"));
	assert_int_equal(t->rec.steering.now.filters->nr, 2);
	t->settings.specs = NULL;
	filters_deinit(&t->filters);
	t->filters = (struct filters){ 0 };
	end_traced(&t->rec, &traced);
}

/* Choices that a running recording cannot change stay as they were made at its start. */
TEST_WITH(what_cannot_change, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;

	begin_filters(rec, &traced);
	assert_int_equal(say(rec, &traced, "trigger main@arg1", &said, &err), -ERR_USAGE);
	assert_string_equal(err.text, "'main@arg1': the recorded arguments and results cannot "
				      "change while the program runs");
	assert_int_equal(say(rec, &traced, "trigger main@retval", &said, &err), -ERR_USAGE);
	assert_int_equal(say(rec, &traced, "trigger main@auto-args", &said, &err), -ERR_USAGE);
	assert_int_equal(say(rec, &traced, "trigger main@read=context-switches", &said, &err),
			 -ERR_USAGE);
	assert_string_equal(
		err.text,
		"'read=context-switches': counters by name are chosen when the recording begins");
	assert_int_equal(rec->steering.generation, 0);
	assert_int_equal(rec->steering.now.filters->nr, 0);
	end_traced(rec, &traced);
}

/* Actions that a filter cannot have. A trigger cannot have those about arguments either. */
TEST_WITH(actions_without_an_effect, setup, test_recorder_teardown)
{
	static const struct {
		const char *words, *warning;
	} cases[] = {
		{ "filter main@arg1", "WARN: 'main@arg1': action 'arg' has no effect here\n" },
		{ "filter main@retval",
		  "WARN: 'main@retval': action 'retval' has no effect here\n" },
		{ "filter main@auto-args",
		  "WARN: 'main@auto-args': action 'auto-args' has no effect here\n" },
		{ "filter !main@arg1", "WARN: 'main@arg1': action 'arg' has no effect here\n" },
		{ "filter main@trace",
		  "WARN: 'main@trace': action 'trace' has no effect here: use 'trigger'\n" },
		{ "filter !main@trace_off", "WARN: 'main@trace_off': action 'trace_off' has no "
					    "effect here: use 'trigger'\n" },
		{ "filter main", "" },
	};
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	struct traced traced;

	begin_filters(rec, &traced);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(say(rec, &traced, "clear", &said, &err), 0);
		assert_int_equal(say(rec, &traced, cases[i].words, &said, &err), 0);
		assert_string_equal(strbuf_str(&said), cases[i].warning);
	}
	/* An earlier spec causes no second warning. */
	assert_int_equal(say(rec, &traced, "filter setup@arg1", &said, &err), 0);
	assert_string_equal(strbuf_str(&said),
			    "WARN: 'setup@arg1': action 'arg' has no effect here\n");
	assert_int_equal(say(rec, &traced, "trigger main@depth=2", &said, &err), 0);
	assert_string_equal(strbuf_str(&said), "");
	end_traced(rec, &traced);
}

/* Without --agent nothing can be changed. An empty request changes nothing. */
TEST_WITH(without_agent, setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	const struct steer_change nothing = { .flags = STEER_STATUS };
	const struct steer_change off = { .flags = STEER_OFF };
	struct strbuf said cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	t->settings.has_agent = false;
	assert_int_equal(steering_change(&t->rec.steering, &nothing, &said, &err), 0);
	assert_int_equal(steering_change(&t->rec.steering, &off, &said, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "without --agent (-g)"));
	assert_true(t->rec.steering.is_on);
	assert_int_equal(t->rec.steering.generation, 0);
	assert_non_null(strstr(status(&t->rec), "steerable: no (record --agent)\n"));
}

TEST_WITH(told_as_it_is, setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct steering *steer = &rec->steering;
	struct image image = { .exe = "/bin/it" };
	struct process one = { .os_pid = 11, .session = &image, .plan_generation = 1 };
	struct process other = { .os_pid = 12, .next_live = &one };

	steer->now.depth = 5;
	assert_string_equal(status(rec),
			    "recording: off, until a trigger or signal\nsteerable: yes\n"
			    "depth: 5\nchanges: 0\n");
	steer->now.trace_on = true;
	steer->now.threshold_ns = 2000;
	steer->now.size_filter = 64;
	steer->generation = 1;
	rec->processes.live = &other;
	assert_string_equal(status(rec),
			    "recording: on\nsteerable: yes\ndepth: 5\ntime: 2us\nsize: 64\n"
			    "changes: 1\nprocess: 12 (has not asked for the last change yet)\n"
			    "process: 11 /bin/it\n");
	rec->processes.live = NULL;
	steer->is_on = false;
	assert_non_null(strstr(status(rec), "recording: off\n"));
	atomic_store(&rec->control->finished, 1);
	assert_non_null(strstr(status(rec), "recording: stopped\n"));
}
