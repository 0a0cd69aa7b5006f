/* The recorder's whole state: what is shared between its control thread and its writers, and who may touch it. */
#ifndef UTRAIL_CMDS_RECORD_RECORDER_H
#define UTRAIL_CMDS_RECORD_RECORDER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cmds/record/alive.h"
#include "cmds/record/captures.h"
#include "cmds/record/crash.h"
#include "cmds/record/flight.h"
#include "cmds/record/kernel.h"
#include "cmds/record/loop.h"
#include "cmds/record/notes.h"
#include "cmds/record/orphans.h"
#include "cmds/record/peer.h"
#include "cmds/record/perf.h"
#include "cmds/record/points.h"
#include "cmds/record/rules.h"
#include "utils/base/err.h"
#include "utils/base/intmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strmap.h"
#include "utils/format/control.h"
#include "utils/format/map.h"
#include "utils/format/ring.h"
#include "utils/object/build_id.h"
#include "utils/spec/events.h"
#include "utils/spec/filters.h"
#include "utils/spec/signals.h"
#include "utils/spec/watch.h"

/* What a recording is to be like; filled by cmd_record from the options. */
struct record_settings {
	const char *data_dir;
	uint64_t segment_bytes;	      /* -b, a multiple of RING_PAGE */
	uint64_t kernel_buffer_bytes; /* a multiple of pages */
	uint64_t threshold_ns;
	uint64_t size_filter;
	struct filters *filters; /* never NULL */
	const char *syms_dir;	 /* --with-syms, or NULL */
	struct signal_switches signals;
	const struct watch_spec *watch;	  /* never NULL */
	const struct event_rules *events; /* never NULL */
	struct capture_settings captures;
	int demangle; /* enum demangle_mode: of the names that filters are compared with */
	unsigned depth;
	unsigned max_stack;
	int clock_id;
	uint64_t flight_bytes; /* --flight: of each running task; 0: everything is kept */
	uint64_t max_bytes;    /* --max-size; 0: no limit */
	unsigned nr_writers;
	unsigned rt_prio; /* 0: none */
	bool trace_on;
	bool drops_when_full;
	bool estimates_return;
	bool reports_crashes;
	bool use_libcalls;  /* calls that the program makes into libraries */
	bool nest_libcalls; /* and that libraries make into each other */
	/* What the kernel is to tell by itself, see perf.h: */
	bool use_tasks; /* new ones, and those that end */
	bool use_names; /* of tasks, when they change */
	bool use_switches;
};

/* Address space that a process' rings take. */
#define ARENA_BYTES_MAX (64ULL << 30)

/*
 * One process image: what a session id stands for.
 *
 * @announced: its SESS and TASK lines are in task.txt. That happens with its first record, so that
 *             images in which nothing was recorded leave no trace. Under recorder.task_lock.
 */
struct session {
	char sid[SID_LEN + 1];
	pid_t pid;
	uint64_t time_ns;
	char *exe;
	struct module_map map;
	bool announced;
	struct session *next;
};

/*
 * The recorder's side of one ring.
 *
 * @tid: whose records the ring holds; 0 while it has none
 * @is_open: @data_fd is <tid>.dat. Not so before the first record, and while descriptors are short.
 * @tail: what the ring's tail is told from; the ring itself is memory of the program
 * @untold: records that were lost here and no LOST record in the file tells of
 *
 * Starts as zeros, so that thousands of unused ones are pages nobody touched.
 */
struct ring_sink {
	int32_t tid;
	bool is_open;
	int data_fd;
	uint64_t tail;
	uint64_t untold;
};

/*
 * One traced process (or process image: exec makes a new one under the same pid).
 *
 * @parent: the process that forked this one; NULL for an exec'd image, or when unknown. Its struct
 *          lives as long as the recorder.
 * @pidfd: readable when the process has ended; -1 once that was seen
 * @arena: NULL once everything was taken from it. The program can write to all of it, so nothing in it is
 *         believed, its header least: it has the shape that we gave it,
 * @nr_rings, @nr_segments, @segment_bytes
 */
