/*
 * Finds children that the program has forked and that have not reported themselves, which they do
 * with their first record.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H
#define UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H

#include <sys/types.h>

struct orphan;
struct processes;

/* The children that are watched, the newest first. Starts as { 0 }. */
struct orphans {
	struct orphan *first;
};

/* The identity of shared memory, from fstat(2), or /proc/PID/maps of a process that maps it. */
struct memory_id {
	dev_t dev;
	ino_t ino;
};

/*
 * Watch the living children in the notes of all processes (notes.h). The notes may contain any
 * number, so a process is watched only if it has mapped the memory of these notes. If a child does
 * not know its number in the recorder's namespace, all processes in lower pid namespaces are
 * searched.
 */
void orphans_look(struct processes *procs);

/* Forget the watched children: they are not waited for any more. */
void orphans_forget(struct processes *procs);

#endif
