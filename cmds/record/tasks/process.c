/* Keeps the traced processes and their arenas (see process.h). */
#include "cmds/record/tasks/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/base/rights.h"
#include "utils/base/containers/vec.h"

/*
 * The maximum number of rings in an arena. Each running thread needs at least one ring, so this
 * number limits the simultaneous threads. An arena takes up to ARENA_BYTES_MAX of address space,
 * but much less memory: a segment takes memory only after a thread has used the segment.
 */
#define ARENA_RINGS_MAX 16384
#define RING_SEGMENTS	8

/*
 * The number of segments of a ring in a flight recording. A full ring drops all records of its
 * oldest segment at once. So a segment should be a small part of the ring.
 */
#define FLIGHT_SEGMENTS 32

/* The limits on modules that are kept for a process. A program may load any number of modules. */
#define MODULES_KEPT_MAX 4096
#define KEPT_BYTES_MAX	 (256UL << 20) /* for all processes together */

static void choose_ring(const struct record_settings *settings, struct process *proc)
{
	proc->nr_segments = RING_SEGMENTS;
	proc->segment_bytes = settings->segment_bytes;
	if (settings->flight_bytes) {
		proc->nr_segments = FLIGHT_SEGMENTS;
		proc->segment_bytes = ALIGN_UP(settings->flight_bytes / FLIGHT_SEGMENTS,
					       (uint64_t)RING_PAGE);
	}
}

/*
 * If address space is limited (ulimit -v), the number of rings is repeatedly divided by this number
 * until the arena fits. A divisor above 2 leaves more address space for other uses.
 */
#define ARENA_PART_OF_LIMITED 4
#define ARENA_RINGS_LEAST     4

