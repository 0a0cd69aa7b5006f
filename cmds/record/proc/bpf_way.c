/*
 * Follows the processes of the program by eBPF: loads the eBPF program (follow.bpf.c), and has a
 * thread that empties its ring (doc/internals/processes.md).
 */
#include "cmds/record/proc/proc.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/proc/bpf_ring.h"
#include "cmds/record/proc/bpf_wire.h"
#include "cmds/record/proc/calls.h"
#include "cmds/record/proc/follow_bpf.h"
#include "utils/base/units.h"

#define DRAIN_MS   10
#define RING_BYTES (64U << 20)
#define RING_BYTES_FEW \
	(16U << 20) /* without files: there is less to tell, and its memory takes time, too */
#define RING_BYTES_MIN (1U << 20) /* less is not tried when memory is short */
#define NR_PROGRAMS    5
/* For tests: another size of the ring, in bytes. */
#define RING_VARIABLE  "UTRAIL_PROC_RING"

/* Names in follow.bpf.c: its maps, and programs that are only for files. */
#define MARKS	  "marks"
#define RING	  "ring"
#define SCRATCHES "scratches"
#define SETTINGS  ".rodata.settings"
#define COUNTS	  ".data.counts"
static const char *const of_files[] = { "see_call", "see_result" };

/*
 * @object: the program and its maps; @links: where it is attached; all die with their descriptors
 * @stop_fd: an eventfd; can be read when the thread is to end
 * @ring: the thread's, while it runs; @queue as well
 * @over_fd: as proc.h has it
 */
struct following {
	const struct record_settings *settings;
	struct bpf_object *object;
	struct bpf_link *links[NR_PROGRAMS];
	struct ring_buffer *queue;
	struct bpf_ring ring;
	pthread_t thread;
	int stop_fd;
	int over_fd;
};

/* libbpf would write what goes wrong to standard error; the error that it returns says enough. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static void release(struct following *f)
{
	for (size_t i = 0; i < NR_PROGRAMS; i++)
		bpf_link__destroy(f->links[i]);
	ring_buffer__free(f->queue);
	bpf_object__close(f->object);
	bpf_ring_deinit(&f->ring);
	if (f->stop_fd >= 0)
		close(f->stop_fd);
	free(f);
}

static void bpf_way_release(struct proc *proc)
{
	if (proc->own)
		release(proc->own);
	proc->own = NULL;
}

/*
 * After chroot(2) paths would begin with the way to our root, and not as other programs here have
 * them.
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

static int set_up(struct bpf_object *object, const struct record_settings *settings,
		  size_t ring_bytes)
{
	struct bpf_map *constants = bpf_object__find_map_by_name(object, SETTINGS);
	struct bpf_map *scratches = bpf_object__find_map_by_name(object, SCRATCHES);
	struct bpf_map *ring = bpf_object__find_map_by_name(object, RING);
	struct wire_settings wire;
	int ret;

	if (!constants || !scratches || !ring)
		return -EINVAL;
	fill_settings(&wire, settings);
	wire.ring_bytes = ring_bytes;
	ret = bpf_map__set_initial_value(constants, &wire, sizeof(wire));
	if (ret == 0)
		ret = bpf_map__set_max_entries(scratches, libbpf_num_possible_cpus());
	if (ret == 0)
		ret = bpf_map__set_max_entries(ring, ring_bytes);
	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(of_files); i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, of_files[i]);

		ret = program ? bpf_program__set_autoload(program, settings->traces_files)
			      : -EINVAL;
	}
	return ret;
}

static int load(struct following *f, size_t ring_bytes)
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "utrail");
	int ret;

	f->object = bpf_object__open_mem(follow_bpf_bytes, sizeof(follow_bpf_bytes), &opts);
	if (!f->object)
		return -errno;
	ret = set_up(f->object, f->settings, ring_bytes);
	if (ret == 0)
		ret = bpf_object__load(f->object);
	if (ret < 0) {
		bpf_object__close(f->object);
		f->object = NULL;
	}
	return ret;
}

/* A smaller ring does when memory is short, as long as it is emptied in time. */
static int load_as_it_fits(struct following *f)
{
	const char *wanted = getenv(RING_VARIABLE);
	size_t bytes = f->settings->traces_files ? RING_BYTES : RING_BYTES_FEW;
	int ret;

	if (wanted)
		bytes = strtoul(wanted, NULL, 10);
	do {
		ret = load(f, bytes);
		bytes /= 2;
	} while (ret == -ENOMEM && bytes >= RING_BYTES_MIN);
	return ret;
}

