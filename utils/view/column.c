/* Choose columns by name (see column.h). */
#include "utils/view/column.h"

#include <string.h>

#include "utils/base/unknown.h"

static const struct column *column_at(const void *table, size_t stride, size_t index)
{
	return (const struct column *)((const char *)table + index * stride);
}

bool columns_has(const struct column_choice *choice, size_t index)
{
	return memchr(choice->columns, index, choice->nr) != NULL;
}

void columns_add(struct column_choice *choice, size_t index)
{
	size_t at = choice->nr;

	if (columns_has(choice, index) || choice->nr == COLUMNS_MAX)
		return;
	for (; at > 0 && choice->columns[at - 1] > index; at--)
		choice->columns[at] = choice->columns[at - 1];
	choice->columns[at] = index;
	choice->nr++;
}

void columns_remove(struct column_choice *choice, size_t index)
{
	size_t kept = 0;

	for (size_t i = 0; i < choice->nr; i++) {
		if (choice->columns[i] != index)
			choice->columns[kept++] = choice->columns[i];
	}
	choice->nr = kept;
}

static bool is_word(const char *word, size_t len, const char *name)
{
	return name && strlen(name) == len && memcmp(word, name, len) == 0;
}

static int unknown_word(const void *table, size_t nr, size_t stride, const char *word, size_t len,
			struct uft_err *err)
{
	struct unknown unknown cleanup_unknown;

	unknown_init(&unknown, word, len);
	for (size_t i = 0; i < nr; i++)
		unknown_offer(&unknown, column_at(table, stride, i)->name);
	return unknown_set(&unknown, err, -ERR_USAGE, "field", "some of", "");
}

static int choose_word(const void *table, size_t nr, size_t stride, const char *word, size_t len,
		       struct column_choice *choice, struct uft_err *err)
{
	for (size_t i = 0; i < nr; i++) {
		const struct column *column = column_at(table, stride, i);

		if (is_word(word, len, column->name) || is_word(word, len, column->alias)) {
			columns_add(choice, i);
			return 0;
		}
	}
	return unknown_word(table, nr, stride, word, len, err);
}

int columns_choose(const void *table, size_t nr, size_t stride, const char *text,
		   struct column_choice *choice, struct uft_err *err)
{
	bool is_all = text && strcmp(text, "all") == 0;

	*choice = (struct column_choice){ 0 };
	if (text && strcmp(text, "none") == 0)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		bool is_default = column_at(table, stride, i)->is_default;

		if (is_all || (is_default && (!text || *text == '+')))
			columns_add(choice, i);
	}
	if (!text || is_all)
		return 0;

	for (const char *at = text + (*text == '+');;) {
		size_t len = strcspn(at, ",");
		int ret = choose_word(table, nr, stride, at, len, choice, err);

		if (ret < 0 || !at[len])
			return ret;
		at += len + 1;
	}
}
