/* Writes definitions of declared events (see definition.h). */
#include "utils/format/fstrace/definition.h"

#include <string.h>

#include "trace/seam/reader.h"

#define NAME_BYTES_MAX 200

void fst_definition_word(struct strbuf *out, const char *word)
{
	struct fst_text text;

	fst_text_init(&text);
	if (word && !*word)
		fst_put(&text, "%", 1);
	else
		fst_put_string(&text, word);
	strbuf_addch(out, ' ');
	strbuf_add(out, text.base, text.len);
	fst_text_free(&text);
}

void fst_definition_name(struct strbuf *out, const char *id)
{
	/* Ids of POSIX Trace already begin with a provider, "posix:". All others get "trace:". */
	if (strncmp(id, "posix:", 6) != 0)
		strbuf_addstr(out, "trace:");
	for (const char *c = id; *c && out->len < NAME_BYTES_MAX; c++)
		strbuf_addch(out, *c > ' ' && *c <= '~' ? *c : '_');
}
