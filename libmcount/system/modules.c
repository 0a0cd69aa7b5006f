/* The report of loaded modules to the recorder (see modules.h). */
#include "libmcount/system/modules.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/program/interpose.h"
#include "libmcount/program/loaded.h"
#include "libmcount/values/trace_copies.h"
#include "libmcount/system/module_hash.h"
#include "libmcount/system/module_lock.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/patch/patches.h"
#include "libmcount/plan/plans.h"
#include "libmcount/hot/probe.h"
#include "utils/format/callables.h"

/* Identifies a module. The bias is not enough: another module may get the same address later. */
struct reported_module {
	uint64_t bias;
	uint64_t path_hash;
};

/*
 * The reports of modules to the recorder. module_lock protects this struct.
 *
 * @known: the modules that were reported
 * @adds: the last known dlpi_adds. Each load of a module changes dlpi_adds
 * @failed_ns: the time of the last report if that report has failed, otherwise 0
 * @pause_ns: the time from @failed_ns until the report may be repeated
 * @has_skipped: a module was not reported, because a thread was still loading the module
 * @has_callables: the artificial module for the functions of a Python interpreter must still be
 *                 reported (report_callables())
 */
static struct {
	struct reported_module *known;
	uint32_t nr;
	uint32_t room;
	unsigned long long adds;
	uint64_t failed_ns;
	uint64_t pause_ns;
	bool has_skipped;
	bool has_callables;
} modules;

/*
 * The pause after a first failed report. After the pause, the next dlopen(3) repeats the report,
 * even if this dlopen(3) loads no module. With each further failure the pause doubles, so that a
 * stopped recorder does not slow the program down.
 */
#define REPEAT_NS 10000000000ULL

struct report {
	struct channel *ch;
	uint64_t time_ns;
	bool failed;
	bool has_skipped;
};

static bool is_known(struct reported_module m)
{
	for (uint32_t i = 0; i < modules.nr; i++) {
		if (modules.known[i].bias == m.bias && modules.known[i].path_hash == m.path_hash)
			return true;
	}
	return false;
}

/* Adds @m to the list. The list has pages of its own, since the program's malloc may be traced. */
static bool remember(struct reported_module m)
{
	if (modules.nr == modules.room) {
		uint32_t room = modules.room ? modules.room * 2 : 256;
		struct reported_module *known = mmap(NULL, room * sizeof(*known),
						     PROT_READ | PROT_WRITE,
						     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (known == MAP_FAILED)
			return false;
		if (modules.known) {
			memcpy(known, modules.known, modules.nr * sizeof(*known));
			munmap(modules.known, modules.room * sizeof(*known));
		}
		modules.known = known;
		modules.room = room;
	}
	modules.known[modules.nr++] = m;
	return true;
}

/*
 * Writes @name to @path as an absolute path, because readers do not have the program's working
 * directory. If realpath(3) fails, copies @name unchanged. @path has PATH_MAX bytes, and may lack
 * the NUL at the end. Returns the length without the NUL.
 */
static size_t absolute_path(const char *name, char *path)
{
	if (name[0] != '/' && realpath(name, path))
		return strlen(path);

	size_t len = strnlen(name, PATH_MAX - 1);

	memcpy(path, name, len);
	return len;
}

/*
 * Writes the path of the executed file: the path that the kernel names or, without /proc, the one
 * that was given to execve(2). Returns the length, or 0 when there is no path.
 */
static size_t program_path(char *path)
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *name = (const char *)getauxval(AT_EXECFN);

	if (len > 0)
		return len;
	return name ? absolute_path(name, path) : 0;
}

/* Writes the path of a module. For the program itself the dynamic linker has an empty name. */
static size_t module_path(const struct dl_phdr_info *info, char *path)
{
	const char *name = info->dlpi_name;

	return name && name[0] ? absolute_path(name, path) : program_path(path);
}

