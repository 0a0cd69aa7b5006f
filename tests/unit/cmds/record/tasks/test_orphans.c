/* Unit tests of cmds/record/tasks/orphans.c, with real processes and shared memory. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/run/recorder.h"

/*
 * @page: memory shared by recorder and program, with the notes of @parent, which has ended
 */
struct place {
	struct recorder rec;
	struct process parent;
	struct arena *page;
	pid_t traced, other; /* processes: only the first one has mapped the page */
};

static pid_t fork_waiting(struct arena *page)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);

	pid_t pid = fork();

	if (pid == 0) {
		if (page)
			munmap(page, sizeof(*page));
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	int fd = memfd_create("test-orphans", MFD_CLOEXEC);

	assert_non_null(p);
	assert_int_equal(ftruncate(fd, sizeof(*p->page)), 0);

	struct stat memory;

	assert_int_equal(fstat(fd, &memory), 0);
	p->parent.memory = (struct memory_id){ memory.st_dev, memory.st_ino };
	p->page = mmap(NULL, sizeof(*p->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p->page != MAP_FAILED);
	p->parent.pidfd = -1;
	p->parent.notes = p->page;
	p->rec.processes.notes.first = &p->parent;
	close(fd);
	p->rec.processes.loop = &p->rec.loop;
	p->rec.processes.alive = &p->rec.alive;
	assert_int_equal(loop_open(&p->rec.loop, NULL), 0);
	p->traced = fork_waiting(NULL);
	p->other = fork_waiting(p->page);
	*state = p;
	return 0;
}

static void end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	orphans_forget(&p->rec.processes);
	assert_int_equal(p->rec.alive.nr_followed, 0);
	end(&p->traced);
	end(&p->other);
	loop_close(&p->rec.loop);
	munmap(p->page, sizeof(*p->page));
	free(p);
	return 0;
}

static void note(struct place *p, pid_t pid)
{
	uint32_t n = atomic_fetch_add(&p->page->forks.nr, 1);

	atomic_store(&p->page->forks.pids[n % ARENA_FORKS], pid);
}

static void look(struct place *p)
{
	orphans_look(&p->rec.processes);
}

TEST_WITH(test_child_is_waited_for, setup, teardown)
{
	struct place *p = *state;

	note(p, p->traced);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
	assert_int_equal(loop_serve(&p->rec.loop, 0), 0);
	end(&p->traced);
	assert_int_equal(loop_serve(&p->rec.loop, -1), 1);
	assert_int_equal(p->rec.alive.nr_followed, 0);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 0);
}

/* The child notes its number in its own namespace, by which the recorder cannot find it. */
TEST_WITH(test_in_a_pid_namespace, setup, teardown)
{
	struct place *p = *state;
	pid_t pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL,
			    0L);

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		note(p, -getpid());
		for (;;)
			pause();
	}
	if (pid < 0)
		skip_because("no namespaces: %s", strerror(errno));
	while (atomic_load(&p->page->forks.nr) == 0 || !atomic_load(&p->page->forks.pids[0]))
		sched_yield();
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
	end(&pid);
	assert_int_equal(loop_serve(&p->rec.loop, -1), 1);
	assert_int_equal(p->rec.alive.nr_followed, 0);
}

/*
 * The program may note any number: that of a stranger, of the recorder or of init, or an invalid
 * one.
 */
TEST_WITH(test_who_has_not_our_memory, setup, teardown)
{
	struct place *p = *state;
	const pid_t pids[] = { p->other, getpid(), 1, 0, -1, INT_MIN, INT_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		note(p, pids[i]);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 0);
}

TEST_WITH(test_named_often, setup, teardown)
{
	struct place *p = *state;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2 * ARENA_FORKS; i++)
			note(p, p->traced);
		look(p);
		assert_int_equal(p->rec.alive.nr_followed, 1);
	}
}

TEST_WITH(test_who_has_ended, setup, teardown)
{
	struct place *p = *state;
	pid_t pid = p->traced;

	kill(pid, SIGKILL);
	note(p, pid);
	/* The child has ended, but its parent has not waited for it. */
	siginfo_t info;

	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 0);
}