struct process {
	struct watcher watcher; /* of @pidfd */
	pid_t pid; /* as the process sees itself: a pid namespace of its own may have its own */
	pid_t ppid;
	pid_t os_pid; /* as we see it */
	uint64_t time_ns;
	bool is_fork;
	bool announced;			     /* the FORK line; under recorder.task_lock */
	uint8_t token[CONTROL_SECRET_BYTES]; /* who has it is this process, or was forked off it */
	int pidfd;
	struct session *session;
	struct process *parent;
	struct arena *arena;
	uint64_t arena_bytes;
	struct memory_id memory; /* of @arena */
	uint32_t nr_rings;
	uint32_t nr_segments;
	uint32_t segment_bytes;
	struct ring_sink *sinks;
	struct arena
		*notes; /* the arena's first page, which stays longer than the rest: see notes.h */
	uint32_t nr_modules; /* that it has reported, and what their plans had: */
	uint64_t planned[PLAN_KINDS];
	struct process *next;	     /* in recorder.processes */
	struct process *next_noting; /* in recorder.notes */
	struct process *next_live;   /* in recorder.live */
	struct process *next_told;   /* while it is announced */
};

static inline struct ring *process_ring(const struct process *proc, uint32_t index)
{
	uint64_t stride = ring_stride(proc->nr_segments, proc->segment_bytes);

	return (struct ring *)((char *)proc->arena + RING_PAGE + index * stride);
}

/* Rings below this index may have something in them. */
static inline uint32_t process_rings_in_use(const struct process *proc)
{
	uint32_t high = atomic_load_explicit(&proc->arena->high_water, memory_order_acquire);

	return high < proc->nr_rings ? high : proc->nr_rings;
}

/*
 * A file that was seen as a module of some process.
 *
 * @build_id: hex, "" when it has none
 * @is_instrumented: it calls hooks of the probe
 * @switches_stacks: see struct object_program
 * @is_saved: its symbol file is written
 * @is_bound: @funcs are what the options say of its functions: struct plan_func, relative to its start
 * @points: events of its own that are to be recorded
 */
struct known_module {
	char *path;
	char build_id[BUILD_ID_HEX_SIZE];
	bool is_instrumented;
	bool switches_stacks;
	bool is_saved;
	bool is_bound;
	struct strbuf funcs;
	struct module_points points;
	struct known_module *next;
};

/* What a plan's memfd is to hold: entries by enum plan_kind. Starts as { 0 }. */
struct plan_entries {
	struct strbuf lists[PLAN_KINDS];
};

/* What the functions of all images have in common: rules, conditions, steps. Starts as { 0 }. */
struct plan_binder {
	struct rule_set rules;
	struct plan_entries entries;
};

struct client;
struct conversation;

/* Conversations, by when they last said something. */
struct talk_list {
	struct conversation *oldest;
	struct conversation *newest;
	unsigned nr;
};

/*
 * What of the control channel is open.
 *
 * @max: so many may be believed at a time
 * @module_bytes: what they have reported so far
 * @pause, @pause_fd: a timer: when it makes sense again to accept connections
 * @nr_dropped, @nr_modules_left_out: what limits have cost
 */
struct talks {
	struct talk_list strangers;
	struct talk_list believed;
	unsigned max;
	size_t module_bytes;
	struct watcher pause;
	int pause_fd;
	unsigned nr_dropped;
	unsigned long long nr_modules_left_out;
	unsigned nr_other_version; /* said HELLO as @other_version of the protocol */
	unsigned other_version;
	unsigned nr_refused; /* conversations that one side ended with ERROR */
};

struct recorder {
	const struct record_settings *settings;
	int dir_fd;		   /* the data directory */
	int task_fd;		   /* task.txt */
	pthread_mutex_t task_lock; /* task.txt, announced flags, @tids */

