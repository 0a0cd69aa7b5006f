/* The traced processes, and their arenas, which hold the rings. */
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

/* The maximum address space for the rings of a process. */
#define ARENA_BYTES_MAX (64ULL << 30)

/*
 * The file that gets the records of a ring.
 *
 * @is_open: @stream stays open for the next record. False before the first record, or when the
 *           store has closed @stream because few file descriptors are free
 * @tail: the recorder's own copy of the ring's tail. The program can change the tail in the ring
 */
struct ring_file {
	bool is_open;
	int stream;
	uint64_t tail;
};

/*
 * The recorder's data about a ring. All members start as 0. The structs are in pages from mmap(2).
 * So a page of structs takes no memory before one of these structs is used.
 *
 * @tid: the task whose records the ring holds; 0: no task yet
 * @untold: the number of lost records that no LOST record in the file has reported yet
 * @records: the file <tid>.dat, which gets the records of this ring
 * @payloads: the file <tid>.evt, which gets the payloads of these records. The payloads are in
 *            another ring, which process_payloads() returns
 */
struct ring_sink {
	int32_t tid;
	uint64_t untold;
	struct ring_file records;
	struct ring_file payloads;
};

/*
 * A traced process image. After exec the process has a new image with the same pid.
 *
 * @parent: the process that forked this process. NULL for an image after exec, or when unknown. The
 *          parent's struct lives as long as the recorder
 * @pidfd: readable when the process has ended. -1 after the end was seen
 * @arena: NULL after the recorder has taken everything from the arena. The program can write to the
 *         arena, so the recorder does not trust the content of the arena. The recorder takes the
 *         layout of the arena from @nr_rings, @nr_segments and @segment_bytes
 */
struct process {
	struct served served; /* of @pidfd */
	/* the process' number in its own pid namespace, which may differ from @os_pid */
	pid_t pid;
	pid_t ppid;
	pid_t os_pid;	  /* the process' number in the recorder's pid namespace */
	struct peer peer; /* the credentials for opening files whose paths come from the process */
	uint64_t time_ns;
	bool is_fork;
	/*
	 * the process was announced in `task.txt`, with a FORK line if @is_fork is true.
	 * tasks.lock protects this flag
	 */
	bool announced;
	/*
	 * the token of this process. A forked child sends this token until the child has its own
	 * token
	 */
	uint8_t token[CONTROL_SECRET_BYTES];
	int pidfd;
	struct image *session;
	struct process *parent;
	struct arena *arena;
	uint64_t arena_bytes;
	struct memory_id memory; /* the identity of @arena */
	uint32_t nr_rings;
	uint32_t nr_segments;
	uint32_t segment_bytes;
	struct ring_sink *sinks;
	struct arena *notes; /* see notes.h */
	uint32_t nr_modules; /* the number of reported modules */
	/* planned[kind] is the number of entries of this kind in all plans of the process */
	uint64_t planned[PLAN_KINDS];
	/*
	 * the kept modules (process_keep_modules()). Each module is a heap block that this struct
	 * owns. Empty if plans cannot change
	 */
	struct control_module **modules;
	size_t nr_kept_modules;
	size_t cap_kept_modules;
	uint64_t cpu_ns;	  /* the process' CPU time, as last measured (control/overhead.h) */
	uint32_t plan_generation; /* the generation of the newest plan that the process has */
	/*
	 * the process has declared events, or its parent had declared events before the fork. Also
	 * true when a child declared events before the child reported itself
	 */
	bool has_declared;
	/*
	 * If --overhead leaves a function out of a new plan, the recorder also removes the hooks of
	 * this function from the process (control/overhead_hooks.h). For the plans up to the
	 * generation @left_out_generation, the removal is finished or was given up
	 */
	uint32_t left_out_generation;
	uint32_t left_out_tries;     /* the number of attempts to raise @left_out_generation */
	struct process *next;	     /* in processes.first */
	struct process *next_noting; /* in processes.notes */
	struct process *next_live;   /* in processes.live */
	struct process *next_told;   /* the next process to announce */
	struct process *next_fork;   /* in tasks.forks */
};

static inline struct ring *process_ring(const struct process *proc, uint32_t index)
{
	uint64_t stride = ring_stride(proc->nr_segments, proc->segment_bytes);

	return (struct ring *)((char *)proc->arena + RING_PAGE + index * stride);
}

