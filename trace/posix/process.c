/*
 * Makes the registry of this process, and finds or makes the names of the process' user events. A
 * forked child repeats these steps. At the end of the process, the registry is removed.
 */
#include "posix/posix.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Stands for the process's registry until join() has run. All bits of the member `attached` are
 * set, so the first event calls pxt_join(), and pxt_join() calls join().
 */
static struct pxt_registry unknown = { .attached = { [0 ... PT_ATTACHED_WORDS - 1] = ~0ul } };
/* Stands for the registry in a process that cannot have a registry, and so is not traced. */
static struct pxt_registry none;

struct pxt_process pxt_process = { .registry = &unknown };

static struct pxt_turn joining;
/*
 * inherited[i] is true when a forked child inherits stream i. The child sets these flags at the
 * fork, and clears them when it has attached the streams.
 */
static bool inherited[TRACE_SYS_MAX];
static bool was_forked;

struct pxt_names *pxt_names_map(int place, uint32_t pid, uint64_t start)
{
	return pxt_place_map_valid(place, 'n', pid, start, sizeof(struct pxt_names));
}

/*
 * Copies the names that the process @pid inherits from its parent. If @pid is not the calling
 * process, the names are found through the registry of the parent of @pid.
 */
static void copy_parents_names(int place, struct pxt_names *names, pid_t pid)
{
	struct pxt_registry *registry;
	struct pxt_names *from;

	if (pid == getpid()) {
		if (pxt_process.names)
			memcpy(names, pxt_process.names, sizeof(*names));
		return;
	}
	registry = pxt_parent_registry(place, pid);
	from = registry ? pxt_names_map(place, registry->names_pid, registry->names_start) : NULL;
	if (from) {
		memcpy(names, from, sizeof(*names));
		munmap(from, sizeof(*from));
	}
	if (registry)
		munmap(registry, sizeof(*registry));
}

static struct pxt_names *make_names(int place, pid_t pid, uint64_t start, int *error)
{
	struct pxt_names *names = pxt_names_map(place, (uint32_t)pid, start);
	char name[64];

	if (names)
		return names;
	pxt_place_name(name, 'n', (uint64_t)pid, start);
	names = pxt_place_make(place, name, sizeof(*names), error);
	if (!names)
		return NULL;
	copy_parents_names(place, names, pid);
	names->version = PT_VERSION;
	names->magic = PT_MAGIC;
	return names;
}

/*
 * Finds or makes the registry of this process, or of a process that is to be traced. The caller
 * must have locked the folder @place.
 */
struct pxt_registry *pxt_registry_of(int place, pid_t pid, uint64_t start, int *error)
{
	struct pxt_registry *registry;
	struct pxt_names *names;
	char name[64];

	registry = pxt_place_map_valid(place, 'p', (uint64_t)pid, start, sizeof(*registry));
	if (registry)
		return registry;
	names = make_names(place, pid, start, error);
	if (!names)
		return NULL;
	munmap(names, sizeof(*names));
	pxt_place_name(name, 'p', (uint64_t)pid, start);
	registry = pxt_place_make(place, name, sizeof(*registry), error);
	if (!registry)
		return NULL;
	registry->names_pid = (uint32_t)pid;
	registry->names_start = start;
	registry->version = PT_VERSION;
	registry->magic = PT_MAGIC;
	return registry;
}

/*
 * Attaches the inherited streams. The process shares its parent's names, so that an id has one
 * meaning for all writers of a stream.
 */
static void take_over(struct pxt_registry *registry)
{
	for (unsigned int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		if (!inherited[nr])
			continue;
		registry->names_pid = pxt_process.names_pid;
		registry->names_start = pxt_process.names_start;
		pxt_attach(registry, nr, atomic_load(&pxt_process.views[nr].serial));
	}
	memset(inherited, 0, sizeof(inherited));
}

/*
 * In a forked child, moves the child's names to the address of the parent's names. This is needed
 * when a signal handler has forked: the child goes on with the interrupted code, which may be
 * searching the names at that address. If the move fails, which is rare, the parent's names stay
 * mapped.
 */
static void set_names(struct pxt_names *names)
{
	struct pxt_names *former = pxt_process.names;

	if (former && mremap(names, sizeof(*names), sizeof(*names), MREMAP_MAYMOVE | MREMAP_FIXED,
			     former) != MAP_FAILED)
		return;
	pxt_process.names = names;
}

