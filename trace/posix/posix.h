/*
 * The internals of POSIX Trace: streams in shared memory, their writers, and the handles of their
 * readers. See doc/posix-trace.md.
 */
#ifndef UTRAIL_POSIX_H
#define UTRAIL_POSIX_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#pragma GCC visibility push(default)
#include "include/utrail-posix/trace.h"
#pragma GCC visibility pop
#include "posixlog/event.h"

#define PT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define PT_UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline int pxt_cancel_off(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void pxt_cancel_restore(const int *before)
{
	pthread_setcancelstate(*before, NULL);
}

/*
 * Keep the calling thread from being cancelled until the end of the block. open(2), read(2) and
 * many other functions are cancellation points. A thread that is cancelled there would leave locks
 * locked. Signal-safe, and errno does not change.
 */
#define PXT_NO_CANCEL \
	int cancel_before __attribute__((cleanup(pxt_cancel_restore), unused)) = pxt_cancel_off()

/* ---- shared memory, where any process of the same user may write anything ---- */

#define PT_MAGIC	0x54585055 /* "UPXT" */
#define PT_VERSION	2
#define PT_CELL_BYTES	64
#define PT_CELL_DATA	56
#define PT_INLINE_DATA	24 /* the room for data in a record's first cell, after struct pxt_head */
#define PT_CELLS_OFFSET 4096

typedef unsigned long pxt_piece; /* the unit of copying */
#define PT_CELL_PIECES (PT_CELL_DATA / sizeof(pxt_piece))

struct pxt_cell {
	_Alignas(64) _Atomic uint64_t word;
	_Atomic pxt_piece data[PT_CELL_PIECES];
};

/* The head of a record, at the beginning of the data of its first cell. */
struct pxt_head {
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread;
	uint32_t len;
	uint16_t id;
	uint16_t flags;
};

_Static_assert(sizeof(struct pxt_cell) == PT_CELL_BYTES, "one cache line");
_Static_assert(sizeof(struct pxt_head) == PT_CELL_DATA - PT_INLINE_DATA, "as the sizes say");

enum pxt_run {
	PT_RUNS = 1,
	PT_IS_FULL = 2,
	PT_RESTARTS = 4,   /* a full stream: it runs again when all events were read or flushed */
	PT_SAYS_STOP = 8,  /* a full stream: an automatic STOP must still be read or flushed */
	PT_IS_CLOSED = 16, /* the stream has ended for ever */
	PT_WAS_CLOSED = 32,
	PT_IS_STOPPING = 64, /* the stream's last STOP is about to be recorded */
};

/* Bits. */
enum pxt_wants {
	PT_WANTS_NOTHING = 0,
	PT_WANTS_FLUSH = 1,
	PT_WANTS_LOOK = 2, /* the flushing thread must check if it should end */
};

/*
 * @head: the position of the next record to write. Positions are in cells since the stream's
 *        beginning
 * @tail: the position of the oldest record
 * @gap: 1 plus the position of the first lost event that was not reported to a reader; 0: there is
 *       none
 * @gap_ns: the time of that event
 * @clear_at: records that begin before this position are not read any more
 * @log_bytes: the size of the struct pxt_log_part (keeper.h) after the cells; 0: there is no log
 * @run_at_end: 0 until pxt_close_stream() closes the stream. Afterwards: the value that @run had
 *              before the closing, with the bit PT_WAS_CLOSED added
 */
struct pxt_stream {
	uint32_t magic;
	uint32_t version;
	uint32_t serial;
	uint32_t nr_cells;
	uint32_t max_data;
	uint32_t policy;
	uint32_t owner_pid;
	uint32_t names_pid;
	uint64_t owner_start;
	uint64_t names_start;
	uint64_t offset_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC when the stream was made */
	struct pxt_attr attr;
	uint32_t log_bytes;
	_Atomic uint32_t run_at_end;
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
	_Alignas(64) _Atomic uint32_t run;
	_Atomic uint32_t which_filter;
	_Atomic uint32_t nr_waiting;
	_Atomic uint32_t wake; /* futex: changes when there may be something for a reader */
	_Atomic uint32_t is_overrun;
	_Atomic uint32_t wants_flush; /* enum pxt_wants; futex of the thread that flushes */
	_Atomic uint32_t fence;
	_Atomic uint64_t gap;
	_Atomic uint64_t gap_ns;
	_Atomic uint64_t lost;
	_Atomic uint64_t stopped_ns;
	_Atomic uint64_t clear_at;
	_Alignas(64) _Atomic uint32_t filter[2][PT_NR_IDS / 32];
};

