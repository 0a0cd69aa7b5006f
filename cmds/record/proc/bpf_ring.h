/* Turns the records in the ring of the eBPF program into records of the file proc.dat. */
#ifndef UTRAIL_CMDS_RECORD_PROC_BPF_RING_H
#define UTRAIL_CMDS_RECORD_PROC_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

#include "cmds/record/proc/bpf_wire.h"
#include "cmds/record/proc/log.h"
#include "utils/base/containers/intmap.h"

struct bpf_becoming;
/*
 * The reader of the ring. Only one thread at a time may use the struct. The caller sets @log and
 * @to_clock_ns. All other members start as zeros.
 *
 * @to_clock_ns: the recording's clock minus CLOCK_MONOTONIC
 * @becoming: a list of incomplete executions. An execve(2) has several records. The first record
 *            adds the new execution to the list, and the last record removes the execution
 * @spare: unused structs for @becoming
 * @leaders: maps the pid of a process to a struct bpf_leader. A process gets this struct only if
 *           its first thread ends while another thread of the process still runs
 * @nr_broken: the number of records that could not be understood, or could not be kept
 * @strings: the texts of the current record, each with its NUL
 */
struct bpf_ring {
	struct proc_log *log;
	uint64_t to_clock_ns;
	struct bpf_becoming *becoming;
	struct bpf_becoming *spare;
	struct intmap leaders;
	uint64_t nr_broken;
	char strings[WIRE_BYTES_MAX + WIRE_TEXTS];
};

/* Take the next record of the ring. @size: its size in bytes */
void bpf_ring_take(struct bpf_ring *ring, const void *data, size_t size);

/*
 * Write the executions in @becoming, although some records of these executions have not come. Call
 * this function after the last record of the ring.
 */
void bpf_ring_finish(struct bpf_ring *ring);

void bpf_ring_deinit(struct bpf_ring *ring);

#endif
