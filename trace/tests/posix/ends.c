/*
 * Conformance: at any end of a process its streams are shut down, and its log is complete. While
 * the process runs, no other process touches them. The file is long because its points share one
 * subject and their helpers.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "point.h"
#include "posix/keeper.h"

#define NR_THREADS  8
/* A log should be complete within a second, but machines may be busy. */
#define DEADLINE_NS 60000000000ull

extern char **environ;

/* Shared memory that outlives the process: for each thread the events begun and written. */
struct account {
	_Atomic int begun[NR_THREADS];
	_Atomic int written[NR_THREADS];
	_Atomic int may_end;
};

static struct account *account;
static trace_event_id_t event_id;
static trace_id_t logged;
static int stream_policy = POSIX_TRACE_FLUSH;
static int log_policy = POSIX_TRACE_APPEND;

/* --- the events of a log --- */

static bool is_closed(int fd)
{
	struct pxt_log log;

	return pxt_log_open(&log, fd) == 0 && log.header.is_closed;
}

static void wait_until_whole(int fd)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + DEADLINE_NS;

	while (!is_closed(fd)) {
		CHECK(now_ns(CLOCK_MONOTONIC) < until);
		usleep(1000);
	}
}

/*
 * Check that all written events are in the log, in order. Only those events may be missing that
 * were counted as lost, and one event of each thread that was killed in the middle of it. During
 * exit(), threads write to a stream that was shut down, so more may be missing.
 */
static void check_log(int fd, bool is_all)
{
	int next[NR_THREADS] = { 0 }, begun = 0, written = 0, found = 0;
	uint32_t last_id = 0;
	struct pxt_event event;
	struct pxt_log log;
	int number[2];

	CHECK_IS(pxt_log_open(&log, fd), 0);
	while (pxt_log_next(&log, &event, number, sizeof(number)) == 1) {
		/*
		 * Events of threads that were writing when the stream stopped come after the event
		 * STOP. So do reports of events that were lost then.
		 */
		if (last_id != POSIX_TRACE_STOP ||
		    (is_all && stream_policy != POSIX_TRACE_UNTIL_FULL))
			last_id = event.id;
		if (event.id != event_id)
			continue;
		CHECK(number[0] >= 0 && number[0] < NR_THREADS);
		CHECK(number[1] >= next[number[0]]);
		CHECK(number[1] < account->begun[number[0]]);
		next[number[0]] = number[1] + 1;
		found++;
	}
	for (int nr = 0; nr < NR_THREADS; nr++) {
		begun += account->begun[nr];
		written += account->written[nr];
	}
	found += (int)log.header.status.lost;
	/*
	 * A looping stream loses START and other system events, too. The record that a killed
	 * thread was evicting is not counted.
	 */
	if (stream_policy == POSIX_TRACE_LOOP) {
		begun += 500;
		written -= NR_THREADS;
	}
	CHECK(!is_all || found >= written);
	CHECK(found <= begun);
	CHECK(written >= NR_THREADS);
	CHECK_IS(last_id, POSIX_TRACE_STOP);
	CHECK(!log.header.status.is_running);
}

/* --- a process that writes --- */

static void *write_events(void *argument)
{
	int number[2] = { (int)(intptr_t)argument, 0 };

	while (account->may_end < 2) {
		account->begun[number[0]]++;
		posix_trace_event(event_id, number, sizeof(number));
		account->written[number[0]]++;
		if (++number[1] % 16 == 0)
			usleep(20);
	}
	return NULL;
}

static bool have_all_begun(void)
{
	for (int nr = 0; nr < NR_THREADS; nr++) {
		if (account->written[nr] < 100)
			return false;
	}
	return true;
}

/* Threads write until the process ends. */
static void begin_to_write(int fd)
{
	pthread_t threads[NR_THREADS];
	trace_attr_t attr;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamfullpolicy(&attr, stream_policy);
	posix_trace_attr_setlogfullpolicy(&attr, log_policy);
	posix_trace_attr_setlogsize(&attr, 16 << 10);
	posix_trace_attr_setstreamsize(&attr, 64 << 10);
	event_id = open_id("number");
	logged = make_log(fd, &attr);
	for (intptr_t nr = 0; nr < NR_THREADS; nr++)
		CHECK_IS(pthread_create(&threads[nr], NULL, write_events, (void *)nr), 0);
	while (!have_all_begun())
		usleep(100);
	/* The process has no child of the library. */
	CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}

