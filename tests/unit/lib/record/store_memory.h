/* A store that is no directory: all files stay in memory. */
#ifndef UTRAIL_TESTS_STORE_MEMORY_H
#define UTRAIL_TESTS_STORE_MEMORY_H

#include <pthread.h>

#include "cmds/record/store/store.h"

#define STORE_MEMORY_FILES 64

/* The number of a stream is the index of its file in @files. Files are never closed. */
struct store_memory {
	struct store store;
	pthread_mutex_t lock;
	struct store_memory_file {
		char name[64]; /* "": a free entry */
		struct strbuf content;
	} files[STORE_MEMORY_FILES];
};

void store_memory_init(struct store_memory *memory);
void store_memory_deinit(struct store_memory *memory);

#endif
