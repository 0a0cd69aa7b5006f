/*
 * Columns: the cells in front of a line of text. Each view describes its columns in a table, one
 * row per column.
 */
#ifndef UTRAIL_VIEW_COLUMN_H
#define UTRAIL_VIEW_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

/* The maximum number of columns of a view. */
#define COLUMNS_MAX    32
/* The limit of a cell's bytes, including escapes and colours. */
#define CELL_MAX_BYTES 96

/*
 * The members that the columns of all views have in common.
 *
 * @name: the word for -f
 * @alias: another name, or NULL
 * @header: the title, padded to the width of the column
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
 * Choose columns from @table, whose rows have @stride bytes and begin with a struct column. Returns
 * 0, or -ERR_USAGE with a message that has the unknown word and all known words.
 *
 * @text: the argument of -f: "a,b" (instead of the default columns), "+a,b" (in addition to them),
 *         "none", "all", or NULL (the default columns)
 */
int columns_choose(const void *table, size_t nr, size_t stride, const char *text,
		   struct column_choice *choice, struct uft_err *err);

/* Add the column at @index of the table. The choice stays in the table's order. */
void columns_add(struct column_choice *choice, size_t index);

void columns_remove(struct column_choice *choice, size_t index);

bool columns_has(const struct column_choice *choice, size_t index);

#endif
