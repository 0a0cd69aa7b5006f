/* Records of the eBPF program's ring, which become records of proc.dat. */
#ifndef UTRAIL_CMDS_RECORD_PROC_BPF_RING_H
#define UTRAIL_CMDS_RECORD_PROC_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

#include "cmds/record/proc/bpf_wire.h"
#include "cmds/record/proc/log.h"
#include "utils/base/containers/intmap.h"

struct bpf_becoming;
struct bpf_leader;

/*
 * Used by one thread at a time. Starts with @log and zeros.
 *
 * @to_clock_ns: what is to be added to CLOCK_MONOTONIC to have the recording's clock
 * @becoming: processes that are executing a program, whose records are incomplete; @spare:
 *            structs that can be used again
 * @leaders, @all: of processes whose first thread has ended before the others
 * @nr_broken: records that could not be understood, or kept
 * @strings: the texts of the record at hand, each with a NUL after it
 */
struct bpf_ring {
	struct proc_log *log;
	uint64_t to_clock_ns;
	struct bpf_becoming *becoming;
	struct bpf_becoming *spare;
	struct intmap leaders;
	struct bpf_leader **all;
	size_t nr;
	uint64_t nr_broken;
	char strings[WIRE_BYTES_MAX + WIRE_TEXTS];
};

/* Take the next record of the ring, of @size bytes. */
void bpf_ring_take(struct bpf_ring *ring, const void *data, size_t size);

/* No more records come: write those that have waited. */
void bpf_ring_finish(struct bpf_ring *ring);

void bpf_ring_deinit(struct bpf_ring *ring);

#endif