static _Atomic int nr_children_ended;

static void count_children(int signal)
{
	nr_children_ended++;
}

static pid_t begin_process(int fd, void (*end)(void))
{
	pid_t pid;

	account = mmap(NULL, sizeof(*account), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	CHECK(account != MAP_FAILED);
	event_id = open_id("number");
	pid = make_child();
	if (pid == 0) {
		signal(SIGCHLD, count_children);
		begin_to_write(fd);
		if (nr_children_ended)
			_exit(99);
		end();
		_exit(98);
	}
	while (!have_all_begun())
		usleep(1000);
	return pid;
}

static void by_exit(void)
{
	exit(3);
}

/*
 * Check that a process that ends in the way @end has the status that it would have without tracing,
 * and that its log is complete.
 */
static void check_way(void (*end)(void), int wanted)
{
	int fd = make_file(), status;
	pid_t pid = begin_process(fd, end);

	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status & ~0x80, wanted); /* a core may have been dumped */
	wait_until_whole(fd);
	check_log(fd, end != by_exit);
}

/* The process continues as another program while its log is read. */
static void check_execution(void (*end)(void))
{
	int fd = make_file(), status;
	pid_t pid = begin_process(fd, end);

	wait_until_whole(fd);
	CHECK_IS(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, SIGKILL);
	check_log(fd, true);
}

/* --- ways to end --- */

static void by_exit_of_one(void)
{
	_exit(3);
}

static void by_system_call(void)
{
	syscall(SYS_exit_group, 3);
}

static void by_quick_exit(void)
{
	quick_exit(3);
}

static void by_abort(void)
{
	abort();
}

static void by_signal(int signal)
{
	kill(getpid(), signal);
	for (;;)
		pause();
}

static void by_term(void)
{
	by_signal(SIGTERM);
}

static void by_kill(void)
{
	by_signal(SIGKILL);
}

static void by_fault(void)
{
	signal(SIGSEGV, SIG_DFL);
	by_signal(SIGSEGV);
}

static void by_execution(void)
{
	/* sleep(1) holds the test's output open, so it must not run longer than the test. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

/* A failed exec changes nothing; the next one is the end. */
static void by_execution_at_last(void)
{
	execl("/nowhere", "nowhere", (char *)NULL);
	by_execution();
}

static void *execute(void *unused)
{
	by_execution();
	return unused;
}

static void by_execution_of_a_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute, NULL);
	pthread_join(thread, NULL);
}

static void by_pthread_exit(void)
{
	account->may_end = 2;
	pthread_exit(NULL);
}

/* The process closes all descriptors, as a daemon does. */
static void by_kill_without_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	usleep(300000);
	by_kill();
}

static void by_execution_without_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	usleep(300000);
	by_execution();
}

POINT(log_of_a_process_that_calls_exit_is_whole)
{
	check_way(by_exit, 3 << 8);
}

POINT(log_of_a_process_that_calls__exit_is_whole)
{
	check_way(by_exit_of_one, 3 << 8);
}

POINT(log_of_a_process_that_ends_by_a_system_call_is_whole)
{
	check_way(by_system_call, 3 << 8);
}

POINT(log_of_a_process_that_calls_quick_exit_is_whole)
{
	check_way(by_quick_exit, 3 << 8);
}

POINT(log_of_a_process_that_aborts_is_whole)
{
	check_way(by_abort, SIGABRT);
}

POINT(log_of_a_process_that_is_terminated_is_whole)
{
	check_way(by_term, SIGTERM);
}

POINT(log_of_a_process_that_is_killed_is_whole)
{
	check_way(by_kill, SIGKILL);
}

POINT(log_of_a_process_with_a_fault_is_whole)
{
	check_way(by_fault, SIGSEGV);
}

