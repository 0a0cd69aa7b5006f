/* Traced processes: their arenas, finding them, and cleaning up when they end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

static struct process *make(struct pair *pair, pid_t pid, pid_t os_pid,
			    enum control_hello_kind kind)
{
	const struct control_hello hello = { .pid = pid, .ppid = 17, .kind = kind, .time_ns = 99 };
	int fd = -1;
	struct process *proc = process_create(&pair->rec.processes, &hello, os_pid, &fd);

	assert_non_null(proc);
	close(fd);
	proc->session = pair->proc->session;
	return proc;
}

TEST(test_fields)
{
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);

	struct process *proc = make(&pair, 4200001, 4200002, CONTROL_FORK);

	assert_int_equal(proc->pid, 4200001);
	assert_int_equal(proc->os_pid, 4200002);
	assert_int_equal(proc->ppid, 17);
	assert_int_equal(proc->time_ns, 99);
	assert_true(proc->is_fork);
	assert_false(proc->announced);
	process_destroy(proc);
	proc = make(&pair, 4200001, 4200002, CONTROL_EXEC);
	assert_false(proc->is_fork);
	process_destroy(proc);
	process_destroy(NULL);
	pair_stop(&pair);
	pair_close(&pair);
}

/* Check the layout that both sides use, and that the program cannot change the size of the file. */
static void check_arena(uint64_t segment_bytes, uint64_t flight_bytes, uint32_t nr_segments,
			uint32_t bytes, uint32_t nr_rings)
{
	const struct control_hello hello = { .pid = 1, .kind = CONTROL_EXEC };
	struct pair pair;
	int fd = -1;

	pair_init(&pair);
	pair.settings.segment_bytes = segment_bytes;
	pair.settings.flight_bytes = flight_bytes;
	pair.settings.max_bytes = flight_bytes;
	pair_open(&pair);

	struct process *proc = process_create(&pair.rec.processes, &hello, 4200001, &fd);

	assert_non_null(proc);
	assert_int_equal(proc->nr_segments, nr_segments);
	assert_int_equal(proc->segment_bytes, bytes);
	assert_int_equal(proc->nr_rings, nr_rings);
	assert_int_equal(proc->arena->nr_segments, nr_segments);
	assert_int_equal(proc->arena->segment_bytes, bytes);
	assert_int_equal(proc->arena->nr_rings, nr_rings);
	assert_int_equal(proc->arena->ring_stride, ring_stride(nr_segments, bytes));
	assert_int_equal(proc->arena->magic, ARENA_MAGIC);
	assert_int_equal(proc->arena_bytes, arena_bytes(nr_rings, proc->arena->ring_stride));
	assert_int_equal(lseek(fd, 0, SEEK_END), proc->arena_bytes);
	for (uint32_t i = 0; i < 3 && i < nr_rings; i++) {
		assert_ptr_equal(process_ring(proc, i), arena_ring(proc->arena, i));
		assert_int_equal(process_ring(proc, i)->state, RING_FREE);
	}
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, proc->arena_bytes + RING_PAGE), -1);
	assert_int_equal(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	/* As many rings are in use as the program states, but at most as many as exist. */
	proc->arena->high_water = 1;
	assert_int_equal(process_rings_in_use(proc), 1);
	proc->arena->high_water = UINT32_MAX;
	assert_int_equal(process_rings_in_use(proc), nr_rings);
	close(fd);
	process_destroy(proc);
	pair_stop(&pair);
	pair_close(&pair);
}

TEST(test_arenas)
{
	check_arena(RING_PAGE, 0, 8, RING_PAGE, 16384);
	check_arena(128 << 10, 0, 8, 128 << 10, 16384);
	check_arena(64 << 20, 0, 8, 64 << 20, 127);
	check_arena(RING_PAGE, 1 << 20, 32, (1 << 20) / 32, 16384);
	/* Segments are rounded up to whole pages. */
	check_arena(RING_PAGE, (1 << 20) + 1, 32, (1 << 20) / 32, 16384);
	check_arena(RING_PAGE, (1 << 20) + 32, 32, (1 << 20) / 32 + RING_PAGE, 16384);
}

