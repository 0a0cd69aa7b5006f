/* Lists of specs (see list.h). */
#include "utils/spec/regex/list.h"

#include <stdint.h>

/* Returns the number of bytes before the first @separator outside of strings, at most @max. */
static size_t length_before(char separator, const char *text, size_t max)
{
	bool is_quoted = false;
	size_t len = 0;

	for (; len < max && text[len]; len++) {
		if (text[len] == '\\' && is_quoted && len + 1 < max && text[len + 1])
			len++;
		else if (text[len] == '"')
			is_quoted = !is_quoted;
		else if (text[len] == separator && !is_quoted)
			break;
	}
	return len;
}

size_t spec_item_length(const char *text, size_t max)
{
	return length_before(',', text, max);
}

bool spec_list_next(const char *list, struct spec_piece *piece)
{
	const char *at = piece->at ? piece->at + piece->len : list;

	while (*at == ';')
		at++;
	piece->at = at;
	piece->len = length_before(';', at, SIZE_MAX);
	return piece->len > 0;
}
