/*
 * Children that the program forked and that have not reported themselves, which they do with their
 * first record.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H
#define UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H

#include <sys/types.h>

struct orphan;
struct processes;

/* The watched ones, newest first. Starts as { 0 }. */
struct orphans {
	struct orphan *first;
};

/*
 * The identity of shared memory: from fstat(2), and from proc(5) for processes that have it mapped.
 */
struct memory_id {
	dev_t dev;
	ino_t ino;
};

/*
 * Watch the children in the notes of all processes (notes.h), if they are alive. The notes may
 * contain any number, but only a process that has that memory mapped can report records. In a pid
 * namespace of its own a child does not know our number for it: then all processes in such
 * namespaces are searched.
 */
void orphans_look(struct processes *procs);

/* These children are not waited for any more. */
void orphans_forget(struct processes *procs);

#endif
