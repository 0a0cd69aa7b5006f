/* Strings of JSON (see json.h). */
#include "utils/builddb/json.h"

#include <stddef.h>
#include <string.h>

#include "utils/base/escape.h"

#define REPLACEMENT "\xef\xbf\xbd"

static size_t count_replacements(const char *text)
{
	size_t nr = 0;

	while ((text = strstr(text, REPLACEMENT)) != NULL) {
		text += strlen(REPLACEMENT);
		nr++;
	}
	return nr;
}

bool json_string(struct strbuf *out, const char *text)
{
	size_t start = out->len;

	strbuf_addch(out, '"');
	escape_addstr(out, MEDIUM_JSON, text);
	strbuf_addch(out, '"');
	return count_replacements(strbuf_str(out) + start) == count_replacements(text);
}
