/*
 * Logs whose owner has ended without shutting down, and the keeper, which is the process that
 * completes these logs. All functions that the keeper calls are signal-safe. See
 * doc/posix-trace.md, "When the owner ends".
 */
#ifndef UTRAIL_POSIX_KEEPER_H
#define UTRAIL_POSIX_KEEPER_H

#include "posix/posix.h"
#include "posixlog/log.h"

/*
 * The kind of the last STOP in a log. PT_NO_STOP: the log has no STOP, or a record of the stream
 * follows the last STOP.
 */
enum pxt_stop {
	PT_NO_STOP,
	PT_STOP_OF_OWNER,     /* the stream may run again after this STOP */
	PT_STOP_OF_SUCCESSOR, /* appended by the process that completes the log */
};

/*
 * The progress of a log. The log has all records of the stream before position @taken. The first
 * bytes of the log are in the log's file. The other bytes are in pxt_log_part.buffer.
 *
 * @begin: the number of bytes of the log that are in the file
 * @pending: the number of bytes that are in the buffer
 * @has_stop: enum pxt_stop
 */
struct pxt_log_slot {
	uint64_t begin;
	uint64_t taken;
	uint32_t pending;
	uint32_t has_stop;
};

/*
 * The part of a stream that follows the stream's cells. This part has data about the stream's log.
 * Any process of the user may write to this part. Therefore the data of this part may decide what a
 * process reads, but never where a process writes.
 *
 * @dev, @ino: of the log's file
 * @mapped_at, @mapped_bytes: the place of the stream in the owner's memory
 * @overflow_ns: the time of the first lost event that the log does not report yet; 0: none
 * @keeper_pid: 0: there is no keeper
 * @finisher: the pid of the process that writes the log instead of the owner
 * @is_done: nothing is left to write
 * @which: the index of the valid slot in @slots
 */
struct pxt_log_part {
	uint64_t dev;
	uint64_t ino;
	uint64_t mapped_at;
	uint64_t mapped_bytes;
	uint64_t keeper_start;
	_Atomic uint64_t overflow_ns;
	_Atomic uint32_t keeper_pid;
	_Atomic uint32_t finisher;
	_Atomic uint32_t is_done;
	_Atomic uint32_t which;
	struct pxt_log_slot slots[2];
	_Alignas(64) unsigned char buffer[PT_LOG_BUFFER];
};

_Static_assert(sizeof(struct pxt_log_part) % PT_CELL_BYTES == 0, "cells follow it");

/* Returns the struct pxt_log_part of the stream, or NULL when the stream has no log. */
static inline struct pxt_log_part *pxt_log_part_of(const struct pxt_view *view)
{
	return view->has_log ? (struct pxt_log_part *)(view->cells + view->nr_cells) : NULL;
}

/*
 * The state of writing a log, in the owner or in the process that finishes the log.
 *
 * @taken: the stream's records before this position are in the log
 * @settled: the length of the log when @taken was set. Up to this length, all records are complete
 * @has_stop: an enum pxt_stop that describes only the content of the log. Records that are in the
 *         stream, but not in the log, do not change @has_stop
 * @owner: the process whose unfinished records will never be finished; 0: none
 */
struct pxt_drain {
	struct pxt_log_writer writer;
	struct pxt_log_part *part;
	uint64_t taken;
	uint64_t settled;
	uint32_t nr_names;
	uint32_t has_stop;
	pid_t owner;
};

/*
 * drain.c. The caller holds the lock handle->reads. Functions that move records return 0 or a
 * negative errno. -EXFULL means that the log has no room for the next record.
 */
void pxt_drain_begin(struct pxt_drain *drain, struct pxt_log_part *part, uint64_t taken);
/* Called after the log got a STOP that is not a record of the stream. */
void pxt_drain_note_stop(struct pxt_drain *drain);
int pxt_drain_until(struct pxt_handle *handle, struct pxt_drain *drain, uint64_t head);
int pxt_drain_last_gap(struct pxt_handle *handle, struct pxt_drain *drain);
int pxt_drain_names(struct pxt_handle *handle, struct pxt_drain *drain);
void pxt_drain_status(struct pxt_handle *handle, struct pxt_drain *drain);
void pxt_drain_end_full(struct pxt_handle *handle, struct pxt_drain *drain);

/*
 * gone.c: if /proc shows the mapping of @stream in this process, returns the address of @stream. If
 * /proc does not show the mapping, for example under an emulator, returns 0. The result is for
 * pxt_owner_is_gone().
 */
uint64_t pxt_place_of(const struct pxt_stream *stream, size_t bytes);
/*
 * True when the stream's owner has ended, or executed another program.
 *
 * @at, @bytes: address and size of the stream in the owner's memory; @at is 0 if it is unknown
 */
bool pxt_owner_is_gone(const struct pxt_stream *stream, uint64_t at, uint64_t bytes);

/*
 * finish.c: write the rest of a stream to its log, in the file @fd. Returns 0 or a negative errno.
 * The result is also 0 when another process completes the log or has completed it.
 *
 * @stream, @bytes: the mapped stream, and the number of mapped bytes
 */
int pxt_finish(struct pxt_stream *stream, size_t bytes, struct pxt_names *names, int fd);
/*
 * Returns the struct pxt_log_part of the stream. Returns NULL when the stream has no log, when the
 * log needs no completion, or when the stream is damaged.
 */
struct pxt_log_part *pxt_unfinished(struct pxt_stream *stream, size_t bytes);
/*
 * Called by a process that opens a log. If the owner of the log's stream is alive, the log does not
 * change. Otherwise, wait at most a second until the keeper begins to complete the log. If the
 * keeper or another process is completing the log, wait until the log is complete, but at most a
 * minute. This second wait ends earlier if the log makes no progress for ten seconds. After the
 * waits, complete the log if no other process has completed the log.
 */
void pxt_finish_file(int fd);
/*
 * If a stream has ended and the stream's log is not complete, the stream's file must get a new
 * name. Store this name in @name. The caller renames the file. After the renaming, another stream
 * can have the number @number.
 */
void pxt_left_name(char name[64], unsigned int number, uint32_t serial);
/* Remove the files of the stream. The caller should hold the lock of the folder @place. */
void pxt_remove_finished(int place, unsigned int number, const struct pxt_stream *stream);

/*
 * keeper.c: the data for the keeper of a new stream.
 *
 * @place: a descriptor of the folder of shared files
 * @log: the log's descriptor, -1 without a log
 * @names: needed only for a log
 * @mapped_at: the address of @stream in this process, from pxt_place_of()
 */
struct pxt_keeping {
	int place;
	int log;
	struct pxt_stream *stream;
	size_t bytes;
	struct pxt_names *names;
	unsigned int number;
	uint64_t mapped_at;
};

void pxt_keeper_start(struct pxt_keeper *keeper, const struct pxt_keeping *keeping,
		      struct pxt_log_part *part);
/*
 * End the keeper. Before this call, the owner closes the stream. If there is a log, the owner also
 * completes the log as far as possible, and sets pxt_log_part.is_done.
 */
void pxt_keeper_end(const struct pxt_keeper *keeper);

/*
 * trim.c: unmap memory that a child has from its parent and does not need. The memory around the
 * @nr addresses in @keeps is not unmapped.
 */
void pxt_trim(const void *const *keeps, int nr);
/* True when the program has ThreadSanitizer. */
bool pxt_has_thread_sanitizer(void);

#endif