	struct loop loop;
	struct watcher listener;
	int listen_fd;
	char socket_name[CONTROL_NAME_SIZE];
	uint8_t secret[CONTROL_SECRET_BYTES];
	char address[CONTROL_ADDRESS_SIZE]; /* both, for the program's environment */
	struct talks talks;
	bool reads_as_peer; /* within rights_enter(): only what he may read is looked at */

	struct watcher service;
	int service_fd; /* -1: nobody can ask us for anything */
	struct client *clients;

	int program_fd; /* pidfd of the program, from recorder_run() on */

	struct alive alive;
	struct orphans orphans;

	struct control_page *control;
	int control_fd;
	struct plan plan; /* the part that is the same for all processes */

	/*
	 * All images, newest first; the newest by pid, as we see it and as it sees itself; all by the first half of their token. Only
	 * the control thread looks; nothing is removed before the end.
	 */
	struct process *processes;
	struct intmap by_os_pid;
	struct intmap by_pid;
	struct intmap by_token;

	/* Those with an arena: what writers look at, under the lock for reading. */
	pthread_rwlock_t live_lock;
	struct process *live;

	struct notes notes;
	struct session *sessions;
	struct known_module *known_modules;
	struct strmap modules_by_path; /* the same */
	struct plan_binder binder;
	struct points points;
	bool has_debug; /* there are .dbg files */

	struct perf perf;     /* no CPUs when there are no events */
	struct kernel kernel; /* the same */

	pthread_t *writers;
	unsigned nr_writers;
	_Atomic bool stopping;
	_Atomic bool is_followed;     /* somebody reads while we write: flush more often */
	_Atomic uint64_t *flushed_ns; /* by writer: what was committed before is in the files */

	pthread_mutex_t flight_lock;
	struct flight flight;

	int32_t *tids; /* of all tasks with records, some more than once */
	size_t nr_tids;
	size_t cap_tids;
	struct intmap task_owners; /* the processes whose they are; under @task_lock */
	int32_t nr_stack_tids;	   /* given away; under @task_lock */

	struct crash *crashes;

	unsigned declined;   /* processes that had too little address space to be traced */
	unsigned protected;  /* processes with a shadow stack */
	unsigned other_libc; /* processes whose C library is not glibc */

	/* What could not be saved. */
	_Atomic uint64_t records_lost;
	_Atomic uint64_t records_lost_inside; /* of these, see ring.lost_inside */
	_Atomic uint64_t threads_untraced;
	_Atomic uint64_t bytes_written; /* into the .dat files, counted for --max-size */
	_Atomic bool is_full;		/* --max-size was reached: nothing more is written */
	_Atomic int write_error;	/* negative errno of the first failed write */
	struct uft_err
		save_error; /* of the control thread: the first map or symbol file that failed */
};

/*
 * Create what is needed before the program starts: shared page, socket, writers. @rec belongs to
 * the caller and is released with recorder_close(), after a failure too. @dir_fd is borrowed.
 */
int recorder_open(struct recorder *rec, const struct record_settings *settings, int dir_fd,
		  struct uft_err *err);

/* --- lifetime.c --- */

#define RECORDER_STATUS_UNKNOWN -1

/*
 * How the program ended.
 *
 * @status: of wait(2); RECORDER_STATUS_UNKNOWN when it is no child of ours (its parent gets its status), or still runs
 * @given_up: it still runs, and this signal is why nobody waits for it any more; else 0
 * @usage: its resources
 */
struct recorder_end {
	int status;
	int given_up;
	struct rusage usage;
};

/*
 * The signals that a recorder of these settings serves by a descriptor: to be blocked before it starts a thread. Of those that ask
 * for the end, a hang-up is left out when it is ignored (nohup(1)).
 */
void recorder_signals(const struct record_settings *settings, sigset_t *set);

/*
 * Serve probes until the program @child has ended and so have all traced processes it left behind, or until
 * there were interrupts enough (alive.h).
 */