POINT(log_of_a_process_that_executes_a_program_is_whole_while_that_runs)
{
	check_execution(by_execution);
}

POINT(log_of_a_process_that_ends_in_an_exec_is_whole)
{
	check_execution(by_execution_at_last);
}

POINT(log_of_a_process_whose_thread_executes_a_program_is_whole)
{
	check_execution(by_execution_of_a_thread);
}

POINT(log_of_a_process_whose_threads_all_end_is_whole)
{
#ifdef __SANITIZE_THREAD__
	return; /* the sanitizer has a thread of its own, which does not end */
#endif
	check_way(by_pthread_exit, 0);
}

POINT(log_of_a_process_that_has_closed_all_descriptors_and_is_killed_is_whole)
{
	check_way(by_kill_without_descriptors, SIGKILL);
}

POINT(log_of_a_process_that_has_closed_all_descriptors_and_executes_is_whole)
{
	check_execution(by_execution_without_descriptors);
}

/* --- a child of a process whose first thread has ended --- */

static pthread_t first_thread;

/* Fill half of a stream, and wait until the stream's thread has flushed it. */
static void fill_and_wait(void)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + DEADLINE_NS;
	trace_event_id_t id = open_id("x");
	struct pxt_handle *handle;
	trace_attr_t attr;
	trace_id_t trid;
	uint64_t tail;

	small_attr(&attr, POSIX_TRACE_FLUSH, 64);
	trid = make_log(make_file(), &attr);
	handle = pxt_handle_get(trid, PT_ANY);
	tail = atomic_load(&atomic_load(&handle->view->stream)->tail);
	usleep(300000);
	write_numbers(id, 0, (int)handle->view->nr_cells / 2 + 1);
	while (atomic_load(&atomic_load(&handle->view->stream)->tail) == tail) {
		CHECK(now_ns(CLOCK_MONOTONIC) < until);
		usleep(1000);
	}
	pxt_handle_put(handle);
	CHECK_IS(posix_trace_shutdown(trid), 0);
}

static void *fork_at_last(void *unused)
{
	int status = -1;
	pid_t pid;

	pthread_join(first_thread, NULL);
	pid = make_child();
	if (pid == 0) {
		fill_and_wait();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	_exit(status != 0);
	return unused;
}

POINT(log_of_a_child_is_flushed_although_its_parents_first_thread_has_ended)
{
	int status = -1;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	return; /* the sanitizer allows no new threads in a child of a threaded process */
#endif
	pid = make_child();
	if (pid == 0) {
		pthread_t thread;

		first_thread = pthread_self();
		CHECK_IS(pthread_create(&thread, NULL, fork_at_last, NULL), 0);
		pthread_exit(NULL);
	}
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, 0);
}

/* --- policies --- */

/*
 * Check that the events of each thread are in order, and that the last event of the log is
 * POSIX_TRACE_STOP. Events may be missing: older ones were dropped, or the log was full.
 */
static void check_part(int fd)
{
	int next[NR_THREADS] = { 0 }, number[2] = { 0 }, found = 0;
	uint32_t last_id = 0;
	struct pxt_event event;
	struct pxt_log log;

	CHECK_IS(pxt_log_open(&log, fd), 0);
	while (pxt_log_next(&log, &event, number, sizeof(number)) == 1) {
		last_id = event.id;
		if (event.id != event_id)
			continue;
		CHECK(number[0] >= 0 && number[0] < NR_THREADS);
		CHECK(number[1] >= next[number[0]]);
		next[number[0]] = number[1] + 1;
		found++;
	}
	CHECK_IS(log.at, log.header.last);
	CHECK(found > 100);
	CHECK_IS(last_id, POSIX_TRACE_STOP);
}

static void check_policies(int stream, int log)
{
	int fd = make_file(), status;
	pid_t pid;

	stream_policy = stream;
	log_policy = log;
	pid = begin_process(fd, by_kill);
	CHECK_IS(waitpid(pid, &status, 0), pid);
	wait_until_whole(fd);
	if (log == POSIX_TRACE_APPEND)
		check_log(fd, true);
	else
		check_part(fd);
}

