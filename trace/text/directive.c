/* The table of directives (fstrace(3), "Formats"). */
#include "text/directive.h"

#include <string.h>

/* The order of these names does not matter, since none is the beginning of another one. */
static const struct {
	const char *name;
	enum fst_kind kind;
} directives[] = {
	{ "%", FST_LITERAL },	  { "d", FST_INT },	  { "u", FST_UNSIGNED },
	{ "x", FST_HEX },	  { "64d", FST_INT64 },	  { "64u", FST_UNSIGNED64 },
	{ "64x", FST_HEX64 },	  { "lld", FST_LLONG },	  { "llu", FST_ULLONG },
	{ "llx", FST_HEX_LLONG }, { "z", FST_SIZE },	  { "f", FST_DOUBLE },
	{ "b", FST_BOOL },	  { "s", FST_STRING },	  { "S", FST_STRING_MAX },
	{ "I", FST_CALL },	  { "J", FST_CALL_LIST }, { "A", FST_OCTETS },
	{ "B", FST_HEX_OCTETS },  { "P", FST_PID },	  { "T", FST_THREAD },
	{ "F", FST_FILE },	  { "L", FST_LINE },	  { "e", FST_ERRNO },
	{ "E", FST_ERRNO_ARG },	  { "p", FST_POINTER },	  { "a", FST_ADDRESS },
};

#define NR_DIRECTIVES (sizeof(directives) / sizeof(directives[0]))

static int next_directive(const char **at, struct fst_piece *piece)
{
	for (size_t i = 0; i < NR_DIRECTIVES; i++) {
		size_t len = strlen(directives[i].name);

		if (strncmp(*at + 1, directives[i].name, len) != 0)
			continue;
		piece->kind = directives[i].kind;
		piece->text = piece->kind == FST_LITERAL ? *at + 1 : *at;
		piece->len = piece->kind == FST_LITERAL ? 1 : len + 1;
		*at += len + 1;
		return 1;
	}
	return -1;
}

int fst_next_piece(const char **at, struct fst_piece *piece)
{
	if (!**at)
		return 0;
	if (**at == '%')
		return next_directive(at, piece);
	piece->kind = FST_LITERAL;
	piece->text = *at;
	piece->len = strcspn(*at, "%");
	*at += piece->len;
	return 1;
}

int fst_count_pieces(const char *format)
{
	struct fst_piece piece;
	int nr = 0;
	int ret;

	while ((ret = fst_next_piece(&format, &piece)) > 0)
		nr++;
	return ret < 0 ? -1 : nr;
}

bool fst_kind_is_bare(enum fst_kind kind)
{
	switch (kind) {
	case FST_LITERAL:
	case FST_PID:
	case FST_THREAD:
	case FST_FILE:
	case FST_LINE:
	case FST_ERRNO:
		return true;
	default:
		return false;
	}
}
