/*
 * Removes unused files from the folder of shared files (place.c), for example the files of dead
 * processes. The caller holds the lock of the folder. Signal-safe.
 */
#include "posix/keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 1024

/*
 * A keeper is a process that completes a log (keeper.h). If an unfinished log has no keeper, the
 * log waits in memory for a process that opens the log. The TRACE_SYS_MAX newest waiting logs are
 * removed after LEFT_SECONDS. Older waiting logs are removed after LEFT_SECONDS_MANY, so that these
 * logs do not fill the memory.
 */
#define LEFT_SECONDS	  3600
#define LEFT_SECONDS_MANY 10

/*
 * The age of a log. Since the time @since_ns, the log has waited for a process that opens it. If
 * two logs have the same time, the one with the greater inode number counts as newer.
 */
struct age {
	uint64_t since_ns;
	uint64_t ino;
};

/*
 * A list of the files "n-PID-START" that are in use. Each of these files contains the names of user
 * events, and is used by a living process or by a stream. PID and START are the pid and the start
 * time of the process that made the file.
 *
 * @newest, @nr_newest: the ages of the newest logs that wait until a process opens them. The age of
 *                      the newest log is first
 */
struct in_use {
	int place;
	unsigned int nr_newest;
	struct age newest[TRACE_SYS_MAX];
	struct {
		uint32_t pid;
		uint64_t start;
	} names[NAMES_MAX];
	size_t nr;
};

static void note_process(struct in_use *in_use, uint32_t pid, uint64_t start)
{
	if (in_use->nr < NAMES_MAX) {
		in_use->names[in_use->nr].pid = pid;
		in_use->names[in_use->nr].start = start;
	}
	in_use->nr++;
}

static bool is_noted(const struct in_use *in_use, uint32_t pid, uint64_t start)
{
	if (in_use->nr > NAMES_MAX)
		return true; /* the list has no room for all names, so it may lack this name */
	for (size_t nr = 0; nr < in_use->nr; nr++) {
		if (in_use->names[nr].pid == pid && in_use->names[nr].start == start)
			return true;
	}
	return false;
}

/* Parses a name of the form "X-PID-START". */
static bool take_apart(const char *name, pid_t *pid, uint64_t *start)
{
	char *end;

	*pid = (pid_t)strtol(name + 2, &end, 10);
	if (*pid <= 0 || *end != '-')
		return false;
	*start = strtoull(end + 1, &end, 10);
	return *end == '\0';
}

/*
 * Renames the file of a stream whose log is unfinished, so that the stream's number is free again.
 * Returns false if the log needs no completion, or if the file cannot be renamed.
 */
static bool keep_left(int place, const char *name, struct pxt_stream *stream, size_t bytes)
{
	char left[64];

	pxt_left_name(left, (unsigned int)strtoul(name + 2, NULL, 10), stream->serial);
	return pxt_unfinished(stream, bytes) && renameat(place, name, place, left) == 0;
}

static void look_at_stream(const char *name, struct in_use *in_use)
{
	size_t bytes = PT_CELLS_OFFSET;
	struct pxt_stream *stream = pxt_place_map(in_use->place, name, &bytes);
	bool is_kept = true;

	if (!stream)
		return;
	if (!pxt_process_is_alive((pid_t)stream->owner_pid, stream->owner_start)) {
		pxt_close_stream(stream);
		is_kept = keep_left(in_use->place, name, stream, bytes);
	}
	if (is_kept)
		note_process(in_use, stream->names_pid, stream->names_start);
	else
		unlinkat(in_use->place, name, 0);
	munmap(stream, bytes);
}

static bool has_keeper(const struct pxt_log_part *part)
{
	return pxt_process_is_alive((pid_t)atomic_load(&part->keeper_pid), part->keeper_start);
}

