/*
 * The notes that processes make in the first page of their arenas (utils/format/probe/ring.h). The
 * page is kept as long as a process may write to it.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_NOTES_H
#define UTRAIL_CMDS_RECORD_TASKS_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct msg;
struct process;
struct processes;

/*
 * All processes whose page is mapped. An ended process stays in the list while a child has not
 * reported itself, because the child uses the same page for its own notes. Only the control thread
 * reads the list. The struct starts as { 0 }.
 *
 * @nr_ended: the number of ended processes in the list. When this number exceeds @look_at, the
 *         whole list is checked, and processes that are not needed leave the list
 * @reads_failed: the bits of arena.reads_failed, from all processes that have left the list. After
 *         notes_close(), the list is empty
 * @points_failed and the members after it: sums over the processes that have left the list
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
	uint64_t sealed; /* processes that have put system call filters on themselves */
	uint64_t threads_sealed;
	uint64_t talks_sealed;
	uint64_t events_undeclared;
	uint64_t events_nameless;
	uint64_t events_cut;
	uint64_t threads_without_payloads;
};

/* Begin to keep the notes of @proc, which must have an arena. */
void notes_begin(struct processes *procs, struct process *proc);

/*
 * Unmap the rings of @proc. The process has ended, and its rings are empty. The page of its notes
 * stays mapped while a child may use it.
 */
void notes_end(struct processes *procs, struct process *proc);

/*
 * Stop keeping notes. The notes of the remaining processes are added to the sums in struct notes.
 */
void notes_close(struct processes *procs);

/* Warn about declared events that are missing in the recording. Call it after notes_close(). */
void notes_warn_about_events(const struct notes *notes, const struct msg *msg);

/*
 * True when a process has begun a fork, and the child has not stored its pid in the notes of the
 * process. After a failed fork, the result stays true.
 */
bool notes_has_newborns(const struct processes *procs);

/* Do the work that @proc requests in the first page of its arena. Called by writers. */
void notes_obey(struct processes *procs, struct process *proc);

/*
 * Set arena.news of @proc, which must have an arena. Any thread that may use @proc may call this
 * function.
 */
void notes_tell_news(struct process *proc);

/*
 * Stop recording in all processes. If the recording can be steered, a process may go on recording
 * until a writer has looked at the rings of the process (notes_obey()).
 */
void notes_finish_all(struct processes *procs);

#endif