_Static_assert(sizeof(struct pxt_stream) <= PT_CELLS_OFFSET, "cells follow it");

/*
 * The name of a user event. If a forked child inherits a stream from its parent, the child shares
 * the parent's names.
 */
struct pxt_name {
	_Atomic uint32_t state; /* 0: free; PT_NAME_READY; or the pid of the writer */
	char text[PT_NAME_MAX + 1];
};

#define PT_NAME_READY 0x80000000u

struct pxt_names {
	uint32_t magic;
	uint32_t version;
	struct pxt_name names[PT_NR_NAMED];
};

/*
 * The streams that trace a process.
 *
 * @attached: a bit for each of these streams, by the stream's number
 * @serial: the serial of each stream, by the stream's number. If several streams have had the same
 *          number, their serials differ
 */
#define PT_ATTACHED_BITS  (8 * sizeof(unsigned long))
#define PT_ATTACHED_WORDS (TRACE_SYS_MAX / PT_ATTACHED_BITS)

struct pxt_registry {
	uint32_t magic;
	uint32_t version;
	uint64_t names_start;
	uint32_t names_pid;
	_Atomic uint32_t has_joined;
	_Alignas(64) _Atomic unsigned long attached[PT_ATTACHED_WORDS];
	_Atomic uint32_t serial[TRACE_SYS_MAX];
};

static inline bool pxt_is_attached(const struct pxt_registry *registry, unsigned int number)
{
	return atomic_load(&registry->attached[number / PT_ATTACHED_BITS]) >>
		       number % PT_ATTACHED_BITS &
	       1;
}

/* Attach a stream to the process of @registry. From now on the stream gets that process' events. */
static inline void pxt_attach(struct pxt_registry *registry, unsigned int number, uint32_t serial)
{
	atomic_store(&registry->serial[number], serial);
	atomic_fetch_or(&registry->attached[number / PT_ATTACHED_BITS],
			1ul << number % PT_ATTACHED_BITS);
}

/* ---- memory of this process ---- */

#define PT_NR_USERS 8

struct pxt_users {
	_Alignas(64) _Atomic uint32_t nr;
};

/*
 * A stream that this process has mapped. The values in this struct were checked when the stream was
 * mapped. They are not read from shared memory again, since other processes may change that memory.
 *
 * @stream: NULL: the stream is not mapped
 * @users: counters of threads that have no struct pxt_thread of their own. A counter counts such
 *         threads while they are in the stream: from pxt_inside_enter() to pxt_inside_leave().
 *         pxt_view_user() chooses the counter of a thread
 */
struct pxt_view {
	_Atomic(struct pxt_stream *) stream;
	struct pxt_cell *cells;
	size_t map_bytes;
	uint64_t nr_cells;
	uint64_t offset_ns;
	uint32_t max_data;
	uint32_t policy;
	bool has_functions;
	bool has_log;
	uint32_t shift; /* nr_cells is 1 << shift */
	uint32_t owner_pid;
	_Atomic uint32_t serial;
	struct pxt_users users[PT_NR_USERS];
};

struct pxt_process {
	_Atomic(struct pxt_registry *) registry;
	_Atomic uint32_t is_recorded;
	_Atomic uint32_t pid;
	struct pxt_names *names;
	uint64_t start;
	uint32_t names_pid;
	uint64_t names_start;
	struct pxt_view views[TRACE_SYS_MAX];
};

extern struct pxt_process pxt_process;

/* folder.c: call @visit with each name in a folder. */
void pxt_list(int folder, void (*visit)(const char *name, void *argument), void *argument);

/*
 * proc.c: write the digits of a number, without a zero byte. Returns the end of the digits. @base
 * is 10 or 16.
 */
