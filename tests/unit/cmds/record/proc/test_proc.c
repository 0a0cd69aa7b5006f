/* Tracing processes with any tracer: choosing it, its descriptors, and cleaning up. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmds/record/proc/proc.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/format/datadir.h"

static struct scene {
	struct store_memory memory;
	struct record_settings settings;
	struct loop loop;
	struct sources sources;
	struct alive alive;
	struct proc proc;
	struct uft_err note, err;
	/* The calls of the simulated tracer. */
	unsigned nr_started, nr_stopped, nr_released, nr_ends;
	pid_t pid;
	int start_result;
} scene;

static int play_start(struct proc *proc, pid_t pid, struct uft_err *err)
{
	assert_ptr_equal(proc, &scene.proc);
	scene.nr_started++;
	scene.pid = pid;
	return scene.start_result ? err_set(err, scene.start_result, "no start") : 0;
}

static bool play_end(struct proc *proc, int *status, struct rusage *usage)
{
	scene.nr_ends++;
	*status = 77;
	return true;
}

static void play_stop(struct proc *proc)
{
	assert_true(proc->over_fd >= 0); /* the descriptor is closed after this */
	scene.nr_stopped++;
}

static void play_release(struct proc *proc)
{
	scene.nr_released++;
}

static const struct proc_way telling = { true,	   true,      NULL,	   play_start,
					 play_end, play_stop, play_release };
static const struct proc_way silent = { false,	  false,     NULL,	  play_start,
					play_end, play_stop, play_release };

static int begin(void **state)
{
	memset(&scene, 0, sizeof(scene));
	store_memory_init(&scene.memory);
	scene.settings.clock_id = CLOCK_MONOTONIC;
	scene.proc = (struct proc){ .end_fd = -1, .over_fd = -1 };
	if (loop_open(&scene.loop, NULL) < 0)
		return -1;
	scene.sources = (struct sources){
		.settings = &scene.settings,
		.store = &scene.memory.store,
		.loop = &scene.loop,
	};
	/* A ring cannot have this size, so eBPF cannot be used. */
	setenv("UTRAIL_PROC_RING", "1000", 1);
	return 0;
}

static int end(void **state)
{
	proc_forget(&scene.proc);
	loop_close(&scene.loop);
	store_memory_deinit(&scene.memory);
	return 0;
}

static int choose(enum proc_way_choice way)
{
	scene.settings.proc_way = way;
	memset(&scene.proc, 0x55, sizeof(scene.proc));
	return proc_choose(&scene.proc, &scene.settings, &scene.note, &scene.err);
}

TEST_WITH(ptrace_is_chosen_when_it_is_asked_for, begin, end)
{
	assert_int_equal(choose(PROC_WAY_PTRACE), 0);
	assert_ptr_equal(scene.proc.way, &proc_by_ptrace);
	assert_non_null(scene.proc.own);
	assert_int_equal(scene.proc.end_fd, -1);
	assert_int_equal(scene.proc.over_fd, -1);
	assert_false(scene.proc.is_followed);
	assert_int_equal(scene.proc.lost, 0);
	assert_int_equal(scene.note.code, 0);
	proc_forget(&scene.proc);
	assert_null(scene.proc.way);
	assert_null(scene.proc.own);
	proc_forget(&scene.proc);
}

TEST_WITH(why_there_is_no_ebpf_is_a_note_or_an_error, begin, end)
{
	assert_true(choose(PROC_WAY_BPF) < 0);
	assert_true(scene.err.code < 0);
	assert_int_equal(scene.note.code, 0);
	assert_memory_equal(scene.err.text, "cannot follow processes by eBPF", 31);
	proc_forget(&scene.proc);
	scene.err = (struct uft_err){ 0 };
	assert_int_equal(choose(PROC_WAY_AUTO), 0);
	assert_ptr_equal(scene.proc.way, &proc_by_ptrace);
	assert_int_equal(scene.err.code, 0);
	assert_true(scene.note.code < 0);
	assert_memory_equal(scene.note.text, "cannot follow processes by eBPF", 31);
}

