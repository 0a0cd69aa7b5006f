/*
 * Traces the recorded processes by eBPF. Loads the eBPF program (follow.bpf.c), and runs a thread
 * that reads the ring of the eBPF program (doc/internals/processes.md).
 */
#include "cmds/record/proc/proc.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/skel_internal.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/proc/bpf_ring.h"
#include "cmds/record/proc/bpf_wire.h"
#include "cmds/record/proc/calls.h"
#include "cmds/record/proc/follow_bpf.h"

#define DRAIN_MS	     10
/*
 * The sizes of the ring, in bytes. If files are recorded, the ring has RING_BYTES_FILES. Otherwise,
 * if environment variables are recorded, the ring has RING_BYTES_VARIABLES. Otherwise, the ring has
 * RING_BYTES_ARGUMENTS. A ring has room for the records that a busy build makes in a quarter of a
 * second. The allocation takes 1 ms for each 3 MB.
 */
#define RING_BYTES_FILES     (8U << 20)
#define RING_BYTES_VARIABLES (8U << 20)
#define RING_BYTES_ARGUMENTS (4U << 20)
#define RING_BYTES_MIN	     (1U << 20) /* the smallest size that is tried when memory is short */
#define RING_TIMES_LATE	     2 /* multiplies the size, if the reading thread gets no priority */
/* The priority of the reading thread. Records are lost if the thread waits too long for a CPU. */
#define FIRST_PRIORITY	     -20
/* An environment variable with the size of the ring in bytes. Tests set it. */
#define RING_VARIABLE	     "UTRAIL_PROC_RING"

static_assert(FOLLOW_SETTINGS_BYTES == sizeof(struct wire_settings), "follow.bpf.c has these");
static_assert(FOLLOW_COUNTS_BYTES == sizeof(struct wire_counts), "follow.bpf.c has these");

/*
 * The context of the loader, in the form that libbpf expects (misc/bpf_embed.c). Each map and
 * program in the context has a descriptor. Closing the descriptor frees the map or the program.
 */
struct loader {
	struct bpf_loader_ctx ctx;
	struct bpf_map_desc maps[FOLLOW_MAPS];
	struct bpf_prog_desc programs[FOLLOW_FILES_PROGRAMS];
};

/*
 * The memory of the ring. libbpf would map the data twice, and RSS would count the data twice. Here
 * the data is mapped only once. If a record wraps around the end of the ring, the record is copied
 * to @wrapped.
 *
 * @taken: the number of bytes read since the start. The kernel reads this number
 * @made: the number of bytes written since the start. This number lies one page before @data
 * @bytes: the size of @data, a power of two; 0: nothing is mapped
 * @wake_fd: readable when the eBPF program has woken the reader; -1: not open
 */
struct queue {
	uint64_t *taken;
	const uint64_t *made;
	const char *data;
	size_t bytes;
	int wake_fd;
	char wrapped[sizeof(struct wire_record) + WIRE_BYTES_MAX];
};

/*
 * @loaded: valid if @is_loaded
 * @links: the descriptors of the @nr_links eBPF programs that are attached
 * @ring_bytes: the size of the ring of the loaded eBPF programs
 * @queue, @ring: only @thread uses these members while @thread runs
 * @stop_fd: an eventfd. It is readable when the thread must end
 * @over_fd: see struct proc
 */
struct following {
	const struct record_settings *settings;
	struct loader loaded;
	bool is_loaded;
	int links[FOLLOW_FILES_PROGRAMS];
	size_t nr_links;
	size_t ring_bytes;
	struct queue queue;
	struct bpf_ring ring;
	pthread_t thread;
	int stop_fd;
	int over_fd;
};

/*
 * Drops the messages of libbpf, which would go to standard error. The return values of libbpf are
 * sufficient.
 */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* --- the ring's memory --- */

static int map_queue(struct queue *queue, int map_fd, size_t bytes)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct epoll_event event = { .events = EPOLLIN };
	void *taken = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	void *made = mmap(NULL, page + bytes, PROT_READ, MAP_SHARED, map_fd, page);

	queue->bytes = bytes;
	queue->taken = taken == MAP_FAILED ? NULL : taken;
	queue->made = made == MAP_FAILED ? NULL : made;
	queue->data = (const char *)queue->made + page;
	if (!queue->taken || !queue->made)
		return -ENOMEM;
	/*
	 * poll(2) of the map itself would return for every record. epoll(7) returns only when the
	 * eBPF program requests a wake-up.
	 */
	queue->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (queue->wake_fd < 0 || epoll_ctl(queue->wake_fd, EPOLL_CTL_ADD, map_fd, &event) < 0)
		return -errno;
	return 0;
}

