/* Converts payloads of declared events to text (see payload.h). Payloads are untrusted. */
#include "text/payload.h"

/*
 * Page sizes are multiples of this number. So if one byte of an aligned block of this size is
 * readable, all bytes of the block are.
 */
#define PAGE_PART 4096U

static inline size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline bool may_read_word(const char *at)
{
	return ((uintptr_t)at & (PAGE_PART - 1)) <= PAGE_PART - sizeof(uint64_t);
}

/* Returns the number of bytes before the first zero byte of a little-endian word, or 8. */
static inline unsigned bytes_before_zero(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t zeros = (word - ones) & ~word & ones << 7;

	return zeros ? (unsigned)__builtin_ctzll(zeros) / 8 : 8;
}

/*
 * Copies at most @max bytes of @string to @to, without the zero byte. Returns the number of copied
 * bytes. The function usually reads and stores words of 8 bytes. The last word may contain bytes
 * past the end of the string. No byte is stored past the first @max bytes of @to.
 */
__attribute__((no_sanitize_address)) static inline size_t copy_string(char *to, const char *string,
								      size_t max)
{
	size_t len = 0;

	while (len < max) {
		if (max - len >= sizeof(uint64_t) && may_read_word(string + len)) {
			uint64_t word;

			memcpy(&word, string + len, sizeof(word));
			memcpy(to + len, &word, sizeof(word));

			unsigned nr = bytes_before_zero(le64toh(word));

			len += nr;
			if (nr < sizeof(word))
				break;
		} else if (string[len]) {
			to[len] = string[len];
			len++;
		} else {
			break;
		}
	}
	return len;
}

void fst_add_string(struct fst_text *text, const char *string, size_t max)
{
	char *to = text->base + text->len;
	size_t room = text->room - text->len;
	uint32_t known;

	if (!string || __builtin_expect(room < sizeof(known), 0))
		return fst_add_bytes(text, string, string ? strnlen(string, max) : 0);

	size_t fits = smaller(room - sizeof(known), max);
	size_t len = copy_string(to + sizeof(known), string, fits);

	if (__builtin_expect(len == fits && len < max, 0))
		return fst_add_bytes(text, string, len + strnlen(string + len, max - len));
	known = htole32(smaller(len, FST_NULL - 1));
	memcpy(to, &known, sizeof(known));
	text->len += sizeof(known) + len;
}

enum fst_form fst_form_of(enum fst_kind kind)
{
	switch (kind) {
	case FST_INT:
	case FST_BOOL:
	case FST_PID:
	case FST_ERRNO:
	case FST_ERRNO_ARG:
		return FST_FORM_SIGNED32;
	case FST_UNSIGNED:
	case FST_HEX:
	case FST_LINE:
		return FST_FORM_UNSIGNED32;
	case FST_INT64:
	case FST_LLONG:
	case FST_SIZE:
		return FST_FORM_SIGNED64;
	case FST_UNSIGNED64:
	case FST_HEX64:
	case FST_ULLONG:
	case FST_HEX_LLONG:
	case FST_THREAD:
	case FST_POINTER:
		return FST_FORM_UNSIGNED64;
	case FST_DOUBLE:
		return FST_FORM_DOUBLE;
	case FST_STRING:
	case FST_STRING_MAX:
	case FST_CALL:
	case FST_OCTETS:
	case FST_HEX_OCTETS:
	case FST_FILE:
	case FST_ADDRESS:
		return FST_FORM_TEXT;
	case FST_CALL_LIST:
		return FST_FORM_LIST;
	case FST_LITERAL:
		break;
	}
	return FST_FORM_NONE;
}

static bool take_fixed(struct fst_bytes *from, void *value, size_t size)
{
	if ((size_t)(from->end - from->at) < size)
		return false;
	memcpy(value, from->at, size);
	from->at += size;
	return true;
}

static bool take_u32(struct fst_bytes *from, uint32_t *value)
{
	bool is_there = take_fixed(from, value, sizeof(*value));

	if (is_there)
		*value = le32toh(*value);
	return is_there;
}

static bool take_u64(struct fst_bytes *from, uint64_t *value)
{
	bool is_there = take_fixed(from, value, sizeof(*value));

	if (is_there)
		*value = le64toh(*value);
	return is_there;
}

static bool take_text(struct fst_bytes *from, struct fst_value *value)
{
	uint32_t len;

	if (!take_u32(from, &len))
		return false;
	value->is_null = len == FST_NULL;
	value->len = value->is_null ? 0 : len;
	value->bytes = from->at;
	if (value->len > (size_t)(from->end - from->at))
		return false;
	from->at += value->len;
	return true;
}

