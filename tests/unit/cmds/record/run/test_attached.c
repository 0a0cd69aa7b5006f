/*
 * `record -p`: processes are found and attached to, and are left when the recording ends. The
 * processes are simulated, with numbers above the largest number of the kernel.
 */
#include "tests/unit/lib/record/recorder.h"

#include <errno.h>
#include <signal.h>

#include "cmds/record/attach/attach.h"
#include "cmds/record/attach/target.h"
#include "cmds/record/run/attached.h"

/* --- simulated actions --- */

static char done[512];
static struct {
	int (*begin)(const struct attach_how *how);
	int end_ret;
	bool has_ended;
	pid_t refused;
	void (*while_leaving)(pid_t pid);
} play;

static void note(const char *what, int pid)
{
	size_t at = strlen(done);

	snprintf(done + at, sizeof(done) - at, "%s%s %d", at ? ", " : "", what, pid);
}

int __wrap_attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err);
int __wrap_attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	int ret = play.begin ? play.begin(how) : 0;

	assert_string_equal(how->library, "/the/probe");
	note("begin", pid);
	return ret < 0 ? err_set(err, ret, "it did not begin") : 0;
}

int __wrap_attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err);
int __wrap_attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	note("end", pid);
	if (play.while_leaving)
		play.while_leaving(pid);
	return play.end_ret < 0 ? err_set(err, play.end_ret, "it did not end") : 0;
}

bool __wrap_peer_has_ended(int pidfd, int ms);
bool __wrap_peer_has_ended(int pidfd, int ms)
{
	return play.has_ended;
}

pid_t __wrap_target_find(const char *text, struct uft_err *err);
pid_t __wrap_target_find(const char *text, struct uft_err *err)
{
	if (strcmp(text, "unknown") == 0)
		return err_set(err, -ESRCH, "nobody is called so");
	return strcmp(text, "self") == 0 ? getpid() : atoi(text);
}

int __wrap_target_check(pid_t pid, bool force, struct uft_err *err);
int __wrap_target_check(pid_t pid, bool force, struct uft_err *err)
{
	note(force ? "force" : "check", pid);
	return pid == play.refused ? err_set(err, -EPERM, "refused") : 0;
}

struct place {
	struct test_recorder *t;
	struct opts opts;
	struct run run;
	struct process processes[3];
	char printed[1024];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	sigset_t set;

	assert_non_null(p);
	assert_int_equal(test_recorder_setup((void **)&p->t), 0);
	recorder_signals(&p->t->settings, &set);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	strcpy(p->run.library, "/the/probe");
	p->run.opts = &p->opts;
	p->opts.msg.file = fmemopen(p->printed, sizeof(p->printed), "w");
	done[0] = '\0';
	memset(&play, 0, sizeof(play));
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	p->t->rec.processes.first = NULL;
	test_recorder_teardown((void **)&p->t);
	attached_deinit(&p->run);
	assert_int_equal(p->run.nr_pids, 0);
	fclose(p->opts.msg.file);
	free(p);
	return 0;
}

/* Adds @nr processes that have reported themselves and run. Their numbers begin with 4200101. */
static void add_processes(struct place *p, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		p->processes[i].os_pid = 4200101 + i;
		p->processes[i].pidfd = 0;
		p->processes[i].next = i + 1 < nr ? &p->processes[i + 1] : NULL;
	}
	p->t->rec.processes.first = nr ? p->processes : NULL;
}

static void attach_to(struct place *p, size_t nr)
{
	p->run.pids = calloc(nr, sizeof(*p->run.pids));
	p->run.nr_pids = nr;
	for (size_t i = 0; i < nr; i++)
		p->run.pids[i] = 4200101 + i;
}

/* --- the processes to attach to --- */

static int find(struct place *p, const char *pids, struct uft_err *err)
{
	char text[64];

	attached_deinit(&p->run);
	err_clear(err);
	done[0] = '\0';
	/* Values that attached_find() must replace. */
	memset(p->run.program.path, 'x', sizeof(p->run.program.path) - 1);
	p->opts.pids = strcpy(text, pids);
	return attached_find(&p->run, err);
}

TEST_WITH(the_processes, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };
	char expected[128];
	char path[PATH_MAX] = "";

	assert_int_equal(find(p, "self,4200102,4200102,self", &err), 0);
	assert_int_equal(p->run.nr_pids, 2);
	assert_int_equal(p->run.pids[0], getpid());
	assert_int_equal(p->run.pids[1], 4200102);
	snprintf(expected, sizeof(expected), "check %d, check 4200102, check 4200102, check %d",
		 getpid(), getpid());
	assert_string_equal(done, expected);
	/* The recording's program is that of the first process. */
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_string_equal(p->run.program.path, path);
	assert_int_equal(p->run.program.facts.kind, OBJECT_ELF);
	p->opts.rec.force = true;
	assert_int_equal(find(p, "self", &err), 0);
	snprintf(expected, sizeof(expected), "force %d", getpid());
	assert_string_equal(done, expected);
}