static void unmap_queue(struct queue *queue)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	if (queue->taken)
		munmap(queue->taken, page);
	if (queue->made)
		munmap((void *)queue->made, page + queue->bytes);
	if (queue->wake_fd >= 0)
		close(queue->wake_fd);
}

/*
 * Returns the address of the @size bytes at position @at. If the bytes wrap around the end of the
 * ring, returns the address of a copy. Returns NULL when a copy would be larger than any record.
 */
static const void *record_at(struct queue *queue, uint64_t at, size_t size)
{
	size_t offset = at & (queue->bytes - 1);
	size_t first = queue->bytes - offset;

	if (size <= first)
		return queue->data + offset;
	if (size > sizeof(queue->wrapped))
		return NULL;
	memcpy(queue->wrapped, queue->data + offset, first);
	memcpy(queue->wrapped + first, queue->data, size - first);
	return queue->wrapped;
}

/*
 * Take all complete records. A record is incomplete as long as its header has BPF_RINGBUF_BUSY_BIT
 * (linux/bpf.h). An incomplete record, and all records after it, stay in the ring until this
 * function is called again.
 */
static void drain_ring(struct queue *queue, struct bpf_ring *ring)
{
	const unsigned bits = BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT;
	uint64_t at = *queue->taken;

	while (at < __atomic_load_n(queue->made, __ATOMIC_ACQUIRE)) {
		/* A header is aligned to its size, so it never wraps. */
		const uint32_t *head = (const void *)(queue->data + (at & (queue->bytes - 1)));
		uint32_t word = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		size_t size = word & ~bits;
		const void *data;

		if (word & BPF_RINGBUF_BUSY_BIT)
			break;
		data = record_at(queue, at + BPF_RINGBUF_HDR_SZ, size);
		if (!data)
			ring->nr_broken++;
		else if (!(word & BPF_RINGBUF_DISCARD_BIT))
			bpf_ring_take(ring, data, size);
		at += (size + 2 * BPF_RINGBUF_HDR_SZ - 1) & -(uint64_t)BPF_RINGBUF_HDR_SZ;
		__atomic_store_n(queue->taken, at, __ATOMIC_RELEASE);
	}
}

/* --- loading --- */

static unsigned nr_programs(const struct following *f)
{
	return f->settings->traces_files ? FOLLOW_FILES_PROGRAMS : FOLLOW_PROGRAMS;
}

static void unload(struct following *f)
{
	for (size_t i = 0; i < nr_programs(f); i++)
		close(f->loaded.programs[i].prog_fd);
	for (size_t i = 0; i < FOLLOW_MAPS; i++)
		close(f->loaded.maps[i].map_fd);
}

static void unlink_programs(struct following *f)
{
	while (f->nr_links)
		close(f->links[--f->nr_links]);
}

static void release_following(struct following *f)
{
	unlink_programs(f);
	unmap_queue(&f->queue);
	if (f->is_loaded)
		unload(f);
	bpf_ring_deinit(&f->ring);
	if (f->stop_fd >= 0)
		close(f->stop_fd);
	free(f);
}

static void bpf_way_release(struct proc *proc)
{
	if (proc->own)
		release_following(proc->own);
	proc->own = NULL;
}

/*
 * True when the recorder runs after chroot(2). In this case, paths from the kernel begin with the
 * path of the new root. Paths that programs see do not contain the path of the new root.
 */
static bool is_behind_chroot(void)
{
	struct stat ours;
	struct stat first;

	return stat("/", &ours) == 0 && stat("/proc/1/root/", &first) == 0 &&
	       (ours.st_dev != first.st_dev || ours.st_ino != first.st_ino);
}

