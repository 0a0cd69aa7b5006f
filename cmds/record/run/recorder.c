/* Sets up the recorder, and takes the last records after recorder_run() (lifetime.c). */
#include "cmds/record/plan/callers.h"
#include "cmds/record/run/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "cmds/record/attach/attach.h"
#include "cmds/record/attach/target.h"
#include "cmds/record/plan/image_plan.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/callables.h"

/*
 * True when the kernel's own clock uses the CPU's counter. In this case the recording may use the
 * counter as its clock.
 */
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

uint32_t recorder_python_flags(const struct patch_rules *rules)
{
	uint32_t flags = 0;
	char name[32];

	if (patch_rules_are_about(rules, "python3", /* is_program= */ true, /* takes_out= */ false))
		flags |= PLAN_PATCHES_PROGRAM;
	for (unsigned minor = PYTHON_MINOR_FIRST; minor <= PYTHON_MINOR_LAST; minor++) {
		snprintf(name, sizeof(name), "python3.%u", minor);
		if (patch_rules_are_about(rules, name, /* is_program= */ true, false))
			flags |= PLAN_PATCHES_PROGRAM;
		snprintf(name, sizeof(name), "libpython3.%u.so.1.0", minor);
		if (patch_rules_are_about(rules, name, /* is_program= */ false, false))
			flags |= PLAN_PATCHES_LIBPYTHON;
	}
	return flags;
}

static void make_plan(const struct record_settings *set, struct plan *plan)
{
	*plan = (struct plan){
		.flags = (set->drops_when_full ? PLAN_DROP : 0) |
			 (set->flight_bytes ? PLAN_FLIGHT : 0) |
			 (set->tells_depth ? PLAN_TELLS_DEPTH : 0) |
			 (set->use_libcalls ? 0 : PLAN_NO_LIBCALLS) |
			 (set->nest_libcalls ? PLAN_NEST_LIBCALLS : 0) |
			 recorder_python_flags(set->patches) |
			 (set->estimates_return ? PLAN_ESTIMATE : 0) |
			 (callers_have_word(set->replace_returns, CALLERS_JIT) ? PLAN_REPLACE_ANY
									       : 0) |
			 (set->reports_crashes ? PLAN_CRASH_REPORT : 0) |
			 (set->watch->cpu ? PLAN_WATCH_CPU : 0) |
			 (settings_are_selective(set) ? PLAN_SELECTIVE : 0) |
			 (set->is_steerable ? PLAN_STEERABLE | PLAN_SELECTIVE : 0) |
			 (set->overhead_percent ? PLAN_LEAVES_OUT : 0),
		.clock = kernel_trusts_counter() ? PLAN_CLOCK_COUNTER : PLAN_CLOCK_GETTIME,
		.clock_id = set->clock_id,
		.max_stack = set->max_stack,
		.signals_on = set->signals.on,
		.signals_off = set->signals.off,
		.signals_finish = set->signals.finish,
	};
	image_plan_choose(plan, set, /* is_on= */ true);
	if (plan->clock == PLAN_CLOCK_COUNTER) {
		uint64_t before = arch_counter_read();

		plan->anchor_ns = settings_now_ns(set);
		plan->anchor_counter = before + (arch_counter_read() - before) / 2;
	}
}

/*
 * Seals the control page. After that, only the existing mapping of the recorder can write to the
 * page. Linux before 5.1 has no seal that forbids other writers. On such a kernel, the page gets
 * the mode 0400, and probes get a read-only descriptor.
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

/*
 * Checks the limit on file sizes, which also applies to shared memory. An arena counts with its
 * whole size, although most of it is only address space.
 */
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

/*
 * Makes the name with which probes find the recorder, and the secret with which the recorder
 * recognises probes.
 */