static struct pxt_registry *join_at(int place)
{
	pid_t pid = getpid();
	struct pxt_registry *registry;
	struct pxt_names *names;
	uint64_t start;
	int error;

	if (pxt_process_start(pid, &start) < 0)
		return NULL;
	registry = pxt_registry_of(place, pid, start, &error);
	if (!registry)
		return NULL;
	atomic_store(&registry->has_joined, 1);
	pxt_close_own(place, (uint32_t)pid, start);
	take_over(registry);
	if (!was_forked)
		pxt_inherit(place, registry, pid, start);
	names = pxt_names_map(place, registry->names_pid, registry->names_start);
	if (!names) {
		munmap(registry, sizeof(*registry));
		return NULL;
	}
	set_names(names);
	pxt_process.names_pid = registry->names_pid;
	pxt_process.names_start = registry->names_start;
	pxt_process.start = start;
	return registry;
}

static struct pxt_registry *join_now(void)
{
	struct pxt_registry *registry = NULL;
	int place = pxt_place_open(), lock;

	if (place < 0)
		return NULL;
	lock = pxt_place_lock(place);
	if (lock >= 0) {
		registry = join_at(place);
		pxt_place_unlock(lock);
	}
	close(place);
	return registry;
}

/*
 * Joins POSIX Trace: finds or makes the registry and the names of this process. Returns true when
 * the process has a registry.
 *
 * If another thread is in this function, and @waits is true, waits some seconds at most for that
 * thread. If @waits is false, does not wait. Returns false if the other thread is still in this
 * function.
 */
static bool join(bool waits)
{
	PXT_NO_CANCEL;
	struct pxt_registry *registry;
	int error = errno;

	if (!pxt_turn_take(&joining, waits))
		return false;
	if (atomic_load(&pxt_process.registry) == &unknown) {
		atomic_store(&pxt_process.pid, (uint32_t)getpid());
		pxt_inside_begin();
		pxt_clock_begin();
		registry = join_now();
		atomic_store(&pxt_process.registry, registry ? registry : &none);
	}
	pxt_turn_give(&joining);
	errno = error;
	return atomic_load(&pxt_process.registry) != &none;
}

/* Signal-safe. Events of a signal handler that interrupts this function are not recorded. */
bool pxt_join(void)
{
	struct pxt_registry *registry = atomic_load(&pxt_process.registry);

	return PT_LIKELY(registry != &unknown) ? registry != &none : join(true);
}

/*
 * In a forked child, pxt_process.names first points to the parent's names of user events. join()
 * finds or makes the child's names. So this function calls join() before it returns the names. If
 * another thread is in join(), this function does not wait: a recorder that attaches to this
 * process may have stopped that thread.
 */
int pxt_known_names(struct pxt_names **names)
{
	*names = NULL;
	if (!pxt_process.names)
		return 0;
	if (atomic_load(&pxt_process.registry) == &unknown)
		join(false);
	if (atomic_load(&pxt_process.registry) == &unknown)
		return -EAGAIN;
	if (atomic_load(&pxt_process.registry) == &none)
		return 0;
	*names = pxt_process.names;
	return 0;
}

static bool is_inherited(const struct pxt_registry *registry, unsigned int number)
{
	struct pxt_stream *stream = atomic_load(&pxt_process.views[number].stream);

	return stream &&
	       atomic_load(&registry->serial[number]) ==
		       atomic_load(&pxt_process.views[number].serial) &&
	       pxt_is_attached(registry, number) && stream->attr.inherited == POSIX_TRACE_INHERITED;
}

/*
 * Maps all streams that are attached in @registry. Some of these streams may not be mapped yet: if
 * another process has attached a stream, the stream is usually mapped at the next event of the
 * process of @registry.
 */
static void map_attached(struct pxt_registry *registry)
{
	for (unsigned int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		if (pxt_is_attached(registry, nr))
			pxt_view_map(nr, atomic_load(&registry->serial[nr]));
	}
}

/* The destructor of this key is called when main() ends its thread by pthread_exit(). */
static pthread_key_t first_thread;
static bool has_first_thread;

static void first_thread_ends(void *marker)
{
	pxt_flushers_first_ended();
}

/* Called by the first thread. In a forked child this is the thread that has forked. */
static void watch_thread(void)
{
	pxt_flushers_watch_first(has_first_thread &&
				 (pthread_getspecific(first_thread) ||
				  pthread_setspecific(first_thread, &first_thread) == 0));
}

