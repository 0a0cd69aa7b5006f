/* Columns: the cells in front of a line of text, as rows of a table. */
#ifndef UTRAIL_VIEW_COLUMN_H
#define UTRAIL_VIEW_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

/* The limit of columns; every table has fewer. */
#define COLUMNS_MAX    32
/* The limit of a cell's bytes, whatever its width. */
#define CELL_MAX_BYTES 96

/*
 * The part of a column that all views share.
 *
 * @name: as in -f
 * @alias: another name, or NULL
 * @header: with the exact width of the column
 */
struct column {
	const char *name;
	const char *alias;
	const char *header;
	bool is_default;
};

/* Chosen columns: indices into the table, in the order of the table. */
struct column_choice {
	uint8_t columns[COLUMNS_MAX];
	size_t nr;
};

/*
 * Choose columns from @table. Its rows have @stride bytes and begin with a struct column. The text
 * of -f is "a,b" (instead of the default columns), "+a,b" (in addition to them), "none" or "all";
 * NULL chooses the default columns. The message of -ERR_USAGE has the unknown word and the known
 * ones.
 */
int columns_choose(const void *table, size_t nr, size_t stride, const char *text,
		   struct column_choice *choice, struct uft_err *err);

/* Add a column by its index, at its place in the order. */
void columns_add(struct column_choice *choice, size_t index);

/* Remove the column with that index, if it was chosen. */
void columns_remove(struct column_choice *choice, size_t index);

bool columns_has(const struct column_choice *choice, size_t index);

#endif
