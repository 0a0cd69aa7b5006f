/*
 * The cost of recording is measured again and again as long as a limit is set. Without a limit
 * nothing is measured.
 */
#include "tests/unit/lib/record/recorder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "cmds/record/plan/found_patch.h"
#include "cmds/record/plan/modules.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/format/left_out.h"

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

TEST_WITH(without_a_limit, test_recorder_setup, test_recorder_teardown)
{
	struct overhead *o = &((struct test_recorder *)*state)->rec.overhead;

	assert_int_equal(o->timer_fd, -1);
	assert_null(o->writers->sample);
}

TEST_WITH(with_a_limit, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct overhead *o = &t->rec.overhead;
	unsigned before = count_fds();
	struct itimerspec timer;

	t->settings.overhead_percent = 5;
	assert_int_equal(overhead_begin(o, NULL), 0);
	assert_non_null(o->writers->sample);
	assert_true(o->budget.limit > 0.04 && o->budget.limit < 0.06);
	assert_int_equal(timerfd_gettime(o->timer_fd, &timer), 0);
	assert_true(timer.it_value.tv_nsec > 0 && timer.it_interval.tv_nsec > 0);
	overhead_end(o);
	assert_int_equal(o->timer_fd, -1);
	assert_null(o->writers->sample);
	assert_int_equal(count_fds(), before);
}

/* --- functions that cost too much --- */

#define OFTEN  "_cmocka_run_group_tests"
#define CALLER "cmocka_set_message_output"
#define RARE   "_will_return"
#define CALLS  900000
#define START  0x100000ULL

/*
 * This process as one that is recorded, with one module. Most calls are those of its function
 * OFTEN.
 */
struct traced {
	struct control_module *modules[1];
	struct process proc;
	struct known_module *known;
	struct symtab symbols;
	int repatched; /* the result of patching */
	unsigned nr_repatched;
	/* The last member, since a control_module has any length. */
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet;
};

static const uint8_t original[5] = { 1, 2, 3, 4, 5 };
/* The bytes of OFTEN where the hook is patched in. */
static uint8_t code[5];

static int repatch(void *arg, pid_t pid, const struct process_patches *patches, size_t *nr_left,
		   struct uft_err *err)
{
	struct traced *traced = arg;

	assert_int_equal(pid, getpid());
	assert_int_equal(patches->sites.len, sizeof(uint64_t));
	assert_int_equal(patches->wanted.len, 0);
	traced->nr_repatched++;
	if (traced->repatched == 0)
		memcpy(code, original, sizeof(code));
	return traced->repatched < 0 ? err_set(err, traced->repatched, "it is busy") : 0;
}

static const struct symbol *symbol(const struct traced *traced, const char *name)
{
	for (size_t i = 0; i < traced->symbols.nr; i++) {
		if (strcmp(traced->symbols.syms[i].name, name) == 0)
			return &traced->symbols.syms[i];
	}
	fail_msg("there is no %s", name);
	return NULL;
}

static void begin_traced(struct test_recorder *t, struct traced *traced)
{
	static char arena[RING_PAGE] __attribute__((aligned(RING_PAGE)));
	struct recorder *rec = &t->rec;
	Dl_info library;

	*traced = (struct traced){ .packet.m = { .start = START, .end = 1 << 30, .has_text = 1 } };
	assert_true(dladdr((void *)_cmocka_run_group_tests, &library));
	assert_non_null(realpath(library.dli_fname, traced->packet.m.path));
	traced->known = known_module_get(&rec->planner.modules, traced->packet.m.path);
	assert_non_null(traced->known);
	assert_int_equal(known_symbols_load(&t->settings, traced->known, &traced->symbols), 0);
	traced->modules[0] = &traced->packet.m;
	traced->proc = (struct process){
		.peer = { getpid(), getuid(), getgid() },
		.os_pid = getpid(),
		.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0),
		.arena = (struct arena *)arena,
		.modules = traced->modules,
		.nr_kept_modules = 1,
		/* More CPU time than the process will ever have. */
		.cpu_ns = UINT64_MAX,
	};
	assert_true(traced->proc.pidfd >= 0);
	rec->steering.repatch = repatch;
	rec->steering.processes_arg = traced;
	t->settings.overhead_percent = 5;
	assert_int_equal(overhead_begin(&rec->overhead, NULL), 0);
	rec->overhead.budget.call_ns = 100;
	rec->overhead.budget.left_ns = 10;
}

static void end_traced(struct test_recorder *t, struct traced *traced)
{
	overhead_end(&t->rec.overhead);
	symtab_deinit(&traced->symbols);
	close(traced->proc.pidfd);
	t->settings.overhead_percent = 0;
}

