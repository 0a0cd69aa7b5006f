/* left-out.txt (see left_out.h). */
#include "utils/format/left_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/units.h"

static const char *const kinds[] = {
	[LEFT_OUT_FUNCTION] = "function",
	[LEFT_OUT_CALLER] = "caller",
	[LEFT_OUT_AGAIN] = "again",
};

void left_out_encode(const struct left_out *line, struct strbuf *out)
{
	strbuf_addf(out, "%s %" PRIu64 ".%09" PRIu64 " %u %" PRIx64 " ", kinds[line->kind],
		    line->time_ns / (uint64_t)NSEC_PER_SEC, line->time_ns % (uint64_t)NSEC_PER_SEC,
		    line->permille, line->addr);
	/* A newline in a path would end the line. */
	for (const char *c = line->path; *c; c++)
		strbuf_addch(out, *c == '\n' ? '?' : *c);
	strbuf_addch(out, '\n');
}

bool left_out_decode(const char *text, struct left_out *line)
{
	char kind[16];
	uint64_t seconds, ns;
	int path = 0;

	if (sscanf(text, "%15s %" SCNu64 ".%9" SCNu64 " %u %" SCNx64 " %n", kind, &seconds, &ns,
		   &line->permille, &line->addr, &path) != 5 ||
	    !path || !text[path] || seconds >= UINT64_MAX / NSEC_PER_SEC - 1)
		return false;
	line->time_ns = seconds * (uint64_t)NSEC_PER_SEC + ns;
	line->path = text + path;
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kind, kinds[i]) == 0) {
			line->kind = i;
			return true;
		}
	}
	return false;
}