/*
 * Returns the ring that has the payloads for the records in ring @index, or NULL. The number of the
 * returned ring is checked, because the program may have written an invalid number.
 */
static inline struct ring *process_payloads(const struct process *proc, uint32_t index)
{
	uint32_t said = atomic_load_explicit(&process_ring(proc, index)->payloads,
					     memory_order_acquire);

	return said && said <= proc->nr_rings && said - 1 != index ? process_ring(proc, said - 1)
								   : NULL;
}

/*
 * Returns the number of rings that may be in use. Rings whose index is this number or more have no
 * records.
 */
static inline uint32_t process_rings_in_use(const struct process *proc)
{
	uint32_t high = atomic_load_explicit(&proc->arena->high_water, memory_order_acquire);

	return high < proc->nr_rings ? high : proc->nr_rings;
}

/*
 * All images. The control thread adds and removes them. Writers use @live and the live processes.
 *
 * @control: the page that all probes share
 * @drain: takes the remaining records of a process whose rings no writer reads any more
 * @may_finish: false before the first change of settings. After a change, the result of
 *         settings_can_finish() for the new settings (control/steering.c)
 * @first: the list of images, which starts with the newest. processes_deinit() removes the images
 * @by_os_pid: the newest image of each pid in the recorder's namespace
 * @by_token: images by the first half of their token
 * @live: images with an arena. Writers read this list and hold @live_lock for reading
 */
struct processes {
	const struct record_settings *settings;
	struct loop *loop;
	struct alive *alive;
	struct control_page *control;
	void (*drain)(void *arg, struct process *proc);
	void *drain_arg;

	_Atomic bool may_finish; /* writers read it, too */
	size_t kept_bytes;	 /* the size of the kept modules of all processes */
	struct process *first;
	struct intmap by_os_pid;
	struct intmap by_token;
	struct notes notes;
	struct orphans orphans;

	pthread_rwlock_t live_lock;
	struct process *live;
};

/*
 * Make @live_lock. The caller has set @settings, @loop, @alive, @drain and @drain_arg. All other
 * members must be zeros.
 */
void processes_init(struct processes *procs);

/* Free everything. Call it after process_retire() of all processes, or after a failure. */
void processes_deinit(struct processes *procs);

/*
 * Make the struct and the arena of a process that has just reported itself. The caller sets session
 * and parent, and then publishes the process. Returns NULL with errno.
 *
 * @arena_fd: gets the arena's memfd, which the caller closes
 */
struct process *process_create(struct processes *procs, const struct control_hello *hello,
			       pid_t pid, int *arena_fd);

/* Free a process that was not published. @proc may be NULL. */
void process_destroy(struct process *proc);

/*
 * Let the writer threads read the rings of @proc, and watch for the end of the process. From this
 * call on, @procs owns @proc.
 */
void process_publish(struct processes *procs, struct process *proc);

/*
 * Keep the @nr modules that @proc has loaded. The recorder needs these modules when the plan
 * changes. A new module replaces older modules at the same addresses. The program itself is never
 * replaced. The caller's pointer to each kept module becomes NULL.
 *
 * If a module exceeds a limit, or memory for a module is short, this module and all later modules
 * in @modules are not kept. Later plans lack the modules that are not kept.
 */
void process_keep_modules(struct processes *procs, struct process *proc,
			  struct control_module **modules, size_t nr);

/* Copy the modules of the parent to a forked child. */
void process_inherit_modules(struct processes *procs, struct process *child,
			     const struct process *parent);

/*
 * Tell each process that the plan has changed or that the recording has ended. Call this function
 * from the control thread.
 */
void processes_tell_news(struct processes *procs);

/*
 * process_find_child() finds the forked child of @parent that has the pid @pid in its own pid
 * namespace. process_find_os() finds the image that has the pid @os_pid in the recorder's pid
 * namespace. Each function returns the newest match, or NULL.
 */
struct process *process_find_child(struct processes *procs, const struct process *parent,
				   pid_t pid);
struct process *process_find_os(struct processes *procs, pid_t os_pid);

/*
 * Empty the rings of @proc, and free the arena, except for the page proc->notes. Call this function
 * when @proc has ended, when exec has replaced the image, or when the recording ends.
 */
void process_retire(struct processes *procs, struct process *proc);

#endif