char *pxt_add_number(char *at, uint64_t number, unsigned int base);
void pxt_process_path(char path[32], pid_t pid);
/* Store the path "/proc/self/fd/N". */
void pxt_fd_path(char path[32], int fd);
int pxt_process_start(pid_t pid, uint64_t *start);
/* Read field @field of "stat" (proc(5)). @field is at least 3. Returns 0 or a negative errno. */
int pxt_process_field(pid_t pid, int field, uint64_t *value);
/* Returns 0 when the parent is unknown. */
pid_t pxt_process_parent(pid_t pid);
bool pxt_process_is_dead(pid_t pid);
/* True when the first thread of a process has ended. Other threads may still run. */
bool pxt_process_first_is_dead(pid_t pid);
bool pxt_process_is_alive(pid_t pid, uint64_t start);
uint64_t pxt_clock_ns(clockid_t clock);
struct timespec pxt_timespec(uint64_t ns);
long pxt_futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout);
void pxt_futex_wake(_Atomic uint32_t *word);

/* place.c: the folder of shared files. An int result is a descriptor, or a negative errno. */
int pxt_place_open(void);
int pxt_place_open_existing(void);
/* Called after pxt_join() has failed. Returns the likely reason as a positive errno. */
int pxt_place_error(void);
int pxt_place_lock(int place);
/* Returns -EWOULDBLOCK if another process has the lock. */
int pxt_place_try_lock(int place);
/*
 * Try to take the lock, and give up after a tenth of a second. Another holder usually needs less
 * time. For example, a keeper (keeper.h) holds the lock only while the keeper removes files.
 */
int pxt_place_lock_soon(int place);
void pxt_place_unlock(int lock);
void pxt_place_name(char name[64], char kind, uint64_t number, uint64_t start);
/*
 * Map a whole file, which must have at least *@bytes bytes. Stores the size of the file in *@bytes.
 * Returns NULL on failure.
 */
void *pxt_place_map(int place, const char *name, size_t *bytes);
struct pxt_stream *pxt_place_map_stream(int place, unsigned int number, size_t *bytes);
/*
 * Map the file whose name pxt_place_name() makes from @kind, @number and @start. Returns NULL on
 * failure, or if the file does not begin with PT_MAGIC and PT_VERSION.
 */
void *pxt_place_map_valid(int place, char kind, uint64_t number, uint64_t start, size_t bytes);
/*
 * True when @fd still refers to the given file. The program may have closed the descriptor. Another
 * file may have got its number.
 */
bool pxt_is_file(int fd, dev_t dev, ino_t ino);
/* Open the file of @fd again, for reading and writing. Returns -1 on failure. */
int pxt_open_again(int fd);
void *pxt_place_make(int place, const char *name, size_t bytes, int *error);
/*
 * Block the signals of this thread, but not SIGSYS: a sandbox may make system calls in the handler
 * of this signal.
 */
void pxt_block_signals(sigset_t *before);

/* sweep.c: remove files of dead processes. Called with the folder's lock. */
void pxt_sweep(int place);

/*
 * inherit.c: attach the parent's streams to a process that was made by posix_spawn(), or by fork()
 * and exec. The caller holds the lock of the folder @place.
 */
void pxt_inherit(int place, struct pxt_registry *registry, pid_t pid, uint64_t start);
/* Map the registry of the parent of process @pid. Returns NULL if the parent has no registry. */
struct pxt_registry *pxt_parent_registry(int place, pid_t pid);
/*
 * Close the streams that this process made before its exec. After the exec, the process cannot
 * control these streams.
 */
void pxt_close_own(int place, uint32_t pid, uint64_t start);

/*
 * turn.c: a lock for functions that may run in threads and in signal handlers.
 *
 * @holder: the thread that has taken the lock; 0: none
 * @stuck: a holder for which a thread has waited in vain. After that, no thread waits for this
 *         holder
 */
struct pxt_turn {
	_Atomic uint32_t holder;
	_Atomic uint32_t stuck;
};

/*
 * Take the lock. If another thread has the lock, and @waits is true, wait for some seconds at most,
 * but do not wait for a @stuck holder. If @waits is false, do not wait. Returns true when the lock
 * was taken. Returns false if another thread still has the lock, or if the calling thread itself
 * has the lock. errno does not change.
 */
bool pxt_turn_take(struct pxt_turn *turn, bool waits);
void pxt_turn_give(struct pxt_turn *turn);

/*
 * process.c: map the registry of this process. If there is no registry, make one. Returns false on
 * failure, or if the caller is a signal handler that has interrupted this function.
 */
bool pxt_join(void);
/*
 * Store the address of this process' table of event names in *@names, or NULL if the process has no
 * table. Returns 0, or -EAGAIN if the table is not known at this moment.
 */
