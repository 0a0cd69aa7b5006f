/*
 * The page of `dump --format=html` has blocks of columns of numbers besides its JSON, each in a
 * script element that is not run. The browser unpacks and reads them in workers
 * (utils/export/page/data/decode.js).
 */
#ifndef UTRAIL_EXPORT_PAGE_BLOCKS_H
#define UTRAIL_EXPORT_PAGE_BLOCKS_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/sink.h"

#define BLOCK_COLUMNS_MAX 5
/* The number of rows in a block: the unit of reading and of memory use. */
#define BLOCK_ROWS	  65536

/*
 * A block that is being filled. Starts as zeros, ends with block_deinit(). Only functions of this
 * header use its members.
 *
 * Its bytes are varints of the number of rows and of each column's length in bytes, and then the
 * columns. The page has them as base64, packed first if there is zlib.
 */
struct block {
	struct strbuf columns[BLOCK_COLUMNS_MAX];
	size_t nr;
	struct strbuf bytes;
	struct strbuf packed;
	struct strbuf base64;
};

void block_deinit(struct block *block);

/* Append a number to a column of the row that block_end_row() ends. */
void block_add(struct block *block, unsigned column, uint64_t number);

/*
 * Write the block, if it has rows, and empty it. @kind: "calls", "points" or "texts"; @task: the
 * number of the rows' task in the page. Returns -ENOMEM when memory was short since the block
 * began.
 */
int block_write(struct block *block, struct sink *sink, const char *kind, size_t task);

/* End a row. A full block is written. */
int block_end_row(struct block *block, struct sink *sink, const char *kind, size_t task);

#endif