int recorder_run(struct recorder *rec, pid_t child, struct recorder_end *end, struct uft_err *err);

/* Take what is left in all rings and end the writers. */
void recorder_stop(struct recorder *rec);

void recorder_close(struct recorder *rec);
#define cleanup_recorder cleanup(recorder_close)

/* Any thread. Note the first write that failed; @code: negative errno, anything else is none. */
void recorder_note_write_error(struct recorder *rec, int code);

/* The recording's clock. */
uint64_t recorder_now_ns(const struct recorder *rec);

/* --- control.c: conversations with probes --- */

/* Open the abstract socket rec->socket_name and watch it: from here on probes are served. */
int control_listen(struct recorder *rec, struct uft_err *err);

/* Hang up on everybody. */
void control_close(struct recorder *rec);

/* --- service.c: what other commands ask for --- */

void service_listen(struct recorder *rec);

/* Whoever still waits for an answer sees that there is none. */
void service_close(struct recorder *rec);

/* Save a flight recording as it is now. 0 or negative errno; -EOPNOTSUPP when it is none. */
int service_save(struct recorder *rec, unsigned *nr_tasks);

/* --- process.c --- */

/*
 * A process that has just reported itself, with an arena of its own; NULL with errno. The arena's
 * memfd goes to @arena_fd and is the caller's. The caller sets session and parent, then publishes.
 */
struct process *process_create(struct recorder *rec, const struct control_hello *hello, pid_t pid,
			       int *arena_fd);

/* One that was not published; NULL is fine. */
void process_destroy(struct process *proc);

/* Let the writers see it, and watch its end. It belongs to the recorder from here on. */
void process_publish(struct recorder *rec, struct process *proc);

/* The newest image with that pid (its own view), or with that pid in our view; or NULL. */
struct process *process_find(struct recorder *rec, pid_t pid);
struct process *process_find_os(struct recorder *rec, pid_t os_pid);

/* The process ended, or its image was replaced: take what is left in its rings, drop the arena. */
void process_retire(struct recorder *rec, struct process *proc);

/* --- session.c --- */

/* A new image of process @pid that runs @exe; -ENOMEM as NULL. It belongs to the recorder. */
struct session *rec_session_create(struct recorder *rec, pid_t pid, const char *exe);

/* Note a module in the session's map. 0 or -ENOMEM. */
int session_add_module(struct session *s, const struct control_module *m);

/* Not used by anything any more. */
void rec_session_destroy(struct session *s);

/* Free a whole list. */
void known_modules_destroy(struct known_module *known);

/*
 * What is known of a file that was seen as a module: hundreds of processes run the same few, so each is looked at once. NULL for
 * paths that are no files, and without memory.
 */
struct known_module *known_module_get(struct recorder *rec, const char *path);

/* Save the symbols of one more module, if it can have records. */
int session_save_module(struct recorder *rec, const char *path, struct uft_err *err);

/* The same for one that was loaded late, with what readers of arguments need. */
int session_save_late(struct recorder *rec, struct session *s, const struct control_module *m,
		      struct uft_err *err);

/* Note where the stack of process @os_pid is; while it waits for its plan, since later it may be gone. */
int session_add_stack(struct session *s, pid_t os_pid);

/* Write the session's map file, and the symbol files of the modules that can have records. */
int session_save(struct recorder *rec, struct session *s, struct uft_err *err);

/*
 * The symbols of the file @path into the empty @out: from --with-syms if it has them, else from the file. 0, or negative when there
 * are none to be had.
 */
int symbols_load(const struct record_settings *settings, const char *path, const char *build_id,
		 struct symtab *out);

/* --- tasks.c: task.txt --- */

/*
 * The id under which the records of a ring go that says it is task @tid of @proc; 0 when it cannot be one. That is @tid, if it is a thread of
 * that process, or was, as far as anybody can know, and else a new one: no process adds to the records of another.
 */
int32_t tasks_claim(struct recorder *rec, struct process *proc, int32_t tid);