static bool find_age(int place, const char *name, struct age *age)
{
	struct stat st;

	if (fstatat(place, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	age->since_ns = (uint64_t)st.st_ctim.tv_sec * PT_NS_PER_SECOND +
			(uint64_t)st.st_ctim.tv_nsec;
	age->ino = st.st_ino;
	return true;
}

static bool is_newer(const struct age *age, const struct age *other)
{
	return age->since_ns > other->since_ns ||
	       (age->since_ns == other->since_ns && age->ino > other->ino);
}

/* Notes the age of a log. Only the ages of the TRACE_SYS_MAX newest logs are kept. */
static void note_age(struct in_use *in_use, const struct age *age)
{
	unsigned int at = in_use->nr_newest;

	if (at < TRACE_SYS_MAX)
		in_use->nr_newest++;
	else if (!is_newer(age, &in_use->newest[--at]))
		return;
	for (; at > 0 && is_newer(age, &in_use->newest[at - 1]); at--)
		in_use->newest[at] = in_use->newest[at - 1];
	in_use->newest[at] = *age;
}

static bool is_wanted(const struct in_use *in_use, const char *name,
		      const struct pxt_log_part *part)
{
	int64_t seconds = LEFT_SECONDS;
	struct age age;

	if (has_keeper(part))
		return true;
	if (!find_age(in_use->place, name, &age))
		return false;
	if (in_use->nr_newest == TRACE_SYS_MAX &&
	    is_newer(&in_use->newest[TRACE_SYS_MAX - 1], &age))
		seconds = LEFT_SECONDS_MANY;
	/* The difference is below 0 if the clock was set back. */
	return (int64_t)(pxt_clock_ns(CLOCK_REALTIME) - age.since_ns) <
	       seconds * (int64_t)PT_NS_PER_SECOND;
}

static void note_left(const char *name, struct in_use *in_use)
{
	size_t bytes = PT_CELLS_OFFSET;
	struct pxt_stream *stream = pxt_place_map(in_use->place, name, &bytes);
	struct pxt_log_part *part;
	struct age age;

	if (!stream)
		return;
	part = pxt_unfinished(stream, bytes);
	if (part && !has_keeper(part) && find_age(in_use->place, name, &age))
		note_age(in_use, &age);
	munmap(stream, bytes);
}

static void look_at_left(const char *name, struct in_use *in_use)
{
	size_t bytes = PT_CELLS_OFFSET;
	struct pxt_stream *stream = pxt_place_map(in_use->place, name, &bytes);
	struct pxt_log_part *part;

	if (!stream)
		return;
	part = pxt_unfinished(stream, bytes);
	if (part && is_wanted(in_use, name, part))
		note_process(in_use, stream->names_pid, stream->names_start);
	else
		unlinkat(in_use->place, name, 0);
	munmap(stream, bytes);
}

static bool is_stream(int place, unsigned int number, uint32_t serial)
{
	size_t bytes;
	struct pxt_stream *stream = pxt_place_map_stream(place, number, &bytes);
	bool is;

	if (!stream)
		return false;
	is = stream->serial == serial;
	munmap(stream, bytes);
	return is;
}

/* True when a registry is needed: its process uses POSIX Trace, or a stream traces its process. */
static bool has_use(int place, const struct pxt_registry *registry)
{
	if (atomic_load(&registry->has_joined))
		return true;
	for (unsigned int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		if (pxt_is_attached(registry, nr) &&
		    is_stream(place, nr, atomic_load(&registry->serial[nr])))
			return true;
	}
	return false;
}

static void look_at_process(const char *name, struct in_use *in_use)
{
	size_t bytes = sizeof(struct pxt_registry);
	struct pxt_registry *registry;
	uint64_t start;
	pid_t pid;

	if (!take_apart(name, &pid, &start))
		return;
	if (!pxt_process_is_alive(pid, start)) {
		unlinkat(in_use->place, name, 0);
		return;
	}
	registry = pxt_place_map(in_use->place, name, &bytes);
	if (!registry)
		return;
	if (has_use(in_use->place, registry))
		note_process(in_use, registry->names_pid, registry->names_start);
	else
		unlinkat(in_use->place, name, 0);
	munmap(registry, bytes);
}

static void look_at_names(const char *name, const struct in_use *in_use)
{
	uint64_t start;
	pid_t pid;

	if (take_apart(name, &pid, &start) && !is_noted(in_use, (uint32_t)pid, start))
		unlinkat(in_use->place, name, 0);
}

static void look_at_name(const char *name, void *argument)
{
	if (name[1] != '-')
		return;
	if (name[0] == 's')
		look_at_stream(name, argument);
	else if (name[0] == 'p')
		look_at_process(name, argument);
}

/*
 * Notes the age of an unfinished log that has no keeper. The names of such logs begin with "d-",
 * because look_at_name() has already renamed the files of ended streams. The ages of all logs are
 * noted before the first log is removed. So the order of the files in the folder does not decide
 * which logs are removed.
 */
static void look_at_ages(const char *name, void *argument)
{
	if (name[0] == 'd' && name[1] == '-')
		note_left(name, argument);
}

static void look_at_logs(const char *name, void *argument)
{
	if (name[0] == 'd' && name[1] == '-')
		look_at_left(name, argument);
}

/*
 * Removes @name if it is an unused file "n-PID-START". pxt_sweep() calls this function last, when
 * the list of used files is complete.
 */
static void look_again(const char *name, void *argument)
{
	if (name[0] == 'n' && name[1] == '-')
		look_at_names(name, argument);
}

void pxt_sweep(int place)
{
	int folder = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct in_use *in_use;

	if (folder < 0)
		return;
	in_use = mmap(NULL, sizeof(*in_use), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (in_use != MAP_FAILED) {
		in_use->place = place;
		pxt_list(folder, look_at_name, in_use);
		pxt_list(folder, look_at_ages, in_use);
		pxt_list(folder, look_at_logs, in_use);
		pxt_list(folder, look_again, in_use);
		munmap(in_use, sizeof(*in_use));
	}
	close(folder);
}
