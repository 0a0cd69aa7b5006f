/* The records of perf-cpu<N>.dat (see perf_dat.h). */
#include "utils/format/kernel/perf_dat.h"

#include <errno.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/bytes.h"

/* From linux/perf_event.h: record types, bits of perf_event_header.misc, and sizes in bytes. */
#define KERNEL_COMM		3
#define KERNEL_EXIT		4
#define KERNEL_FORK		7
#define KERNEL_SWITCH		14
#define KERNEL_MISC_OUT		0x2000 /* COMM record: set if exec has set the name */
#define KERNEL_MISC_OUT_PREEMPT 0x4000
#define KERNEL_HEADER_BYTES	8
#define KERNEL_TRAILER_BYTES	16
#define KERNEL_FORK_BODY_BYTES	24
#define KERNEL_COMM_IDS_BYTES	8

static void decode_switch(uint16_t misc, struct perf_record *rec)
{
	if (!(misc & KERNEL_MISC_OUT))
		rec->type = PERF_REC_SCHED_IN;
	else if (misc & KERNEL_MISC_OUT_PREEMPT)
		rec->type = PERF_REC_SCHED_OUT_PREEMPT;
	else
		rec->type = PERF_REC_SCHED_OUT;
}

static void decode_fork(const uint8_t *body, size_t len, bool big, enum perf_record_type type,
			struct perf_record *rec)
{
	if (len < KERNEL_FORK_BODY_BYTES)
		return;
	rec->type = type;
	rec->pid = get_u32(body, big);
	rec->ppid = get_u32(body + 4, big);
	rec->tid = get_u32(body + 8, big);
	rec->ptid = get_u32(body + 12, big);
	rec->time_ns = get_u64(body + 16, big);
}

static void decode_comm(const uint8_t *body, size_t len, uint16_t misc, bool big,
			struct perf_record *rec)
{
	if (len <= KERNEL_COMM_IDS_BYTES)
		return;
	rec->type = PERF_REC_TASK_NAME;
	rec->pid = get_u32(body, big);
	rec->tid = get_u32(body + 4, big);
	rec->is_exec = misc & KERNEL_MISC_OUT;

	size_t text_len = strnlen((const char *)body + KERNEL_COMM_IDS_BYTES,
				  MIN(len - KERNEL_COMM_IDS_BYTES, (size_t)PERF_COMM_MAX - 1));

	memcpy(rec->comm, body + KERNEL_COMM_IDS_BYTES, text_len);
}

ssize_t perf_record_decode(const uint8_t *data, size_t len, bool big, struct perf_record *rec,
			   struct uft_err *err)
{
	if (len < KERNEL_HEADER_BYTES)
		return 0;

	uint32_t type = get_u32(data, big);
	uint16_t misc = get_u16(data + 4, big);
	size_t size = get_u16(data + 6, big);

	if (size < KERNEL_HEADER_BYTES + KERNEL_TRAILER_BYTES)
		return err_set(err, -EBADMSG, "a perf record of type %u has %zu bytes", type, size);
	if (size > len)
		return 0;

	const uint8_t *body = data + KERNEL_HEADER_BYTES;
	const uint8_t *trailer = data + size - KERNEL_TRAILER_BYTES;

	*rec = (struct perf_record){
		.pid = get_u32(trailer, big),
		.tid = get_u32(trailer + 4, big),
		.time_ns = get_u64(trailer + 8, big),
	};
	if (type == KERNEL_SWITCH)
		decode_switch(misc, rec);
	else if (type == KERNEL_FORK)
		decode_fork(body, trailer - body, big, PERF_REC_TASK_NEW, rec);
	else if (type == KERNEL_EXIT)
		decode_fork(body, trailer - body, big, PERF_REC_TASK_EXIT, rec);
	else if (type == KERNEL_COMM)
		decode_comm(body, trailer - body, misc, big, rec);
	return size;
}