/* First records of a task: make sure that its session, its process and itself stand in task.txt. */
void tasks_announce(struct recorder *rec, struct process *proc, int32_t tid, uint64_t time_ns);

/* A library was loaded late. */
void tasks_dlopen(struct recorder *rec, struct session *s, const struct control_module *m);

/*
 * Of a flight recording that goes on for weeks: forget threads and forked processes that have ended, but those in
 * @kept (sorted here), which have a file, and the parents of these. What cannot be written is noted as the recorder's write_error.
 */
void tasks_clear(struct recorder *rec, int32_t *kept, size_t nr_kept);

/* --- plan.c --- */

void plan_entries_deinit(struct plan_entries *plan);
#define cleanup_plan_entries cleanup(plan_entries_deinit)

/*
 * What the options say about the @nr modules in @modules, of which the first is the program itself when
 * @has_program. A module that cannot be read has no entries.
 */
void plan_make(struct recorder *rec, struct control_module *const *modules, size_t nr,
	       bool has_program, struct plan_entries *out);

void plan_binder_deinit(struct plan_binder *binder);

/* Whether the library calls that module @path makes are recorded. */
bool plan_has_calls(const struct record_settings *settings, const char *path, bool is_program);

/* A memfd with the image of these entries, or -1 when there are none or memory is short. */
int plan_memfd(const struct plan_entries *plan);

/* How many entries of @kind there are. */
uint32_t plan_entries_nr(const struct plan_entries *plan, enum plan_kind kind);

/* Whether there are calls whose ENTRY is recorded only when they have taken long enough, or when they have called something. */
bool settings_hold_back(const struct record_settings *settings);

/* Whether anything in the options lets a program end the recording. */
bool settings_can_finish(const struct record_settings *settings);

/* Whether the options say different things about different functions. */
bool settings_are_selective(const struct record_settings *settings);

/* --- watches.c: -W var:NAME --- */

/* Whether the program @path has the variables to watch: -ENOENT with the first that it has not, and the nearest names. */
int watches_check(const struct record_settings *settings, const char *path, struct uft_err *err);

/* Where they are in the process whose program is @module; those that it has. */
void watches_bind(const struct record_settings *settings, const struct control_module *module,
		  struct plan_entries *plan);

/* --- libcalls.c --- */

/* Whether calls of library function @name are recorded, and then how (enum plan_call bits). */
bool libcall_is_hooked(const char *name, uint32_t *flags);

/* Whether the calls that library @path makes into others are recorded with --nest-libcall. */
bool libcall_is_nested_module(const char *path);

/* --- datafile.c --- */
/* Count @len bytes that are about to be written. False when --max-size forbids them; then probes stop, too. */
bool writer_may_write(struct recorder *rec, size_t len);

/*
 * Append whole records of @r, which @sink stands for, to its task's file. What cannot be written is counted, and told by a
 * LOST record at that place as soon as there is room again.
 */
void sink_append(struct recorder *rec, struct process *proc, struct ring *r, struct ring_sink *sink,
		 const void *data, size_t len);

/* The ring's owner is gone and all is taken from it: tell what is still to be told, close the file. */
void sink_finish(struct recorder *rec, struct process *proc, struct ring *r,
		 struct ring_sink *sink);

/* --- writer.c --- */

int writers_start(struct recorder *rec, struct uft_err *err);
void writers_stop(struct recorder *rec);

/*
 * One look at all rings of writer @index: what is in whole segments is taken, and with @everything the rest, too. Rings whose
 * threads have ended are given back. Returns the bytes taken.
 */
uint64_t writer_look(struct recorder *rec, unsigned index, bool everything);

/* Up to which time of the recording's clock all records are in the files; see request.h. */
uint64_t writers_complete_ns(const struct recorder *rec);

/* Take all that is committed in the rings of @proc, which no writer looks at any more. */
void writer_drain_all(struct recorder *rec, struct process *proc);

#endif
