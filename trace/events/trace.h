/* Declarations for all sources that implement <fstrace.h>: logs, events of logs, and locks. */
#ifndef UTRAIL_TRACE_TRACE_H
#define UTRAIL_TRACE_TRACE_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * The library exports only the functions of fstrace.h. The other functions that this file declares
 * are internal.
 */
#pragma GCC visibility push(default)
#include "include/fstrace.h"
#pragma GCC visibility pop
#include "seam/recorder.h"
#include "text/format.h"
#include "text/payload.h"
#include "text/text.h"

/*
 * The consumers of an event, as bits. The bits of all events are in memory that a process shares
 * with its children. So when one of these processes chooses consumers, the choice is valid in all
 * of these processes. When an event has a consumer, the flag @enabled of the event is set. Programs
 * check this flag.
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
 * A declaration of an event to the recorder. The declaration includes the log's common format. If
 * the common format changes, the event is declared again.
 */
struct fst_recorded {
	struct fst_recorded *next; /* older declaration; threads may use it until the log closes */
	_Atomic uint32_t id;	   /* the event's number; 0: no recorder takes the event */
	bool is_plain;		   /* the event's format and @common are plain: see format.h */
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

/*
 * The state of a log, in memory that child processes inherit. All processes of the log share the
 * state.
 */
struct fst_shared {
	/*
	 * (number of the current file) << FST_PLACE_BITS | number of bytes that writers have
	 * reserved in the file. A writer adds the length of its record. The value before the
	 * addition tells the writer whether the record still goes into this file.
	 */
	_Atomic uint64_t place;
	/*
	 * The number of writers that are writing a record at this moment. A writer that is killed
	 * while writing stays counted. The killed writer's line may be torn, so the log is later
	 * repaired.
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
	_Atomic int fd;	       /* -1 until the first record */
	_Atomic uint32_t file; /* the number of the file of @fd: see struct fst_shared */
	/* @device and @inode identify the file that was opened as @fd. Guarded by fst_lock(). */
	dev_t device;
	ino_t inode;
	struct fst_shared *shared;
	struct fst_limits limits;
	_Atomic(struct fst_format *) common;
	struct fst_format *formats;
	_Atomic(struct fstrace_event_impl *) first;
	struct fstrace_event_impl *last;
	struct fst_chunk *chunks;
	struct fstrace *next; /* the list of open logs: recorded.c */
};

#define FST_NO_FILE UINT32_MAX /* no file has this number */

/* The place in the program from which a record comes. */
struct fst_spot {
	const char *file;
	unsigned line;
	int error; /* errno when the program logged the event */
};

/*
 * A va_list in a struct, so that functions can pass a pointer to the va_list. On machines where
 * va_list is an array, a parameter of type va_list is a pointer. The address of such a parameter is
 * not a `va_list *`.
 */
struct fst_values {
	va_list list;
};

typedef const char *(*fst_text_function)(void *);

/* binary.c: append the values as a payload. The values of @common (may be NULL) come first. */
void fst_add_values(struct fst_text *payload, const struct fst_format *common,
		    const struct fst_format *format, const struct fst_spot *spot,
		    struct fst_values *values);

/*
 * recorded.c: sends events to a recorder in this process. When a log is opened,
 * fst_recorded_begin() looks for the recorder. fst_recorded_declare() declares an event to the
 * recorder. fstrace_set_common_format() declares all events of the log again. Callers of
 * fst_recorded_declare() hold the lock fst_lock_threads(). Callers of fst_recorded_end() do not
 * hold this lock.
 */
void fst_recorded_begin(fstrace_t *trace);
void fst_recorded_end(fstrace_t *trace);
void fst_recorded_declare(struct fstrace_event_impl *impl);
void fst_recorded_free(struct fstrace_event_impl *impl);
/*
 * HOT: write the record directly into memory that the recorder provides. recorded->is_plain must be
 * true. Returns false when the recorder provides no memory, or too little. In this case, the caller
 * makes the payload in its own memory, and calls fst_recorded_emit().
 */
bool fst_recorded_write(const struct fstrace_event_impl *impl, const struct fst_recorded *recorded,
			const struct fst_spot *spot, struct fst_values *values);
/* Emit a record with a ready payload. Does nothing if the recorder is gone. */
void fst_recorded_emit(const struct fst_recorded *recorded, const struct fst_text *payload);

/* trace.c: choose an event's consumers. @wants_text: the program wants FST_TO_TEXT. Signal-safe. */
void fst_choose(struct fstrace_event_impl *impl, bool wants_text);

/* file.c: write a record by one write(2). If write(2) fails, the loss is not reported. */
void fst_file_write(fstrace_t *trace, const char *bytes, size_t len);
/*
 * Repair PREFIX.log, and rename PREFIX.log to PREFIX-TIME.log, as a rotation does. TIME is the
 * current time. If the new file name exists, a later TIME is used. Does nothing if PREFIX.log does
 * not exist. Returns 0, or -1 with errno set.
 */
int fst_file_set_aside(const char *prefix);
/*
 * Open PREFIX.log again, because the program may have closed the log's descriptor, or renamed the
 * file.
 */
void fst_file_reopen(fstrace_t *trace);

/*
 * Repair PREFIX.log and the files that rotations have renamed. Does nothing if shared->nr_writing
 * is 0.
 */
void fst_file_repair(fstrace_t *trace);

/* repair.c: mark the end of each torn line. */
void fst_repair_file(int dir_fd, const char *path);
/* True when @text begins with @shape, in which a '0' stands for any digit. */
bool fst_has_shape(const char *text, const char *shape);

/* limits.c: delete old files that are beyond the limits. */
void fst_limits_enforce(const char *prefix, struct fst_limits *limits);
/* Repair the @nr newest files that rotations have renamed (PREFIX-TIME.log). */
void fst_limits_repair(const char *prefix, size_t nr);
#define FST_PATH_MAX 4096 /* bytes of the longest path, with the NUL */

/*
 * lock.c: the lock for rare operations. In all processes of the log together, only one thread can
 * hold the lock. A thread that holds the lock cannot be cancelled, and blocks all signals except
 * SIGSEGV and the other signals of faults.
 */
struct fst_held {
	sigset_t before;
	int cancel_before;
};
void fst_lock(struct fst_held *held);
void fst_unlock(struct fst_held *held);
/*
 * Lock out the other threads of this process, but no other process. A thread that holds this lock
 * must not log.
 */
void fst_lock_threads(struct fst_held *held);
void fst_unlock_threads(struct fst_held *held);
/* Returns false when another thread or the calling thread has the lock. */
bool fst_try_lock_threads(struct fst_held *held);
/*
 * Open the lock file, unless it is open already. All logs of the process use the same lock file.
 * Returns 0, or -1 and errno.
 */
int fst_lock_open(void);
/* Give @fd to the owner that fstrace_chown() named. */
void fst_owner_set(int fd);
/*
 * Return a descriptor above 2 for the file of @fd. If @fd is 0, 1 or 2, @fd is closed. The
 * descriptors 0 to 2 belong to the program, even if the program has closed these descriptors.
 */
int fst_keep_away(int fd);
/*
 * If the number @old is free, move @fd to this number, and return @old. If the number is in use, or
 * above the limit of descriptors, return @fd.
 */
int fst_replace_fd(int old, int fd);

#endif
