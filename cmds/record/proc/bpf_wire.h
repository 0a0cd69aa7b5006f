/*
 * Records in the ring of the eBPF program. Program and recorder come from the same build, so no
 * other program reads this format.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_BPF_WIRE_H
#define UTRAIL_CMDS_RECORD_PROC_BPF_WIRE_H

#include <stdint.h>

#include "cmds/record/proc/shapes.h"

enum wire_kind {
	WIRE_FORK = 1,
	/*
	 * This record is followed by records of the next kinds, up to WIRE_BECAME. They are from
	 * the same task, with no other record of that task in between.
	 */
	WIRE_EXEC,
	WIRE_ARGS,    /* a part of the arguments, as many as fit */
	WIRE_ENV,     /* a part of the environment */
	WIRE_INHERIT, /* a descriptor that is open in the new program */
	WIRE_BECAME,  /* the end of these records */
	WIRE_EXIT,
	WIRE_CALL,
};

/* Texts of a record, one after the other, without NULs. */
enum wire_text {
	WIRE_FILE,     /* the program, or the file that was opened */
	WIRE_FROM,     /* a name as it was given */
	WIRE_FROM_DIR, /* the directory that the name is relative to */
	WIRE_TO,
	WIRE_TO_DIR,
	WIRE_TEXT,
	WIRE_ROOT, /* the root directory of the task */
	WIRE_TEXTS,
};

#define WIRE_TEXT_MAX  4096U /* the most bytes of a name with its NUL: PATH_MAX */
#define WIRE_PART_MAX  16384U
#define WIRE_BYTES_MAX 32768U

/* Bits of @flags, and the kinds of records that they belong to. */
/* exec: the running file is not the executed one, but its interpreter */
#define WIRE_IS_SCRIPT	  1U
#define WIRE_IS_ELSEWHERE 2U  /* the task is in another mount namespace than the recorder */
#define WIRE_IS_UNREAD	  4U  /* args, env: the texts are not in memory */
#define WIRE_IS_LEADER	  8U  /* exit: of the first thread, while other threads go on */
#define WIRE_IS_LAST	  16U /* exit: of a thread that is not the first, and none is left */
#define WIRE_IS_OF_GROUP  32U /* exit: the whole process was ended, not only this thread */
#define WIRE_IS_URGENT	  64U /* exec: the arguments name a file that may be gone soon */

/*
 * A record.
 *
 * @time_ns: CLOCK_MONOTONIC
 * @tid, @pid: in the recorder's namespace
 * @kind: enum wire_kind
 * @cpu: the CPU on which the task ran
 * @id: enum syscall_id of a call
 * @value: of a call its return value; of a fork the child; of an exec the old tid; of an exit the
 *         status (wait(2)); else a descriptor, or the offset of a part
 * @more: the child's process; how a descriptor may be used (enum wire_access)
 * @args: of a call its arguments; of a fork the flags of clone(2) and enum proc_fork_how
 * @out: of a call its results in memory: the ends of a pipe; flags and mode of openat2(2); flags of
 *       clone(2)
 * @lens: the lengths of the texts, which follow the record
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
 * A traced task: the value of the map "marks". The recorder sets @tid, @pid and @waits; the other
 * members are for the eBPF program alone.
 */
struct wire_mark {
	uint32_t tid;
	uint32_t pid;
	/*
	 * the level of the recorder's pid namespace, from 1 on; 0: the task's own level, which is
	 * read when it runs
	 */
	uint32_t level;
	uint32_t waits; /* it has not executed the program yet: its acts are the recorder's */
	uint32_t id;
	uint32_t unused;
	uint64_t args[6];
};

#define WIRE_ABIS    2
#define WIRE_NUMBERS 512

/*
 * The constants that the eBPF program gets before it is loaded.
 *
 * @mount_namespace: the inode of the recorder's mount namespace
 * @masks: the significant bits of a system call's number, by ABI (in the order of syscall_abis)
 * @ids: enum syscall_id by ABI and number
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
 * The eBPF program's counts.
 *
 * @nr_live: traced tasks
 * @nr_lost: records without room, and tasks that could not be traced
 */
struct wire_counts {
	uint64_t nr_live;
	uint64_t nr_lost;
};

#endif
