/* Files in the folder of POSIX Trace, as processes leave them. */
#ifndef UTRAIL_TESTS_UNIT_TRACE_FILES_H
#define UTRAIL_TESTS_UNIT_TRACE_FILES_H

#include <sys/mman.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

#define STREAM_BYTES (PT_CELLS_OFFSET + 64 * PT_CELL_BYTES)

static inline void *trace_file(int place, char kind, uint64_t number, uint64_t start, size_t bytes)
{
	char name[64];
	int error;
	void *memory;

	pxt_place_name(name, kind, number, start);
	memory = pxt_place_make(place, name, bytes, &error);
	assert_non_null(memory);
	return memory;
}

static inline bool trace_file_is(int place, char kind, uint64_t number, uint64_t start)
{
	char name[64];

	pxt_place_name(name, kind, number, start);
	return faccessat(place, name, F_OK, 0) == 0;
}

/* Make a stream of the owner @pid. It stays mapped. */
static inline struct pxt_stream *trace_file_stream(int place, unsigned number, uint32_t pid,
						   uint64_t start)
{
	struct pxt_stream *stream = trace_file(place, 's', number, 0, STREAM_BYTES);

	stream->magic = PT_MAGIC;
	stream->version = PT_VERSION;
	stream->owner_pid = pid;
	stream->owner_start = start;
	atomic_store(&stream->run, PT_RUNS);
	return stream;
}

static inline struct pxt_registry *trace_file_registry(int place, uint32_t pid, uint64_t start)
{
	struct pxt_registry *registry = trace_file(place, 'p', pid, start, sizeof(*registry));

	registry->magic = PT_MAGIC;
	registry->version = PT_VERSION;
	registry->names_pid = pid;
	registry->names_start = start;
	atomic_store(&registry->has_joined, 1);
	return registry;
}

/* Make the file for the names of a process. The file has no names. */
static inline void trace_file_names(int place, uint32_t pid, uint64_t start)
{
	munmap(trace_file(place, 'n', pid, start, 4096), 4096);
}

/* Make an empty folder. */
static inline int trace_files_begin(int *place)
{
	trace_place_remove();
	if (mkdir(trace_place_above, 0700) < 0)
		return -1;
	*place = pxt_place_open();
	return *place < 0;
}

#endif
