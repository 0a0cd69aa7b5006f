/* Reads the notes of processes (see notes.h). The notes are in the first page of each arena. */
#include "cmds/record/tasks/notes.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/terminal/msg.h"
#include "cmds/record/tasks/process.h"
#include "utils/format/event_data.h"

/*
 * The minimum and the maximum of notes.look_at. When the list of processes has more than
 * notes.look_at ended processes, look_through() shortens the list, and sets notes.look_at to twice
 * the number of ended processes that stay in the list.
 */
#define ENDED_FEW 256
#define ENDED_MAX 4096

void notes_begin(struct processes *procs, struct process *proc)
{
	proc->notes = proc->arena;
	proc->next_noting = procs->notes.first;
	procs->notes.first = proc;
}

static void drop_notes(struct processes *procs, struct process *proc)
{
	procs->notes.reads_failed |= atomic_load(&proc->notes->reads_failed);
	procs->notes.points_failed += atomic_load(&proc->notes->points_failed);
	procs->notes.threads_caged += atomic_load(&proc->notes->threads_caged);
	procs->notes.threads_shared += atomic_load(&proc->notes->threads_shared);
	procs->notes.sealed += atomic_load(&proc->notes->seals) != 0;
	procs->notes.threads_sealed += atomic_load(&proc->notes->threads_sealed);
	procs->notes.talks_sealed += atomic_load(&proc->notes->talks_sealed);
	procs->notes.children_cut_off += atomic_load(&proc->notes->children_cut_off);
	procs->notes.events_undeclared += atomic_load(&proc->notes->events_undeclared);
	procs->notes.events_nameless += atomic_load(&proc->notes->events_nameless);
	procs->notes.events_cut += atomic_load(&proc->notes->events_cut);
	procs->notes.threads_without_payloads += atomic_load(
		&proc->notes->threads_without_payloads);
	munmap(proc->notes, RING_PAGE);
	proc->notes = NULL;
	procs->notes.nr_ended--;
}

void notes_warn_about_events(const struct notes *notes, const struct msg *msg)
{
	if (notes->threads_without_payloads)
		msg_warn(msg,
			 "the events that %llu %s declared were lost: too many threads at a time, "
			 "or "
			 "too little address space (ulimit -v)",
			 (unsigned long long)notes->threads_without_payloads,
			 notes->threads_without_payloads == 1 ? "thread" : "threads");
	msg_warn_nr(msg, notes->events_nameless,
		    "{event|events} that the program declares {is|are} not recorded: {it has|they "
		    "have} no name");
	msg_warn_nr(msg, notes->events_cut,
		    "{event|events} of the program {says|say} more than a record takes (%u bytes, "
		    "less with a small --buffer) and {is|are} cut: what is shown of {it|them} ends "
		    "in '...'",
		    EVENT_DATA_MAX);
}

/*
 * True when it is certain that child @pid has reported itself or has ended. Such a child writes no
 * notes to the arena of @parent any longer (notes.h).
 */
static bool is_settled(struct processes *procs, const struct process *parent, pid_t pid)
{
	/*
	 * @pid is a number in the pid namespace of @parent. The recorder may be in another pid
	 * namespace.
	 */
	bool is_ours = pid > 0 && parent->pid == parent->os_pid;
	const struct process *known = is_ours ? process_find_os(procs, pid)
					      : process_find_child(procs, parent, pid);

	if (!pid || (known && known->pidfd >= 0))
		return true;
	return is_ours && kill(pid, 0) < 0 && errno == ESRCH;
}

static bool has_open_forks(struct processes *procs, const struct process *proc)
{
	struct arena_forks *forks = &proc->notes->forks;
	uint32_t nr = MIN(atomic_load(&forks->nr), (uint32_t)ARENA_FORKS);

	for (uint32_t i = 0; i < nr; i++) {
		if (!is_settled(procs, proc, atomic_load(&forks->pids[i])))
			return true;
	}
	return atomic_load(&forks->noted) < atomic_load(&forks->begun);
}

/*
 * Looks at the pages of ended processes. Frees each page that no child needs. If too many pages
 * would stay, frees the oldest pages. The list of processes starts with the newest process.
 */
static void look_through(struct processes *procs)
{
	struct process **link = &procs->notes.first;
	unsigned nr_kept = 0;

	while (*link) {
		struct process *proc = *link;

		if (proc->arena || (nr_kept < ENDED_MAX / 2 && has_open_forks(procs, proc))) {
			nr_kept += !proc->arena;
			link = &proc->next_noting;
			continue;
		}
		*link = proc->next_noting;
		drop_notes(procs, proc);
	}
	procs->notes.look_at = MIN(MAX(2 * nr_kept, (unsigned)ENDED_FEW), (unsigned)ENDED_MAX);
}

void notes_end(struct processes *procs, struct process *proc)
{
	munmap((char *)proc->arena + RING_PAGE, proc->arena_bytes - RING_PAGE);
	proc->arena = NULL;
	if (++procs->notes.nr_ended > procs->notes.look_at)
		look_through(procs);
}

void notes_close(struct processes *procs)
{
	while (procs->notes.first) {
		struct process *proc = procs->notes.first;

		procs->notes.first = proc->next_noting;
		if (!proc->arena)
			drop_notes(procs, proc);
	}
}

bool notes_has_newborns(const struct processes *procs)
{
	for (const struct process *p = procs->notes.first; p; p = p->next_noting) {
		struct arena_forks *forks = &p->notes->forks;

		if (atomic_load(&forks->noted) < atomic_load(&forks->begun))
			return true;
	}
	return false;
}

void notes_finish_all(struct processes *procs)
{
	atomic_store(&procs->control->finished, 1);
	/* Wake the threads that wait in probe_finish() for the end of the recording. */
	syscall(SYS_futex, &procs->control->finished, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void notes_tell_news(struct process *proc)
{
	/* @may_skip is cleared last. A thread that sees this change also sees that @news is set. */
	atomic_store(&proc->arena->news, 1);
	atomic_store(&proc->arena->may_skip, 0);
}

void notes_obey(struct processes *procs, struct process *proc)
{
	if (procs->settings->is_steerable && atomic_load(&procs->control->finished))
		notes_tell_news(proc);
	/*
	 * A program may end the recording only when an option of `record`, or a later change by
	 * `utrail control`, contains `finish`.
	 */
	if (atomic_load_explicit(&proc->arena->finish_wanted, memory_order_relaxed) &&
	    !atomic_load(&procs->control->finished) &&
	    (settings_can_finish(procs->settings) || atomic_load(&procs->may_finish)))
		notes_finish_all(procs);
}
