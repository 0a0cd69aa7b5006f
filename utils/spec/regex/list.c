/* Lists of specs (see list.h). */
#include "utils/spec/regex/list.h"

static size_t spec_length(const char *text)
{
	bool is_quoted = false;
	size_t len = 0;

	for (; text[len]; len++) {
		if (text[len] == '\\' && is_quoted && text[len + 1])
			len++;
		else if (text[len] == '"')
			is_quoted = !is_quoted;
		else if (text[len] == ';' && !is_quoted)
			break;
	}
	return len;
}

bool spec_list_next(const char *list, struct spec_piece *piece)
{
	const char *at = piece->at ? piece->at + piece->len : list;

	while (*at == ';')
		at++;
	piece->at = at;
	piece->len = spec_length(at);
	return piece->len > 0;
}
