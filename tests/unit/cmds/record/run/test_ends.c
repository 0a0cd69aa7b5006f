/*
 * The ends of attached processes. They are children of this test, so the test decides when they
 * are waited for. The kernel's answer about an end is simulated.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/run/ends.h"
#include "utils/base/compiler.h"

/* struct pidfd_info of linux/pidfd.h. */
struct kernel_end {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};

#define EXIT_IS_KNOWN (1ULL << 3)

/*
 * The simulated kernel.
 *
 * @answers: it knows the request
 * @mask: the parts of the answer that are valid
 */
static struct {
	bool answers;
	uint64_t mask;
	int status;
	int nr_asked;
} kernel;

int __wrap_ioctl(int fd, unsigned long request, void *arg);

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	struct kernel_end *end = arg;

	_Static_assert(sizeof(*end) == 64, "the size in the kernel's first version");
	assert_int_equal(request, 3UL << 30 | 64UL << 16 | 0xff << 8 | 11);
	assert_true(end->mask & EXIT_IS_KNOWN);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	kernel.nr_asked++;
	if (!kernel.answers) {
		errno = ENOTTY;
		return -1;
	}
	end->mask = kernel.mask;
	end->exit_code = kernel.status;
	return 0;
}

struct place {
	struct loop loop;
	struct end end;
	struct msg msg;
	char *text;
	size_t text_len;
	pid_t pid;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_int_equal(loop_open(&p->loop, NULL), 0);
	p->msg.file = open_memstream(&p->text, &p->text_len);
	assert_non_null(p->msg.file);
	memset(&kernel, 0, sizeof(kernel));
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	loop_close(&p->loop);
	fclose(p->msg.file);
	free(p->text);
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	free(p);
	return 0;
}

/* Start a process with the name @name, and watch it. */
static void begin(struct place *p, const char *name)
{
	const struct rlimit no_core = { 0 };
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	p->pid = fork();
	if (p->pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGTERM, SIG_DFL);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(p->pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	ends_watch(&p->end, p->pid, &p->loop);
	assert_true(p->end.pidfd >= 0);
	assert_int_equal(p->end.pid, p->pid);
}

/* End the process, and wait for its end. With @is_reaped, /proc does not know it any more. */
static void stop(struct place *p, int sig, bool is_reaped)
{
	siginfo_t info;

	assert_int_equal(kill(p->pid, sig), 0);
	assert_int_equal(waitid(P_PID, p->pid, &info, WEXITED | (is_reaped ? 0 : WNOWAIT)), 0);
	if (is_reaped)
		p->pid = 0;
}

static void check_told(struct place *p, int status, const char *text)
{
	char expected[512];
	pid_t pid = p->end.pid;

	assert_int_equal(ends_tell(&p->end, &p->msg), status);
	assert_int_equal(p->end.pidfd, -1);
	fflush(p->msg.file);
	snprintf(expected, sizeof(expected), text, pid);
	assert_string_equal(p->text, expected);
	assert_int_equal(loop_serve(&p->loop, 0), 0);
}

#define BY_TERM                                                                                  \
	"WARN: process %d was ended by signal 15 (Terminated) while it was recorded; recording " \
	"may have been the cause: try without it, and with -e or fewer functions (-P)\n"
#define UNKNOWN                                                                               \
	"WARN: process %d has ended while it was recorded; how is not known: its parent has " \
	"waited for it, and this kernel tells no other process\n"

TEST_WITH(one_that_runs, setup, teardown)
{
	struct place *p = *state;

	/* The program's name looks like the end of the status of an ended process. */
	begin(p, "x) Z 1 15");
	check_told(p, -1, "");
	assert_false(p->end.has_ended);
	/* The program's end is not watched any more. */
	stop(p, SIGTERM, false);
	assert_int_equal(loop_serve(&p->loop, 0), 0);
}

TEST_WITH(a_signal_is_seen_in_proc, setup, teardown)
{
	struct place *p = *state;

	begin(p, "x) R 1 9");
	stop(p, SIGTERM, false);
	assert_int_equal(loop_serve(&p->loop, -1), 1);
	assert_true(p->end.has_ended && p->end.is_known);
	assert_int_equal(p->end.status, SIGTERM);
	assert_int_equal(p->end.pidfd, -1);
	check_told(p, SIGTERM, BY_TERM);
	assert_int_equal(kernel.nr_asked, 0);
}

TEST_WITH(an_end_is_seen_without_the_loop, setup, teardown)
{
	struct place *p = *state;

	begin(p, "x");
	stop(p, SIGTERM, false);
	check_told(p, SIGTERM, BY_TERM);
}

/* The process exits with the number of SIGTERM. This is not reported as a signal. */
TEST_WITH(an_exit_is_not_reported, setup, teardown)
{
	struct place *p = *state;
	siginfo_t info;

	p->pid = fork();
	if (p->pid == 0)
		_exit(15);
	assert_true(p->pid > 0);
	assert_int_equal(waitid(P_PID, p->pid, &info, WEXITED | WNOWAIT), 0);
	ends_watch(&p->end, p->pid, &p->loop);
	check_told(p, 0, "");
	assert_true(p->end.is_known);
	assert_int_equal(p->end.status, 15 << 8);
}

TEST_WITH(after_a_wait_the_kernel_is_asked, setup, teardown)
{
	struct place *p = *state;

	begin(p, "x");
	stop(p, SIGTERM, true);
	kernel.answers = true;
	kernel.mask = EXIT_IS_KNOWN;
	kernel.status = SIGTERM;
	check_told(p, SIGTERM, BY_TERM);
	assert_int_equal(kernel.nr_asked, 1);
}

TEST_WITH(after_a_wait_an_older_kernel_tells_nothing, setup, teardown)
{
	struct place *p = *state;

	begin(p, "x");
	stop(p, SIGTERM, true);
	kernel.mask = EXIT_IS_KNOWN;
	check_told(p, -1, UNKNOWN);
	assert_true(p->end.has_ended);
}

TEST_WITH(an_answer_without_the_status_tells_nothing, setup, teardown)
{
	struct place *p = *state;

	begin(p, "x");
	stop(p, SIGTERM, true);
	kernel.answers = true;
	kernel.mask = ~EXIT_IS_KNOWN;
	check_told(p, -1, UNKNOWN);
}

TEST_WITH(one_that_is_not_there, setup, teardown)
{
	struct place *p = *state;

	/* The kernel gives no number as large as this one. */
	ends_watch(&p->end, 0x7fffffff, &p->loop);
	assert_int_equal(p->end.pidfd, -1);
	check_told(p, -1, "");
}

TEST_WITH(one_that_cannot_be_watched, setup, teardown)
{
	struct place *p = *state;
	struct loop none = { .epoll_fd = -1 };
	int next = dup(p->loop.epoll_fd);

	close(next);
	ends_watch(&p->end, getpid(), &none);
	assert_int_equal(p->end.pidfd, -1);

	int same = dup(p->loop.epoll_fd);

	assert_int_equal(same, next);
	close(same);
	check_told(p, -1, "");
}