TEST_WITH(no_processes, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	assert_int_equal(find(p, ",", &err), -ERR_USAGE);
	assert_string_equal(err.text, "option '--pid' needs the number or the name of a process");
	assert_int_equal(find(p, "self,unknown,4200103", &err), -ESRCH);
	assert_string_equal(err.text, "nobody is called so");
	play.refused = 4200102;
	assert_int_equal(find(p, "self,4200102,4200103", &err), -EPERM);
	assert_string_equal(err.text, "refused");
	assert_null(strstr(done, "4200103"));
}

/* Options that act before a program begins cannot be used for a running one. */
TEST_WITH(options_that_come_too_late, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };
	const struct {
		bool *option;
		const char *name;
	} options[] = {
		{ &p->opts.keep_pid, "'--keep-pid' says how a program is started" },
		{ &p->opts.nop, "'--nop' says how a program is started" },
		{ &p->opts.no_pltbind, "'--no-pltbind' says how a program is started" },
		{ &p->opts.no_randomize_addr,
		  "'--no-randomize-addr' says how a program is started" },
		{ &p->opts.rec.reports_crashes, "'--crash-report' needs handlers of signals" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		*options[i].option = true;
		assert_int_equal(find(p, "self", &err), -ERR_USAGE);
		assert_non_null(strstr(err.text, options[i].name));
		assert_string_equal(done, "");
		*options[i].option = false;
	}
	p->opts.signal_specs = "SIGUSR2@finish";
	assert_int_equal(find(p, "self", &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "'--signal' needs handlers of signals in the process"));
	p->opts.signal_specs = NULL;
	p->opts.args = (char *[]){ "ls", NULL };
	p->opts.nr_args = 1;
	assert_int_equal(find(p, "self", &err), -ERR_USAGE);
	assert_string_equal(err.text,
			    "option '--pid' records what runs already: 'ls' cannot be run, too");
	p->opts.nr_args = 0;
	assert_int_equal(event_rules_parse("a:b", MATCH_GLOB, &p->opts.events, NULL), 0);
	assert_int_equal(find(p, "self", &err), 0);
	event_rules_deinit(&p->opts.events);
	p->opts.events = (struct event_rules){ 0 };
	assert_int_equal(event_rules_parse("a:b@kernel", MATCH_GLOB, &p->opts.events, NULL), 0);
	assert_int_equal(find(p, "self", &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "events of the kernel are for programs that are started"));
	event_rules_deinit(&p->opts.events);
}

/* --- the end of the recording --- */

static int run(struct place *p, struct uft_err *err)
{
	err_clear(err);
	done[0] = '\0';
	return attached_run(&p->run, &p->t->rec, err);
}

static const char *said(struct place *p)
{
	fflush(p->opts.msg.file);
	return p->printed;
}

/*
 * The time of --for is over. The recorder also detaches from processes that were forked in the
 * meantime. It need not detach from processes that have ended.
 */
TEST_WITH(so_long, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	attach_to(p, 2);
	add_processes(p, 3);
	p->processes[1].pidfd = -1;
	p->opts.for_ns = 1;
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(done, "begin 4200101, begin 4200102, end 4200101, end 4200103");
	assert_int_equal(p->run.end.status, RECORDER_STATUS_UNKNOWN);
	assert_string_equal(said(p), "");
}

static struct place *playing;

/* A child reports itself while the recorder detaches from the last process. */
static void report_child(pid_t pid)
{
	static struct process child = { .os_pid = 4200104 };

	if (pid != 4200102)
		return;
	child.next = playing->t->rec.processes.first;
	playing->t->rec.processes.first = &child;
}

TEST_WITH(a_child_that_comes_late, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	playing = p;
	attach_to(p, 1);
	add_processes(p, 2);
	p->opts.for_ns = 1;
	play.while_leaving = report_child;
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(done, "begin 4200101, end 4200101, end 4200102, end 4200104");
	assert_string_equal(said(p), "");
}

static struct process forked[1000];
static unsigned nr_forked;

/* Each process from which the recorder detaches has forked another child meanwhile. */
static void fork_again(pid_t pid)
{
	struct process *child = &forked[nr_forked];

	assert_true(nr_forked < ARRAY_SIZE(forked));
	*child = (struct process){ .os_pid = 4202000 + nr_forked, .pidfd = 0 };
	nr_forked++;
	child->next = playing->t->rec.processes.first;
	playing->t->rec.processes.first = child;
}

