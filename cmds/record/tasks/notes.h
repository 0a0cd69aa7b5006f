/*
 * Notes that processes make in the first page of their arenas (utils/format/probe/ring.h). The page
 * is kept as long as a process may write there.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_NOTES_H
#define UTRAIL_CMDS_RECORD_TASKS_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct msg;
struct process;
struct processes;

/*
 * All processes whose page is mapped: running ones, and ended ones with a child that has not
 * reported itself, and notes its own children in the same page. Only the control thread reads this
 * list. Starts as { 0 }.
 *
 * @nr_ended: ended processes in the list; above @look_at, all are checked
 * @reads_failed and the members after it: sums of the notes (struct arena) of processes that have
 *         left the list; after notes_close(), of all processes
 */
struct notes {
	struct process *first;
	unsigned nr_ended;
	unsigned look_at;
	uint32_t reads_failed;
	uint64_t points_failed;
	uint64_t threads_caged;
	uint64_t threads_shared;
	uint64_t children_cut_off;
	uint64_t sealed; /* number of processes */
	uint64_t threads_sealed;
	uint64_t talks_sealed;
	uint64_t events_undeclared;
	uint64_t events_nameless;
	uint64_t events_cut;
	uint64_t threads_without_payloads;
};

/* Begin to keep the notes of @proc, which has an arena. */
void notes_begin(struct processes *procs, struct process *proc);

/* @proc has ended, and its rings are empty: unmap them. The page stays as long as it is needed. */
void notes_end(struct processes *procs, struct process *proc);

/* Stop keeping notes. Those of ended processes are added to the sums in struct notes. */
void notes_close(struct processes *procs);

/* Report declared events that are not in the recording. Call it after notes_close(). */
void notes_warn_about_events(const struct notes *notes, const struct msg *msg);

/* True when a fork has begun whose child is not noted yet. After a failed fork, this stays true. */
bool notes_has_newborns(const struct processes *procs);

/* For writers: do what @proc requests in its page. */
void notes_obey(struct processes *procs, struct process *proc);

/* Set arena.news of @proc, which has an arena. For any thread that may use @proc. */
void notes_tell_news(struct process *proc);

/* Stop recording in all processes; in a steerable one when a writer next looks at it. */
void notes_finish_all(struct processes *procs);

#endif