static void fill_settings(struct wire_settings *wire, const struct record_settings *settings)
{
	struct stat st;

	*wire = (struct wire_settings){
		.traces_files = settings->traces_files,
		.traces_environment = settings->traces_environment,
	};
	if (stat("/proc/self/ns/mnt", &st) == 0)
		wire->mount_namespace = st.st_ino;
	for (unsigned abi = 0; syscall_abis[abi].audit_arch && abi < WIRE_ABIS; abi++) {
		wire->masks[abi] = syscall_abis[abi].mask;
		for (enum syscall_id id = SYSCALL_NONE + 1; id < SYSCALL_BEYOND; id++) {
			int number = syscall_abis[abi].numbers[id];

			if (number >= 0 && number < (int)WIRE_NUMBERS)
				wire->ids[abi][number] = id;
		}
	}
	memcpy(wire->shapes, call_shapes, sizeof(wire->shapes));
}

/* Loads the first nr_programs() programs. Returns 0 or a negative errno. */
static int run_loader(struct following *f)
{
	struct bpf_load_and_run_opts files = {
		.data = follow_files_data,
		.data_sz = sizeof(follow_files_data),
		.insns = follow_files_code,
		.insns_sz = sizeof(follow_files_code),
	};
	struct bpf_load_and_run_opts few = {
		.data = follow_data,
		.data_sz = sizeof(follow_data),
		.insns = follow_code,
		.insns_sz = sizeof(follow_code),
	};
	struct bpf_load_and_run_opts *opts = f->settings->traces_files ? &files : &few;

	f->loaded.ctx.sz = offsetof(struct loader, programs) +
			   nr_programs(f) * sizeof(f->loaded.programs[0]);
	opts->ctx = &f->loaded.ctx;
	return bpf_load_and_run(opts);
}

static int load_programs(struct following *f, size_t ring_bytes)
{
	struct wire_settings wire;
	int ret;

	fill_settings(&wire, f->settings);
	wire.ring_bytes = ring_bytes;
	f->loaded = (struct loader){ 0 };
	f->loaded.maps[FOLLOW_SETTINGS].initial_value = (uintptr_t)&wire;
	f->loaded.maps[FOLLOW_SCRATCHES].max_entries = libbpf_num_possible_cpus();
	f->loaded.maps[FOLLOW_RING].max_entries = ring_bytes;
	ret = run_loader(f);
	/* After an error, the loader has already closed everything that it had made. */
	f->is_loaded = ret == 0;
	return ret;
}

/*
 * True when the calling thread may raise its priority. After the check, the thread has its usual
 * priority again.
 */
static bool may_go_first(void)
{
	int usual = getpriority(PRIO_PROCESS, gettid());

	return setpriority(PRIO_PROCESS, gettid(), FIRST_PRIORITY) == 0 &&
	       setpriority(PRIO_PROCESS, gettid(), usual) == 0;
}

/*
 * Loads the eBPF programs. If memory is short, tries a smaller ring. A small ring is sufficient if
 * the reading thread empties the ring in time.
 */
static int load_as_it_fits(struct following *f)
{
	const char *wanted = getenv(RING_VARIABLE);
	size_t bytes = f->settings->traces_files	 ? RING_BYTES_FILES
		       : f->settings->traces_environment ? RING_BYTES_VARIABLES
							 : RING_BYTES_ARGUMENTS;
	int ret;

	if (!may_go_first())
		bytes *= RING_TIMES_LATE;
	if (wanted)
		bytes = strtoul(wanted, NULL, 10);
	do {
		f->ring_bytes = bytes;
		ret = load_programs(f, bytes);
		bytes /= 2;
	} while (ret == -ENOMEM && bytes >= RING_BYTES_MIN);
	return ret;
}

static const char *why(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return ": it needs root, or CAP_BPF and CAP_PERFMON; --proc=ptrace does not";
	case -ENOENT:
	case -ESRCH:
	case -EINVAL:
	case -ENOTSUP:
		return ": it needs Linux 5.17 with BTF (/sys/kernel/btf/vmlinux); --proc=ptrace "
		       "does not";
	default:
		return "; --proc=ptrace does without";
	}
}

static int cannot_follow(struct uft_err *err, int error)
{
	err_set_errno(err, error, "cannot follow processes by eBPF");
	if (err && err->code == error) {
		size_t len = strlen(err->text);

		snprintf(err->text + len, sizeof(err->text) - len, "%s", why(error));
	}
	return error;
}

static int bpf_way_prepare(struct proc *proc, const struct record_settings *settings,
			   struct uft_err *err)
{
	struct following *f;
	int ret;