/* Takes a list of texts, all of which must be complete. */
static bool take_list(struct fst_bytes *from, struct fst_value *value)
{
	struct fst_value item;
	uint32_t nr;

	if (!take_u32(from, &nr))
		return false;
	value->number = nr;
	value->bytes = from->at;
	for (uint32_t i = 0; i < nr; i++) {
		if (!take_text(from, &item))
			return false;
	}
	value->len = from->at - value->bytes;
	return true;
}

static bool take_number(struct fst_bytes *from, enum fst_form form, struct fst_value *value)
{
	uint32_t word;

	if (form != FST_FORM_SIGNED32 && form != FST_FORM_UNSIGNED32)
		return take_u64(from, &value->number);
	if (!take_u32(from, &word))
		return false;
	value->number = form == FST_FORM_SIGNED32 ? (uint64_t)(int64_t)(int32_t)word : word;
	return true;
}

bool fst_take_value(struct fst_bytes *from, enum fst_kind kind, struct fst_value *value)
{
	enum fst_form form = fst_form_of(kind);
	struct fst_bytes rest = *from;
	bool is_there = true;

	*value = (struct fst_value){ .kind = kind };
	if (form == FST_FORM_TEXT)
		is_there = take_text(&rest, value);
	else if (form == FST_FORM_LIST)
		is_there = take_list(&rest, value);
	else if (form != FST_FORM_NONE)
		is_there = take_number(&rest, form, value);
	if (form == FST_FORM_DOUBLE)
		memcpy(&value->real, &value->number, sizeof(value->real));
	if (is_there)
		*from = rest;
	return is_there;
}

bool fst_take_cut_text(struct fst_bytes *from, enum fst_kind kind, struct fst_value *value)
{
	struct fst_bytes rest = *from;
	uint32_t len;

	/* A network address is not cut, since a part of it would look like a different address. */
	if (fst_form_of(kind) != FST_FORM_TEXT || kind == FST_ADDRESS || !take_u32(&rest, &len) ||
	    len == FST_NULL || rest.at == rest.end)
		return false;
	*value = (struct fst_value){ .kind = kind, .bytes = rest.at };
	value->len = smaller(len, rest.end - rest.at);
	from->at = from->end;
	return true;
}

static void put_encoded(struct fst_text *text, const struct fst_value *value)
{
	if (value->is_null)
		fst_put_string(text, NULL);
	else
		fst_put_encoded(text, value->bytes, value->len);
}

static void put_list(struct fst_text *text, const struct fst_value *value)
{
	struct fst_bytes from = { value->bytes, value->bytes + value->len };
	struct fst_value item;

	fst_put_char(text, '[');
	for (uint64_t i = 0; i < value->number && take_text(&from, &item); i++) {
		if (i)
			fst_put_char(text, ',');
		put_encoded(text, &item);
	}
	fst_put_char(text, ']');
}

void fst_put_value(struct fst_text *text, const struct fst_value *value)
{
	switch (value->kind) {
	case FST_HEX:
	case FST_HEX64:
	case FST_HEX_LLONG:
	case FST_POINTER:
		return fst_put_hex(text, value->number);
	case FST_DOUBLE:
		return fst_put_double(text, value->real);
	case FST_BOOL:
		return fst_put_word(text, value->number ? "true" : "false");
	case FST_ERRNO:
	case FST_ERRNO_ARG:
		return fst_put_errno(text, (int)value->number);
	case FST_HEX_OCTETS:
		return fst_put_octets(text, value->bytes, value->len);
	case FST_ADDRESS:
		return fst_put_address(text, value->is_null ? NULL : value->bytes, value->len);
	case FST_CALL_LIST:
		return put_list(text, value);
	default:
		break;
	}
	switch (fst_form_of(value->kind)) {
	case FST_FORM_SIGNED32:
	case FST_FORM_SIGNED64:
		return fst_put_signed(text, (int64_t)value->number);
	case FST_FORM_UNSIGNED32:
	case FST_FORM_UNSIGNED64:
		return fst_put_unsigned(text, value->number);
	case FST_FORM_TEXT:
		return put_encoded(text, value);
	default:
		return;
	}
}

bool fst_put_payload(struct fst_text *text, const struct fst_format *format, struct fst_bytes *from)
{
	for (size_t i = 0; i < format->nr_pieces; i++) {
		const struct fst_piece *piece = &format->pieces[i];
		struct fst_value value;

		if (piece->kind == FST_LITERAL) {
			fst_put(text, piece->text, piece->len);
		} else if (fst_take_value(from, piece->kind, &value)) {
			fst_put_value(text, &value);
		} else {
			if (fst_take_cut_text(from, piece->kind, &value))
				fst_put_value(text, &value);
			return false;
		}
	}
	return true;
}
