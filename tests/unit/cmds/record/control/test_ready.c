/*
 * Unit tests of cmds/record/control/ready.c: a process reports itself, and loads modules later.
 */
#include "tests/unit/lib/record/talking.h"

#include <sys/mman.h>

#include "cmds/record/control/ready.h"
#include "cmds/record/control/talk.h"
#include "cmds/record/plan/modules.h"
#include "utils/format/probe/plan.h"

/*
 * An answer with its descriptors.
 *
 * @plan_bytes, @settings: size and settings of the plan, if the answer has one
 */
struct answered {
	int type;
	size_t nr_fds;
	size_t plan_bytes;
	struct plan settings;
	struct control_welcome welcome;
};

static void open_plan(struct answered *a, int fd)
{
	struct plan_view view;
	struct stat st;
	void *image;

	assert_int_equal(fstat(fd, &st), 0);
	a->plan_bytes = st.st_size;
	image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(image, MAP_FAILED);
	assert_int_equal(plan_open(&view, image, st.st_size, NULL), 0);
	if (view.lists[PLAN_SETTINGS].nr)
		plan_copy(&view, PLAN_SETTINGS, &a->settings);
	munmap(image, st.st_size);
}

static struct answered receive(int fd)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(CONTROL_FD_MAX * sizeof(int))];
	struct iovec iov = { &last, sizeof(last) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	ssize_t len = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct answered a = { .type = len > 0 ? answer_type(&last, len) : 0 };
	struct cmsghdr *c = len > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	int fds[CONTROL_FD_MAX];

	if (c) {
		a.nr_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), a.nr_fds * sizeof(int));
	}
	if (a.type == CONTROL_WELCOME)
		a.welcome = last.welcome;
	/* In WELCOME the plan is the last descriptor, in PLAN the only one. */
	if (a.nr_fds == 3 || (a.nr_fds == 1 && a.type == CONTROL_PLAN))
		open_plan(&a, fds[a.nr_fds - 1]);
	for (size_t i = 0; i < a.nr_fds; i++)
		close(fds[i]);
	return a;
}

static const char *self(void)
{
	static char path[PATH_MAX];

	assert_non_null(realpath("/proc/self/exe", path));
	return path;
}

static void say_a_module(int fd, uint64_t start, bool has_text, const char *path)
{
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet = { .m = { .start = start, .end = start + 4096, .has_text = has_text } };

	packet.m.time_ns = 1500000000;
	packet.m.tid = getpid();
	strcpy(packet.m.path, path);
	send_message(fd, CONTROL_MODULE, &packet, sizeof(packet.m) + strlen(path) + 1);
}

/*
 * Holds a whole conversation of kind @kind, with two modules: one at @start, and one without code a
 * page later. @token: NULL for none
 */
static struct answered report(struct recorder *rec, enum control_hello_kind kind,
			      const uint8_t *token, uint64_t start, const char *path)
{
	struct control_hello hello = make_hello(rec, kind);
	int fd = connect_to_recorder(rec);
	struct answered a;

	if (token)
		memcpy(hello.token, token, sizeof(hello.token));
	send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
	if (path) {
		say_a_module(fd, start, true, path);
		say_a_module(fd, start + 4096, false, "/lib/data.so");
	}
	send_ready(fd);
	serve_all(rec);
	a = receive(fd);
	close(fd);
	serve_all(rec);
	return a;
}

TEST_WITH(a_fresh_image_gets_a_session_and_a_plan, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	uint64_t before = settings_now_ns(&t->settings);
	struct answered a = report(rec, CONTROL_EXEC, NULL, 4096, self());
	const struct process *proc = rec->processes.first;
	const struct image *s = proc->session;
	char name[64];
	char *map;

	assert_int_equal(a.type, CONTROL_WELCOME);
	assert_int_equal(a.nr_fds, 3);
	assert_int_equal(a.settings.flags & PLAN_STACKS, 0);
	assert_memory_equal(a.welcome.token, proc->token, sizeof(proc->token));
	assert_ptr_equal(s, rec->sessions.first);
	assert_int_equal(s->pid, getpid());
	assert_string_equal(s->exe, self());
	assert_true(s->time_ns >= before && s->time_ns <= settings_now_ns(&t->settings));
	assert_int_equal(s->map.nr, 1);
	assert_string_equal(s->map.entries[0].path, self());
	tasks_announce(&rec->tasks, rec->processes.first, getpid(), 0);
	assert_int_equal(s->map.nr, 1);
	assert_string_equal(s->stack.path, "[stack]");
	snprintf(name, sizeof(name), "sid-%s.map", s->sid);
	map = test_recorder_file(t, name);
	assert_non_null(strstr(map, self()));
	assert_non_null(strstr(map, "[stack]"));
	free(map);
	assert_int_equal(proc->nr_modules, 2);
	assert_int_equal(proc->planned[PLAN_SETTINGS], 1);
	assert_false(proc->is_fork);
	assert_null(proc->parent);
	assert_int_equal(proc->peer.uid, getuid());
	assert_true(proc->pidfd >= 0);
	assert_int_equal(proc->nr_kept_modules, 0);
	assert_int_equal(rec->channel.save_error.code, 0);
}

