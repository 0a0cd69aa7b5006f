/*
 * Detects streams whose owner is gone, and closes these streams. A closed stream takes no new
 * events. Signal-safe.
 */
#include "posix/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the path "/proc/PID/" + @rest. */
static void put_path(char path[128], pid_t pid, const char *rest)
{
	pxt_process_path(path, pid);
	strcpy(strrchr(path, '/') + 1, rest);
}

enum mapped {
	IS_MAPPED,
	IS_NOT_MAPPED,
	NOBODY_KNOWS,
};

/*
 * Each mapping of a file has an entry in /proc/PID/map_files. The name of the entry is the address
 * range of the mapping.
 */
static enum mapped is_mapped(pid_t pid, uint64_t at, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[128], rest[64] = "map_files/", *end;
	struct stat st;

	end = pxt_add_number(rest + strlen(rest), at, 16);
	*end++ = '-';
	end = pxt_add_number(end, (at + bytes + page - 1) / page * page, 16);
	*end = '\0';
	put_path(path, pid, rest);
	if (lstat(path, &st) == 0)
		return IS_MAPPED;
	if (errno != ENOENT)
		return NOBODY_KNOWS;
	put_path(path, pid, "map_files");
	return lstat(path, &st) == 0 ? IS_NOT_MAPPED : NOBODY_KNOWS;
}

struct looking {
	uint64_t at;
	uint64_t bytes;
	bool has_changed;
};

/*
 * Clears looking->has_changed if the thread with the number @name has the mapping at looking->at,
 * or if /proc does not show whether the thread has this mapping. /proc/TID works like /proc/PID. A
 * thread that has ended has no mappings.
 */
static void look_at_thread(const char *name, void *argument)
{
	struct looking *looking = argument;
	pid_t tid = 0;
	uint64_t start;

	for (; *name >= '0' && *name <= '9'; name++)
		tid = tid * 10 + (*name - '0');
	if (tid && !*name && pxt_process_start(tid, &start) == 0 &&
	    is_mapped(tid, looking->at, looking->bytes) != IS_NOT_MAPPED)
		looking->has_changed = false;
}

/*
 * True when the process has executed another program: no thread of the process still has a file
 * mapped at exactly [@at, @at + @bytes). False when the mappings are unknown.
 */
static bool process_has_changed(pid_t pid, uint64_t at, uint64_t bytes)
{
	struct looking looking = { at, bytes, true };
	char path[128];
	int folder;

	if (!at || is_mapped(pid, at, bytes) != IS_NOT_MAPPED)
		return false;
	/* The first thread may have ended before other threads, so all threads are checked. */
	put_path(path, pid, "task");
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	pxt_list(folder, look_at_thread, &looking);
	close(folder);
	return looking.has_changed;
}

/*
 * Returns the address of @stream in this process. Returns 0 if /proc does not show a mapping of
 * @bytes bytes at this address. Under an emulator, for example, /proc shows other addresses.
 */
uint64_t pxt_place_of(const struct pxt_stream *stream, size_t bytes)
{
	uint64_t at = (uintptr_t)stream;

	return is_mapped(getpid(), at, bytes) == IS_MAPPED ? at : 0;
}

bool pxt_owner_is_gone(const struct pxt_stream *stream, uint64_t at, uint64_t bytes)
{
	pid_t pid = (pid_t)stream->owner_pid;
	int error = errno;
	bool is = !pxt_process_is_alive(pid, stream->owner_start) ||
		  process_has_changed(pid, at, bytes);

	errno = error;
	return is;
}

void pxt_close_stream(struct pxt_stream *stream)
{
	uint32_t run = atomic_load(&stream->run), none = 0;

	if (!(run & PT_IS_CLOSED))
		atomic_compare_exchange_strong(&stream->run_at_end, &none, run | PT_WAS_CLOSED);
	atomic_store(&stream->run, PT_IS_CLOSED);
}