TEST(test_finding)
{
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);

	struct recorder *rec = &pair.rec;
	/*
	 * @boxed has the number 4200007 in a pid namespace of its own. @plain has this number
	 * outside of it.
	 */
	struct process *boxed = make(&pair, 4200007, 4200100, CONTROL_EXEC);
	struct process *plain = make(&pair, 4200007, 4200007, CONTROL_EXEC);

	process_publish(&rec->processes, boxed);
	assert_ptr_equal(process_find_os(&rec->processes, 4200100), boxed);
	assert_null(process_find_os(&rec->processes, 4200007));
	process_publish(&rec->processes, plain);
	assert_ptr_equal(process_find_os(&rec->processes, 4200007), plain);
	assert_ptr_equal(process_find_os(&rec->processes, 4200100), boxed);

	/* The child is found by the number that its parent knows, in any namespace. */
	struct process *child = make(&pair, 4200008, 4200101, CONTROL_FORK);

	child->parent = boxed;
	process_publish(&rec->processes, child);
	assert_ptr_equal(process_find_child(&rec->processes, boxed, 4200008), child);
	assert_null(process_find_child(&rec->processes, plain, 4200008));
	assert_null(process_find_child(&rec->processes, boxed, 4200007));
	process_retire(&rec->processes, child);

	/* A later image of the same process. */
	struct process *next = make(&pair, 4200007, 4200007, CONTROL_EXEC);

	process_publish(&rec->processes, next);
	assert_ptr_equal(process_find_os(&rec->processes, 4200007), next);
	assert_ptr_equal(rec->processes.first, next);
	assert_ptr_equal(rec->processes.live, next);
	assert_ptr_equal(next->next_live, plain);

	/* Writers do not read a retired process any more; they still read the others. */
	process_retire(&rec->processes, plain);
	assert_null(plain->arena);
	assert_null(plain->sinks);
	assert_ptr_equal(rec->processes.live, next);
	assert_ptr_equal(next->next_live, boxed);
	process_retire(&rec->processes, plain); /* a second call does no harm */
	process_retire(&rec->processes, boxed);
	assert_ptr_equal(next->next_live, pair.proc);
	process_retire(&rec->processes, next);
	assert_ptr_equal(rec->processes.live, pair.proc);
	assert_ptr_equal(process_find_os(&rec->processes, 4200007), next);
	pair_stop(&pair);
	pair_close(&pair);
}

/* A process that cannot be made completely leaves nothing of itself. */
TEST(test_no_descriptors)
{
	const struct control_hello hello = { .pid = 1, .kind = CONTROL_EXEC };
	struct rlimit before;
	struct pair pair;
	int fd = -1;

	pair_init(&pair);
	pair_open(&pair);
	getrlimit(RLIMIT_NOFILE, &before);

	int next = dup(pair.dir_fd);
	struct rlimit limit = { next, before.rlim_max };

	close(next);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
	assert_null(process_create(&pair.rec.processes, &hello, 4200001, &fd));
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(fd, -1);
	pair_stop(&pair);
	pair_close(&pair);
}

/* Processes are counted while they live, until they are retired. */
TEST(test_counting)
{
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	assert_int_equal(pair.rec.alive.nr_followed, 1); /* this process */

	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}

	struct process *proc = make(&pair, pid, pid, CONTROL_FORK);

	process_publish(&pair.rec.processes, proc);
	assert_int_equal(pair.rec.alive.nr_followed, 2);
	assert_true(proc->pidfd >= 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	process_retire(&pair.rec.processes, proc);
	assert_int_equal(proc->pidfd, -1);
	assert_int_equal(pair.rec.alive.nr_followed, 1);
	process_retire(&pair.rec.processes, proc);
	assert_int_equal(pair.rec.alive.nr_followed, 1);

	proc = make(&pair, 4200001, 4200001, CONTROL_FORK); /* such a process does not exist */
	process_publish(&pair.rec.processes, proc);
	assert_int_equal(proc->pidfd, -1);
	assert_int_equal(pair.rec.alive.nr_followed, 1);
	pair_stop(&pair);
	assert_int_equal(pair.rec.alive.nr_followed, 0);
	pair_close(&pair);
}

/*
 * Records that a process had committed at its end are in its files, whatever its threads were
 * doing.
 */
TEST(test_retiring_takes_all)
{
	struct thread *t[5];
	int32_t tids[ARRAY_SIZE(t)];
	struct pair pair;

	pair_init(&pair);
	pair_open(&pair);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		t[i] = pair_thread();
		tids[i] = t[i]->ring->tid;
		for (size_t j = 0; j < 300 * (i + 1); j++)
			assert_true(emit_record(t[i], j, record_data(RECORD_ENTRY, 0, j), NULL, 0));
	}
	thread_give_back(t[1]);
	t[3]->ring->state = RING_CLAIMED;
	process_retire(&pair.rec.processes, pair.proc);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct strbuf file cleanup_strbuf = pair_data(&pair, tids[i]);

		assert_int_equal(file.len, 300 * (i + 1) * sizeof(struct record));
	}
	pair_stop(&pair);
	pair_close(&pair);
}

static struct control_module *module(uint64_t start, uint64_t end)
{
	struct control_module *m = calloc(1, sizeof(*m) + 2);

	assert_non_null(m);
	m->h.len = sizeof(*m) + 2;
	m->start = start;
	m->end = end;
	strcpy(m->path, "m");
	return m;
}

/* Keep one more module. The process becomes the owner of the packet. */
static void keep(struct pair *pair, struct process *proc, uint64_t start, uint64_t end)
{
	struct control_module *one = module(start, end);

	process_keep_modules(&pair->rec.processes, proc, &one, 1);
	assert_null(one);
}