/* If the program always has a new child, the recorder does not try to detach for ever. */
TEST_WITH(children_without_end, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	playing = p;
	attach_to(p, 1);
	add_processes(p, 1);
	p->opts.for_ns = 1;
	play.while_leaving = fork_again;
	assert_int_equal(run(p, &err), 0);
	assert_true(p->run.end.has_stayed);
	assert_int_equal(nr_forked, 100);
	assert_string_equal(said(p), "WARN: the program forks faster than its processes are left: "
				     "the probe stays in some of them, and does nothing there; "
				     "'utrail record -p PID' takes it out\n");
}

/*
 * Other reasons to end: all processes have ended, the recording is full, or a trigger has ended it.
 */
TEST_WITH(other_ends, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	attach_to(p, 1);
	add_processes(p, 2);
	p->processes[0].pidfd = p->processes[1].pidfd = -1;
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(done, "begin 4200101");
	add_processes(p, 1);
	atomic_store(&p->t->rec.store->is_full, true);
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(done, "begin 4200101, end 4200101");
	atomic_store(&p->t->rec.store->is_full, false);
	atomic_store(&p->t->rec.control->finished, 1);
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(done, "begin 4200101, end 4200101");
}

static int signal_to_us;

static int send_signal(const struct attach_how *how)
{
	raise(signal_to_us);
	how->wait(how->wait_arg);
	return 0;
}

/* A signal asks for the end: the next process is not attached to. */
TEST_WITH(asked_for, setup, teardown)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGQUIT };
	struct place *p = *state;
	struct uft_err err = { 0 };

	attach_to(p, 2);
	add_processes(p, 1);
	play.begin = send_signal;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		signal_to_us = signals[i];
		assert_int_equal(run(p, &err), 0);
		assert_string_equal(done, "begin 4200101, end 4200101");
	}
	/* SIGCHLD comes from a child of utrail, and is no request to end. */
	signal_to_us = SIGCHLD;
	p->opts.for_ns = 1;
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(done, "begin 4200101, begin 4200102, end 4200101");
}

static int fail_to_begin(const struct attach_how *how)
{
	return -EBUSY;
}

/* If one process cannot be attached to, the recorder detaches from the others at once. */
TEST_WITH(one_does_not_begin, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	attach_to(p, 2);
	add_processes(p, 1);
	play.begin = fail_to_begin;
	assert_int_equal(run(p, &err), -EBUSY);
	assert_string_equal(err.text, "it did not begin");
	assert_string_equal(done, "begin 4200101, end 4200101");
}

/* If detaching from a process fails, a message says so, unless the process ends or has ended. */
TEST_WITH(one_is_not_left, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	attach_to(p, 1);
	add_processes(p, 1);
	p->opts.for_ns = 1;
	play.end_ret = -ESRCH;
	assert_int_equal(run(p, &err), 0);
	play.end_ret = -EBUSY;
	play.has_ended = true;
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(said(p), "");
	play.has_ended = false;
	assert_int_equal(run(p, &err), 0);
	assert_string_equal(said(p), "WARN: it did not end\n");
}

static unsigned count_fds(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

TEST_WITH(nothing_stays_open, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };
	unsigned before = count_fds();

	attach_to(p, 1);
	add_processes(p, 1);
	p->opts.for_ns = 1;
	assert_int_equal(run(p, &err), 0);
	assert_int_equal(count_fds(), before);
}

/* --- functions to patch --- */

/* The files that the process executes are read before it is attached to. */
TEST_WITH(files_are_looked_at, setup, teardown)
{
	struct place *p = *state;
	char path[PATH_MAX] = "";
	const struct known_module *known;
	size_t nr = 0;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	p->run.settings = p->t->settings;
	assert_int_equal(patch_rules_parse("main", MATCH_GLOB, &p->t->patches, NULL), 0);
	attach_to(p, 1);
	p->run.pids[0] = getpid();
	attached_find_patches(&p->run, &p->t->rec);
	for (known = p->t->rec.planner.modules.first; known; known = known->next) {
		bool is_program = strcmp(known->path, path) == 0;

		nr += is_program;
		/* The file counts as the program or as a library, not as both. */
		assert_int_equal(known->patches[true].is_known, is_program);
		assert_false(is_program && known->patches[false].is_known);
	}
	assert_int_equal(nr, 1);
	patch_rules_deinit(&p->t->patches);
	/* A process that has ended has no files. */
	p->run.pids[0] = INT_MAX;
	attached_find_patches(&p->run, &p->t->rec);
}