static int take(void *ctx, void *data, size_t size)
{
	bpf_ring_take(ctx, data, size);
	return 0;
}

static const char *why(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return ": it takes root, or CAP_BPF and CAP_PERFMON; --proc=ptrace does without";
	case -ENOENT:
	case -ESRCH:
	case -EINVAL:
	case -ENOTSUP:
		return ": it takes Linux 5.17 with BTF (/sys/kernel/btf/vmlinux); --proc=ptrace "
		       "does without";
	default:
		return "; --proc=ptrace does without";
	}
}

static int cannot(struct uft_err *err, int error)
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
			       "cannot follow processes by eBPF behind chroot(2): the paths of "
			       "files would be others; --proc=ptrace does");
	f = calloc(1, sizeof(*f));
	if (!f)
		return cannot(err, -ENOMEM);
	f->settings = settings;
	f->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	libbpf_set_print(print_nothing);
	ret = f->stop_fd < 0 ? -errno : load_as_it_fits(f);
	if (ret == 0) {
		f->queue = ring_buffer__new(bpf_object__find_map_fd_by_name(f->object, RING), take,
					    &f->ring, NULL);
		ret = f->queue ? 0 : -errno;
	}
	if (ret < 0) {
		release(f);
		return cannot(err, ret);
	}
	proc->own = f;
	return 0;
}

/* --- the thread --- */

static struct wire_counts read_counts(const struct following *f)
{
	struct bpf_map *map = bpf_object__find_map_by_name(f->object, COUNTS);
	struct wire_counts counts = { 0 };
	const uint32_t only = 0;

	if (bpf_map__lookup_elem(map, &only, sizeof(only), &counts, sizeof(counts), 0) < 0)
		counts = (struct wire_counts){ .nr_live = 1 };
	return counts;
}

static void drain(struct following *f)
{
	clockid_t clock = f->settings->clock_id;

	f->ring.to_clock_ns = clock == CLOCK_MONOTONIC
				      ? 0
				      : clock_now_ns(clock) - clock_now_ns(CLOCK_MONOTONIC);
	ring_buffer__consume(f->queue);
}

static void *follow(void *arg)
{
	struct following *f = arg;
	struct pollfd fds[] = { { .fd = f->stop_fd, .events = POLLIN },
				{ .fd = ring_buffer__epoll_fd(f->queue), .events = POLLIN } };
	bool is_over = false;

	while (poll(fds, ARRAY_SIZE(fds), DRAIN_MS) <= 0 || !(fds[0].revents & POLLIN)) {
		/* Whoever is not counted any more has told of all before. */
		bool is_empty = !is_over && read_counts(f).nr_live == 0;

		drain(f);
		if (is_empty) {
			is_over = true;
			proc_tell(f->over_fd);
		}
	}
	drain(f);
	bpf_ring_finish(&f->ring);
	return NULL;
}

/* --- from the beginning to the end --- */

static int mark_program(struct following *f, pid_t pid)
{
	struct wire_mark mark = { .tid = pid, .pid = pid, .waits = 1 };
	int marks = bpf_object__find_map_fd_by_name(f->object, MARKS);
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	int ret = pidfd < 0 ? -errno : bpf_map_update_elem(marks, &pidfd, &mark, BPF_ANY);

	if (pidfd >= 0)
		close(pidfd);
	return ret;
}

static int attach(struct following *f)
{
	struct bpf_program *program;
	size_t nr = 0;

	bpf_object__for_each_program(program, f->object)
	{
		if (!bpf_program__autoload(program))
			continue;
		if (nr == NR_PROGRAMS)
			return -EINVAL;
		f->links[nr] = bpf_program__attach(program);
		if (!f->links[nr++])
			return -errno;
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
		ret = attach(f);
	if (ret == 0)
		ret = -pthread_create(&f->thread, NULL, follow, f);
	return ret < 0 ? cannot(err, ret) : 0;
}

static void bpf_way_stop(struct proc *proc)
{
	struct following *f = proc->own;

	for (size_t i = 0; i < NR_PROGRAMS; i++) {
		bpf_link__destroy(f->links[i]);
		f->links[i] = NULL;
	}
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
