/* Lines of process and file events (see etrace_lines.h). */
#include "utils/builddb/etrace/etrace_lines.h"

#include <stdarg.h>
#include <string.h>

#include "utils/base/units.h"

void etrace_begin(struct etrace_lines *lines, uint64_t upid, int cpu, uint64_t time_ns)
{
	lines->upid = upid;
	lines->cpu = cpu;
	lines->next_ns = MAX(lines->next_ns, time_ns);
}

static void put_head(struct etrace_lines *lines)
{
	strbuf_addf(lines->out, "%s%llu,%d,%llu,%llu!",
		    lines->is_bare ? "" : "0: ", (unsigned long long)lines->upid, lines->cpu,
		    SECONDS_OF(lines->next_ns));
	lines->next_ns++;
}

void etrace_put(struct etrace_lines *lines, const char *fmt, ...)
{
	va_list ap;

	put_head(lines);
	va_start(ap, fmt);
	strbuf_vaddf(lines->out, fmt, ap);
	va_end(ap);
	strbuf_addch(lines->out, '\n');
}

/*
 * The state while a text is written in pieces. A piece after a newline has the tag Cont. All other
 * pieces have the tag @tag.
 *
 * @tag: NULL: the tag is "A[@number]", for argument @number
 * @is_counted: a number follows each @tag, as in "Env[0]"
 * @nr_parts: with @is_counted: the number for the next @tag, starting at 0
 * @is_behind_newline: the previous piece had the tag Cont. A line Cont_end must come before a line
 *                     with any other tag, and at the end of the text
 */
struct pieces {
	const char *tag;
	size_t number;
	bool is_counted;
	size_t nr_parts;
	bool is_behind_newline;
};

static void end_group(struct etrace_lines *lines, struct pieces *pieces)
{
	if (pieces->is_behind_newline)
		etrace_put(lines, "Cont_end|");
	pieces->is_behind_newline = false;
}

static void put_piece_head(struct etrace_lines *lines, struct pieces *pieces, bool begins_line)
{
	if (!begins_line)
		end_group(lines, pieces);
	put_head(lines);
	if (begins_line)
		strbuf_addstr(lines->out, "Cont|");
	else if (!pieces->tag)
		strbuf_addf(lines->out, "A[%zu]", pieces->number);
	else if (pieces->is_counted)
		strbuf_addf(lines->out, "%s[%zu]", pieces->tag, pieces->nr_parts++);
	else
		strbuf_addf(lines->out, "%s|", pieces->tag);
	pieces->is_behind_newline = begins_line;
}

/* Write a text in pieces. A newline ends a piece, and the next piece has the tag Cont. */
static void put_pieces(struct etrace_lines *lines, struct pieces *pieces, struct text text)
{
	bool begins_line = false;

	do {
		size_t left = text_left(&text);
		const char *newline = memchr(text.at, '\n', left);
		size_t len = MIN(newline ? (size_t)(newline - text.at) : left, (size_t)ETRACE_PART);

		put_piece_head(lines, pieces, begins_line);
		strbuf_add(lines->out, text.at, len);
		strbuf_addch(lines->out, '\n');
		text.at += len;
		begins_line = text.at == newline;
		text.at += begins_line;
	} while (begins_line || text_left(&text));
	end_group(lines, pieces);
}

static void put_counted(struct etrace_lines *lines, const char *tag, struct text text,
			bool is_counted)
{
	bool is_long = text_left(&text) >= ETRACE_PART;
	struct pieces pieces = { .tag = tag, .is_counted = is_long || is_counted };

	put_pieces(lines, &pieces, text);
	if (is_long)
		etrace_put(lines, "%s_end|", tag);
}

void etrace_put_text(struct etrace_lines *lines, const char *tag, struct text text)
{
	put_counted(lines, tag, text, /* is_counted= */ false);
}

/*
 * A text shorter than ETRACE_PART gets the tag "Env[0]", or "Env|" if lines->is_bare is set. The
 * parts of a longer text get "Env[0]", "Env[1]" and so on, even if lines->is_bare is set. The
 * published description of the format has the tag "Env|". "Env[0]" is the default, because the
 * format's original parser reads only tags with a number.
 */
void etrace_put_variable(struct etrace_lines *lines, struct text text)
{
	put_counted(lines, "Env", text, !lines->is_bare);
}

void etrace_put_arg(struct etrace_lines *lines, size_t number, struct text text)
{
	struct pieces pieces = { .number = number };

	if (text_left(&text))
		put_pieces(lines, &pieces, text);
}