TEST_WITH(an_image_without_modules_is_nameless, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct answered a = report(rec, CONTROL_EXEC, NULL, 0, NULL);

	assert_int_equal(a.type, CONTROL_WELCOME);
	assert_int_equal(a.nr_fds, 3);
	assert_string_equal(rec->processes.first->session->exe, "");
	assert_int_equal(rec->processes.first->nr_modules, 0);
}

TEST_WITH(a_program_that_switches_stacks_is_told_so, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct known_module *known = known_module_get(&rec->planner.modules, self());
	struct answered a;

	assert_non_null(known);
	known->switches_stacks = true;
	a = report(rec, CONTROL_EXEC, NULL, 4096, self());
	assert_int_equal(a.settings.flags & PLAN_STACKS, PLAN_STACKS);
	/* Only the process' own plan has that flag. */
	assert_int_equal(rec->channel.plan.flags & PLAN_STACKS, 0);
	a = report(rec, CONTROL_EXEC, NULL, 4096, "/no/such.so");
	assert_int_equal(a.settings.flags & PLAN_STACKS, 0);
}

/*
 * An image without hooks gets a plan for later: its probe makes the first thread's state with the
 * first call.
 */
TEST_WITH(an_image_without_hooks_begins_late, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct known_module *known = known_module_get(&rec->planner.modules, self());
	struct answered a = report(rec, CONTROL_EXEC, NULL, 4096, self());

	assert_non_null(known);
	assert_int_equal(a.settings.flags & PLAN_BEGINS_LATE, PLAN_BEGINS_LATE);
	known->has_functions = true;
	a = report(rec, CONTROL_EXEC, NULL, 4096, self());
	assert_int_equal(a.settings.flags & PLAN_BEGINS_LATE, 0);
}

/* For -W: the name of a variable is looked up in the program, which is the first module. */
extern int variable_of_the_test;
int variable_of_the_test = 1;

TEST_WITH(variables_that_are_watched_are_found_in_the_program, test_recorder_setup,
	  test_recorder_teardown)
{
	struct test_recorder *t = *state;
	char *names[] = { "variable_of_the_test" };

	report(&t->rec, CONTROL_EXEC, NULL, 4096, self());
	assert_int_equal(t->rec.processes.first->planned[PLAN_WATCHES], 0);
	t->watch.vars = names;
	t->watch.nr_vars = 1;
	report(&t->rec, CONTROL_EXEC, NULL, 4096, self());
	assert_int_equal(t->rec.processes.first->planned[PLAN_WATCHES], 1);
	t->watch.nr_vars = 0;
}

TEST_WITH(modules_are_kept_where_plans_may_change, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct answered a;
	struct process *proc;

	t->settings.is_steerable = true;
	rec->steering.generation = 5;
	a = report(rec, CONTROL_EXEC, NULL, 4096, self());
	proc = rec->processes.first;
	assert_int_equal(proc->nr_kept_modules, 2);
	assert_string_equal(proc->modules[0]->path, self());
	assert_string_equal(proc->modules[1]->path, "/lib/data.so");
	assert_int_equal(proc->plan_generation, 5);
	/* Modules that are loaded later come after the first ones. */
	a = report(rec, CONTROL_DLOPEN, a.welcome.token, 65536, "/no/such.so");
	assert_int_equal(a.type, CONTROL_PLAN);
	assert_int_equal(proc->nr_kept_modules, 4);
	assert_string_equal(proc->modules[2]->path, "/no/such.so");
}

TEST_WITH(late_modules_are_logged, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct answered a = report(rec, CONTROL_EXEC, NULL, 4096, self());
	struct process *proc = rec->processes.first;
	struct image *s = proc->session;
	char expected[256];
	char *log;

	a = report(rec, CONTROL_DLOPEN, a.welcome.token, 65536, "/no/such.so");
	assert_int_equal(a.type, CONTROL_PLAN);
	assert_ptr_equal(rec->processes.first, proc);
	assert_int_equal(proc->nr_modules, 4);
	snprintf(expected, sizeof(expected),
		 "DLOP timestamp=1.500000000 tid=%d sid=%s base=10000 libname=\"/no/such.so\"\n",
		 getpid(), s->sid);
	log = test_recorder_file(t, "task.txt");
	assert_non_null(strstr(log, expected));
	/* task.txt does not list a file without code. */
	assert_null(strstr(log, "/lib/data.so"));
	free(log);
}