TEST_WITH(test_more_than_there_is_room_for, setup, teardown)
{
	struct place *p = *state;

	atomic_store(&p->page->forks.nr, UINT32_MAX - 1);
	atomic_store(&p->page->forks.pids[ARENA_FORKS - 1], p->traced);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
}

/* The recorder waits for forks that never report themselves, but not for ever. */
TEST_WITH(test_forks_that_do_not_come, setup, teardown)
{
	struct place *p = *state;

	atomic_store(&p->page->forks.begun, UINT32_MAX);
	note(p, p->traced);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
}

/* The child has the page of another process than the one that has noted it. */
TEST_WITH(test_another_parent, setup, teardown)
{
	struct place *p = *state;
	struct arena *other_page = mmap(NULL, sizeof(*other_page), PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct process other = { .notes = other_page, .pidfd = -1, .memory = { 1, 2 } };

	assert_true(other_page != MAP_FAILED);
	for (int is_first = 0; is_first < 2; is_first++) {
		p->parent.next_noting = is_first ? NULL : &other;
		other.next_noting = is_first ? &p->parent : NULL;
		p->rec.processes.notes.first = is_first ? &other : &p->parent;
		other_page->forks.nr = 1;
		other_page->forks.pids[0] = p->traced;
		look(p);
		assert_int_equal(p->rec.alive.nr_followed, 0);
	}
	/* Now the process is noted in the page of its own parent, too. */
	note(p, p->traced);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
	/* Memory on the same device, or with the same number, is not the same memory. */
	orphans_forget(&p->rec.processes);
	assert_int_equal(p->rec.alive.nr_followed, 0);
	p->parent.memory.ino++;
	look(p);
	p->parent.memory.ino--;
	p->parent.memory.dev++;
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 0);
	p->parent.memory.dev--;
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
	p->rec.processes.notes.first = &p->parent;
	munmap(other_page, sizeof(*other_page));
}

/* A child that has reported itself is followed by its own descriptor, as long as it has one. */
TEST_WITH(test_who_has_reported_itself, setup, teardown)
{
	struct place *p = *state;
	struct process known = { .os_pid = p->traced, .pidfd = 0 };

	assert_int_equal(intmap_put(&p->rec.processes.by_os_pid, p->traced, &known), 0);
	note(p, p->traced);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 0);
	known.pidfd = -1;
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
	intmap_deinit(&p->rec.processes.by_os_pid);
}

/* Several children end in another order than that in which they were found. */
TEST_WITH(test_several_children, setup, teardown)
{
	struct place *p = *state;
	pid_t children[3];

	for (int i = 0; i < 3; i++) {
		children[i] = fork_waiting(NULL);
		note(p, children[i]);
	}
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 3);
	for (int i = 0; i < 3; i++) {
		const int order[] = { 1, 2, 0 };

		end(&children[order[i]]);
		assert_int_equal(loop_serve(&p->rec.loop, -1), 1);
		assert_int_equal(p->rec.alive.nr_followed, 2 - i);
		look(p);
		assert_int_equal(p->rec.alive.nr_followed, 2 - i);
	}
	assert_null(p->rec.processes.orphans.first);
}

/*
 * The parent is in another pid namespace, and the numbers that it notes are of that namespace. The
 * process with such a number in the recorder's namespace is not a child of this parent.
 */
TEST_WITH(test_numbers_of_another_namespace, setup, teardown)
{
	struct place *p = *state;

	p->parent.pid = 5;
	p->parent.os_pid = 6;
	note(p, p->traced);
	note(p, 0);
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 0);
	p->parent.pid = 6;
	look(p);
	assert_int_equal(p->rec.alive.nr_followed, 1);
}

/* Without a loop, the child cannot be watched. */
TEST_WITH(test_a_child_that_cannot_be_watched, setup, teardown)
{
	struct place *p = *state;
	struct loop none = { .epoll_fd = -1 };
	int next = dup(p->rec.loop.epoll_fd);

	close(next);
	p->rec.processes.loop = &none;
	note(p, p->traced);
	look(p);
	p->rec.processes.loop = &p->rec.loop;
	assert_int_equal(p->rec.alive.nr_followed, 0);
	assert_null(p->rec.processes.orphans.first);

	int same = dup(p->rec.loop.epoll_fd);

	assert_int_equal(same, next);
	close(same);
}
