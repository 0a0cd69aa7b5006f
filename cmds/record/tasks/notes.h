/*
 * The notes of processes in the first page of their arenas (utils/format/probe/ring.h): kept for as
 * long as somebody may write there.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_NOTES_H
#define UTRAIL_CMDS_RECORD_TASKS_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct msg;
struct process;
struct processes;

/*
 * All processes whose page is mapped: those that run, and those that have ended while a child of
 * theirs may still be about to report itself, which notes its own children in the same page. Only
 * the control thread looks. Starts as { 0 }.
 *
 * @nr_ended: of those that have ended; they are looked through when there are more than @look_at
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

/* Forget all of those that have ended. */
void notes_close(struct processes *procs);

/*
 * After notes_close(): say what is not in the recording of the events that the program has
 * declared.
 */
void notes_warn_about_events(const struct notes *notes, const struct msg *msg);

/*
 * True when each fork that was begun has noted its child. After a fork that has failed this is
 * false for a while.
 */
bool notes_has_newborns(const struct processes *procs);

/* Writers. Does what @proc asks for in its page. */
void notes_obey(struct processes *procs, struct process *proc);

/*
 * Any thread that may look at @proc, which has an arena. It is to look what is new: see arena.news.
 */
void notes_tell_news(struct process *proc);

/*
 * Nothing more is recorded, in any process. Those that can be steered see it when writers look at
 * them next.
 */
void notes_finish_all(struct processes *procs);

#endif
