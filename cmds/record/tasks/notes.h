/*
 * The notes of processes in the first page of their arenas (utils/format/probe/ring.h): kept as
 * long as a process may write there.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_NOTES_H
#define UTRAIL_CMDS_RECORD_TASKS_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct msg;
struct process;
struct processes;

/*
 * All processes whose page is mapped: running ones, and ended ones with a child that may still
 * report itself and that notes its own children in the same page. Only the control thread reads
 * them. Starts as { 0 }.
 *
 * @nr_ended: number of ended ones; they are checked when there are more than @look_at
 * @reads_failed and so on: what those that are gone have noted (struct arena); all of them are,
 * after notes_close()
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
	uint64_t sealed; /* processes */
	uint64_t threads_sealed;
	uint64_t talks_sealed;
	uint64_t events_undeclared;
	uint64_t events_nameless;
	uint64_t events_cut;
	uint64_t threads_without_payloads;
};

/* @proc has an arena, whose first page becomes its notes. */
void notes_begin(struct processes *procs, struct process *proc);

/* @proc has ended and its rings are empty: unmap them. The page stays as long as it is needed. */
void notes_end(struct processes *procs, struct process *proc);

/* Forget all processes that have ended. */
void notes_close(struct processes *procs);

/* To be called after notes_close(): report declared events that are not in the recording. */
void notes_warn_about_events(const struct notes *notes, const struct msg *msg);

/*
 * True when each fork that was begun has noted its child. After a failed fork this is false for a
 * while.
 */
bool notes_has_newborns(const struct processes *procs);

/* Writers. Does what @proc asks for in its page. */
void notes_obey(struct processes *procs, struct process *proc);

/*
 * Any thread that may use @proc, which has an arena. Tell the process that there is news: see
 * arena.news.
 */
void notes_tell_news(struct process *proc);

/* Stop recording in all processes. Steerable ones see it when writers next look at them. */
void notes_finish_all(struct processes *procs);

#endif