static int make_address(struct control *ctl, struct uft_err *err)
{
	uint64_t random[1 + CONTROL_SECRET_BYTES / sizeof(uint64_t)];
	int len;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set_errno(err, -errno, "cannot make a secret");
	memcpy(ctl->secret, random + 1, sizeof(ctl->secret));
	snprintf(ctl->socket_name, sizeof(ctl->socket_name), "utrail-%d-%016llx", getpid(),
		 (unsigned long long)random[0]);
	len = snprintf(ctl->address, sizeof(ctl->address), "%s:", ctl->socket_name);
	for (size_t i = 0; i < sizeof(ctl->secret); i++)
		len += snprintf(ctl->address + len, sizeof(ctl->address) - len, "%02x",
				ctl->secret[i]);
	return 0;
}

/*
 * The recorder needs descriptors for each process, each thread and each conversation with a probe
 * (control/control.h). So the recorder raises its limit on descriptors. The program gets the old
 * limit back (launch.c). Conversations may use an eighth of the descriptors, but at most TALKS_MAX.
 * Connections that have sent no HELLO yet may use another eighth, but at most STRANGERS_MAX
 * (control/control.c).
 */
#define FILES_WANTED 65536
#define TALKS_MAX    4096

static void raise_file_number(struct talks *talks)
{
	struct rlimit limit;

	talks->max = 16;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_cur < FILES_WANTED) {
		rlim_t before = limit.rlim_cur;

		limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)FILES_WANTED);
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			limit.rlim_cur = before;
	}
	talks->max = MAX(MIN(limit.rlim_cur / 8, (rlim_t)TALKS_MAX), (rlim_t)16);
}

static void finish_all(void *procs)
{
	notes_finish_all(procs);
}

static void drain_process(void *writers, struct process *proc)
{
	writer_drain_all(writers, proc);
}

void recorder_serve_a_moment(void *arg)
{
	struct recorder *rec = arg;

	loop_serve(&rec->loop, 1);
}

static int repatch(void *arg, pid_t pid, const struct process_patches *patches, size_t *nr_left,
		   struct uft_err *err)
{
	struct recorder *rec = arg;
	const struct attach_how how = { .wait = recorder_serve_a_moment, .wait_arg = rec };
	struct attach_patches job = { .patches = patches };
	int ret = target_check(pid, rec->settings->force, err);

	if (ret == 0)
		ret = attach_patch(pid, &how, &job, err);
	*nr_left = job.nr_left;
	return ret;
}

static int choose_events(void *arg, pid_t pid, const struct attach_choice *choices, size_t nr,
			 struct uft_err *err)
{
	struct recorder *rec = arg;
	const struct attach_how how = { .wait = recorder_serve_a_moment, .wait_arg = rec };
	int ret = target_check(pid, rec->settings->force, err);

	return ret < 0 ? ret : attach_choose(pid, &how, choices, nr, err);
}