TEST_WITH(the_image_that_was_replaced_is_over, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct process *former;

	report(rec, CONTROL_EXEC, NULL, 4096, self());
	former = rec->processes.first;
	assert_non_null(former->arena);
	report(rec, CONTROL_EXEC, NULL, 4096, self());
	assert_ptr_not_equal(rec->processes.first, former);
	assert_null(former->arena);
	assert_ptr_equal(process_find_os(&rec->processes, getpid()), rec->processes.first);
	assert_string_not_equal(former->session->sid, rec->processes.first->session->sid);
}

static int refuse(struct store *store, const char *name, const struct iovec *parts, int nr,
		  int *stream, struct uft_err *err)
{
	static unsigned nr_refused;

	return err_set(err, nr_refused++ ? -EIO : -ENOSPC, "no room for a file");
}

/*
 * If a file cannot be written, the process is recorded all the same. The first error is reported at
 * the end.
 */
TEST_WITH(files_that_cannot_be_written_are_noted, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	const struct store_ops *before = rec->store->ops;
	struct store_ops ops = *before;

	known_module_get(&rec->planner.modules, self())->has_functions = true;
	ops.publish = refuse;
	rec->store->ops = &ops;
	assert_int_equal(report(rec, CONTROL_EXEC, NULL, 4096, self()).type, CONTROL_WELCOME);
	assert_int_equal(report(rec, CONTROL_EXEC, NULL, 4096, self()).type, CONTROL_WELCOME);
	rec->store->ops = before;
	assert_int_equal(rec->channel.save_error.code, -ENOSPC);
	assert_string_equal(rec->channel.save_error.text, "no room for a file");
}

/* --- limits --- */

struct limit {
	size_t nr_modules;
	size_t module_bytes;
	size_t all_bytes;
	bool is_taken;
};

TEST(a_module_more_than_there_may_be_is_left_out)
{
	const size_t len = sizeof(struct control_module) + 8;
	const size_t one = 16UL << 20;
	const size_t all = 64UL << 20;
	const struct limit limits[] = {
		{ 65535, 0, 0, true },	   { 65536, 0, 0, false },
		{ 0, one - len, 0, true }, { 0, one - len + 1, 0, false },
		{ 0, 0, all - len, true }, { 0, 0, all - len + 1, false },
	};
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + 8];
	} packet = { .m.start = 77 };

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *limit = &limits[i];
		struct control ctl = { .talks.module_bytes = limit->all_bytes };
		struct conversation talk = {
			.served.owner = &ctl,
			.nr_modules = limit->nr_modules,
			.module_bytes = limit->module_bytes,
		};

		/*
		 * The process has as many modules as allowed, and the array has room for one more.
		 */
		talk.cap_modules = limit->nr_modules + 1;
		talk.modules = calloc(talk.cap_modules, sizeof(*talk.modules));
		assert_non_null(talk.modules);
		assert_int_equal(ready_take_module(&talk, &packet, len), TALK_REPORTING);
		assert_int_equal(ctl.talks.nr_modules_left_out, !limit->is_taken);
		assert_int_equal(talk.nr_modules, limit->nr_modules + limit->is_taken);
		assert_int_equal(talk.module_bytes,
				 limit->module_bytes + (limit->is_taken ? len : 0));
		assert_int_equal(ctl.talks.module_bytes,
				 limit->all_bytes + (limit->is_taken ? len : 0));
		if (limit->is_taken) {
			assert_ptr_not_equal(talk.modules[limit->nr_modules], &packet);
			assert_int_equal(talk.modules[limit->nr_modules]->start, 77);
			free(talk.modules[limit->nr_modules]);
		}
		free(talk.modules);
	}
}

/* --- patience --- */

/* A waiting process is told that work goes on, but not at every step. */
TEST(who_waits_long_is_told_now_and_then)
{
	struct control ctl = { .working_ms = 1000 };
	struct conversation talk = { .seq = 9 };
	struct control_working working;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	talk.fd = fds[0];
	/* No message is sent when no request is being served. */
	control_tick(&ctl);
	assert_int_equal(ctl.told_ms, 0);
	ctl.served = &talk;
	control_tick(&ctl);
	assert_true(ctl.told_ms > 0);
	assert_int_equal(recv(fds[1], &working, sizeof(working), MSG_DONTWAIT), sizeof(working));
	assert_int_equal(working.h.type, CONTROL_WORKING);
	assert_int_equal(working.h.flags, CONTROL_OPTIONAL);
	assert_int_equal(working.h.seq, 9);
	ctl.working_ms = 3600 * 1000;
	control_tick(&ctl);
	assert_int_equal(recv(fds[1], &working, sizeof(working), MSG_DONTWAIT), -1);
	ctl.working_ms = 0;
	control_tick(&ctl);
	assert_int_equal(recv(fds[1], &working, sizeof(working), MSG_DONTWAIT), sizeof(working));
	close(fds[0]);
	close(fds[1]);
}
