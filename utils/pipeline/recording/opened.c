/* The calls that are open at the beginning of a time range, or of a task (see opened.h). */
#include "utils/pipeline/recording/opened.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/compiler.h"

#define FIRST_CALLS  64
#define READ_AT_ONCE 64

void opened_deinit(struct opened *opened)
{
	free(opened->addrs);
	*opened = (struct opened){ 0 };
}

/* Set the number of calls. New calls have no address. */
static bool set_nr(struct opened *opened, size_t nr)
{
	if (nr > opened->cap) {
		size_t cap = MAX(nr, opened->cap ? opened->cap * 2 : (size_t)FIRST_CALLS);
		uint64_t *addrs = reallocarray(opened->addrs, cap, sizeof(*addrs));

		if (!addrs)
			return false;
		opened->addrs = addrs;
		opened->cap = cap;
	}
	while (opened->nr < nr)
		opened->addrs[opened->nr++] = 0;
	opened->nr = nr;
	return true;
}

bool opened_note(struct opened *opened, const struct event *event)
{
	opened->last_ns = event->time_ns;
	if (event_is_kernel_call(event))
		return true;
	switch (event->type) {
	case EVENT_ENTRY:
		if (!set_nr(opened, event->depth + 1U))
			return false;
		opened->addrs[event->depth] = event->addr;
		opened->wants_depth = false;
		return true;
	case EVENT_EXIT:
		opened->wants_depth = false;
		return set_nr(opened, event->depth);
	case EVENT_LOST:
		opened->wants_depth |= !(event->flags & EVENT_KERNEL_LOST);
		return true;
	case EVENT_SCHED_OUT:
	case EVENT_SCHED_IN:
		opened->is_out = event->type == EVENT_SCHED_OUT;
		opened->out_flags = event->flags;
		return true;
	default:
		return true;
	}
}

bool opened_skim(struct opened *opened, struct plain_records *records, uint64_t until_ns)
{
	struct record rec;

	while (plain_record_next(records, &rec) && rec.time_ns < until_ns) {
		uint64_t addr = record_addr(rec.data);
		size_t depth = record_depth(rec.data);
		bool is_entry = record_type(rec.data) == RECORD_ENTRY;

		if (unlikely(addr & KERNEL_ADDR_BIT))
			break;
		if (unlikely(depth + is_entry > opened->cap || depth > opened->nr) &&
		    !set_nr(opened, depth + is_entry))
			return false;
		if (is_entry)
			opened->addrs[depth] = addr;
		opened->nr = depth + is_entry;
		opened->wants_depth = false;
		opened->last_ns = rec.time_ns;
		plain_record_took(records, &rec);
	}
	return true;
}

/*
 * Sets opened->first to the smallest index such that the open call at this index and all deeper
 * open calls have addresses. Returns the number of these calls.
 */
static size_t count_known(struct opened *opened)
{
	opened->first = opened->nr;
	while (opened->first > 0 && opened->addrs[opened->first - 1])
		opened->first--;
	return opened->nr - opened->first;
}

size_t opened_begin(struct opened *opened, const struct task *task, const struct event *next,
		    uint64_t start_ns)
{
	opened->is_done = true;
	if (task_next_exec_ns(task, opened->last_ns) <= start_ns) {
		opened->nr = 0;
		opened->is_out = false;
	}
	/*
	 * If records were lost, the lost records may include EXITs of open calls. The depth of
	 * @next tells how many calls are still open.
	 */
	if (opened->wants_depth && next->type <= EVENT_EXIT && !event_is_kernel_call(next))
		opened->nr = MIN(opened->nr, next->depth + (size_t)(next->type == EVENT_EXIT));
	return count_known(opened) + opened->is_out;
}

void opened_put(const struct opened *opened, uint64_t start_ns, struct event *events)
{
	for (size_t i = opened->first; i < opened->nr; i++) {
		*events++ = (struct event){
			.time_ns = start_ns,
			.addr = opened->addrs[i],
			.type = EVENT_ENTRY,
			.depth = i,
			.indent = i,
		};
	}
	if (opened->is_out)
		*events = (struct event){
			.time_ns = start_ns,
			.id = opened->out_flags & EVENT_PREEMPTED ? EVENT_ID_SCHED_OUT_PREEMPT
								  : EVENT_ID_SCHED_OUT,
			.cpu = EVENT_CPU_UNKNOWN,
			.type = EVENT_SCHED_OUT,
			.flags = opened->out_flags,
		};
}

/*
 * If @event is the return of a call that was open at the task's first record, store the address of
 * the call's function. Returns false when no more functions can be found.
 *
 * @open: the number of calls that were open at the first record and are still open
 */
static bool note_return(struct opened *opened, size_t *open, const struct event *event)
{
	if (event->type == EVENT_ENTRY)
		return *open && event->depth >= *open;
	if (event->type != EVENT_EXIT || event->depth >= *open)
		return *open;
	/*
	 * If calls inside of the returned call are still open, the task has left several calls at
	 * once, or has become another program.
	 */
	if (event->depth + 1U < *open)
		return false;
	opened->addrs[--*open] = event->addr;
	return *open;
}

ssize_t opened_find_inherited(struct opened *opened, struct src_user *src,
			      const atomic_bool *is_stopped)
{
	struct event events[READ_AT_ONCE];
	bool has_record = false;
	bool goes_on = true;
	size_t open = 0;

	while (goes_on && !src->at_end && !atomic_load_explicit(is_stopped, memory_order_relaxed)) {
		/* Damage is reported later, when the file is read for the view. */
		ssize_t nr = src_user_read(src, events, READ_AT_ONCE, UINT64_MAX, NULL);

		if (nr < 0)
			break;
		for (ssize_t i = 0; goes_on && i < nr; i++) {
			const struct event *event = &events[i];

			if (event->type > EVENT_EXIT)
				continue;
			if (!has_record) {
				has_record = true;
				open = event->depth + (size_t)(event->type == EVENT_EXIT);
				if (!set_nr(opened, open))
					return -ENOMEM;
			}
			goes_on = note_return(opened, &open, event);
		}
	}
	return count_known(opened);
}