	if (is_behind_chroot())
		return err_set(err, -EOPNOTSUPP,
			       "cannot follow processes by eBPF after chroot(2): the paths of "
			       "files would be others; --proc=ptrace does");
	f = calloc(1, sizeof(*f));
	if (!f)
		return cannot_follow(err, -ENOMEM);
	f->settings = settings;
	f->queue.wake_fd = -1;
	f->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	libbpf_set_print(print_nothing);
	ret = f->stop_fd < 0 ? -errno : load_as_it_fits(f);
	if (ret == 0)
		ret = map_queue(&f->queue, f->loaded.maps[FOLLOW_RING].map_fd, f->ring_bytes);
	if (ret < 0) {
		release_following(f);
		return cannot_follow(err, ret);
	}
	proc->own = f;
	return 0;
}

/* --- the thread --- */

static struct wire_counts read_counts(const struct following *f)
{
	struct wire_counts counts = { 0 };
	const uint32_t only = 0;

	if (bpf_map_lookup_elem(f->loaded.maps[FOLLOW_COUNTS].map_fd, &only, &counts) < 0)
		counts = (struct wire_counts){ .nr_live = 1 };
	return counts;
}

static void drain_queue(struct following *f)
{
	clockid_t clock = f->settings->clock_id;

	f->ring.to_clock_ns = clock == CLOCK_MONOTONIC
				      ? 0
				      : clock_now_ns(clock) - clock_now_ns(CLOCK_MONOTONIC);
	proc_log_gather(f->ring.log);
	drain_ring(&f->queue, &f->ring);
	proc_log_write_gathered(f->ring.log);
}

static void *run_follower(void *arg)
{
	struct following *f = arg;
	struct pollfd fds[] = { { .fd = f->stop_fd, .events = POLLIN },
				{ .fd = f->queue.wake_fd, .events = POLLIN } };
	bool is_over = false;

	/* If the priority is not permitted, load_as_it_fits() has chosen a larger ring. */
	setpriority(PRIO_PROCESS, gettid(), FIRST_PRIORITY);
	while (poll(fds, ARRAY_SIZE(fds), DRAIN_MS) <= 0 || !(fds[0].revents & POLLIN)) {
		/*
		 * A task writes its last record before nr_live falls. Therefore read nr_live before
		 * the ring: if no task is left, the ring already has all records.
		 */
		bool is_empty = !is_over && read_counts(f).nr_live == 0;

		drain_queue(f);
		if (is_empty) {
			is_over = true;
			proc_tell(f->over_fd);
		}
	}
	drain_queue(f);
	bpf_ring_finish(&f->ring);
	return NULL;
}

/* --- start and stop of the tracing --- */

static int mark_program(struct following *f, pid_t pid)
{
	struct wire_mark mark = { .tid = pid, .pid = pid, .waits = 1 };
	int marks = f->loaded.maps[FOLLOW_MARKS].map_fd;
	int pidfd cleanup_fd = syscall(SYS_pidfd_open, pid, 0);

	return pidfd < 0 ? -errno : bpf_map_update_elem(marks, &pidfd, &mark, BPF_ANY);
}

static int link_programs(struct following *f)
{
	for (; f->nr_links < nr_programs(f); f->nr_links++) {
		int program = f->loaded.programs[f->nr_links].prog_fd;
		int link = bpf_raw_tracepoint_open(NULL, program);

		if (link < 0)
			return -errno;
		f->links[f->nr_links] = link;
	}
	return 0;
}

static int bpf_way_start(struct proc *proc, pid_t pid, struct uft_err *err)
{
	struct following *f = proc->own;
	int ret = mark_program(f, pid);

	f->ring.log = &proc->log;
	f->over_fd = proc->over_fd;
	if (ret == 0)
		ret = link_programs(f);
	if (ret == 0)
		ret = -pthread_create(&f->thread, NULL, run_follower, f);
	return ret < 0 ? cannot_follow(err, ret) : 0;
}

static void bpf_way_stop(struct proc *proc)
{
	struct following *f = proc->own;

	unlink_programs(f);
	proc_tell(f->stop_fd);
	pthread_join(f->thread, NULL);
	proc->lost = read_counts(f).nr_lost + f->ring.nr_broken;
}

const struct proc_way proc_by_bpf = {
	.prepare = bpf_way_prepare,
	.start = bpf_way_start,
	.stop = bpf_way_stop,
	.release = bpf_way_release,
};