static int report_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct report *report = arg;
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + PATH_MAX];
	} packet = { 0 };
	struct control_module *m = &packet.m;
	struct reported_module id = { info->dlpi_addr, module_path_hash(info->dlpi_name) };
	uint64_t start = UINT64_MAX;
	uint64_t end = 0;

	modules.adds = info->dlpi_adds;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		start = MIN(start, (uint64_t)(info->dlpi_addr + ph->p_vaddr));
		end = MAX(end, (uint64_t)(info->dlpi_addr + ph->p_vaddr + ph->p_memsz));
		m->has_text |= ph->p_flags & PF_X;
	}
	/*
	 * The vDSO is not reported, because it has no file. A module without segments is not
	 * reported, because it has no addresses. An attached probe is not reported, because the
	 * path of the probe may be visible only to this process.
	 */
	if (!end || (probe.is_attached && info->dlpi_addr == (uint64_t)__ehdr_start) ||
	    strncmp(info->dlpi_name, "linux-vdso", 10) == 0 || is_known(id))
		return 0;
	/*
	 * Skip a module that a thread is still loading. Usually the loading thread reports the
	 * module at the end of its dlopen(3). There is no such report if the load began before the
	 * probe was attached, or if libc loads the module for itself. In these two cases, the
	 * program's next dlopen(3) reports the module.
	 */
	if (!loaded_is_complete(info)) {
		report->has_skipped = true;
		return 0;
	}

	size_t len = module_path(info, m->path);

	if (!len)
		return 0;
	m->path[len] = '\0';
	m->start = start & ~(uint64_t)4095;
	m->end = ALIGN_UP(end, 4096UL);
	m->load_bias = info->dlpi_addr;
	m->time_ns = report->time_ns;
	m->tid = own_syscall(SYS_gettid);
	report->failed = !remember(id) ||
			 !channel_send(report->ch, CONTROL_MODULE, m, sizeof(*m) + len + 1);
	return report->failed;
}

/*
 * If a Python interpreter was loaded after the last report, reports an artificial module for the
 * interpreter's functions. The number of each function is an address in the artificial module.
 */
static bool report_callables(struct report *report)
{
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + sizeof(CALLABLES_MODULE)];
	} packet = {
		.m = {
			.end = CALLABLES_END,
			.time_ns = report->time_ns,
			.tid = own_syscall(SYS_gettid),
			.has_text = true,
		},
	};

	modules.has_callables |= modules_look_for_python();
	if (!modules.has_callables)
		return true;
	memcpy(packet.m.path, CALLABLES_MODULE, sizeof(CALLABLES_MODULE));
	return channel_send(report->ch, CONTROL_MODULE, &packet.m, sizeof(packet));
}

static bool report_everything(struct report *report)
{
	dl_iterate_phdr(report_module, report);
	modules.has_skipped = report->has_skipped;
	return !report->failed && report_callables(report);
}

bool modules_report_all(struct channel *ch)
{
	struct report report = { .ch = ch };
	bool is_sent = report_everything(&report);

	modules.has_callables &= !is_sent;
	return is_sent;
}

void modules_drop(void)
{
	if (modules.known)
		munmap(modules.known, modules.room * sizeof(*modules.known));
	modules.known = NULL;
	modules.nr = modules.room = 0;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

void modules_after_fork(void)
{
	/* At the fork, another thread of the parent may have held the lock. */
	pthread_mutex_init(&module_lock, NULL);
	plans_after_fork();
}

/*
 * Reports new modules to the recorder, and takes up the plan that the recorder makes for them. If
 * the conversation with the recorder fails, the new modules are reported again later.
 */
static void report_new(uint64_t begin_ns)
{
	struct control_plan plan;
	struct channel ch cleanup(channel_close);
	struct report report = { .ch = &ch, .time_ns = begin_ns };
	uint32_t nr_before = modules.nr;

	channel_init(&ch);
	if (channel_greet(&ch, CONTROL_DLOPEN) && report_everything(&report) &&
	    channel_finish(&ch, CONTROL_PLAN, &plan, sizeof(plan))) {
		plans_extend(ch.fds[0]);
		modules.has_callables = false;
		modules.failed_ns = modules.pause_ns = 0;
	} else {
		modules.nr = nr_before;
		modules.failed_ns = clock_kernel_ns();
		modules.pause_ns = MAX(2 * modules.pause_ns, REPEAT_NS);
	}
}

/* True when there may be modules to report. @adds: dlpi_adds */
static bool has_news(unsigned long long adds)
{
	if (adds != modules.adds)
		return true;
	if (modules.failed_ns)
		return clock_kernel_ns() - modules.failed_ns >= modules.pause_ns;
	return modules.has_skipped;
}

void modules_after_dlopen(uint64_t begin_ns)
{
	unsigned long long adds = 0;
	int saved = errno;
	bool has_more;

	if (!seal_may_talk()) {
		atomic_fetch_add(&probe.arena->talks_sealed, 1);
		return;
	}
	dl_iterate_phdr(count_adds, &adds);
	pthread_mutex_lock(&module_lock);
	has_more = has_news(adds);
	if (has_more) {
		patches_look_again();
		report_new(begin_ns);
	}
	pthread_mutex_unlock(&module_lock);
	if (has_more)
		trace_copies_after_dlopen();
	errno = saved;
}