TEST_WITH(ebpf_comes_first_where_it_can_be, begin, end)
{
	struct proc probe = { 0 };

	setenv("UTRAIL_PROC_RING", "1048576", 1);
	if (proc_by_bpf.prepare(&probe, &scene.settings, &scene.note) < 0)
		skip_because("%s", scene.note.text);
	proc_by_bpf.release(&probe);
	assert_int_equal(choose(PROC_WAY_AUTO), 0);
	assert_ptr_equal(scene.proc.way, &proc_by_bpf);
	proc_forget(&scene.proc);
	assert_int_equal(choose(PROC_WAY_BPF), 0);
	assert_ptr_equal(scene.proc.way, &proc_by_bpf);
	assert_int_equal(scene.note.code, 0);
	proc_forget(&scene.proc);
	assert_int_equal(choose(PROC_WAY_PTRACE), 0);
	assert_ptr_equal(scene.proc.way, &proc_by_ptrace);
}

TEST_WITH(of_a_compiler_only_what_is_asked_for_is_ebpf, begin, end)
{
	/* If eBPF had been tried, there would be a note. */
	scene.settings.expects_few = true;
	assert_int_equal(choose(PROC_WAY_AUTO), 0);
	assert_ptr_equal(scene.proc.way, &proc_by_ptrace);
	assert_int_equal(scene.note.code, 0);
	proc_forget(&scene.proc);
	assert_true(choose(PROC_WAY_BPF) < 0);
	assert_true(scene.err.code < 0);
}

TEST_WITH(a_filter_is_used_by_ways_with_it_and_for_files, begin, end)
{
	assert_false(proc_uses_filter(&scene.proc, &scene.settings));
	scene.settings.traces_files = true;
	assert_false(proc_uses_filter(&scene.proc, &scene.settings));
	scene.proc.way = &silent;
	assert_false(proc_uses_filter(&scene.proc, &scene.settings));
	scene.proc.way = &telling;
	assert_true(proc_uses_filter(&scene.proc, &scene.settings));
	scene.settings.traces_files = false;
	assert_false(proc_uses_filter(&scene.proc, &scene.settings));
}

TEST_WITH(the_end_is_had_from_ways_that_tell_it, begin, end)
{
	struct rusage usage;
	int status = 1;

	assert_false(proc_tells_end(&scene.proc));
	assert_false(proc_program_end(&scene.proc, &status, &usage));
	scene.proc.way = &silent;
	assert_false(proc_tells_end(&scene.proc));
	assert_false(proc_program_end(&scene.proc, &status, &usage));
	assert_int_equal(status, 1);
	assert_int_equal(scene.nr_ends, 0);
	scene.proc.way = &telling;
	assert_true(proc_tells_end(&scene.proc));
	assert_true(proc_program_end(&scene.proc, &status, &usage));
	assert_int_equal(status, 77);
}

TEST_WITH(who_is_told_can_read_it, begin, end)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t nr = 0;

	proc_tell(fd);
	proc_tell(fd);
	assert_int_equal(read(fd, &nr, sizeof(nr)), sizeof(nr));
	assert_int_equal(nr, 2);
	proc_tell(-1);
	close(fd);
}

static int open_proc(const struct proc_way *way)
{
	scene.proc.way = way;
	return proc_open(&scene.proc, &scene.sources, &scene.alive, 4711, &scene.err);
}

static bool has_file(void)
{
	return strcmp(scene.memory.files[0].name, DATADIR_PROCESSES) == 0;
}

static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static int finish(void)
{
	return scene.proc.source.finish(&scene.proc.source);
}

