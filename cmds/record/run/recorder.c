/* The recorder's life: set up, and, behind recorder_run() (lifetime.c), take what is left. */
#include "cmds/record/run/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

uint64_t recorder_now_ns(const struct recorder *rec)
{
	struct timespec ts;

	clock_gettime(rec->settings->clock_id, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Whether the kernel itself keeps time by the CPU's counter: then so may we. */
static bool kernel_trusts_counter(void)
{
	struct strbuf name cleanup_strbuf = { 0 };

	if (!arch_has_invariant_counter() ||
	    file_read_all("/sys/devices/system/clocksource/clocksource0/current_clocksource", 4096,
			  &name, NULL) < 0)
		return false;

	size_t len = strlen(arch_counter_clocksource);

	return strncmp(strbuf_str(&name), arch_counter_clocksource, len) == 0 &&
	       strbuf_str(&name)[len] == '\n';
}

static uint32_t opt_in_flags(const struct filters *filters)
{
	uint32_t kinds = filters_opt_in(filters);

	return (kinds & TRIGGER_FILTER ? PLAN_OPT_IN_FILTER : 0) |
	       (kinds & TRIGGER_CALLER ? PLAN_OPT_IN_CALLER : 0) |
	       (kinds & TRIGGER_LOCATION ? PLAN_OPT_IN_LOCATION : 0);
}

static void make_plan(struct recorder *rec)
{
	const struct record_settings *set = rec->settings;

	rec->plan = (struct plan){
		.threshold_ns = set->threshold_ns,
		.size_filter = MIN(set->size_filter, (uint64_t)UINT32_MAX),
		.flags = (set->trace_on ? 0 : PLAN_TRACE_OFF) |
			 (set->drops_when_full ? PLAN_DROP : 0) |
			 (set->flight_bytes ? PLAN_FLIGHT : 0) |
			 (set->estimates_return ? PLAN_ESTIMATE : 0) |
			 (set->reports_crashes ? PLAN_CRASH_REPORT : 0) |
			 (set->watch->cpu ? PLAN_WATCH_CPU : 0) |
			 (settings_are_selective(set) ? PLAN_SELECTIVE : 0) |
			 opt_in_flags(set->filters),
		.clock = kernel_trusts_counter() ? PLAN_CLOCK_COUNTER : PLAN_CLOCK_GETTIME,
		.clock_id = set->clock_id,
		.depth = set->depth,
		.max_stack = set->max_stack,
		.signals_on = set->signals.on,
		.signals_off = set->signals.off,
		.signals_finish = set->signals.finish,
	};
	if (rec->plan.clock == PLAN_CLOCK_COUNTER) {
		uint64_t before = arch_counter_read();

		rec->plan.anchor_ns = recorder_now_ns(rec);
		rec->plan.anchor_counter = before + (arch_counter_read() - before) / 2;
	}
}

/*
 * Nobody can write to it any more but by our own mapping. Before Linux 5.1 there is no seal for that: then the descriptor that probes get is
 * one for reading, and only our own user can have another one.
 */
static int close_control_page(struct recorder *rec)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	char path[64];

	if (fcntl(rec->control_fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) == 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", rec->control_fd);

	int fd = fcntl(rec->control_fd, F_ADD_SEALS, seals) < 0 || fchmod(rec->control_fd, 0400) < 0
			 ? -1
			 : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	close(rec->control_fd);
	rec->control_fd = fd;
	return 0;
}

static int make_control_page(struct recorder *rec, struct uft_err *err)
{
	rec->control_fd = memfd_create("utrail-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (rec->control_fd < 0 || ftruncate(rec->control_fd, sizeof(struct control_page)) < 0)
		return err_set_errno(err, -errno, "cannot create shared memory");

	void *p = mmap(NULL, sizeof(struct control_page), PROT_READ | PROT_WRITE, MAP_SHARED,
		       rec->control_fd, 0);

	if (p == MAP_FAILED)
		return err_set_errno(err, -errno, "cannot map shared memory");
	rec->control = p;
	rec->control->recorder_pid = getpid();
	return close_control_page(rec) < 0
		       ? err_set_errno(err, -errno, "cannot protect shared memory")
		       : 0;
}

/* Shared memory counts as a file. It is address space for the most part, but the limit does not know that. */
static int check_file_limit(struct uft_err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ARENA_BYTES_MAX)
		return err_set(
			err, -EFBIG,
			"cannot record under a limit on file sizes (ulimit -f) below %llu GB",
			ARENA_BYTES_MAX >> 30);
	return 0;
}

/* Where probes find us, and what shows that they are ours. */
static int make_address(struct recorder *rec, struct uft_err *err)
{
	uint64_t random[1 + CONTROL_SECRET_BYTES / sizeof(uint64_t)];
	int len;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set_errno(err, -errno, "cannot make a secret");
	memcpy(rec->secret, random + 1, sizeof(rec->secret));
	snprintf(rec->socket_name, sizeof(rec->socket_name), "utrail-%d-%016llx", getpid(),
		 (unsigned long long)random[0]);
	len = snprintf(rec->address, sizeof(rec->address), "%s:", rec->socket_name);
	for (size_t i = 0; i < sizeof(rec->secret); i++)
		len += snprintf(rec->address + len, sizeof(rec->address) - len, "%02x",
				rec->secret[i]);
	return 0;
}

/*
 * Descriptors: one for each process, thread and conversation. The program gets its own limit back (launch.c). A quarter of them is
 * for conversations, with strangers and with others.
 */
#define FILES_WANTED 65536
#define TALKS_MAX    4096

static void raise_file_number(struct recorder *rec)
{
	struct rlimit limit;

	rec->talks.max = 16;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_cur < FILES_WANTED) {
		rlim_t before = limit.rlim_cur;

		limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)FILES_WANTED);
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			limit.rlim_cur = before;
	}
	rec->talks.max = MAX(MIN(limit.rlim_cur / 8, (rlim_t)TALKS_MAX), (rlim_t)16);
}

