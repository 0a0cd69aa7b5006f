/*
 * The store that writes the records of tasks in compact blocks, and passes everything else to
 * another store.
 */
#ifndef UTRAIL_CMDS_RECORD_STORE_COMPACT_H
#define UTRAIL_CMDS_RECORD_STORE_COMPACT_H

#include <pthread.h>

#include "cmds/record/store/store.h"

/*
 * A store that encodes the records for <tid>.dat, and writes them to <tid>.cdat. Each append writes
 * whole blocks, so no records wait for a later append (doc/internals/compact.md).
 *
 * @store: counts bytes and errors
 * @inner: the store that gets all files. It outlives this store
 * @lock: protects @streams and @works
 * @streams: indexed by the stream numbers that this store returns
 * @works: the free coders and buffers
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

/* Free the memory of the store. Call it after all streams are closed. */
void store_compact_deinit(struct store_compact *compact);

#endif
