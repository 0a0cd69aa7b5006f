/*
 * Blocks of the page of `dump --format=html`. A block has columns of numbers. The page contains
 * each block as the text of a script element that the browser does not execute. Workers of the
 * browser read the blocks (utils/export/page/data/decode.js).
 */
#ifndef UTRAIL_EXPORT_PAGE_BLOCKS_H
#define UTRAIL_EXPORT_PAGE_BLOCKS_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/sink.h"

#define BLOCK_COLUMNS_MAX 5
/* The maximum number of rows in a block. */
#define BLOCK_ROWS	  65536

/*
 * A block that is being filled. At first all members are 0. block_deinit() frees the buffers
 * of the block.
 *
 * A block begins with varints: the number of rows, and the length of each column in bytes. The
 * columns follow. The page contains the block in base64. If this build has zlib, the block is
 * compressed before it is encoded.
 */
struct block {
	struct strbuf columns[BLOCK_COLUMNS_MAX];
	size_t nr;
	struct strbuf bytes;
	struct strbuf packed;
	struct strbuf base64;
};

void block_deinit(struct block *block);

/* Append a number to a column of the current row. */
void block_add(struct block *block, unsigned column, uint64_t number);

/*
 * Write the block if it has rows, and empty it. Returns 0, or -ENOMEM if memory ran out now or
 * while the block was filled.
 *
 * @kind: "calls", "points" or "texts"
 * @task: the number of the task in the page
 */
int block_write(struct block *block, struct sink *sink, const char *kind, size_t task);

/* End the current row, and write the block if the block is full. Returns 0 or -ENOMEM. */
int block_end_row(struct block *block, struct sink *sink, const char *kind, size_t task);

#endif
