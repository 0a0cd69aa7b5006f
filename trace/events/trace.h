/*
 * The declarations that the files of libutrail-trace share: logs, their events, and the lock
 * between processes.
 */
#ifndef UTRAIL_TRACE_TRACE_H
#define UTRAIL_TRACE_TRACE_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The library exports the functions of this header only. */
#pragma GCC visibility push(default)
#include "include/fstrace.h"
#pragma GCC visibility pop
#include "seam/recorder.h"
#include "text/format.h"
#include "text/payload.h"
#include "text/text.h"

/*
 * The consumers of an event. Their bits follow the public part of the event, in memory that
 * children share: so an event is chosen for all processes at once. The flag that programs check is
 * set when there is any consumer.
 */
enum fst_consumer {
	FST_TO_TEXT = 1U << 0, /* a line of the log is written */
	FST_TO_RING = 1U << 1, /* a recorder gets the event */
};

struct fst_event {
	fstrace_event_t public;
	_Atomic uint32_t consumers; /* enum fst_consumer */
};

/*
 * An event as the recorder knows it. With another common format, the recorder has it as another
 * event.
 */
struct fst_recorded {
	struct fst_recorded *next; /* a former one; any thread may use it until the log is closed */
	_Atomic uint32_t id;	   /* the recorder's number; 0: that recorder is gone */
	bool is_plain;		   /* both formats are plain: see format.h */
	_Atomic int choice;	   /* the result of choose(): see recorder.h */
	const struct fst_format *common;
};

struct fstrace_event_impl {
	_Atomic(struct fstrace_event_impl *) next;
	fstrace_t *trace;
	struct fst_event *event;
	struct fst_format *format;
	_Atomic(struct fst_recorded *) recorded; /* NULL: the event is not recorded */
	char *id;
	char *head; /* " <id> " */
	size_t head_len;
};

/* The state that processes with the same log share, in memory that children inherit. */
struct fst_shared {
	/*
	 * The bytes of the log that have been allotted, and the number of the current file: (number
	 * of the file) << 48 | bytes. A writer adds the length of its record. The value before the
	 * addition tells the writer whether the record goes into this file or begins the next one.
	 */
	_Atomic uint64_t place;
	/*
	 * Writers in the middle of a record. A writer that was killed there is counted forever: its
	 * line may be torn.
	 */
	_Atomic uint32_t nr_writing;
};

#define FST_PLACE_BITS 48

struct fst_limits {
	_Atomic int64_t files;
	_Atomic int64_t seconds;
	_Atomic int64_t bytes;
};

struct fstrace {
	FILE *stream; /* the stream of fstrace_direct() */
	char *prefix;
	ssize_t rotate_size;
	_Atomic int fd;	       /* -1 until the first record; then it never changes */
	_Atomic uint32_t file; /* the number of the log's file that @fd has: see place */
	struct fst_shared *shared;
	struct fst_limits limits;
	_Atomic(struct fst_format *) common;
	struct fst_format *formats;
	_Atomic(struct fstrace_event_impl *) first;
	struct fstrace_event_impl *last;
	struct fst_chunk *chunks;
	struct fstrace *next; /* the list of open logs: recorded.c */
};

/* The number of no file. */
#define FST_NO_FILE UINT32_MAX

/* The facts that a record needs about its place in the program. */
struct fst_spot {
	const char *file;
	unsigned line;
	int error; /* errno at the call of the macro */
};

/* A va_list that can be passed on: on some machines it is an array. */
struct fst_values {
	va_list list;
};

typedef const char *(*fst_text_function)(void *);

/* binary.c: append the values as a payload, those of @common (may be NULL) first. */
void fst_add_values(struct fst_text *payload, const struct fst_format *common,
		    const struct fst_format *format, const struct fst_spot *spot,
		    struct fst_values *values);

/*
 * recorded.c. The log @trace is open: find this process' recorder. Each event is declared to the
 * recorder, and declared again when the common format changes. fst_recorded_declare() runs under
 * the lock of threads.
 */
void fst_recorded_begin(fstrace_t *trace);
/* The log @trace is closed. Not under the lock of threads. */
void fst_recorded_end(fstrace_t *trace);
void fst_recorded_declare(struct fstrace_event_impl *impl);
void fst_recorded_free(struct fstrace_event_impl *impl);
/*
 * HOT: write the record in the recorder's place. The formats must be plain. False when that is
 * impossible: then make a copy, and emit that.
 */
bool fst_recorded_write(const struct fstrace_event_impl *impl, const struct fst_recorded *recorded,
			const struct fst_spot *spot, struct fst_values *values);
/* Emit a record that was made elsewhere. Nothing happens if the recorder is gone. */
void fst_recorded_emit(const struct fst_recorded *recorded, const struct fst_text *payload);

/*
 * trace.c: choose the consumers of an event, depending on whether the program wants it as text.
 * Signal-safe.
 */
void fst_choose(struct fstrace_event_impl *impl, bool wants_text);

/*
 * file.c: write one record, with one write(). A record that cannot be written is lost without a
 * report.
 */
void fst_file_write(fstrace_t *trace, const char *bytes, size_t len);
/* Rename a log file that is there already. 0, or -1 and errno. */
int fst_file_set_aside(const char *prefix);
/* Open the file again if the program has closed the descriptor. */
void fst_file_reopen(fstrace_t *trace);

/*
 * Repair a log, and its old files, before it is closed. Nothing is done unless a writer was killed.
 */
void fst_file_repair(fstrace_t *trace);

/* repair.c: mark the ends of lines of killed writers. */
void fst_repair_file(int dir_fd, const char *path);

/* limits.c: delete the old files that are beyond the limits. */
void fst_limits_enforce(const char *prefix, struct fst_limits *limits);
/* Repair the @nr newest of the old files. */
void fst_limits_repair(const char *prefix, size_t nr);
/* Room for the longest name of a file. */
#define FST_PATH_MAX 4096

/*
 * lock.c: serialize rare operations of all threads of this process and all processes of the log.
 * Signals are blocked meanwhile, except those that a fault raises.
 */
struct fst_held {
	sigset_t before;
};
void fst_lock(struct fst_held *held);
void fst_unlock(struct fst_held *held);
/* Does the work of fst_lock() for this process only. Functions that run under it must not log. */
void fst_lock_threads(struct fst_held *held);
void fst_unlock_threads(struct fst_held *held);
/* False when any thread has the lock, the caller included. */
bool fst_try_lock_threads(struct fst_held *held);
/* Open the lock's file, which exists from the first log on. 0, or -1 and errno. */
int fst_lock_open(void);
/* Gives the file of a log to the owner that fstrace_chown() named. */
void fst_owner_set(int fd);
/*
 * Move a descriptor off 0, 1 and 2, which belong to the program even if it has closed them. Takes
 * over @fd.
 */
int fst_keep_away(int fd);
/*
 * Give the file of @fd the number @old, if the program has closed that descriptor and not reused
 * the number. Takes over @fd.
 */
int fst_replace_fd(int old, int fd);

#endif
