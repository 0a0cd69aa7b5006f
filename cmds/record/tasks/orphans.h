/* Finds forked children from which no record has come yet, and watches these children. */
#ifndef UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H
#define UTRAIL_CMDS_RECORD_TASKS_ORPHANS_H

#include <sys/types.h>

struct orphan;
struct processes;

/* The watched children. The list starts with the newest child. The struct starts as { 0 }. */
struct orphans {
	struct orphan *first;
};

/*
 * The identity of shared memory: device and inode. The recorder finds these numbers by fstat(2), or
 * in /proc/PID/maps of a process that has mapped the memory.
 */
struct memory_id {
	dev_t dev;
	ino_t ino;
};

/*
 * Find the living children that are named in the notes of all processes (notes.h), and watch these
 * children. A program can write a wrong pid into its notes. So a child is watched only if the child
 * has mapped the memory of the notes that name the child. If a child does not know its pid in the
 * recorder's pid namespace, the recorder looks for this child among all processes in lower pid
 * namespaces.
 */
void orphans_look(struct processes *procs);

/* Stop watching children. The recorder then no longer waits for their end. */
void orphans_forget(struct processes *procs);

#endif
