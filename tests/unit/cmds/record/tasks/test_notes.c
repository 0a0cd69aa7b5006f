/* The first page of an arena: its owner, its lifetime, and its notes about forks. */
#include "tests/unit/lib/record/recorder.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cmds/terminal/msg.h"

static struct process *begin(struct recorder *rec, pid_t pid)
{
	const struct control_hello hello = { .pid = pid, .ppid = 1, .kind = CONTROL_EXEC };
	int arena_fd = -1;
	struct process *proc = process_create(&rec->processes, &hello, pid, &arena_fd);

	assert_non_null(proc);
	close(arena_fd);
	proc->session = image_create(&rec->sessions, pid, "/bin/x");
	process_publish(&rec->processes, proc);
	return proc;
}

static pid_t begin_child(int end[2])
{
	pid_t pid;

	assert_int_equal(pipe(end), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		close(end[1]);
		_exit(read(end[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(end[0]);
	return pid;
}

static void note(struct process *proc, pid_t child)
{
	struct arena_forks *forks = &proc->notes->forks;

	forks->begun++;
	forks->pids[forks->nr++] = child;
	forks->noted++;
}

TEST_WITH(a_page_stays_while_a_child_may_write, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct process *proc = begin(rec, getpid());
	int end[2];
	pid_t child = begin_child(end);

	note(proc, child);
	assert_false(notes_has_newborns(&rec->processes));
	proc->notes->forks.begun++;
	assert_true(notes_has_newborns(&rec->processes));
	proc->notes->forks.begun--;
	process_retire(&rec->processes, proc);
	assert_null(proc->arena);
	assert_non_null(proc->notes);

	/* The recorder looks through notes only when there are many. */
	for (int i = 0; i < 600; i++)
		process_retire(&rec->processes, begin(rec, getpid()));
	assert_non_null(proc->notes);
	assert_int_equal(proc->notes->forks.pids[0], child);
	close(end[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	for (int i = 0; i < 1200; i++)
		process_retire(&rec->processes, begin(rec, getpid()));
	assert_null(proc->notes);
	assert_true(rec->processes.notes.nr_ended <= 257);
}

/* Make so many notes that the recorder looks through them. */
static void have_them_looked_at(struct recorder *rec)
{
	for (int i = 0; i < 1200; i++)
		process_retire(&rec->processes, begin(rec, getpid()));
}

/* Between the notes of a fork's begin and end it is unknown whether there is a child. */
TEST_WITH(a_fork_that_has_begun_keeps_the_page, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct process *open = begin(rec, getpid());
	struct process *over = begin(rec, getpid());

	open->notes->forks.begun = over->notes->forks.begun = 1;
	over->notes->forks.noted = 1;
	process_retire(&rec->processes, open);
	process_retire(&rec->processes, over);
	have_them_looked_at(rec);
	assert_non_null(open->notes);
	assert_null(over->notes);
	open->notes->forks.noted = 1;
	have_them_looked_at(rec);
	assert_null(open->notes);
}

/*
 * A child that has reported itself needs no page, and nor does an impossible number. A child in
 * another namespace has another number than the one that it notes.
 */
TEST_WITH(a_child_that_is_known_keeps_no_page, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct process *parent = begin(rec, getpid());
	struct process *none = begin(rec, getpid());
	struct process *elsewhere = begin(rec, getpid());
	int end[2];
	pid_t child = begin_child(end);
	struct process *known;

	note(parent, child);
	note(none, 0);
	elsewhere->pid = 1;
	note(elsewhere, 0x7fffffff);
	process_retire(&rec->processes, parent);
	process_retire(&rec->processes, none);
	process_retire(&rec->processes, elsewhere);
	have_them_looked_at(rec);
	assert_non_null(parent->notes);
	assert_null(none->notes);
	assert_non_null(elsewhere->notes);
	known = begin(rec, child);
	known->pidfd = syscall(SYS_pidfd_open, child, 0);
	have_them_looked_at(rec);
	assert_null(parent->notes);
	assert_non_null(elsewhere->notes);
	close(end[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* The number of kept pages is limited, whatever they contain. */
TEST_WITH(pages_have_a_limit, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;

	for (int i = 0; i < 9000; i++) {
		struct process *proc = begin(rec, getpid());

		note(proc, getppid());
		proc->notes->forks.nr = UINT32_MAX;
		proc->notes->forks.begun = UINT32_MAX;
		process_retire(&rec->processes, proc);
		assert_true(rec->processes.notes.nr_ended <= 4097);
	}
}

/* Each number has its own sum. A process counts as sealed if it has any seals. */
TEST_WITH(what_failed_is_summed_up, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	const struct notes *sums = &rec->processes.notes;

	for (uint32_t i = 0; i < 3; i++) {
		struct process *proc = begin(rec, getpid());
		struct arena *page = proc->notes;

		page->reads_failed = 1 << i;
		page->points_failed = UINT32_MAX;
		page->threads_caged = UINT32_MAX - i;
		page->threads_shared = 100 + i;
		page->seals = 5 * i;
		page->threads_sealed = 200 + i;
		page->talks_sealed = 300 + i;
		page->children_cut_off = 400 + i;
		page->events_undeclared = 500 + i;
		page->events_nameless = 600 + i;
		page->events_cut = 700 + i;
		page->threads_without_payloads = 800 + i;
		process_retire(&rec->processes, proc);
	}
	/* A process that still runs is left out. */
	begin(rec, getpid())->notes->events_cut = 10000;
	notes_close(&rec->processes);
	assert_null(sums->first);
	assert_int_equal(sums->nr_ended, 0);
	assert_int_equal(sums->reads_failed, 7);
	assert_int_equal(sums->points_failed, 3ULL * UINT32_MAX);
	assert_int_equal(sums->threads_caged, 3ULL * UINT32_MAX - 3);
	assert_int_equal(sums->threads_shared, 303);
	assert_int_equal(sums->sealed, 2);
	assert_int_equal(sums->threads_sealed, 603);
	assert_int_equal(sums->talks_sealed, 903);
	assert_int_equal(sums->children_cut_off, 1203);
	assert_int_equal(sums->events_undeclared, 1503);
	assert_int_equal(sums->events_nameless, 1803);
	assert_int_equal(sums->events_cut, 2103);
	assert_int_equal(sums->threads_without_payloads, 2403);
}

static void check_warnings(const struct notes *notes, const char *expected)
{
	struct msg msg = { 0 };
	char *text = NULL;
	size_t len;

	msg.file = open_memstream(&text, &len);
	assert_non_null(msg.file);
	notes_warn_about_events(notes, &msg);
	fclose(msg.file);
	assert_string_equal(text, expected);
	free(text);
}

#define TOO_MANY                                                                               \
	"declared were lost: too many threads at a time, or too little address space (ulimit " \
	"-v)\n"

TEST(missing_events_are_reported)
{
	check_warnings(&(struct notes){ .events_undeclared = 3, .reads_failed = 1 }, "");
	check_warnings(&(struct notes){ .threads_without_payloads = 1 },
		       "WARN: the events that 1 thread " TOO_MANY);
	check_warnings(&(struct notes){ .threads_without_payloads = 2 },
		       "WARN: the events that 2 threads " TOO_MANY);
	check_warnings(&(struct notes){ .events_nameless = 1 },
		       "WARN: 1 event that the program declares is not recorded: it has no name\n");
	check_warnings(&(struct notes){ .events_cut = 2 },
		       "WARN: 2 events of the program say more than a record takes (65528 bytes, "
		       "less with a small --buffer) and are cut: what is shown of them ends in "
		       "'...'\n");
}

/* The newborns of each process are found, wherever the process is in the list. */
TEST_WITH(a_newborn_of_any_process_is_waited_for, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;

	assert_false(notes_has_newborns(&rec->processes));
	for (int i = 0; i < 3; i++) {
		struct process *proc = begin(rec, getpid());

		assert_ptr_equal(rec->processes.notes.first, proc);
		assert_false(notes_has_newborns(&rec->processes));
	}
	for (struct process *p = rec->processes.notes.first; p; p = p->next_noting) {
		p->notes->forks.begun = 7;
		p->notes->forks.noted = 6;
		assert_true(notes_has_newborns(&rec->processes));
		p->notes->forks.noted = 7;
		assert_false(notes_has_newborns(&rec->processes));
		p->notes->forks.noted = 8;
		assert_false(notes_has_newborns(&rec->processes));
	}
}

/* Only processes that can be steered look at the news. */
TEST_WITH(the_end_is_news_for_a_process_that_can_be_steered, test_recorder_setup,
	  test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct process *proc = begin(&t->rec, getpid());

	for (int i = 0; i < 4; i++) {
		bool is_told = i == 3;

		t->settings.is_steerable = i & 1;
		t->rec.control->finished = i >> 1;
		proc->arena->news = 0;
		proc->arena->may_skip = 1;
		notes_obey(&t->rec.processes, proc);
		assert_int_equal(proc->arena->news, is_told);
		assert_int_equal(proc->arena->may_skip, !is_told);
		assert_int_equal(t->rec.control->finished, i >> 1);
	}
}

/* A filter that was set later may let programs end the recording, too. */
TEST_WITH(a_later_filter_lets_a_process_end_the_recording, test_recorder_setup,
	  test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct process *proc = begin(&t->rec, getpid());

	t->rec.processes.may_finish = true;
	notes_obey(&t->rec.processes, proc);
	assert_int_equal(t->rec.control->finished, 0);
	proc->notes->finish_wanted = 1;
	notes_obey(&t->rec.processes, proc);
	assert_int_equal(t->rec.control->finished, 1);
}

TEST_WITH(the_end_is_for_those_who_may_ask, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	struct process *proc = begin(&t->rec, getpid());

	proc->notes->finish_wanted = 1;
	notes_obey(&t->rec.processes, proc);
	assert_int_equal(t->rec.control->finished, 0);
	t->settings.signals.finish = 1;
	notes_obey(&t->rec.processes, proc);
	assert_int_equal(t->rec.control->finished, 1);
}

/* A probe's descriptor, and another one of the same memory, give no write access. */
TEST_WITH(what_all_share_cannot_be_written, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	char path[64];
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, rec->control_fd, 0);

	assert_true(p != MAP_FAILED);
	assert_true(mprotect(p, 4096, PROT_READ | PROT_WRITE) < 0);
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, rec->control_fd, 0) ==
		    MAP_FAILED);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", rec->control_fd);

	int fd = open(path, O_RDWR | O_CLOEXEC);

	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	assert_true(write(fd, "", 1) < 0);
	assert_true(ftruncate(rec->control_fd, 0) < 0);
	close(fd);
	/* The recorder itself can write. */
	rec->control->finished = 1;
	assert_int_equal(((struct control_page *)p)->finished, 1);
	munmap(p, 4096);
}