POINT(log_that_loops_of_a_process_that_is_killed_is_whole)
{
	check_policies(POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP);
}

POINT(log_that_is_full_of_a_process_that_is_killed_is_whole)
{
	check_policies(POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL);
}

POINT(log_of_a_stream_that_loops_of_a_process_that_is_killed_is_whole)
{
	check_policies(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND);
}

POINT(log_of_a_stream_that_is_full_of_a_process_that_is_killed_is_whole)
{
	check_policies(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND);
}

/* Flush a looping stream while the threads overwrite it. */
static void flush_and_be_killed(void)
{
	for (int nr = 0; nr < 200; nr++)
		CHECK_IS(posix_trace_flush(logged), 0);
	by_kill();
}

POINT(log_of_a_stream_that_loops_and_is_flushed_is_whole)
{
	int fd = make_file(), status;
	pid_t pid;

	stream_policy = POSIX_TRACE_LOOP;
	pid = begin_process(fd, flush_and_be_killed);
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, SIGKILL);
	wait_until_whole(fd);
	check_log(fd, true);
}

/* --- without a keeper --- */

static void kill_keepers(void)
{
	for (int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		struct pxt_view *view = &pxt_process.views[nr];
		struct pxt_log_part *part;

		if (!atomic_load(&view->stream) || !pxt_log_part_of(view))
			continue;
		part = pxt_log_part_of(view);
		while (!atomic_load(&part->keeper_pid))
			usleep(100);
		kill((pid_t)atomic_load(&part->keeper_pid), SIGKILL);
		while (pxt_process_is_alive((pid_t)atomic_load(&part->keeper_pid),
					    part->keeper_start))
			usleep(100);
	}
}

static void by_kill_without_keeper(void)
{
	kill_keepers();
	by_kill();
}

static void by_execution_without_keeper(void)
{
	kill_keepers();
	by_execution();
}

/* Open the log read-only, after its file has lost its name. */
static trace_id_t open_for_reading(int fd)
{
	trace_id_t trid = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK_IS(posix_trace_open(fd, &trid), 0);
	close(fd);
	return trid;
}

POINT(log_without_a_keeper_is_finished_by_its_reader)
{
	int fd = make_file(), status;
	pid_t pid = begin_process(fd, by_kill_without_keeper);

	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK(!is_closed(fd));
	open_for_reading(fd);
	CHECK(is_closed(fd));
	check_log(fd, true);
	open_for_reading(fd);
	check_log(fd, true);
}

POINT(log_without_a_keeper_is_finished_by_its_reader_while_another_program_runs)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + DEADLINE_NS;
	int fd = make_file(), status;
	pid_t pid = begin_process(fd, by_execution_without_keeper);

	while (!is_closed(fd)) {
		CHECK(now_ns(CLOCK_MONOTONIC) < until);
		posix_trace_close(open_for_reading(fd));
		usleep(1000);
	}
	CHECK_IS(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	check_log(fd, true);
}

/* A log that no keeper has finished waits for a process that opens it. Its stream has no number. */
POINT(log_without_a_keeper_waits_for_who_opens_it_and_takes_no_number)
{
	int fds[8], status;
	trace_id_t trid;

	for (int nr = 0; nr < 8; nr++) {
		fds[nr] = make_file();
		waitpid(begin_process(fds[nr], by_kill_without_keeper), &status, 0);
		trid = make_stream(NULL);
		CHECK(posix_trace_shutdown(trid) == 0);
		CHECK(!is_closed(fds[nr]));
	}
	for (int nr = 0; nr < 8; nr++) {
		posix_trace_close(open_for_reading(fds[nr]));
		CHECK(is_closed(fds[nr]));
	}
}

/* --- while the process lives --- */

static void wait_to_end(void)
{
	while (!account->may_end)
		usleep(1000);
	by_kill();
}

POINT(looking_at_the_log_of_a_living_process_takes_nothing_from_it)
{
	int fd = make_file(), status;
	pid_t pid = begin_process(fd, wait_to_end);

	for (int nr = 0; nr < 100; nr++) {
		CHECK_IS(posix_trace_close(open_for_reading(fd)), 0);
		CHECK(!is_closed(fd));
		usleep(1000);
	}
	account->may_end = 1;
	CHECK_IS(waitpid(pid, &status, 0), pid);
	wait_until_whole(fd);
	check_log(fd, true);
}