int pxt_known_names(struct pxt_names **names);
struct pxt_names *pxt_names_map(int place, uint32_t pid, uint64_t start);
struct pxt_registry *pxt_registry_of(int place, pid_t pid, uint64_t start, int *error);

/*
 * names.c. pxt_names_open() returns the id of a name, or PT_UNNAMED if there is no room for the
 * name. pxt_names_get() returns NULL if the id has no name.
 */
uint32_t pxt_names_open(struct pxt_names *names, const char *text);
const char *pxt_names_get(const struct pxt_names *names, uint32_t id, char text[PT_NAME_MAX + 1]);

/*
 * view.c. pxt_view_wait() waits until no thread of this process is in the stream of @view, and then
 * returns true. After @tries checks in vain, pxt_view_wait() returns false. After each of the last
 * 1000 checks, pxt_view_wait() sleeps for 1 ms. If the calling thread has a struct pxt_thread and
 * is itself in any stream, pxt_view_wait() returns false without further checks.
 */
int pxt_view_set(struct pxt_view *view, struct pxt_stream *stream, size_t bytes, uint32_t serial);
bool pxt_view_wait(struct pxt_view *view, int tries);
void pxt_view_drop(struct pxt_view *view);
void pxt_view_forget(struct pxt_view *view);
/*
 * Replace shared memory by zeros at the same address. A forked child calls this for memory that
 * interrupted code may still read.
 */
void pxt_forget_memory(void *memory, size_t bytes);
/*
 * Called in a forked child, which has only the thread that forked. Forget that other threads of the
 * parent were using streams, or were mapping a stream.
 */
void pxt_view_in_child(void);
bool pxt_view_map(unsigned int number, uint32_t serial);
/* Detach an ended stream from the process of @registry. */
void pxt_view_detach(struct pxt_registry *registry, unsigned int number, uint32_t serial);

/*
 * clock.c: the values with which a thread computes CLOCK_MONOTONIC from the CPU's counter.
 *
 * @base_counter, @base_ns: the counter and the clock at one moment
 * @scale: nanoseconds per tick, with 32 fractional bits
 * @limit: the number of ticks for which the values are valid; 0: the values are not known yet, or
 *         are being changed
 */
struct pxt_fit {
	uint64_t base_counter;
	uint64_t base_ns;
	uint64_t scale;
	uint64_t limit;
};

/*
 * inside.c: the state of a thread.
 *
 * @turn: odd while the thread is in a stream. Signal handlers that interrupt the thread in a stream
 *        do not change @turn
 * @tid: the thread's id (gettid(2))
 * @last_ns: the time of the thread's last event. The thread's next event gets
 *           this time or a later one
 */
struct pxt_thread {
	_Alignas(64) _Atomic uint32_t turn;
	_Atomic uint32_t tid;
	struct pxt_fit fit;
	uint64_t last_ns;
	volatile uint32_t is_fitting;
};

#define PXT_TLS __attribute__((tls_model("initial-exec")))

extern __thread struct pxt_thread *pxt_thread PXT_TLS;
/*
 * A thread may have no struct pxt_thread of its own. When such a thread enters a stream, the thread
 * adds itself to a counter of the stream's view (pxt_view_user()). pxt_nr_counted is the number of
 * counters to which this thread has added itself.
 */
extern __thread volatile uint32_t pxt_nr_counted PXT_TLS;

void pxt_inside_begin(void);
void pxt_inside_in_child(void);
struct pxt_thread *pxt_inside_new(void);
bool pxt_inside_wait(int *tries);

/* The struct that is shared by all threads without a struct of their own. */
extern struct pxt_thread pxt_nobody;

/* clock.c. Its functions are signal-safe. */
void pxt_clock_begin(void);
/*
 * Returns CLOCK_REALTIME minus CLOCK_MONOTONIC, in nanoseconds. The kernel may stop the thread
 * between the readings of the two clocks. So the clocks are read three times, and the fastest
 * attempt counts.
 */
uint64_t pxt_clock_offset_ns(void);
uint64_t pxt_clock_slow(struct pxt_thread *thread);

/*
 * HOT. Returns the time for an event of this thread, by CLOCK_MONOTONIC. clock_gettime(2) takes
 * twice as long, because it waits until all earlier instructions have been executed.
 */