static void check_kept(const struct pair *pair, const struct process *proc, size_t nr,
		       const uint64_t *starts)
{
	assert_int_equal(proc->nr_kept_modules, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(proc->modules[i]->start, starts[i]);
}

/*
 * A module replaces an earlier one at the same addresses. The program, which is the first module,
 * always stays.
 */
TEST(test_modules)
{
	const size_t bytes = sizeof(struct control_module) + 2;
	struct process *proc, *child;
	struct pair pair;
	uint64_t before;

	pair_init(&pair);
	pair_open(&pair);
	before = pair.rec.processes.kept_bytes;
	proc = make(&pair, 4200001, 4200001, CONTROL_EXEC);
	keep(&pair, proc, 0x1000, 0x2000);
	keep(&pair, proc, 0x2000, 0x3000);
	keep(&pair, proc, 0x3000, 0x4000);
	check_kept(&pair, proc, 3, (const uint64_t[]){ 0x1000, 0x2000, 0x3000 });
	assert_int_equal(pair.rec.processes.kept_bytes, before + 3 * bytes);
	/*
	 * The new module overlaps an earlier one by one byte: by its last one, or by its first one.
	 */
	keep(&pair, proc, 0x2fff, 0x3000);
	check_kept(&pair, proc, 3, (const uint64_t[]){ 0x1000, 0x3000, 0x2fff });
	keep(&pair, proc, 0x3fff, 0x5000);
	check_kept(&pair, proc, 3, (const uint64_t[]){ 0x1000, 0x2fff, 0x3fff });
	keep(&pair, proc, 0x1000, 0x2000);
	check_kept(&pair, proc, 4, (const uint64_t[]){ 0x1000, 0x2fff, 0x3fff, 0x1000 });
	assert_int_equal(pair.rec.processes.kept_bytes, before + 4 * bytes);

	/* A forked child has the modules, too: copies of its own. */
	child = make(&pair, 4200002, 4200002, CONTROL_FORK);
	proc->has_declared = true;
	process_inherit_modules(&pair.rec.processes, child, proc);
	assert_true(child->has_declared);
	check_kept(&pair, child, 4, (const uint64_t[]){ 0x1000, 0x2fff, 0x3fff, 0x1000 });
	assert_ptr_not_equal(child->modules[0], proc->modules[0]);
	assert_string_equal(child->modules[0]->path, "m");
	assert_int_equal(pair.rec.processes.kept_bytes, before + 8 * bytes);
	process_publish(&pair.rec.processes, proc);
	process_publish(&pair.rec.processes, child);
	process_retire(&pair.rec.processes, proc);
	process_retire(&pair.rec.processes, child);
	pair_stop(&pair);
	pair_close(&pair);
}

/*
 * A process keeps a limited number of modules, and all processes keep a limited number of bytes.
 * Modules that are not kept stay with the caller.
 */
TEST(test_modules_have_limits)
{
	const size_t bytes = sizeof(struct control_module) + 2;
	const uint64_t bytes_max = 256UL << 20;
	struct control_module *three[3];
	struct process *proc, *child;
	struct pair pair;
	uint64_t before;

	pair_init(&pair);
	pair_open(&pair);
	before = pair.rec.processes.kept_bytes;
	proc = make(&pair, 4200001, 4200001, CONTROL_EXEC);
	child = make(&pair, 4200002, 4200002, CONTROL_FORK);
	for (int i = 0; i < 3; i++)
		three[i] = module(0x1000 * (i + 1), 0x1000 * (i + 2));

	/* The limit of memory leaves room for two of the three modules. */
	pair.rec.processes.kept_bytes = bytes_max - 2 * bytes;
	process_keep_modules(&pair.rec.processes, proc, three, 3);
	assert_null(three[0]);
	assert_null(three[1]);
	assert_non_null(three[2]);
	check_kept(&pair, proc, 2, (const uint64_t[]){ 0x1000, 0x2000 });
	assert_int_equal(pair.rec.processes.kept_bytes, bytes_max);

	/* The limit leaves room for one of the two modules that the child inherits. */
	pair.rec.processes.kept_bytes = bytes_max - 2 * bytes + 1;
	process_inherit_modules(&pair.rec.processes, child, proc);
	assert_false(child->has_declared);
	check_kept(&pair, child, 1, (const uint64_t[]){ 0x1000 });
	assert_int_equal(pair.rec.processes.kept_bytes, bytes_max - bytes + 1);

	pair.rec.processes.kept_bytes = before + 3 * bytes;
	process_keep_modules(&pair.rec.processes, proc, &three[2], 1);
	for (uint64_t i = 4; i <= 4096; i++)
		keep(&pair, proc, 0x1000 * i, 0x1000 * (i + 1));
	assert_int_equal(proc->nr_kept_modules, 4096);
	three[0] = module(0x1000, 0x2000);
	process_keep_modules(&pair.rec.processes, proc, three, 1);
	assert_non_null(three[0]);
	assert_int_equal(proc->nr_kept_modules, 4096);
	free(three[0]);
	process_publish(&pair.rec.processes, proc);
	process_publish(&pair.rec.processes, child);
	process_retire(&pair.rec.processes, proc);
	assert_int_equal(proc->nr_kept_modules, 0);
	process_retire(&pair.rec.processes, child);
	assert_int_equal(pair.rec.processes.kept_bytes, before);
	pair_stop(&pair);
	pair_close(&pair);
}