static void execute_in_children(void)
{
	char *words[] = { "true", NULL };
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(97);
	}
	if (waitpid(pid, &status, 0) != pid || status ||
	    posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) ||
	    waitpid(pid, &status, 0) != pid || status || system("true"))
		_exit(96);
	pid = fork();
	if (pid == 0)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status)
		_exit(95);
	account->may_end = 1;
	while (account->may_end == 1)
		pause();
}

POINT(children_that_execute_and_end_end_nothing_of_the_parents)
{
	int fd = make_file(), before, status;
	pid_t pid = begin_process(fd, execute_in_children);
	uint64_t until;

	while (!account->may_end)
		usleep(1000);
	before = account->written[0];
	usleep(300000);
	CHECK(!is_closed(fd));
	/* On a busy machine the thread may have had no CPU meanwhile. */
	until = now_ns(CLOCK_MONOTONIC) + DEADLINE_NS;
	while (account->written[0] == before) {
		CHECK(now_ns(CLOCK_MONOTONIC) < until);
		usleep(1000);
	}
	kill(pid, SIGKILL);
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, SIGKILL);
	wait_until_whole(fd);
	check_log(fd, true);
}

/* If a process that adopts orphans became the keeper's parent, it might wait for the keeper. */
POINT(process_that_adopts_orphans_has_no_child_of_ours)
{
	int fd = make_file(), status;
	pid_t pid = make_child();

	if (pid == 0) {
		signal(SIGCHLD, count_children);
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		CHECK_IS(posix_trace_shutdown(make_log(fd, NULL)), 0);
		make_log(fd, NULL);
		CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
		CHECK(!nr_children_ended);
		by_kill();
	}
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, SIGKILL);
	wait_until_whole(fd);
}

/* --- files that stay --- */

/* Count the files of streams, processes and names. */
static int count_files(void)
{
	DIR *dir = opendir(getenv("UTRAIL_TRACE_DIR"));
	struct dirent *entry;
	int nr = 0;

	CHECK(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_name[1] == '-' && strchr("sdpn", entry->d_name[0]);
	closedir(dir);
	return nr;
}

static void await_files(int nr)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + DEADLINE_NS;

	while (count_files() != nr) {
		CHECK(now_ns(CLOCK_MONOTONIC) < until);
		usleep(1000);
	}
}

static void make_logs_and_be_killed(int nr_logs)
{
	trace_event_id_t id = open_id("x");

	for (int nr = 0; nr < nr_logs; nr++) {
		trace_attr_t attr;

		small_attr(&attr, POSIX_TRACE_FLUSH, 100);
		/* Every second stream has a log. */
		if (nr % 2)
			make_log(make_file(), &attr);
		else
			make_running(NULL);
	}
	write_numbers(id, 0, 10);
	by_kill();
}

POINT(streams_of_killed_processes_leave_nothing)
{
	pid_t pids[12];
	int status;

	for (int round = 0; round < 4; round++) {
		for (int nr = 0; nr < 12; nr++) {
			pids[nr] = make_child();
			if (pids[nr] == 0)
				make_logs_and_be_killed(5);
		}
		for (int nr = 0; nr < 12; nr++) {
			CHECK_IS(waitpid(pids[nr], &status, 0), pids[nr]);
			CHECK_IS(status, SIGKILL);
		}
	}
	await_files(0);
}

POINT(stream_of_a_process_that_never_wrote_leaves_nothing)
{
	trace_id_t trid;
	pid_t pid = make_child();

	if (pid == 0)
		by_execution();
	make_stream(NULL); /* three files of this process stay: stream, process, names */
	CHECK_IS(posix_trace_create(pid, NULL, &trid), 0);
	CHECK(count_files() > 3);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	await_files(3);
	kill(pid, SIGKILL);
}

/* --- a thread that is in the middle of a record as its stream is shut down --- */

