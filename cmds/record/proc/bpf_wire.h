/*
 * The records in the ring of the eBPF program. Only the recorder of the same build reads these
 * records, so a new version may change the format.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_BPF_WIRE_H
#define UTRAIL_CMDS_RECORD_PROC_BPF_WIRE_H

#include <stdint.h>

#include "cmds/record/proc/shapes.h"

enum wire_kind {
	WIRE_FORK = 1,
	/*
	 * An exec is a group of records: WIRE_EXEC, then records of the next three kinds, and
	 * WIRE_BECAME at the end. The task writes no other records into this group.
	 */
	WIRE_EXEC,
	WIRE_ARGS,    /* a part of the arguments, of at most WIRE_PART_MAX bytes */
	WIRE_ENV,     /* a part of the environment */
	WIRE_INHERIT, /* a descriptor that is open when the new program begins */
	WIRE_BECAME,  /* the end of the records of an exec */
	WIRE_EXIT,
	WIRE_CALL,
};

/* The texts of a record, in this order. In a record, no text ends with a NUL. */
enum wire_text {
	WIRE_FILE,     /* the executed program, or the file that was opened */
	WIRE_FROM,     /* the unchanged name from the arguments of the system call */
	WIRE_FROM_DIR, /* the directory to which the name is relative */
	WIRE_TO,
	WIRE_TO_DIR,
	WIRE_TEXT,
	WIRE_ROOT, /* the root directory of the task */
	WIRE_TEXTS,
};

#define WIRE_TEXT_MAX  4096U /* the maximum size of a name with its NUL: PATH_MAX */
#define WIRE_PART_MAX  16384U
#define WIRE_BYTES_MAX 32768U

/*
 * The bits of @flags. The comment of a bit may begin with a kind of record. In this case, only
 * records of that kind have the bit.
 */
/* exec: the running file is the interpreter of the executed script */
#define WIRE_IS_SCRIPT	  1U
#define WIRE_IS_ELSEWHERE 2U  /* the task and the recorder have different mount namespaces */
#define WIRE_IS_UNREAD	  4U  /* args, env: the texts could not be read from memory */
#define WIRE_IS_LEADER	  8U  /* exit: the first thread has ended, and other threads still run */
#define WIRE_IS_LAST	  16U /* exit: no thread is left, and this thread is not the first one */
#define WIRE_IS_OF_GROUP  32U /* exit: the whole process was ended, and not only this thread */
#define WIRE_IS_URGENT	  64U /* WIRE_BECAME: the arguments name a file that may soon be removed */

/*
 * A record.
 *
 * @time_ns: the time (CLOCK_MONOTONIC)
 * @tid, @pid: in the recorder's pid namespace
 * @kind: enum wire_kind
 * @cpu: the CPU on which the task ran
 * @id: enum syscall_id of a call
 * @value: the return value of a call, the tid of a fork's child, the old tid of an exec, or the
 *         status of an exit (wait(2)). For WIRE_INHERIT, the descriptor. WIRE_ARGS and WIRE_ENV
 *         have only a part of the arguments or of the environment; @value is the offset of the part
 * @more: for a fork, the process ID of the child; for WIRE_INHERIT, the possible uses of the
 *        descriptor (enum wire_access)
 * @args: for a call, the arguments; for a fork, first the flags of clone(2), then a value of enum
 *        proc_fork_how; for an exec, the real user (the lower 32 bits) and the real group (the
 *        upper 32 bits)
 * @out: more data of a call: the ends of a pipe, the flags and mode of openat2(2), or the flags of
 *       clone(2)
 * @lens: the lengths of the texts. The texts follow the record
 */
struct wire_record {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t pid;
	uint16_t kind;
	uint16_t id;
	uint32_t flags;
	int32_t value;
	uint32_t more;
	uint32_t cpu;
	uint32_t unused;
	uint64_t args[6];
	uint64_t out[2];
	uint16_t lens[WIRE_TEXTS + 1];
};

_Static_assert(sizeof(struct wire_record) % 8 == 0, "texts follow it");

enum wire_access {
	WIRE_READS = 1,
	WIRE_WRITES = 2,
};

/*
 * The data of a traced task. This struct is the value in the map "marks". The recorder sets @tid,
 * @pid and @waits. Only the eBPF program uses the other members.
 */
struct wire_mark {
	uint32_t tid;
	uint32_t pid;
	/*
	 * the level of the recorder's pid namespace, counted from 1; 0: unknown. In the mark
	 * of the recorder's child, this member is 0 until the child forks. At the child's first
	 * fork, the eBPF program stores the level of the child's pid namespace, which is the
	 * recorder's pid namespace. A forked task gets the level from its parent's mark
	 */
	uint32_t level;
	/* 1: the task is the recorder's child, and is not recorded until it executes the program */
	uint32_t waits;
	uint32_t id;
	uint32_t unused;
	uint64_t args[6];
};

#define WIRE_ABIS    2
#define WIRE_NUMBERS 512

/*
 * The constants that the recorder gives to the eBPF program before the program is loaded.
 *
 * @mount_namespace: the inode of the recorder's mount namespace
 * @masks: the significant bits of a system call's number, for each ABI (in the order of
 *         syscall_abis)
 * @ids: enum syscall_id for each ABI and number
 */
struct wire_settings {
	uint32_t traces_files;
	uint32_t traces_environment;
	uint32_t mount_namespace;
	uint32_t ring_bytes;
	uint32_t masks[WIRE_ABIS];
	uint8_t ids[WIRE_ABIS][WIRE_NUMBERS];
	struct call_shape shapes[SYSCALL_NOT_WATCHED];
};

/*
 * The counters of the eBPF program.
 *
 * @nr_live: the number of traced tasks
 * @nr_lost: the number of records for which there was no room, plus the number of tasks that could
 *           not be traced
 */
struct wire_counts {
	uint64_t nr_live;
	uint64_t nr_lost;
};

#endif