static void *map_arena(struct process *proc, uint64_t stride, int fd)
{
	void *at;

	do {
		proc->arena_bytes = arena_bytes(proc->nr_rings, stride);
		at = mmap(NULL, proc->arena_bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (at != MAP_FAILED)
			return at;
		proc->nr_rings /= ARENA_PART_OF_LIMITED;
	} while (proc->nr_rings >= ARENA_RINGS_LEAST);
	return NULL;
}

/* Make the arena of a new process. *@fd gets the arena's memfd. Returns false with errno. */
static bool make_arena(struct processes *procs, struct process *proc, int *fd)
{
	choose_ring(procs->settings, proc);

	uint64_t stride = ring_stride(proc->nr_segments, proc->segment_bytes);
	struct stat memory;
	struct arena *a;

	proc->nr_rings = MAX(MIN(ARENA_BYTES_MAX / stride, (uint64_t)ARENA_RINGS_MAX), 1UL);
	*fd = memfd_create("utrail-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return false;
	a = map_arena(proc, stride, *fd);
	if (!a)
		return false;
	/*
	 * The seals prevent the program from changing the file's size. An access beyond the file's
	 * end would cause a SIGBUS in the recorder.
	 */
	if (ftruncate(*fd, proc->arena_bytes) < 0 ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		int why = errno;

		munmap(a, proc->arena_bytes);
		errno = why;
		return false;
	}
	if (fstat(*fd, &memory) == 0)
		proc->memory = (struct memory_id){ memory.st_dev, memory.st_ino };
	a->nr_rings = proc->nr_rings;
	a->nr_segments = proc->nr_segments;
	a->segment_bytes = proc->segment_bytes;
	a->ring_stride = stride;
	a->magic = ARENA_MAGIC;
	proc->arena = a;
	return true;
}

static void see_the_end(struct served *served, uint32_t epoll_events)
{
	process_retire(served->owner, container_of(served, struct process, served));
}

static void watch_pid(struct processes *procs, struct process *proc)
{
	proc->served = (struct served){ see_the_end, procs };
	if (proc->pidfd < 0)
		proc->pidfd = syscall(SYS_pidfd_open, proc->os_pid, 0);
	if (proc->pidfd < 0)
		return;
	if (loop_add(procs->loop, proc->pidfd, &proc->served) == 0) {
		alive_add(procs->alive);
		return;
	}
	close(proc->pidfd);
	proc->pidfd = -1;
}

struct process *process_find_os(struct processes *procs, pid_t os_pid)
{
	return intmap_get(&procs->by_os_pid, (uint32_t)os_pid);
}

struct process *process_find_child(struct processes *procs, const struct process *parent, pid_t pid)
{
	struct process *p = procs->first;

	while (p && !(p->is_fork && p->parent == parent && p->pid == pid))
		p = p->next;
	return p;
}

/*
 * Adds the process to the indexes. When memory is short, an index may lack the process. If by_token
 * lacks the process, the recorder refuses later reports from the process and from its forked
 * children. If by_os_pid lacks the process, the recording may name another process as the parent of
 * these children.
 */
static void index_process(struct processes *procs, struct process *proc)
{
	uint64_t key;

	memcpy(&key, proc->token, sizeof(key));
	intmap_put(&procs->by_os_pid, (uint32_t)proc->os_pid, proc);
	intmap_put(&procs->by_token, key, proc);
}

/*
 * Sinks are mapped and not allocated. Allocated memory, about a megabyte, would have to be cleared.
 * Most processes use only the first page of the sinks.
 */
static size_t sinks_bytes(const struct process *proc)
{
	return proc->nr_rings * sizeof(*proc->sinks);
}

static bool make_sinks(struct process *proc)
{
	void *at = mmap(NULL, sinks_bytes(proc), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	proc->sinks = at == MAP_FAILED ? NULL : at;
	return proc->sinks;
}

static void drop_sinks(struct process *proc)
{
	if (proc->sinks)
		munmap(proc->sinks, sinks_bytes(proc));
	proc->sinks = NULL;
}

struct process *process_create(struct processes *procs, const struct control_hello *hello,
			       pid_t pid, int *arena_fd)
{
	struct process *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return NULL;
	proc->os_pid = pid;
	proc->pid = hello->pid;
	proc->ppid = hello->ppid;
	proc->is_fork = hello->kind == CONTROL_FORK;
	proc->time_ns = hello->time_ns;
	proc->pidfd = -1;

	if (getrandom(proc->token, sizeof(proc->token), 0) != sizeof(proc->token) ||
	    !make_arena(procs, proc, arena_fd) || !make_sinks(proc)) {
		process_destroy(proc);
		return NULL;
	}
	return proc;
}

static void free_module(struct processes *procs, struct control_module *module)
{
	procs->kept_bytes -= module->h.len;
	free(module);
}

static void forget_modules(struct processes *procs, struct process *proc)
{
	for (size_t i = 0; i < proc->nr_kept_modules; i++)
		free_module(procs, proc->modules[i]);
	free(proc->modules);
	proc->modules = NULL;
	proc->nr_kept_modules = 0;
}

/*
 * Forgets and frees each kept module whose addresses overlap the addresses of the new module @by.
 * The first kept module is the program itself. This module stays, because the program itself is
 * never unloaded.
 */
static void forget_overlapped(struct processes *procs, struct process *proc,
			      const struct control_module *by)
{
	size_t kept = 0;

	for (size_t i = 0; i < proc->nr_kept_modules; i++) {
		struct control_module *m = proc->modules[i];

		if (i && m->start < by->end && by->start < m->end)
			free_module(procs, m);
		else
			proc->modules[kept++] = m;
	}
	proc->nr_kept_modules = kept;
}

static bool keep_module(struct processes *procs, struct process *proc,
			struct control_module *module)
{
	size_t nr = proc->nr_kept_modules;

	if (nr >= MODULES_KEPT_MAX || procs->kept_bytes + module->h.len > KEPT_BYTES_MAX)
		return false;
	forget_overlapped(procs, proc, module);
	nr = proc->nr_kept_modules;

	struct control_module **modules = vec_room(proc->modules, nr, &proc->cap_kept_modules,
						   sizeof(*modules));

	if (!modules)
		return false;
	proc->modules = modules;
	modules[proc->nr_kept_modules++] = module;
	procs->kept_bytes += module->h.len;
	return true;
}

void process_keep_modules(struct processes *procs, struct process *proc,
			  struct control_module **modules, size_t nr)
{
	for (size_t i = 0; i < nr && keep_module(procs, proc, modules[i]); i++)
		modules[i] = NULL;
}

void process_inherit_modules(struct processes *procs, struct process *child,
			     const struct process *parent)
{
	child->has_declared |= parent->has_declared;
	for (size_t i = 0; i < parent->nr_kept_modules; i++) {
		struct control_module *copy = malloc(parent->modules[i]->h.len);

		if (copy)
			memcpy(copy, parent->modules[i], parent->modules[i]->h.len);
		if (!copy || !keep_module(procs, child, copy)) {
			free(copy);
			return;
		}
	}
}

void process_destroy(struct process *proc)
{
	if (!proc)
		return;
	if (proc->arena)
		munmap(proc->arena, proc->arena_bytes);
	if (proc->pidfd >= 0)
		close(proc->pidfd);
	drop_sinks(proc);
	free(proc);
}

void processes_init(struct processes *procs)
{
	pthread_rwlock_init(&procs->live_lock, NULL);
}

void processes_deinit(struct processes *procs)
{
	notes_close(procs);
	for (struct process *p = procs->first, *next; p; p = next) {
		next = p->next;
		forget_modules(procs, p);
		process_destroy(p);
	}
	orphans_forget(procs);
	intmap_deinit(&procs->by_os_pid);
	intmap_deinit(&procs->by_token);
	pthread_rwlock_destroy(&procs->live_lock);
}

void process_publish(struct processes *procs, struct process *proc)
{
	index_process(procs, proc);
	notes_begin(procs, proc);
	watch_pid(procs, proc);
	proc->next = procs->first;
	procs->first = proc;
	pthread_rwlock_wrlock(&procs->live_lock);
	proc->next_live = procs->live;
	procs->live = proc;
	pthread_rwlock_unlock(&procs->live_lock);
}

static void take_from_writers(struct processes *procs, struct process *proc)
{
	pthread_rwlock_wrlock(&procs->live_lock);
	for (struct process **p = &procs->live; *p; p = &(*p)->next_live) {
		if (*p == proc) {
			*p = proc->next_live;
			break;
		}
	}
	pthread_rwlock_unlock(&procs->live_lock);
}

void process_retire(struct processes *procs, struct process *proc)
{
	if (proc->pidfd >= 0) {
		loop_close_fd(procs->loop, &proc->pidfd, &proc->served);
		alive_remove(procs->alive);
	}
	if (!proc->arena)
		return;
	/*
	 * The caller may have given this thread the rights of another user (rights_enter()).
	 * Writing the records needs the recorder's own rights.
	 */
	struct rights paused cleanup_rights_pause = rights_pause();

	/* From here on only this thread reads the rings. */
	take_from_writers(procs, proc);
	procs->drain(procs->drain_arg, proc);
	/*
	 * If the process has forked children, keep the modules. Before a child reports itself to
	 * the recorder, the child asks for plans with the token of this process. To make such a
	 * plan, the recorder needs the modules of this process.
	 */
	if (!atomic_load(&proc->arena->forks.nr))
		forget_modules(procs, proc);
	notes_end(procs, proc);
	drop_sinks(proc);
}

void processes_tell_news(struct processes *procs)
{
	/* No lock is needed, because only this thread changes the list. */
	for (struct process *p = procs->live; p; p = p->next_live)
		notes_tell_news(p);
}