/* Nothing more is to come, since --max-size is reached. */
static void finish_all(void *rec)
{
	notes_finish_all(rec);
}

int recorder_open(struct recorder *rec, const struct record_settings *settings, struct store *store,
		  struct uft_err *err)
{
	*rec = (struct recorder){
		.settings = settings,
		.store = store,
		.task_stream = -1,
		.listen_fd = -1,
		.service_fd = -1,
		.program_fd = -1,
		.talks.pause_fd = -1,
		.loop = { .epoll_fd = -1 },
		.control_fd = -1,
	};
	points_init(&rec->points, settings->events, store);
	pthread_mutex_init(&rec->task_lock, NULL);
	pthread_mutex_init(&rec->flight_lock, NULL);
	pthread_rwlock_init(&rec->live_lock, NULL);
	if (check_file_limit(err) < 0)
		return -EFBIG;
	make_plan(rec);
	if (make_address(rec, err) < 0)
		return err->code;
	raise_file_number(rec);

	/* A flight recording forgets what is old instead (flight.c). */
	store_limit(store, settings->flight_bytes ? 0 : settings->max_bytes, finish_all, rec);
	rec->task_stream = store_open(store, "task.txt");
	if (rec->task_stream < 0)
		return err_set_errno(err, rec->task_stream, "cannot create 'task.txt'");

	int ret = loop_open(&rec->loop, err);

	if (ret == 0)
		ret = make_control_page(rec, err);
	if (ret == 0)
		ret = control_listen(rec, err);
	if (ret == 0)
		service_listen(rec);
	if (ret == 0)
		ret = writers_start(rec, err);
	return ret;
}

void recorder_stop(struct recorder *rec)
{
	for (struct process *p = rec->processes; p; p = p->next)
		process_retire(rec, p);
	notes_close(rec);
	writers_stop(rec);
	store_note_error(rec->store, perf_finish(&rec->perf));
	store_note_error(rec->store, kernel_finish(&rec->kernel));
}

void recorder_close(struct recorder *rec)
{
	if (!rec->settings) /* was never opened */
		return;
	writers_stop(rec);
	perf_finish(&rec->perf);
	kernel_finish(&rec->kernel);
	notes_close(rec);
	for (struct process *p = rec->processes, *next; p; p = next) {
		next = p->next;
		process_destroy(p);
	}
	for (struct session *s = rec->sessions, *next; s; s = next) {
		next = s->next;
		rec_session_destroy(s);
	}
	orphans_forget(rec);
	strmap_deinit(&rec->modules_by_path);
	known_modules_destroy(rec->known_modules);
	intmap_deinit(&rec->by_os_pid);
	intmap_deinit(&rec->by_pid);
	intmap_deinit(&rec->by_token);
	intmap_deinit(&rec->task_owners);
	plan_binder_deinit(&rec->binder);
	points_deinit(&rec->points);
	control_close(rec);
	service_close(rec);
	crashes_destroy(rec->crashes);
	if (rec->control)
		munmap(rec->control, sizeof(*rec->control));
	loop_close(&rec->loop);

	int fds[] = { rec->listen_fd, rec->service_fd, rec->control_fd, rec->program_fd };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	if (rec->task_stream >= 0)
		store_close(rec->store, rec->task_stream);
	free(rec->tids);
	free(rec->flushed_ns);
	flight_deinit(&rec->flight);
	pthread_mutex_destroy(&rec->flight_lock);
	pthread_mutex_destroy(&rec->task_lock);
	pthread_rwlock_destroy(&rec->live_lock);
}
