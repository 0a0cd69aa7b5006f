/*
 * Attaches a new process to each stream that traces the process's parent and has the attribute
 * POSIX_TRACE_INHERITED. After an exec, closes the streams that the earlier program of the process
 * has made.
 */
#include "posix/keeper.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct pxt_registry *pxt_parent_registry(int place, pid_t pid)
{
	pid_t parent = pxt_process_parent(pid);
	uint64_t start;

	if (parent <= 0 || pxt_process_start(parent, &start) < 0)
		return NULL;
	return pxt_place_map_valid(place, 'p', (uint64_t)parent, start,
				   sizeof(struct pxt_registry));
}

/*
 * Returns the latest time, by CLOCK_REALTIME, at which a process can have begun.
 *
 * @start: the start time of the process in ticks (field 22 of "stat" in proc(5))
 */
static uint64_t latest_begin_ns(uint64_t start)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t begin = (start + 1) * (PT_NS_PER_SECOND / (per_second ? per_second : 100));
	uint64_t now = pxt_clock_ns(CLOCK_BOOTTIME);

	return pxt_clock_ns(CLOCK_REALTIME) - (now > begin ? now - begin : 0);
}

static bool is_inherited(int place, unsigned int number, uint32_t serial, uint64_t begin_ns)
{
	size_t bytes;
	struct pxt_stream *stream = pxt_place_map_stream(place, number, &bytes);
	bool is_one = false;

	if (stream) {
		is_one = stream->serial == serial &&
			 stream->attr.inherited == POSIX_TRACE_INHERITED &&
			 stream->attr.created_ns <= begin_ns;
		munmap(stream, bytes);
	}
	return is_one;
}

void pxt_inherit(int place, struct pxt_registry *registry, pid_t pid, uint64_t start)
{
	struct pxt_registry *from = pxt_parent_registry(place, pid);
	uint64_t begin_ns = latest_begin_ns(start);

	for (unsigned int nr = 0; from && nr < TRACE_SYS_MAX; nr++) {
		uint32_t serial = atomic_load(&from->serial[nr]);

		if (!pxt_is_attached(from, nr) || !is_inherited(place, nr, serial, begin_ns))
			continue;
		registry->names_pid = from->names_pid;
		registry->names_start = from->names_start;
		pxt_attach(registry, nr, serial);
	}
	if (from)
		munmap(from, sizeof(*from));
}

void pxt_close_own(int place, uint32_t pid, uint64_t start)
{
	for (unsigned int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		size_t bytes = PT_CELLS_OFFSET;
		struct pxt_stream *stream;
		char name[64], left[64];

		pxt_place_name(name, 's', nr, 0);
		stream = pxt_place_map(place, name, &bytes);
		if (!stream)
			continue;
		if (stream->owner_pid == pid && stream->owner_start == start) {
			pxt_close_stream(stream);
			/*
			 * If the stream's log is not complete, rename the stream's file. The keeper
			 * process (keeper.h), or a process that opens the log, completes the log
			 * later.
			 */
			pxt_left_name(left, nr, stream->serial);
			if (!pxt_unfinished(stream, bytes) ||
			    renameat(place, name, place, left) < 0)
				unlinkat(place, name, 0);
		}
		munmap(stream, bytes);
	}
}
