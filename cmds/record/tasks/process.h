/* Traced processes: their arenas, from the first report to the last record. */
#ifndef UTRAIL_CMDS_RECORD_TASKS_PROCESS_H
#define UTRAIL_CMDS_RECORD_TASKS_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/base/alive.h"
#include "cmds/record/base/loop.h"
#include "cmds/record/base/peer.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/tasks/notes.h"
#include "cmds/record/tasks/orphans.h"
#include "cmds/record/tasks/session.h"
#include "utils/base/containers/intmap.h"
#include "utils/format/probe/control.h"
#include "utils/format/probe/ring.h"

/* Address space that a process' rings take. */
#define ARENA_BYTES_MAX (64ULL << 30)

/*
 * The recorder's side of one ring.
 *
 * @tid: whose records the ring holds; 0 while it has none
 * @is_open: @stream is <tid>.dat. Not so before the first record, and while the store has too few
 * streams.
 * @tail: what the ring's tail is told from; the ring itself is memory of the program
 * @untold: records that were lost here and no LOST record in the file tells of
 * @payloads: the same of its second ring, and of <tid>.evt
 *
 * Starts as zeros, so that thousands of unused ones are pages nobody touched.
 */
struct ring_sink {
	int32_t tid;
	bool is_open;
	int stream;
	uint64_t tail;
	uint64_t untold;
	struct {
		bool is_open;
		int stream;
		uint64_t tail;
	} payloads;
};

/*
 * One traced process (or process image: exec makes a new one under the same pid).
 *
 * @parent: the process that forked this one; NULL for an exec'd image, or when unknown. Its struct
 *          lives as long as the recorder.
 * @pidfd: readable when the process has ended; -1 once that was seen
 * @arena: NULL once everything was taken from it. The program can write to all of it, so nothing in
 * it is believed, its header least: it has the shape that we gave it, @nr_rings, @nr_segments,
 * @segment_bytes
 */
struct process {
	struct served served; /* of @pidfd */
	pid_t pid; /* as the process sees itself: a pid namespace of its own may have its own */
	pid_t ppid;
	pid_t os_pid;	  /* as we see it */
	struct peer peer; /* with whose rights the files that it names are read */
	uint64_t time_ns;
	bool is_fork;
	bool announced; /* the FORK line; under tasks.lock */
	/* the process that has it is this one, or was forked off it */
	uint8_t token[CONTROL_SECRET_BYTES];
	int pidfd;
	struct image *session;
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
	struct control_module **modules; /* heap copies; only when plans may change */
	size_t nr_kept_modules;
	size_t cap_kept_modules;
	uint64_t cpu_ns; /* CPU time that it had when it was asked last (control/overhead.h) */
	uint32_t plan_generation; /* of the plan that it was given last */
	bool has_declared;	  /* events; or those that it was forked off have */
	/*
	 * The state of functions that are left out, once hooks are out of its text, and the number
	 * of further tries (control/overhead_hooks.h):
	 */
	uint32_t left_out_generation;
	uint32_t left_out_tries;
	struct process *next;	     /* in processes.first */
	struct process *next_noting; /* in processes.notes */
	struct process *next_live;   /* in processes.live */
	struct process *next_told;   /* while it is announced */
};

static inline struct ring *process_ring(const struct process *proc, uint32_t index)
{
	uint64_t stride = ring_stride(proc->nr_segments, proc->segment_bytes);

	return (struct ring *)((char *)proc->arena + RING_PAGE + index * stride);
}

/*
 * The second ring of ring @index; NULL when it has none so far. Any of the process' rings may be
 * said to be that.
 */
static inline struct ring *process_payloads(const struct process *proc, uint32_t index)
{
	uint32_t said = atomic_load_explicit(&process_ring(proc, index)->payloads,
					     memory_order_acquire);

	return said && said <= proc->nr_rings && said - 1 != index ? process_ring(proc, said - 1)
								   : NULL;
}

/* Rings below this index may have something in them. */
static inline uint32_t process_rings_in_use(const struct process *proc)
{
	uint32_t high = atomic_load_explicit(&proc->arena->high_water, memory_order_acquire);

	return high < proc->nr_rings ? high : proc->nr_rings;
}

/*
 * All images. The control thread adds and removes; of what it does, writers see @live and what is
 * in a live process.
 *
 * @control: shared with all probes
 * @drain: take what is left in the rings of a process that no writer looks at any more
 * @may_finish: as settings_can_finish(), of what was steered to
 * @first: newest first; the newest by pid, as we see it; all by the first half of their token.
 *         Nothing is removed before the end.
 * @live: those with an arena: what writers look at, under @live_lock for reading
 */
struct processes {
	const struct record_settings *settings;
	struct loop *loop;
	struct alive *alive;
	struct control_page *control;
	void (*drain)(void *arg, struct process *proc);
	void *drain_arg;

	_Atomic bool may_finish; /* a later filter lets programs end the recording */
	size_t kept_bytes;	 /* of all process.modules */
	struct process *first;
	struct intmap by_os_pid;
	struct intmap by_token;
	struct notes notes;
	struct orphans orphans;

	pthread_rwlock_t live_lock;
	struct process *live;
};

/*
 * Make the lock; all above the empty line is set by the owner of @procs, the rest starts as zeros.
 */
void processes_init(struct processes *procs);

/*
 * None of them is traced any more (process_retire()), or it is the end of a recording that failed.
 */
void processes_deinit(struct processes *procs);

/*
 * A process that has just reported itself, with an arena of its own; NULL with errno. The arena's
 * memfd goes to @arena_fd and is the caller's. The caller sets session and parent, then publishes.
 */
struct process *process_create(struct processes *procs, const struct control_hello *hello,
			       pid_t pid, int *arena_fd);

/* One that was not published; NULL is fine. */
void process_destroy(struct process *proc);

/* Let the writers see it, and watch its end. It belongs to @procs from here on. */
void process_publish(struct processes *procs, struct process *proc);

/*
 * Plans may change: remember the @nr modules that @proc has loaded. They become its own, and what
 * is taken over is NULL afterwards. One that lies where another one was takes its place. Those that
 * there is no memory for are not in later plans.
 */
void process_keep_modules(struct processes *procs, struct process *proc,
			  struct control_module **modules, size_t nr);

/* The same modules for a forked child. */
void process_inherit_modules(struct processes *procs, struct process *child,
			     const struct process *parent);

/*
 * Plans may change: have each process look what is new, be it the end or another plan. Control
 * thread.
 */
void processes_tell_news(struct processes *procs);

/*
 * The newest forked child of @parent that knows itself as @pid; the newest image with that pid in
 * our view. NULL: there is none.
 */
struct process *process_find_child(struct processes *procs, const struct process *parent,
				   pid_t pid);
struct process *process_find_os(struct processes *procs, pid_t os_pid);

/* The process ended, or its image was replaced: take what is left in its rings, drop the arena. */
void process_retire(struct processes *procs, struct process *proc);

#endif
