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
 * The list of processes whose first arena page is mapped in the recorder. An ended process stays in
 * the list while a forked child of the process runs and has not reported itself, because the child
 * uses the same page for the child's own notes. If too many ended processes are in the list, the
 * oldest ended processes leave the list early. Only the control thread uses the list. The struct
 * starts as { 0 }.
 *
 * notes_close() empties the list. After notes_close(), @reads_failed and the members after it are
 * complete.
 *
 * @nr_ended: the number of ended processes in the list. When this number exceeds @look_at, the
 *            whole list is checked, and processes that are not needed leave the list
 * @reads_failed: the bits of arena.reads_failed, from all processes that have left the list
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
 * Unmap the rings of @proc. @proc must have ended, and the rings must be empty. The page with the
 * notes of @proc stays mapped while a forked child of @proc may use the page.
 */
void notes_end(struct processes *procs, struct process *proc);

/*
 * Stop keeping notes. The notes of the remaining processes are added to the sums in struct notes.
 */
void notes_close(struct processes *procs);

/* Warn about declared events that are missing in the recording. Call it after notes_close(). */
void notes_warn_about_events(const struct notes *notes, const struct msg *msg);

/*
 * True when a process has begun a fork, and the forked child has not stored the child's pid in the
 * notes of the parent. After a failed fork there is no child, so the result stays true.
 */
bool notes_has_newborns(const struct processes *procs);

/*
 * For writer threads. If the recording is steerable and has ended, set arena.news of @proc. If
 * @proc has requested the end of the recording (arena.finish_wanted), and the settings permit this
 * request, stop recording in all processes.
 */
void notes_obey(struct processes *procs, struct process *proc);

/*
 * Set arena.news of @proc, which must have an arena. The control thread may call this function. A
 * writer thread may call this function while the writer holds @live_lock (struct processes).
 */
void notes_tell_news(struct process *proc);

/*
 * Stop recording in all processes (control_page.finished). In a steerable recording, a process may
 * go on recording until a writer thread has called notes_obey() for the process.
 */
void notes_finish_all(struct processes *procs);

#endif