static inline uint64_t pxt_now_ns(void)
{
	struct pxt_thread *thread = pxt_thread;
	uint64_t ns = 0;

#ifdef __x86_64__
	if (PT_LIKELY(thread != NULL)) {
		uint64_t base = thread->fit.base_counter;
		uint64_t ticks;

		atomic_signal_fence(memory_order_seq_cst);
		ticks = __builtin_ia32_rdtsc() - base;
		if (PT_LIKELY(ticks < thread->fit.limit))
			ns = thread->fit.base_ns + (ticks * thread->fit.scale >> 32);
		atomic_signal_fence(memory_order_seq_cst);
		/* If the base has changed, a signal handler has replaced thread->fit. */
		if (PT_UNLIKELY(thread->fit.base_counter != base))
			ns = 0;
	}
#endif
	if (PT_UNLIKELY(!ns))
		ns = pxt_clock_slow(thread);
	if (!thread || PT_UNLIKELY(thread == &pxt_nobody))
		return ns;
	if (PT_UNLIKELY(ns < thread->last_ns))
		return thread->last_ns;
	thread->last_ns = ns;
	return ns;
}

/*
 * @user: the counter that is used if the thread has no struct of its own; else NULL
 * @turn: thread->turn before pxt_inside_enter(). The value is odd if the caller is a signal handler
 *        that has interrupted the thread between pxt_inside_enter() and pxt_inside_leave()
 */
struct pxt_inside {
	struct pxt_thread *thread;
	_Atomic uint32_t *user;
	uint32_t turn;
};

static inline _Atomic uint32_t *pxt_view_user(struct pxt_view *view)
{
	/* Stacks of threads are megabytes apart, and so are the values of pthread_self(). */
	uintptr_t self = (uintptr_t)pthread_self();

	return &view->users[(self >> 12 ^ self >> 23) % PT_NR_USERS].nr;
}

/* HOT. */
static inline struct pxt_inside pxt_inside_enter(struct pxt_view *view)
{
	struct pxt_inside inside = { .thread = pxt_thread };

	if (PT_UNLIKELY(!inside.thread))
		inside.thread = pxt_inside_new();
	if (PT_UNLIKELY(inside.thread == &pxt_nobody)) {
		inside.user = pxt_view_user(view);
		pxt_nr_counted++;
		atomic_fetch_add(inside.user, 1);
		return inside;
	}
	inside.turn = atomic_load_explicit(&inside.thread->turn, memory_order_relaxed);
	if (!(inside.turn & 1))
		atomic_store_explicit(&inside.thread->turn, inside.turn + 1, memory_order_relaxed);
	atomic_signal_fence(
		memory_order_seq_cst); /* enough, since pxt_inside_wait() calls membarrier(2) */
	return inside;
}

static inline void pxt_inside_leave(const struct pxt_inside *inside)
{
	if (PT_UNLIKELY(inside->user != NULL)) {
		atomic_fetch_sub(inside->user, 1);
		pxt_nr_counted--;
	} else if (!(inside->turn & 1)) {
		atomic_store_explicit(&inside->thread->turn, inside->turn + 2,
				      memory_order_release);
	}
}

/*
 * ring.c: records in cells. pxt_ring_put() is signal-safe. It returns 0 on success, -ENOSPC if the
 * ring is full, or -EBUSY if many tries to claim cells have failed. If another thread claims the
 * cells first, the calling thread waits for a moment, and sets the time of @event to the end of the
 * wait.
 */
uint32_t pxt_cells_of(uint32_t len);
int pxt_ring_put(struct pxt_view *view, struct pxt_event *event, const void *data);
/*
 * Read the record at position @at, and leave the record in the ring. Returns 1 on success, 0 if
 * there is no record yet, -EAGAIN if the record is not finished, or -ESTALE if the record has been
 * removed.
 *
 * @data: NULL, or pxt_data_room() bytes
 */
int pxt_ring_peek(const struct pxt_view *view, uint64_t at, struct pxt_event *event, void *data,
		  uint32_t *nr_cells);
/* Take the record at @at. Returns false if another thread has taken it already. */
bool pxt_ring_take(const struct pxt_view *view, uint64_t at, uint32_t nr_cells);
/* Skip the record at @at if it is unfinished and its writer has died. True when it was skipped. */
bool pxt_ring_skip_dead(const struct pxt_view *view, uint64_t at);
/*
 * Skip the record at @at if the record is unfinished. The stream must have ended or be ending.
 * @pid is the writer whose records are skipped, or 0 for all writers.
 */
