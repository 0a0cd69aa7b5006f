/*
 * Children that the program forked off and that have not reported themselves: they do so with their
 * first record.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H
#define UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H

#include <sys/types.h>

struct orphan;
struct processes;

/* Those that are watched, newest first. Starts as { 0 }. */
struct orphans {
	struct orphan *first;
};

/*
 * The identity of shared memory: as fstat(2) gives it, and proc(5) for processes that have it
 * mapped.
 */
struct memory_id {
	dev_t dev;
	ino_t ino;
};

/*
 * Watch the children that the notes of all processes (notes.h) tell of, if they are alive. Whatever
 * numbers stand there, only a process that has the memory mapped in which it stands can have
 * something to report. In a pid namespace of its own a child does not know the number that it has
 * for us: then we look through all processes that are in such.
 */
void orphans_look(struct processes *procs);

/* Nobody waits for them any more. */
void orphans_forget(struct processes *procs);

#endif
