/*
 * The store that writes the records of tasks in compact blocks, and passes everything else to
 * another store.
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_COMPACT_H
#define UTRAIL_CMDS_RECORD_STORE_COMPACT_H

#include <pthread.h>

#include "cmds/record/store/store.h"

/*
 * Records for <tid>.dat, which go to <tid>.cdat. Each append writes whole blocks, so the file is
 * always as complete as the plain one would be (doc/internals/compact.md).
 *
 * @store: counts bytes and errors
 * @inner: the store that everything goes to; it outlives this one
 * @lock: protects @streams and @works
 * @streams: by the number that this store has returned
 * @works: coders and buffers that are free
 */
struct store_compact {
	struct store store;
	struct store *inner;
	pthread_mutex_t lock;
	struct compact_stream *streams;
	int nr_streams;
	struct compact_work *works;
};

void store_compact_init(struct store_compact *compact, struct store *inner);

/* All streams are closed. */
void store_compact_deinit(struct store_compact *compact);

#endif