TEST_WITH(what_is_opened_is_a_source_and_is_waited_for, begin, end)
{
	int free_fd = next_fd();

	assert_int_equal(open_proc(&telling), 0);
	assert_int_equal(scene.nr_started, 1);
	assert_int_equal(scene.pid, 4711);
	assert_true(has_file());
	assert_true(scene.proc.is_followed);
	assert_int_equal(scene.alive.nr_followed, 1);
	assert_int_equal(scene.sources.nr, 1);
	assert_ptr_equal(scene.sources.first, &scene.proc.source);
	assert_ptr_equal(scene.proc.log.settings, &scene.settings);
	assert_int_equal(fcntl(scene.proc.over_fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(scene.proc.end_fd, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(scene.proc.over_fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(scene.proc.end_fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(scene.proc.source.save(&scene.proc.source), 0);
	assert_int_equal(scene.nr_stopped, 0);
	assert_int_equal(finish(), 0);
	assert_int_equal(scene.nr_stopped, 1);
	assert_int_equal(scene.nr_released, 1);
	assert_int_equal(scene.proc.over_fd, -1);
	assert_int_equal(scene.proc.end_fd, -1);
	assert_null(scene.proc.way);
	assert_true(has_file());
	assert_int_equal(next_fd(), free_fd);
	assert_int_equal(loop_serve(&scene.loop, 0), 0);
}

TEST_WITH(a_way_that_does_not_tell_the_end_has_nothing_to_tell_it_by, begin, end)
{
	assert_int_equal(open_proc(&silent), 0);
	assert_int_equal(scene.proc.end_fd, -1);
	assert_true(scene.proc.over_fd >= 0);
	assert_int_equal(finish(), 0);
}

TEST_WITH(nobody_is_waited_for_once_all_are_over, begin, end)
{
	assert_int_equal(open_proc(&telling), 0);
	assert_int_equal(loop_serve(&scene.loop, 0), 0);
	assert_int_equal(scene.alive.nr_followed, 1);
	proc_tell(scene.proc.over_fd);
	assert_int_equal(loop_serve(&scene.loop, 0), 1);
	assert_false(scene.proc.is_followed);
	assert_int_equal(scene.alive.nr_followed, 0);
	/* The loop does not serve the descriptor again. */
	assert_int_equal(loop_serve(&scene.loop, 0), 0);
	assert_int_equal(finish(), 0);
}

TEST_WITH(one_that_is_over_twice_is_one, begin, end)
{
	alive_add(&scene.alive);
	assert_int_equal(open_proc(&telling), 0);
	scene.proc.over.serve(&scene.proc.over, 0);
	scene.proc.over.serve(&scene.proc.over, 0);
	assert_int_equal(scene.alive.nr_followed, 1);
	assert_int_equal(finish(), 0);
}

static void check_nothing_left(int free_fd, int error)
{
	assert_int_equal(scene.err.code, error);
	assert_int_equal(scene.nr_released, 1);
	assert_int_equal(scene.nr_stopped, 0);
	assert_null(scene.proc.way);
	assert_false(scene.proc.is_followed);
	assert_int_equal(scene.proc.over_fd, -1);
	assert_int_equal(scene.proc.end_fd, -1);
	assert_int_equal(scene.alive.nr_followed, 0);
	assert_int_equal(scene.sources.nr, 0);
	assert_false(has_file());
	assert_int_equal(next_fd(), free_fd);
}

TEST_WITH(what_does_not_start_leaves_nothing, begin, end)
{
	int free_fd = next_fd();

	scene.start_result = -EPERM;
	assert_int_equal(open_proc(&telling), -EPERM);
	assert_string_equal(scene.err.text, "no start");
	check_nothing_left(free_fd, -EPERM);
}

static int open_nothing(struct store *store, const char *name)
{
	return -ENOSPC;
}

TEST_WITH(without_a_file_nothing_starts, begin, end)
{
	struct store_ops ops = *scene.memory.store.ops;
	int free_fd = next_fd();

	ops.open = open_nothing;
	scene.memory.store.ops = &ops;
	assert_int_equal(open_proc(&telling), -ENOSPC);
	assert_string_equal(scene.err.text, "cannot record processes: No space left on device");
	assert_int_equal(scene.nr_started, 0);
	check_nothing_left(free_fd, -ENOSPC);
}

/* Check whether processes can be recorded when only @nr more descriptors can be opened. */
static void check_descriptors(int nr, const struct proc_way *way, bool is_enough)
{
	struct rlimit before, now;
	int free_fd = next_fd(), ret;

	getrlimit(RLIMIT_NOFILE, &before);
	now = (struct rlimit){ free_fd + nr, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &now);
	ret = open_proc(way);
	setrlimit(RLIMIT_NOFILE, &before);
	if (is_enough) {
		assert_int_equal(ret, 0);
		assert_int_equal(finish(), 0);
		return;
	}
	assert_int_equal(ret, -EMFILE);
	assert_string_equal(scene.err.text, "cannot record processes: Too many open files");
	assert_int_equal(scene.nr_started, 0);
	check_nothing_left(free_fd, -EMFILE);
}

TEST_WITH(no_descriptor, begin, end)
{
	check_descriptors(0, &silent, false);
}

TEST_WITH(one_descriptor_for_one, begin, end)
{
	check_descriptors(1, &silent, true);
}

TEST_WITH(one_descriptor_for_two, begin, end)
{
	check_descriptors(1, &telling, false);
}