bool pxt_ring_skip_of(const struct pxt_view *view, uint64_t at, pid_t pid);
/* Drop the oldest record to make room. Returns false if the record cannot be dropped. */
bool pxt_ring_evict(const struct pxt_view *view);
/* Like pxt_ring_evict(), but returns false if the oldest record is not before the position @end. */
bool pxt_ring_evict_before(const struct pxt_view *view, uint64_t end);
void pxt_note_lost(struct pxt_stream *stream, uint64_t at, uint64_t time_ns);
/*
 * End the stream's gap. Events that are lost during the call begin another gap. Returns the time of
 * the first lost event, or @before_ns if that time is not known.
 *
 * @before_ns: the time of the event after the gap
 */
uint64_t pxt_end_gap(struct pxt_stream *stream, uint64_t before_ns);

static inline uint32_t pxt_data_room(const struct pxt_view *view)
{
	return view->max_data < PT_SYSTEM_DATA ? PT_SYSTEM_DATA : view->max_data;
}

/* record.c */
void pxt_record(uint32_t id, const void *data, size_t len, const void *address);
/*
 * Record a system event of this process, even when the stream does not run. An event that the
 * filter drops is not recorded.
 */
void pxt_put_system(struct pxt_view *view, uint32_t id, const void *data, uint32_t len,
		    const void *address);
/* If the stream of @view runs and has room, record a system event that has no data. */
void pxt_put_if_room(struct pxt_view *view, uint32_t id);
bool pxt_is_filtered(struct pxt_stream *stream, uint32_t id);
void pxt_filter_get(struct pxt_stream *stream, trace_event_set_t *set);
void pxt_put_start(struct pxt_view *view, const void *address);
void pxt_wake_readers(struct pxt_stream *stream);

/* recorded.c: send events to the recorder, under `utrail record`. */
void pxt_recorded_declare(uint32_t id, const char *name);
void pxt_recorded_emit(uint32_t id, const void *data, size_t len);

/* handle.c */
enum pxt_kind {
	PT_FREE = 0,
	PT_STREAM = 1,
	PT_WITH_LOG = 2,
	PT_LOG = 4,
	PT_ACTIVE = PT_STREAM | PT_WITH_LOG,
	PT_ANY = PT_ACTIVE | PT_LOG,
};

/*
 * @fd: a descriptor whose lock tells the keeper (keeper.h) that this process still runs, or -1 if
 *      there is no keeper
 * @dev, @ino: the file of @fd, to detect that the program has closed the descriptor
 * @child: the pid of the keeper if it is a child of this process
 */
struct pxt_keeper {
	int fd;
	pid_t child;
	dev_t dev;
	ino_t ino;
};

/*
 * The object that a trace_id_t stands for.
 *
 * @number, @view: the number and view of the stream
 * @attr: the attributes that the stream had at its creation
 * @names: the names of the user events of the traced process
 * @reads: the lock for taking events
 * @controls: the lock for changing the stream. A thread that needs both locks takes @reads first
 * @at: the position up to which a stream with a log was read
 * @queue, @nr_queued: the OVERFLOW and RESUME events that are read before @held
 * @held: a record that was taken but not read yet. Its data is in @buffer
 */
struct pxt_handle {
	enum pxt_kind kind;
	uint32_t generation;
	pid_t creator;
	uint32_t nr_users;
	_Atomic uint32_t is_closing;
	uint32_t number;
	uint32_t list_at;
	struct pxt_attr attr;
	struct pxt_view *view;
	struct pxt_view own_view;
	struct pxt_names *names;
	pthread_mutex_t reads;
	pthread_mutex_t controls;
	uint64_t at;
	struct pxt_event queue[2];
	uint32_t nr_queued;
	bool has_held;
	struct pxt_event held;
	void *buffer;
	struct pxt_flusher *flusher;
	struct pxt_keeper keeper;
	struct pxt_log_file *log;
	struct pxt_handle *next_forgotten;
};

/*
 * Find a handle. It stays valid until pxt_handle_put(). Returns NULL if there is no such handle, if
 * its kind is not in @kinds, or if another process has made it.
 */
struct pxt_handle *pxt_handle_get(trace_id_t trid, int kinds);
void pxt_handle_put(struct pxt_handle *handle);
/*
 * Make a handle. Other threads find it after pxt_handle_publish(). Returns NULL if there are too
 * many handles, or no memory.
 */