static char *slow_page;
static _Atomic bool is_in_the_middle;

/* Runs when the thread reads its data: the thread is delayed there, as if it had lost the CPU. */
static void be_slow(int signal)
{
	is_in_the_middle = true;
	usleep(100000);
	mprotect(slow_page, 4096, PROT_READ);
}

/* Returns the time that the event took, in milliseconds. */
static void *write_slowly(void *unused)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC);

	posix_trace_event(event_id, slow_page, sizeof(int));
	return (void *)(uintptr_t)((now_ns(CLOCK_MONOTONIC) - begin) / 1000000);
}

/*
 * Make a log with an event that a thread was writing as the stream was shut down, and an event
 * that came later. Returns the time that the first one took, in milliseconds.
 */
static uintptr_t log_slowly(int fd)
{
	struct sigaction slow = { .sa_handler = be_slow }, before;
	trace_id_t trid = make_log(fd, NULL);
	pthread_t thread;
	void *took_ms;
	int number;

	slow_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(slow_page != MAP_FAILED);
	is_in_the_middle = false;
	event_id = open_id("slow");
	CHECK_IS(sigaction(SIGSEGV, &slow, &before), 0);
	CHECK_IS(pthread_create(&thread, NULL, write_slowly, NULL), 0);
	while (!is_in_the_middle)
		usleep(1000);
	number = 7;
	posix_trace_event(event_id, &number, sizeof(number));
	CHECK_IS(posix_trace_shutdown(trid), 0);
	CHECK_IS(pthread_join(thread, &took_ms), 0);
	CHECK_IS(sigaction(SIGSEGV, &before, NULL), 0);
	munmap(slow_page, 4096);
	return (uintptr_t)took_ms;
}

POINT(log_has_what_comes_after_a_record_that_was_being_written)
{
	int fd = make_file(), number, nr = 0, tries = 0;
	struct pxt_event event;
	struct pxt_log log;

	/* A thread that gets no CPU for a second is not waited for. */
	while (log_slowly(fd) > 500) {
		CHECK(++tries < 20);
		close(fd);
		fd = make_file();
	}
	CHECK_IS(pxt_log_open(&log, fd), 0);
	while (pxt_log_next(&log, &event, &number, sizeof(number)) == 1) {
		if (event.id == event_id)
			CHECK_IS(number, nr++ ? 7 : 0);
	}
	CHECK_IS(nr, 2);
	CHECK_IS(event.id, POSIX_TRACE_STOP);
	CHECK_IS(log.header.status.lost, 0);
}

#define PID_MASK     ((1ull << 22) - 1) /* the bits of a cell's word with the pid of its writer */
#define STATE_CHANGE (3ull << 36)	/* changes a finished record into an unfinished one */

/* Change the record at @at, as if another living process had not finished it yet. */
static void unfinish(const struct pxt_view *view, uint64_t at)
{
	_Atomic uint64_t *word = &view->cells[at & (view->nr_cells - 1)].word;

	*word = ((*word & ~PID_MASK) | (uint64_t)getppid()) ^ STATE_CHANGE;
}

POINT(log_has_what_comes_after_a_record_that_another_process_was_writing)
{
	int fd = make_file(), number, nr = 0;
	trace_id_t trid = make_log(fd, NULL);
	struct pxt_event event;
	struct pxt_log log;
	struct pxt_handle *handle = pxt_handle_get(trid, PT_ANY);
	uint64_t head;

	event_id = open_id("slow");
	head = atomic_load(&atomic_load(&handle->view->stream)->head);
	write_numbers(event_id, 6, 2);
	unfinish(handle->view, head);
	pxt_handle_put(handle);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(posix_trace_shutdown(trid), 0);

	CHECK_IS(pxt_log_open(&log, fd), 0);
	CHECK(log.header.is_closed);
	while (pxt_log_next(&log, &event, &number, sizeof(number)) == 1) {
		nr += event.id == event_id;
		CHECK(event.id != event_id || number == 7);
	}
	CHECK_IS(nr, 1);
	CHECK_IS(event.id, POSIX_TRACE_STOP);
}