/*
 * Called in a forked child, which has only this thread. Gives up the parent's registry, and the
 * streams that are not inherited. If a signal handler has forked, the child may return to
 * interrupted code that uses the memory of the registry or of a stream. The interrupted code finds
 * zeros in this memory, and does not record its event.
 */
static void in_child(void)
{
	struct pxt_registry *registry = atomic_load(&pxt_process.registry);
	bool has_inherited = false;

	pxt_handles_forget();
	pxt_handles_unlock();
	pxt_turn_give(&joining);
	was_forked = true;
	pxt_inside_in_child();
	pxt_flushers_in_child();
	watch_thread();
	/* A process without a registry writes to no stream, so there is nothing to give up. */
	if (registry == &unknown || registry == &none)
		return;
	pxt_view_in_child();
	map_attached(registry);
	for (unsigned int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		struct pxt_view *view = &pxt_process.views[nr];

		if (is_inherited(registry, nr)) {
			inherited[nr] = has_inherited = true;
			continue;
		}
		pxt_view_forget(view);
	}
	atomic_store(&pxt_process.registry, &unknown);
	pxt_forget_memory(registry, sizeof(*registry));
	/*
	 * A child with inherited streams uses the names of its parent's user events. Call
	 * pxt_join() now, so that other processes see this use in the child's registry.
	 */
	if (has_inherited)
		pxt_join();
}

/*
 * If this process or its parent has a registry, calls pxt_join() at the start of the process. A
 * later call could be too late: after the parent has ended, pxt_join() does not find the streams
 * that the process inherits. All other processes call pxt_join() at their first event.
 */
static void join_if_traced(void)
{
	size_t bytes = sizeof(struct pxt_registry);
	struct pxt_registry *registry;
	uint64_t start;
	char name[64];
	int place;

	place = pxt_place_open_existing();
	if (place < 0)
		return;
	registry = pxt_parent_registry(place, getpid());
	if (!registry && pxt_process_start(getpid(), &start) == 0) {
		pxt_place_name(name, 'p', (uint64_t)getpid(), start);
		registry = pxt_place_map(place, name, &bytes);
	}
	close(place);
	if (!registry)
		return;
	munmap(registry, bytes);
	pxt_join();
}

static void watch_first_thread(void)
{
	has_first_thread = pthread_key_create(&first_thread, first_thread_ends) == 0;
	if (syscall(SYS_gettid) == getpid())
		watch_thread();
	else
		pxt_flushers_watch_first(false); /* another thread has called dlopen(3) */
}

__attribute__((constructor)) static void begin(void)
{
	PXT_NO_CANCEL; /* dlopen(3) may call this function in a thread that is being cancelled */
	int error = errno;

	watch_first_thread();
	pthread_atfork(pxt_handles_lock, pxt_handles_unlock, in_child);
	join_if_traced();
	errno = error;
}

/*
 * Removes the registry of this process. The file with the names of user events stays while a child
 * or a stream uses the names. A later call of pxt_sweep() removes that file.
 */
__attribute__((destructor)) static void end(void)
{
	PXT_NO_CANCEL;
	struct pxt_registry *registry = atomic_load(&pxt_process.registry);
	char name[64];
	int place, lock;

	/*
	 * This library may be a part of a plugin that is being unloaded. If the key stayed, the
	 * end of the first thread would call first_thread_ends(), whose code is gone by then.
	 */
	if (has_first_thread)
		pthread_key_delete(first_thread);
	has_first_thread = false;
	if (registry == &unknown || registry == &none ||
	    atomic_load(&pxt_process.pid) != (uint32_t)getpid())
		return;
	pxt_handles_shutdown();
	atomic_store(&pxt_process.registry, &none);
	place = pxt_place_open();
	if (place < 0)
		return;
	pxt_place_name(name, 'p', (uint64_t)getpid(), pxt_process.start);
	unlinkat(place, name, 0);
	/*
	 * Do not wait for the lock: a stopped process may hold the lock. In that case a later call
	 * of pxt_sweep(), in another process, removes the unused files.
	 */
	lock = pxt_place_try_lock(place);
	if (lock >= 0) {
		pxt_sweep(place);
		pxt_place_unlock(lock);
	}
	close(place);
}
