/* Counts calls of functions (see sample.h). */
#include "cmds/record/sources/sample.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/record.h"

/*
 * sample_take() reads only the beginning of a buffer: 1/LOOK_AT_PART of the buffer's bytes, but at
 * least LOOK_AT_BYTES.
 */
#define LOOK_AT_PART  16
#define LOOK_AT_BYTES 2048

/* The maximum number of used slots. Some stay free, so that the search for a free slot is short. */
#define SLOTS_USED_MAX (SAMPLE_SLOTS * 3 / 4)

struct sample *sample_new(void)
{
	struct sample *sample = calloc(1, sizeof(*sample));

	if (sample)
		pthread_mutex_init(&sample->lock, NULL);
	return sample;
}

void sample_free(struct sample *sample)
{
	if (sample)
		pthread_mutex_destroy(&sample->lock);
	free(sample);
}

/*
 * Returns the slot of the call. A call without a slot gets a free slot. Returns NULL when the call
 * has no slot, and SLOTS_USED_MAX slots are used.
 */
static struct sampled_call *find_sampled_call(struct sample *sample, const struct process *proc,
					      uint64_t addr, uint64_t caller)
{
	uint64_t hash = (addr ^ caller * 31 ^ (uintptr_t)proc >> 6) * 0x9e3779b97f4a7c15ULL;

	for (size_t at = hash >> 40;; at++) {
		struct sampled_call *call = &sample->calls[at % SAMPLE_SLOTS];

		if (call->proc == proc && call->addr == addr && call->caller == caller)
			return call;
		if (call->proc)
			continue;
		if (sample->nr == SLOTS_USED_MAX)
			return NULL;
		sample->nr++;
		*call = (struct sampled_call){ .proc = proc, .addr = addr, .caller = caller };
		return call;
	}
}

/* The calls whose entry was seen, and whose end was not seen yet. The index is the depth. */
struct open_calls {
	struct {
		struct sampled_call *call;
		uint64_t addr;
		uint64_t time_ns;
	} levels[SAMPLE_LEVELS + 1];
};

static void take_record(struct sample *sample, const struct process *proc, const struct record *r,
			struct open_calls *open)
{
	unsigned depth = record_depth(r->data);
	uint64_t addr = record_addr(r->data);

	if (depth >= SAMPLE_LEVELS) {
		sample->entries += record_type(r->data) == RECORD_ENTRY;
		return;
	}
	if (record_type(r->data) == RECORD_ENTRY) {
		uint64_t caller = depth ? open->levels[depth - 1].addr : 0;
		struct sampled_call *call = find_sampled_call(sample, proc, addr, caller);

		sample->entries++;
		if (call)
			call->calls++;
		open->levels[depth].call = call;
		open->levels[depth].addr = addr;
		open->levels[depth].time_ns = r->time_ns;
		open->levels[depth + 1].call = NULL;
		open->levels[depth + 1].addr = 0;
	} else if (record_type(r->data) == RECORD_EXIT) {
		struct sampled_call *call = open->levels[depth].call;

		if (call && call->addr == addr && r->time_ns >= open->levels[depth].time_ns) {
			call->sum_ns += r->time_ns - open->levels[depth].time_ns;
			call->ended++;
		}
		open->levels[depth].call = NULL;
		open->levels[depth].addr = 0;
	}
}

void sample_take(struct sample *sample, const struct process *proc, const void *data, size_t len)
{
	struct open_calls open = { 0 };
	size_t want = MIN(len, MAX(len / LOOK_AT_PART, (size_t)LOOK_AT_BYTES));
	size_t at = 0;

	pthread_mutex_lock(&sample->lock);
	while (at + sizeof(struct record) <= want) {
		const struct record *r = (const struct record *)((const char *)data + at);

		if (!record_magic_is_good(r->data)) {
			at += sizeof(uint64_t); /* the word at @r is within a payload */
			continue;
		}
		take_record(sample, proc, r, &open);
		at += sizeof(*r);
	}
	sample->bytes += len;
	sample->looked_at += at;
	pthread_mutex_unlock(&sample->lock);
}

void sample_move(struct sample *sample, struct sample *out)
{
	pthread_mutex_lock(&sample->lock);
	out->bytes = sample->bytes;
	out->looked_at = sample->looked_at;
	out->entries = sample->entries;
	out->nr = sample->nr;
	memcpy(out->calls, sample->calls, sizeof(out->calls));
	sample->bytes = sample->looked_at = sample->entries = sample->nr = 0;
	memset(sample->calls, 0, sizeof(sample->calls));
	pthread_mutex_unlock(&sample->lock);
}