/* Connects the parts of the recorder: each part gets pointers to the other parts that it uses. */
static void put_together(struct recorder *rec)
{
	const struct record_settings *settings = rec->settings;
	struct store *store = rec->store;

	planner_init(&rec->planner, settings, store);
	rec->sessions = (struct sessions){
		.settings = settings,
		.store = store,
		.planner = &rec->planner,
	};
	rec->processes = (struct processes){
		.settings = settings,
		.loop = &rec->loop,
		.alive = &rec->alive,
		.drain = drain_process,
		.drain_arg = &rec->writers,
	};
	processes_init(&rec->processes);
	rec->sources = (struct sources){
		.settings = settings,
		.store = store,
		.loop = &rec->loop,
	};
	rec->writers = (struct writers){
		.settings = settings,
		.store = store,
		.tasks = &rec->tasks,
		.processes = &rec->processes,
		.sources = &rec->sources,
	};
	flight_init(&rec->writers.flight);
	rec->channel = (struct control){
		.settings = settings,
		.loop = &rec->loop,
		.planner = &rec->planner,
		.sessions = &rec->sessions,
		.store = store,
		.tasks = &rec->tasks,
		.processes = &rec->processes,
		.writers = &rec->writers,
		.working_ms = 1000,
		.page_fd = -1,
		.listen_fd = -1,
		.talks.pause_fd = -1,
	};
	rec->steering = (struct steering){
		.settings = settings,
		.planner = &rec->planner,
		.processes = &rec->processes,
		.store = store,
		.plan = &rec->channel.plan,
		.sessions = &rec->sessions,
		.repatch = repatch,
		.choose = choose_events,
		.processes_arg = rec,
	};
	steering_begin(&rec->steering);
	rec->channel.steering = &rec->steering;
	rec->planner.patches.tick = control_tick;
	rec->planner.patches.tick_arg = &rec->channel;
	rec->overhead = (struct overhead){
		.settings = settings,
		.loop = &rec->loop,
		.processes = &rec->processes,
		.planner = &rec->planner,
		.writers = &rec->writers,
		.steering = &rec->steering,
		.service = &rec->service,
		.store = store,
		.timer_fd = -1,
		.notes = -1,
	};
	rec->service = (struct service){
		.settings = settings,
		.loop = &rec->loop,
		.store = store,
		.sources = &rec->sources,
		.writers = &rec->writers,
		.steering = &rec->steering,
		.processes = &rec->processes,
		.program_fd = &rec->program_fd,
		.service_fd = -1,
		.pause_fd = -1,
	};
	/*
	 * In a flight recording, the store gets no limit, because sources/flight.c removes the
	 * oldest files when the files would exceed settings->max_bytes.
	 */
	store_limit(store, settings->flight_bytes ? 0 : settings->max_bytes, finish_all,
		    &rec->processes);
}

/* Passes the control page to all parts that use the page. Called after make_control_page(). */
static void share_control_page(struct recorder *rec)
{
	rec->processes.control = rec->control;
	rec->writers.control = rec->control;
	rec->channel.page_fd = rec->control_fd;
}

int recorder_open(struct recorder *rec, const struct record_settings *settings, struct store *store,
		  struct uft_err *err)
{
	*rec = (struct recorder){
		.settings = settings,
		.store = store,
		.program_fd = -1,
		.loop = { .epoll_fd = -1 },
		.control_fd = -1,
	};
	put_together(rec);

	int ret = check_file_limit(err);

	if (ret == 0)
		ret = make_address(&rec->channel, err);
	if (ret < 0)
		return ret;
	make_plan(settings, &rec->channel.plan);
	raise_file_number(&rec->channel.talks);
	ret = tasks_open(&rec->tasks, store, err);
	if (ret == 0)
		ret = loop_open(&rec->loop, err);
	if (ret == 0)
		ret = make_control_page(rec, err);
	if (ret < 0)
		return ret;
	share_control_page(rec);
	ret = control_listen(&rec->channel, err);
	if (ret == 0)
		service_listen(&rec->service);
	if (ret == 0)
		ret = overhead_begin(&rec->overhead, err);
	if (ret == 0)
		ret = writers_start(&rec->writers, err);
	return ret;
}

void recorder_stop(struct recorder *rec)
{
	for (struct process *p = rec->processes.first; p; p = p->next)
		process_retire(&rec->processes, p);
	notes_close(&rec->processes);
	callables_finish(&rec->planner.callables);
	writers_stop(&rec->writers);
	store_note_error(rec->store, sources_finish(&rec->sources));
}

void recorder_close(struct recorder *rec)
{
	if (!rec->settings) /* the recorder was never opened */
		return;
	writers_stop(&rec->writers);
	sources_finish(&rec->sources);
	proc_forget(&rec->proc);
	overhead_end(&rec->overhead);
	processes_deinit(&rec->processes);
	sessions_deinit(&rec->sessions);
	tasks_close(&rec->tasks);
	planner_deinit(&rec->planner);
	steering_end(&rec->steering);
	control_close(&rec->channel);
	service_close(&rec->service);
	crashes_destroy(rec->channel.crashes);
	if (rec->control)
		munmap(rec->control, sizeof(*rec->control));
	loop_close(&rec->loop);

	int fds[] = { rec->channel.listen_fd, rec->service.service_fd, rec->control_fd,
		      rec->program_fd };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	writers_deinit(&rec->writers);
}
