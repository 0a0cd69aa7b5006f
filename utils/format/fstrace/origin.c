/* The process and thread of a line (see origin.h). */
#include "utils/format/fstrace/origin.h"

#include <string.h>

/* Parse digits at *@at, and move *@at past them. Returns false if there are none, or too many. */
static bool take_number(const char *body, size_t len, size_t *at, uint64_t *number)
{
	size_t from = *at;
	uint64_t value = 0;

	for (; *at < len && body[*at] >= '0' && body[*at] <= '9'; ++*at) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(body[*at] - '0'), &value))
			return false;
	}
	*number = value;
	return *at > from;
}

static bool is_pid(uint64_t number)
{
	return number > 0 && number <= FST_PID_LIMIT;
}

void fst_origin_find(const char *body, size_t len, struct fst_origin *origin)
{
	size_t at = 0;

	*origin = (struct fst_origin){ 0 };
	while (len - at > 4) {
		bool is_process = memcmp(body + at, "PID=", 4) == 0;
		uint64_t number;

		if (!is_process && memcmp(body + at, "TID=", 4) != 0)
			break;
		at += 4;
		if (!take_number(body, len, &at, &number) || (at < len && body[at++] != ' '))
			break;
		if (is_process && (origin->pid || !is_pid(number)))
			break;
		if (is_process) {
			origin->pid = number;
		} else {
			origin->has_thread = true;
			origin->thread = number;
		}
	}
	if (!origin->pid)
		*origin = (struct fst_origin){ 0 };
}

/*
 * Find the end of a value of %F or %e. The value ends at a blank. It also ends at the first byte of
 * the literal text @behind, if the format has such text after the directive.
 */
static size_t word_end(const char *body, size_t len, size_t at, const struct fst_piece *behind)
{
	char stop = behind && behind->kind == FST_LITERAL ? behind->text[0] : ' ';

	while (at < len && body[at] != stop && body[at] != ' ')
		at++;
	return at;
}

static const char *match_piece(const struct fst_piece *piece, const struct fst_piece *behind,
			       const char *body, size_t len, size_t *at, struct fst_origin *origin)
{
	uint64_t number;

	switch (piece->kind) {
	case FST_LITERAL:
		if (len - *at < piece->len || memcmp(body + *at, piece->text, piece->len) != 0)
			return "expected the text of the common format here";
		*at += piece->len;
		return NULL;
	case FST_PID:
		if (!take_number(body, len, at, &number) || !is_pid(number))
			return "expected the number of a process, as in the common format";
		origin->pid = number;
		return NULL;
	case FST_THREAD:
		if (!take_number(body, len, at, &origin->thread))
			return "expected the number of a thread, as in the common format";
		origin->has_thread = true;
		return NULL;
	case FST_LINE:
		return take_number(body, len, at, &number)
			       ? NULL
			       : "expected the number of a line, as in the common format";
	default:
		*at = word_end(body, len, *at, behind);
		return NULL;
	}
}

const char *fst_origin_by_format(const struct fst_format *format, const char *body, size_t len,
				 struct fst_origin *origin, size_t *wrong_at)
{
	const char *wrong = NULL;

	*origin = (struct fst_origin){ 0 };
	*wrong_at = 0;
	for (size_t i = 0; !wrong && i < format->nr_pieces; i++) {
		const struct fst_piece *piece = &format->pieces[i];
		const struct fst_piece *behind = i + 1 < format->nr_pieces ? piece + 1 : NULL;

		wrong = match_piece(piece, behind, body, len, wrong_at, origin);
	}
	if (!wrong && *wrong_at < len && body[*wrong_at] != ' ')
		wrong = "expected a blank after the values of the common format";
	if (!origin->pid)
		origin->has_thread = false;
	return wrong;
}