/* Add a patch of OFTEN, which calls the hook, to the patches that the recorder knows. */
static void hook(struct traced *traced)
{
	struct found_patch found = {
		.patch = { .site = (uintptr_t)code,
			   .addr = START + symbol(traced, OFTEN)->addr,
			   .what = PATCH_CALL,
			   .bytes = sizeof(code) },
		.func = symbol(traced, OFTEN)->addr,
	};

	memset(code, 0xe8, sizeof(code));
	memcpy(found.patch.original, original, sizeof(original));
	strbuf_add(&traced->known->patches[true].found, &found, sizeof(found));
}

static void add_call(struct sample *sample, const struct traced *traced, const char *name,
		     const char *caller, unsigned calls)
{
	sample->calls[sample->nr++] = (struct sampled_call){
		.proc = &traced->proc,
		.addr = START + symbol(traced, name)->addr,
		.caller = caller ? START + symbol(traced, caller)->addr + 1 : 0,
		.calls = calls,
		.ended = calls,
		.sum_ns = calls * 10ULL,
	};
}

/*
 * Takes a sample with these shares: half of the records were looked at, and a tenth of the calls
 * were not counted for lack of room.
 */
static void look(struct test_recorder *t, struct traced *traced, uint64_t cpu_ns)
{
	struct recorder *rec = &t->rec;
	struct sample *sample = rec->overhead.writers->sample;

	sample->bytes = 2000;
	sample->looked_at = 1000;
	sample->entries = CALLS / 2 * 10 / 9;
	add_call(sample, traced, OFTEN, CALLER, CALLS / 4);
	add_call(sample, traced, OFTEN, NULL, CALLS / 4);
	add_call(sample, traced, RARE, "_assert_true", 2);
	rec->overhead.time.cpu_ns = cpu_ns;
	rec->processes.live = &traced->proc;
	assert_int_equal(loop_serve(&rec->loop, 5000), 1);
	rec->processes.live = NULL;
}

static size_t nr_left_out(const struct traced *traced)
{
	return traced->known->left_out.len / sizeof(struct module_left_out);
}

/* Compare the lines of left-out.txt with the expected ones, without their times. */
static void check_notes(const struct test_recorder *t, const char *expected)
{
	char *text = test_recorder_file(t, "left-out.txt");
	struct strbuf found cleanup_strbuf = { 0 };
	char *rest = text;

	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		char kind[16];
		unsigned permille;
		unsigned long long addr;

		assert_int_equal(sscanf(line, "%15s %*s %u %llx", kind, &permille, &addr), 3);
		strbuf_addf(&found, "%s %u %llx\n", kind, permille, addr);
	}
	assert_string_equal(strbuf_str(&found), expected);
	free(text);
}

static void add_note(struct strbuf *notes, const struct traced *traced, const char *kind,
		     unsigned permille, const char *name)
{
	strbuf_addf(notes, "%s %u %llx\n", kind, permille,
		    (unsigned long long)symbol(traced, name)->addr);
}

TEST_WITH(what_costs_too_much, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct overhead *o = &t->rec.overhead;
	struct strbuf notes cleanup_strbuf = { 0 };
	struct module_left_out *left;
	struct traced traced;
	uint64_t before;

	begin_traced(t, &traced);
	/* So little CPU time allows no decision; it is added to that of the next look. */
	look(t, &traced, BUDGET_CPU_MIN_NS - 1);
	assert_int_equal(nr_left_out(&traced), 0);
	assert_int_equal(o->time.cpu_ns, BUDGET_CPU_MIN_NS - 1);
	o->writers->sample->nr = 0;
	/* The same calls take only a small part of so much CPU time. */
	look(t, &traced, 100 * BUDGET_CPU_MIN_NS);
	assert_int_equal(o->time.cpu_ns, 0);
	assert_int_equal(nr_left_out(&traced), 0);
	assert_int_equal(t->rec.steering.generation, 0);
	assert_true(o->calls > CALLS);

	before = settings_now_ns(&t->settings);
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 1);
	left = (struct module_left_out *)traced.known->left_out.data;
	assert_int_equal(left->func.start, symbol(&traced, OFTEN)->addr);
	assert_int_equal(left->func.end, left->func.start + symbol(&traced, OFTEN)->size);
	assert_false(left->can_go);
	assert_true(left->rate > 0);
	assert_int_equal(t->rec.steering.generation, 1);
	assert_int_equal(o->left_out_generation, 1);
	/* The pause after a change may be over by now, if this test was not run meanwhile. */
	assert_true(o->not_before_ns >= before + 60000000);
	add_note(&notes, &traced, "function", 999, OFTEN);
	add_note(&notes, &traced, "caller", 0, CALLER);
	check_notes(t, strbuf_str(&notes));
	assert_non_null(strstr(o->said.data,
			       "'" OFTEN "' is left out, but its hooks cannot be taken "
			       "out"));
	/* A call of a function that is left out but keeps its hooks costs something. */
	assert_true(o->budget.left_rate > 0);

	/* Neither this function nor another one is chosen now. */
	o->not_before_ns = 0;
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 1);
	assert_int_equal(t->rec.steering.generation, 1);

	/* When the user takes a function back, the recording notes it once. */
	left->is_back = true;
	look(t, &traced, 0);
	look(t, &traced, 0);
	add_note(&notes, &traced, "again", 0, OFTEN);
	check_notes(t, strbuf_str(&notes));
	assert_true(o->budget.left_rate == 0);
	end_traced(t, &traced);
}