struct pxt_handle *pxt_handle_new(void);
trace_id_t pxt_handle_publish(struct pxt_handle *handle, enum pxt_kind kind);
void pxt_handle_discard(struct pxt_handle *handle);
/*
 * Make the handle of @trid invalid, and wait until no thread uses the handle any more. Returns NULL
 * in the same cases as pxt_handle_get().
 */
struct pxt_handle *pxt_handle_end(trace_id_t trid, int kinds);
/* Forget all handles. A forked child calls this, since the handles are those of its parent. */
void pxt_handles_forget(void);
void pxt_handles_wake_flushers(void);
void pxt_handles_lock(void);
void pxt_handles_unlock(void);
/* Called at the end of the process. */
void pxt_handles_shutdown(void);

/* create.c */
/*
 * Ends a stream. Called when no other thread uses the handle.
 *
 * @address: the return address of posix_trace_shutdown(). The stream's last event, STOP, reports
 *           this address. NULL when the process ends
 */
int pxt_shutdown(struct pxt_handle *handle, const void *address);
/* control.c */
void pxt_stop(struct pxt_view *view, const void *address);
/* Called when no other thread uses the handle. */
void pxt_stop_for_good(struct pxt_handle *handle, const void *address);
void pxt_restart(struct pxt_view *view);

/* gone.c: close a stream whose owner is gone. */
void pxt_close_stream(struct pxt_stream *stream);

/* flush.c */
int pxt_flusher_start(struct pxt_handle *handle, int file_desc);
/* Returns the log's descriptor, or -1. */
int pxt_flusher_file(const struct pxt_handle *handle);
int pxt_flush(struct pxt_handle *handle);
int pxt_flusher_end(struct pxt_handle *handle);
/* Called in a forked child: the child does not write the parent's log. */
void pxt_flusher_forget(struct pxt_handle *handle);
/* No thread flushes between pxt_flusher_begin_clear() and pxt_flusher_end_clear(). */
void pxt_flusher_begin_clear(struct pxt_handle *handle);
void pxt_flusher_end_clear(struct pxt_handle *handle);
void pxt_flusher_status(struct pxt_handle *handle, struct posix_trace_status_info *status);
void pxt_want_flush(struct pxt_stream *stream);
void pxt_want_look(struct pxt_stream *stream);
/* Called after pxt_handle_publish(). */
void pxt_flusher_published(struct pxt_handle *handle);
/* Called when main() has left by pthread_exit(). */
void pxt_flushers_first_ended(void);
/*
 * @is_told: true if pxt_flushers_first_ended() will report the end of the first thread. If @is_told
 *           is false, flushers check in /proc whether the first thread has ended
 */
void pxt_flushers_watch_first(bool is_told);
/*
 * Called in a forked child. The child has no flushers. The thread that forked is the child's first
 * thread, and has not ended.
 */
void pxt_flushers_in_child(void);

/* prerecorded.c */
int pxt_log_getnext(struct pxt_handle *handle, struct posix_trace_event_info *info, void *data,
		    size_t num_bytes, size_t *data_len, int *unavailable);
void pxt_log_status(struct pxt_handle *handle, struct posix_trace_status_info *status);
const struct pxt_attr *pxt_log_attr(const struct pxt_handle *handle);
const char *pxt_log_name(const struct pxt_handle *handle, uint32_t id, char text[PT_NAME_MAX + 1]);

/*
 * take.c: take the next event, and copy its data to handle->buffer. Called with the lock
 * handle->reads. Returns 1 on success, 0 if there is no event, or -EAGAIN if the next event is
 * still being written.
 */
int pxt_take(struct pxt_handle *handle, struct pxt_event *event);
/*
 * Called when all events were taken, and no more will come. Returns true if events were lost after
 * the last one. In this case the next pxt_take() reports the loss.
 */
bool pxt_take_last_gap(struct pxt_handle *handle);
/* Read the next event of a stream with a log. The event stays in the stream until a flush. */
int pxt_follow(struct pxt_handle *handle, struct pxt_event *event);

/* read.c */
void pxt_deliver(const struct pxt_event *event, const void *from,
		 struct posix_trace_event_info *info, void *data, size_t num_bytes,
		 size_t *data_len);

/* attr.c */
struct pxt_attr *pxt_attr_of(const trace_attr_t *attr);
void pxt_attr_defaults(struct pxt_attr *attr);

#endif
