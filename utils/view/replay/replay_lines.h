/* The lines of replay. Private to utils/view/replay/replay*.c. */
#ifndef UTRAIL_VIEW_REPLAY_LINES_H
#define UTRAIL_VIEW_REPLAY_LINES_H

#include "utils/view/replay/replay.h"

/* Write the lines above the first event. */
void replay_show_header(struct replay *replay);

/* Show an event alone on its line. EVENT_HIDDEN shows nothing. */
void replay_show_single(struct replay *replay, const struct task *task, const struct event *event);

/*
 * Show two successive events of a task on one line: the ENTRY and the EXIT of a call, or the
 * SCHED_OUT and the SCHED_IN around a time off the CPU.
 */
void replay_show_pair(struct replay *replay, const struct task *task, const struct event *first,
		      const struct event *second);

/*
 * Show the line of extern.dat that waits in replay->ext. The line's columns, such as the tid, have
 * the values of @task.
 */
void replay_show_extern(struct replay *replay, const struct task *task);

/* Write a note that time went backwards. @indent: the number of open calls around the note */
void replay_show_backwards(struct replay *replay, unsigned indent);

#endif