/* Just after a change, no function is chosen: the rings still have calls from before the change. */
TEST_WITH(not_at_once_again, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct traced traced;

	begin_traced(t, &traced);
	t->rec.overhead.not_before_ns = UINT64_MAX;
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 0);
	assert_int_equal(t->rec.overhead.time.cpu_ns, 0);
	end_traced(t, &traced);
}

/*
 * Calls of a function that was left out may stay in the rings for longer than the pause after a
 * change. Another, cheap function must not be left out because of them.
 */
TEST_WITH(calls_from_before_it, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct overhead *o = &t->rec.overhead;
	struct traced traced;

	begin_traced(t, &traced);
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 1);
	o->not_before_ns = 0;
	o->writers->sample->nr = 0;
	add_call(o->writers->sample, &traced, RARE, NULL, 100);
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 1);
	/* Now RARE is the function that costs too much. */
	o->writers->sample->nr = 0;
	add_call(o->writers->sample, &traced, RARE, NULL, CALLS / 2);
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 2);
	end_traced(t, &traced);
}

TEST_WITH(hooks_are_taken_out, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct overhead *o = &t->rec.overhead;
	struct strbuf said cleanup_strbuf = { 0 };
	struct traced traced;

	begin_traced(t, &traced);
	hook(&traced);
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 1);
	assert_true(((struct module_left_out *)traced.known->left_out.data)->can_go);
	assert_int_equal(traced.nr_repatched, 1);
	assert_true(o->budget.left_rate == 0);
	assert_int_equal(traced.proc.left_out_generation, 1);
	strbuf_addf(
		&said,
		"--overhead: process %d: the hooks of functions that are left out were taken out",
		getpid());
	assert_string_equal(o->said.data, strbuf_str(&said));
	look(t, &traced, 0);
	assert_int_equal(traced.nr_repatched, 1);
	end_traced(t, &traced);
}

/* A process that keeps its hooks is asked five times to remove them. */
TEST_WITH(hooks_that_stay, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct overhead *o = &t->rec.overhead;
	struct strbuf said cleanup_strbuf = { 0 };
	struct traced traced;

	begin_traced(t, &traced);
	hook(&traced);
	traced.repatched = -EBUSY;
	look(t, &traced, BUDGET_CPU_MIN_NS);
	for (unsigned i = 1; i < 5; i++) {
		assert_int_equal(traced.nr_repatched, i);
		assert_int_equal(traced.proc.left_out_generation, 0);
		assert_int_equal(o->said.len, 0);
		assert_true(o->budget.left_rate == 0);
		look(t, &traced, 0);
	}
	assert_int_equal(traced.nr_repatched, 5);
	assert_int_equal(traced.proc.left_out_generation, 1);
	strbuf_addf(
		&said,
		"--overhead: process %d: 1 hook of functions that are left out stays: it is busy",
		getpid());
	assert_string_equal(o->said.data, strbuf_str(&said));
	assert_true(((struct module_left_out *)traced.known->left_out.data)->stays);
	assert_true(o->budget.left_rate > 0);
	look(t, &traced, 0);
	assert_int_equal(traced.nr_repatched, 5);
	end_traced(t, &traced);
}

/*
 * A process is not asked again about a function that it cannot change. It may still follow an older
 * plan.
 */
TEST_WITH(who_is_asked_how_often, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct traced traced;

	begin_traced(t, &traced);
	hook(&traced);
	traced.repatched = -EPERM;
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(traced.nr_repatched, 1);
	assert_int_equal(traced.proc.left_out_generation, 1);

	memcpy(code, original, sizeof(code));
	traced.proc.left_out_generation = 0;
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(traced.proc.left_out_generation, 0);
		look(t, &traced, 0);
	}
	assert_int_equal(traced.proc.left_out_generation, 1);
	traced.proc.left_out_generation = 0;
	traced.proc.plan_generation = 1;
	look(t, &traced, 0);
	assert_int_equal(traced.proc.left_out_generation, 1);
	assert_int_equal(traced.nr_repatched, 1);
	end_traced(t, &traced);
}

