/* Loaded objects, as told to the recorder (see modules.h). */
#include "libmcount/modules.h"

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

#include "libmcount/conds.h"
#include "libmcount/fault.h"
#include "libmcount/planned.h"
#include "libmcount/points.h"
#include "libmcount/probe.h"

/* What tells one loaded object from another that is loaded later at the same place. */
struct known_module {
	uint64_t bias;
	uint64_t path_hash;
};

/*
 * @known: the objects that were reported
 * @adds: dlpi_adds when they were looked at last: nothing was loaded since while it stays
 *
 * Under @lock, which only COLD code takes.
 */
static struct {
	pthread_mutex_t lock;
	struct known_module *known;
	uint32_t nr;
	uint32_t room;
	unsigned long long adds;
} modules = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct report {
	struct channel *ch;
	uint64_t time_ns;
	bool failed;
};

static bool is_known(struct known_module m)
{
	for (uint32_t i = 0; i < modules.nr; i++) {
		if (modules.known[i].bias == m.bias && modules.known[i].path_hash == m.path_hash)
			return true;
	}
	return false;
}

/* Pages of our own: the program's malloc may be one that is being traced. */
static bool remember(struct known_module m)
{
	if (modules.nr == modules.room) {
		uint32_t room = modules.room ? modules.room * 2 : 256;
		struct known_module *known = mmap(NULL, room * sizeof(*known),
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
 * An absolute path: our readers are somewhere else. @path has PATH_MAX bytes. Its length, 0 when there is none.
 */
static size_t absolute_path(const char *name, char *path)
{
	if (name[0] != '/' && realpath(name, path))
		return strlen(path);

	size_t len = strnlen(name, PATH_MAX - 1);

	memcpy(path, name, len);
	return len;
}

/* What was executed, as the kernel says it or, where /proc is not mounted, as it was told. The same results. */
static size_t program_path(char *path)
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *name = (const char *)getauxval(AT_EXECFN);

	if (len > 0)
		return len;
	return name ? absolute_path(name, path) : 0;
}

/* The program itself has no name of its own. */
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
	struct known_module id = { info->dlpi_addr, module_path_hash(info->dlpi_name) };
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
	/* The vDSO has no file; what has no segments has no addresses. */
	if (!end || strncmp(info->dlpi_name, "linux-vdso", 10) == 0 || is_known(id))
		return 0;

	size_t len = module_path(info, m->path);

	if (!len)
		return 0;
	m->path[len] = '\0';
	m->start = start & ~(uint64_t)4095;
	m->end = ALIGN_UP(end, 4096UL);
	m->load_bias = info->dlpi_addr;
	m->time_ns = report->time_ns;
	m->tid = syscall(SYS_gettid);
	report->failed = !remember(id) ||
			 !channel_send(report->ch, CONTROL_MODULE, m, sizeof(*m) + len + 1);
	return report->failed;
}

bool modules_report_all(struct channel *ch)
{
	struct report report = { .ch = ch };

	dl_iterate_phdr(report_module, &report);
	return !report.failed;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

void modules_after_fork(void)
{
	/* Another thread of the parent may have held it. */
	pthread_mutex_init(&modules.lock, NULL);
}

void modules_after_dlopen(uint64_t begin_ns)
{
	unsigned long long adds = 0;
	int saved = errno;

	dl_iterate_phdr(count_adds, &adds);
	pthread_mutex_lock(&modules.lock);
	if (adds != modules.adds) {
		points_look_again();

		struct control_plan plan;
		struct channel ch cleanup(channel_close);
		struct report report = { .ch = &ch, .time_ns = begin_ns };

		channel_init(&ch);
		if (channel_greet(&ch, CONTROL_DLOPEN) &&
		    (dl_iterate_phdr(report_module, &report), !report.failed) &&
		    channel_finish(&ch, CONTROL_PLAN, &plan, sizeof(plan)))
			modules_adopt_plan(ch.fds[0], false);
	}
	pthread_mutex_unlock(&modules.lock);
	errno = saved;
}

/* Two sorted lists into one. */
static void merge_funcs(struct plan_table *out, const struct plan_table *old,
			const struct plan_func *more, uint32_t nr)
{
	uint64_t i = 0;
	uint64_t nr_old = old ? old->nr : 0;

	for (uint32_t k = 0; k < nr; k++) {
		while (i < nr_old && old->funcs[i].start < more[k].start)
			out->funcs[out->nr++] = old->funcs[i++];
		out->funcs[out->nr++] = more[k];
	}
	while (i < nr_old)
		out->funcs[out->nr++] = old->funcs[i++];
}

static bool add_funcs(const struct plan_func *funcs, uint32_t nr)
{
	struct plan_table *old = probe.table;
	uint64_t total = nr + (old ? old->nr : 0);
	struct plan_table *table = mmap(NULL, sizeof(*table) + total * sizeof(struct plan_func),
					PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (table == MAP_FAILED)
		return false;
	merge_funcs(table, old, funcs, nr);
	/* The old table stays: a hook may be reading it. */
	__atomic_store_n(&probe.table, table, __ATOMIC_RELEASE);
	planned_forget_skips();
	return true;
}

/*
 * Rules are found by index. When the room is used up a larger copy takes the list's place; whoever looks at the old one at that
 * moment may go on with it, since entries do not change. Room has a power of two of entries.
 */
#define LIST_ROOM 4096U
#define LIST_MAX  (1U << 20)

static uint32_t list_room(uint32_t nr)
{
	uint32_t room = LIST_ROOM;

	while (room < nr)
		room *= 2;
	return room;
}

/* Append @nr entries of @size bytes to *@list, which has *@have. */
static bool add_to_list(void **list, uint32_t *have, const void *entries, uint32_t nr, size_t size)
{
	if (!nr)
		return true;
	if (nr > LIST_MAX - *have)
		return false;
	if (!*list || list_room(*have + nr) > list_room(*have)) {
		void *p = mmap(NULL, list_room(*have + nr) * size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return false;
		if (*have)
			memcpy(p, *list, *have * size);
		__atomic_store_n(list, p, __ATOMIC_RELEASE);
	}
	memcpy((char *)*list + *have * size, entries, nr * size);
	*have += nr;
	return true;
}

static bool reads_memory(const struct capture_step *step)
{
	switch (step->op) {
	case CAPTURE_HEAD:
	case CAPTURE_VECTOR:
	case CAPTURE_X87:
	case CAPTURE_ZEROS:
		return false;
	case CAPTURE_WORD:
		return step->index > ARCH_INT_ARG_REGS;
	default:
		return true;
	}
}

static bool steps_read_memory(const struct capture_step *steps, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (reads_memory(&steps[i]))
			return true;
	}
	return false;
}

static bool adopt_lists(const struct plan_view *view, void *const lists[PLAN_KINDS])
{
	struct plan_func *funcs = lists[PLAN_FUNCS];
	struct plan_rule *rules = lists[PLAN_RULES];
	const struct plan_list *nr = view->lists;

	for (uint32_t i = 0; i < nr[PLAN_FUNCS].nr; i++) {
		if (funcs[i].rule != PLAN_NO_RULE)
			funcs[i].rule += probe.nr_rules;
		if (funcs[i].capture != PLAN_NO_CAPTURE)
			funcs[i].capture += probe.nr_steps;
	}
	/* That must do no harm. */
	if (steps_read_memory(lists[PLAN_STEPS], nr[PLAN_STEPS].nr) ||
	    conds_read_memory(rules, nr[PLAN_RULES].nr, lists[PLAN_CONDS]))
		fault_guard_begin();
	for (uint32_t i = 0; i < nr[PLAN_RULES].nr; i++)
		rules[i].cond += probe.nr_conds;

	bool good = add_to_list((void **)&probe.steps, &probe.nr_steps, lists[PLAN_STEPS],
				nr[PLAN_STEPS].nr, sizeof(struct capture_step)) &&
		    add_to_list((void **)&probe.conds, &probe.nr_conds, lists[PLAN_CONDS],
				nr[PLAN_CONDS].nr, sizeof(struct plan_cond)) &&
		    add_to_list((void **)&probe.rules, &probe.nr_rules, rules, nr[PLAN_RULES].nr,
				sizeof(*rules)) &&
		    (nr[PLAN_FUNCS].nr == 0 || add_funcs(funcs, nr[PLAN_FUNCS].nr));

	if (good) {
		if (nr[PLAN_WATCHES].nr)
			plan_copy(view, PLAN_WATCHES, probe.watches);
		probe.nr_watches += nr[PLAN_WATCHES].nr;
		libcall_hook(lists[PLAN_CALLS], nr[PLAN_CALLS].nr);
		points_adopt(lists[PLAN_POINTS], nr[PLAN_POINTS].nr);
	}
	return good;
}

/* Room for what an image has of one kind, with its entries. NULL where there are none, or no memory. */
static void *copy_list(const struct plan_view *view, enum plan_kind kind)
{
	uint64_t bytes = (uint64_t)view->lists[kind].nr * plan_entry_bytes(kind);
	void *p = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0)
			: MAP_FAILED;

	if (p == MAP_FAILED)
		return NULL;
	plan_copy(view, kind, p);
	return p;
}

static bool adopt_view(const struct plan_view *view)
{
	void *lists[PLAN_KINDS] = { 0 };
	bool good = true;

	for (unsigned kind = 1; good && kind < PLAN_KINDS; kind++) {
		lists[kind] = copy_list(view, kind);
		good = lists[kind] || !view->lists[kind].nr;
	}
	good = good && adopt_lists(view, lists);
	for (unsigned kind = 0; kind < PLAN_KINDS; kind++) {
		if (lists[kind])
			munmap(lists[kind],
			       (uint64_t)view->lists[kind].nr * plan_entry_bytes(kind));
	}
	return good;
}

bool modules_adopt_plan(int fd, bool is_first)
{
	struct plan_view view;
	struct stat st;

	if (fd < 0)
		return !is_first; /* nothing to add */
	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return false;

	void *image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return false;

	bool good = plan_open(&view, image, st.st_size, NULL) == 0 &&
		    (view.lists[PLAN_SETTINGS].nr == 1) == is_first;

	if (good && is_first)
		plan_copy(&view, PLAN_SETTINGS, &probe.plan);
	good = good && adopt_view(&view);
	munmap(image, st.st_size);
	return good;
}
