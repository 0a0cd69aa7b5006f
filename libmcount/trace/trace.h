/* What the files of libutrail-trace have in common: logs, their events, and the lock between processes. */
#ifndef UTRAIL_TRACE_TRACE_H
#define UTRAIL_TRACE_TRACE_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Its functions are all that the library exports. */
#pragma GCC visibility push(default)
#include "libmcount/trace/fstrace.h"
#pragma GCC visibility pop
#include "utils/fstrace/directive.h"
#include "utils/fstrace/text.h"

/* A format, taken apart once. */
struct fst_format {
	struct fst_format
		*next; /* all of a log, until it is closed: some thread may be using any */
	char *text;
	bool has_calls; /* of the program's functions: %I, %J */
	size_t nr_pieces;
	struct fst_piece pieces[];
};

struct fstrace_event_impl {
	_Atomic(struct fstrace_event_impl *) next;
	fstrace_t *trace;
	fstrace_event_t *event;
	struct fst_format *format;
	char *id;
	char *head; /* " <id> " */
	size_t head_len;
};

/* Where the processes that have a log in common agree. It is in memory that children inherit. */
struct fst_shared {
	/*
	 * How much of the log has been given away, and in which file of it: (number of the file) << 48 | bytes. Who adds the length of
	 * a record knows by what was there before whether the record goes into this file or is the one that begins the next.
	 */
	_Atomic uint64_t place;
	/* Writers in the middle of a record. Who was killed there is counted for ever: his line may be torn. */
	_Atomic uint32_t nr_writing;
};

#define FST_PLACE_BITS 48

struct fst_limits {
	_Atomic int64_t files;
	_Atomic int64_t seconds;
	_Atomic int64_t bytes;
};

struct fstrace {
	FILE *stream; /* of fstrace_direct() */
	char *prefix;
	ssize_t rotate_size;
	_Atomic int fd;	       /* -1 until the first record; then it never changes */
	_Atomic uint32_t file; /* which one of the log @fd is: see place */
	struct fst_shared *shared;
	struct fst_limits limits;
	_Atomic(struct fst_format *) common;
	struct fst_format *formats;
	_Atomic(struct fstrace_event_impl *) first;
	struct fstrace_event_impl *last;
	struct fst_chunk *chunks;
};

/* No process has a file of this number. */
#define FST_NO_FILE UINT32_MAX

/* format.c */
struct fst_format *fst_format_make(const char *text);
void fst_format_free(struct fst_format *format);
bool fst_format_is_bare(const struct fst_format *format);

/* file.c: one record, with one write(). What cannot be written is lost, as there is nobody to tell. */
void fst_file_write(fstrace_t *trace, const char *bytes, size_t len);
/* An old log of that name makes room. 0, or -1 and errno. */
int fst_file_set_aside(const char *prefix);
/* In place of a descriptor that the program may have closed. */
void fst_file_reopen(fstrace_t *trace);

/* A log, and its old ones, before it is closed. Nothing is done unless a writer was killed. */
void fst_file_repair(fstrace_t *trace);

/* repair.c: lines of writers that were killed end with a mark. */
void fst_repair_file(int dir_fd, const char *path);

/* limits.c: delete what is too much of the old files. */
void fst_limits_enforce(const char *prefix, struct fst_limits *limits);
/* Repair the @nr newest of the old files. */
void fst_limits_repair(const char *prefix, size_t nr);
/* Room for the longest name of a file. */
#define FST_PATH_MAX 4096

/*
 * lock.c: what is rare, one after the other: all threads of this process and all processes of the log. Signals wait
 * meanwhile, except those that a fault raises.
 */
struct fst_held {
	sigset_t before;
};
void fst_lock(struct fst_held *held);
void fst_unlock(struct fst_held *held);
/* The same for this process only; its functions may log nothing. */
void fst_lock_threads(struct fst_held *held);
void fst_unlock_threads(struct fst_held *held);
/* The file of the lock is there from the first log on. 0, or -1 and errno. */
int fst_lock_open(void);
/* Gives the file of a log to whom fstrace_chown() named. */
void fst_owner_set(int fd);
/* A descriptor that is none of 0, 1 and 2, which belong to the program even if it has closed them. Takes @fd. */
int fst_keep_away(int fd);
/* @fd by the number of @old, if the program has closed that one and not taken the number itself. Takes @fd. */
int fst_replace_fd(int old, int fd);

#endif