/* The recording has the time of each change, and the share of the calls that each function had. */
TEST_WITH(what_readers_are_told, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct traced traced;
	uint64_t before = settings_now_ns(&t->settings);
	unsigned long long seconds, rest;
	char *text;

	begin_traced(t, &traced);
	look(t, &traced, BUDGET_CPU_MIN_NS);
	text = test_recorder_file(t, "extern.dat");
	assert_int_equal(sscanf(text, "%llu.%9llu", &seconds, &rest), 2);
	assert_true(seconds * 1000000000ULL + rest >= before);
	assert_true(seconds * 1000000000ULL + rest <= settings_now_ns(&t->settings));
	assert_string_equal(strchr(text, ' '),
			    " utrail: not recorded from here on, by --overhead: " OFTEN
			    " (100 % of calls)\n");
	free(text);
	text = test_recorder_file(t, LEFT_OUT_NAME);
	assert_non_null(strstr(text, traced.packet.m.path));
	free(text);
	end_traced(t, &traced);
}

/* Leaving out one function is not enough: both cost too much. */
TEST_WITH(two_that_cost_too_much, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct sample *sample;
	struct traced traced;
	char *text;

	begin_traced(t, &traced);
	sample = rec->overhead.writers->sample;
	add_call(sample, &traced, CALLER, NULL, CALLS / 4);
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 2);
	text = test_recorder_file(t, "extern.dat");
	assert_non_null(strstr(text, " by --overhead: "));
	assert_non_null(strstr(text, CALLER " (33 % of calls), " OFTEN " (67 % of calls)\n"));
	free(text);
	end_traced(t, &traced);
}

/* A function is not left out for its cost if a rule of a filter names it, or may have named it. */
TEST_WITH(what_the_user_has_named_stays, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct traced traced;
	struct plan_func func = { .rule = 3 };

	begin_traced(t, &traced);
	func.start = symbol(&traced, OFTEN)->addr;
	func.end = func.start + 1;
	strbuf_add(&traced.known->funcs, &func, sizeof(func));
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 0);
	strbuf_reset(&traced.known->funcs);
	/* A library was loaded late, so the effect of the options on its functions is not known. */
	t->rec.steering.now.size_filter = 1;
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 0);
	traced.known->is_bound = true;
	/* The function is listed, but without a rule. */
	func.rule = PLAN_NO_RULE;
	strbuf_add(&traced.known->funcs, &func, sizeof(func));
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 1);
	t->rec.steering.now.size_filter = 0;
	end_traced(t, &traced);
}

TEST_WITH(calls_from_nowhere_do_not_matter, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct traced traced;
	const uint64_t places[] = { 0, START - 1, 1 << 30, (1 << 30) + 5 };

	begin_traced(t, &traced);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct sample *sample = t->rec.overhead.writers->sample;

		sample->calls[sample->nr++] = (struct sampled_call){ .proc = &traced.proc,
								     .addr = places[i],
								     .calls = CALLS };
	}
	look(t, &traced, BUDGET_CPU_MIN_NS);
	assert_int_equal(nr_left_out(&traced), 1);
	end_traced(t, &traced);
}

TEST_WITH(cpu_time_is_that_since_the_last_look, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct overhead *o = &t->rec.overhead;
	struct traced traced;
	uint64_t first;

	begin_traced(t, &traced);
	traced.proc.cpu_ns = 0;
	look(t, &traced, 0);
	first = traced.proc.cpu_ns;
	assert_true(first > 0);
	/* If the process has used enough CPU time for a decision, counting begins anew. */
	assert_int_equal(o->time.cpu_ns, first < BUDGET_CPU_MIN_NS ? first : 0);
	traced.proc.cpu_ns = first - 1000;
	o->time.cpu_ns = 0;
	traced.proc.next_live = NULL;
	look(t, &traced, 5);
	assert_true(traced.proc.cpu_ns >= first);
	if (o->time.cpu_ns)
		assert_int_equal(o->time.cpu_ns, 5 + traced.proc.cpu_ns - (first - 1000));
	/* An ended process uses no CPU time. */
	traced.proc.os_pid = fork();
	if (traced.proc.os_pid == 0)
		_exit(0);
	assert_int_equal(waitpid(traced.proc.os_pid, NULL, 0), traced.proc.os_pid);
	first = traced.proc.cpu_ns;
	look(t, &traced, 5);
	assert_int_equal(traced.proc.cpu_ns, first);
	assert_int_equal(o->time.cpu_ns, 5);
	traced.proc.os_pid = getpid();
	end_traced(t, &traced);
}
