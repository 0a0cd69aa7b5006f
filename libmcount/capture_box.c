/* What is in containers of the C++ library (see capture_box.h). */
#include "libmcount/capture_box.h"

#include "libmcount/fault.h"

/*
 * @to, @len, @bytes: the box
 * @looks: so many elements may still be looked at, of all sequences together: what is nested multiplies
 */
struct box {
	uint8_t *to;
	uint32_t len;
	uint32_t bytes;
	uint32_t looks;
};

#define LOOKS_MAX    256U
/* Nodes from one to the next of a tree: as deep as a balanced one of all memory is. */
#define CLIMB_MAX    64
/* More than this no program has of anything. */
#define ELEMENTS_MAX (1ULL << 40)

static bool read_at(uint64_t address, void *to, uint32_t bytes)
{
	return fault_copy(to, (const void *)address, bytes) == bytes;
}

/* A little-endian integer of up to eight bytes. */
static bool read_number(uint64_t address, uint32_t bytes, uint64_t *number)
{
	*number = 0;
	return read_at(address, number, MIN(bytes, (uint32_t)sizeof(*number)));
}

static bool read_word(uint64_t address, uint64_t *word)
{
	return read_at(address, word, sizeof(*word));
}

static bool has_room(const struct box *box, uint32_t bytes)
{
	return bytes <= box->bytes - box->len;
}

static bool put(struct box *box, const void *from, uint32_t bytes)
{
	if (!has_room(box, bytes))
		return false;
	for (uint32_t i = 0; i < bytes; i++)
		box->to[box->len + i] = ((const uint8_t *)from)[i];
	box->len += bytes;
	return true;
}

static bool put_byte(struct box *box, uint8_t byte)
{
	return put(box, &byte, sizeof(byte));
}

static bool put_bytes(struct box *box, uint64_t address, uint32_t bytes)
{
	if (!has_room(box, bytes) || !read_at(address, box->to + box->len, bytes))
		return false;
	box->len += bytes;
	return true;
}

/* A length, then the text, cut as all texts are; NULL in the place of one that is not there. */
static bool put_text(struct box *box, uint64_t address, uint64_t len)
{
	uint16_t wanted = MIN(len, (uint64_t)ARGBLOB_STRING_MAX);
	uint8_t *text = box->to + box->len + sizeof(wanted);

	if (len >= ELEMENTS_MAX || !has_room(box, sizeof(wanted) + wanted) ||
	    (wanted && !read_at(address, text, wanted)))
		return false;
	if (len > ARGBLOB_STRING_MAX)
		__builtin_memcpy(text + ARGBLOB_STRING_MAX - 3, ARGBLOB_STRING_CUT, 3);
	put(box, &wanted, sizeof(wanted));
	box->len += wanted;
	return true;
}

static bool put_c_string(struct box *box, uint64_t address)
{
	uint8_t text[ARGBLOB_STRING_MAX + 16];
	int64_t len;

	if (!address)
		return put_text(box, (uint64_t)ARGBLOB_NULL, ARGBLOB_NULL_LEN);
	len = fault_copy_string(text, (const void *)address, ARGBLOB_STRING_MAX);
	return len >= 0 && put_text(box, (uint64_t)text, len);
}

/* libstdc++: the address of the text, then its length. */
static bool put_std_string(struct box *box, uint64_t object)
{
	uint64_t words[2];

	return read_at(object, words, sizeof(words)) && put_text(box, words[0], words[1]);
}

/* libc++: see put_std_string_llvm() in capture.c. */
static bool put_std_string_llvm(struct box *box, uint64_t object)
{
	uint64_t words[3];

	if (!read_at(object, words, sizeof(words)))
		return false;
	if (words[0] & 1)
		return put_text(box, words[2], words[1]);
	return put_text(box, object + 1, (words[0] & 0xff) >> 1);
}

static bool put_value(struct box *box, const struct box_step *step, uint64_t object);

/* The children of @step, the first of which is the only one as a rule. */
static inline const struct box_step *first_child(const struct box_step *step)
{
	return step + 1;
}

static inline const struct box_step *next_sibling(const struct box_step *step)
{
	return step + 1 + step->skip;
}

/* Where the elements of a sequence are found, one after the other. */
struct cursor {
	const struct box_step *step;
	uint64_t at; /* the element or its node */
};

static bool climb(const struct box_step *step, uint64_t *node)
{
	uint64_t above;
	uint64_t right;

	/* The least of what is on the right, or else the first above of which this is on the left. */
	if (!read_word(*node + step->e, &right))
		return false;
	if (right) {
		*node = right;
		for (int i = 0; i < CLIMB_MAX; i++) {
			uint64_t left;

			if (!read_word(*node + step->c, &left))
				return false;
			if (!left)
				return true;
			*node = left;
		}
		return false;
	}
	for (int i = 0; i < CLIMB_MAX; i++) {
		if (!read_word(*node + step->f, &above) || !above ||
		    !read_word(above + step->e, &right))
			return false;

		bool is_right = right == *node;

		*node = above;
		if (!is_right)
			return true;
	}
	return false;
}

static bool next_element(struct cursor *cursor)
{
	const struct box_step *step = cursor->step;

	switch (step->op) {
	case BOX_CHAIN:
		return read_word(cursor->at + step->c, &cursor->at);
	case BOX_TREE:
		return climb(step, &cursor->at);
	default:
		cursor->at += step->c;
		return true;
	}
}

/* Where the first element is, and how many there are; false when that cannot be. */
static bool find_elements(const struct box_step *step, uint64_t object, uint64_t *first,
			  uint64_t *number)
{
	uint64_t end;

	switch (step->op) {
	case BOX_ARRAY:
		*first = object + step->a;
		*number = step->b;
		return true;
	case BOX_FIXED:
		*number = step->b;
		return read_word(object + step->a, first);
	case BOX_RANGE:
		if (!read_word(object + step->a, first) || !read_word(object + step->b, &end) ||
		    end < *first || (end - *first) % step->c)
			return false;
		*number = (end - *first) / step->c;
		return *number < ELEMENTS_MAX;
	default:
		return read_word(object + step->a, first) && read_word(object + step->b, number) &&
		       *number < ELEMENTS_MAX;
	}
}

static bool put_elements(struct box *box, const struct box_step *step, uint64_t object)
{
	struct cursor cursor = { .step = step };
	uint64_t number;
	uint32_t wild = BOX_WILD;
	uint16_t stored = 0;

	if (!has_room(box, sizeof(wild) + sizeof(stored)))
		return false;
	if (!find_elements(step, object, &cursor.at, &number)) {
		number = 0;
		put(box, &wild, sizeof(wild));
	} else {
		uint32_t shown = MIN(number, (uint64_t)BOX_WILD - 1);

		put(box, &shown, sizeof(shown));
	}

	/* Filled in when it is known. */
	uint32_t count_at = box->len;

	put(box, &stored, sizeof(stored));
	number = MIN(number, (uint64_t)step->limit);
	while (stored < number && box->looks) {
		uint32_t start = box->len;

		box->looks--;
		if (!put_value(box, first_child(step), cursor.at + step->d)) {
			box->len = start;
			break;
		}
		stored++;
		if (stored < number && !next_element(&cursor))
			break;
	}
	box->to[count_at] = stored;
	box->to[count_at + 1] = stored >> 8;
	return true;
}

static bool put_members(struct box *box, const struct box_step *step, uint64_t object)
{
	const struct box_step *child = first_child(step);

	for (uint32_t i = 0; i < step->b; i++) {
		if (!put_value(box, child, object + step->a))
			return false;
		child = next_sibling(child);
	}
	return true;
}

static bool put_variant(struct box *box, const struct box_step *step, uint64_t object)
{
	const struct box_step *child = first_child(step);
	uint64_t which;

	if (!read_number(object + step->a, step->b, &which))
		return false;
	if (which >= step->c)
		return put_byte(box, BOX_NO_CASE);
	for (uint64_t i = 0; i < which; i++)
		child = next_sibling(child);
	return put_byte(box, which) && put_value(box, child, object);
}

/* What @step says, of the object at @object. False when it is not there, or there is no room for it. */
static bool put_value(struct box *box, const struct box_step *step, uint64_t object)
{
	uint64_t words[2];

	switch (step->op) {
	case BOX_BYTES:
		return put_bytes(box, object + step->a, step->b);
	case BOX_STRING:
		return read_word(object + step->a, words) && put_c_string(box, words[0]);
	case BOX_STD_STRING:
		return put_std_string(box, object + step->a);
	case BOX_STD_STRING_LLVM:
		return put_std_string_llvm(box, object + step->a);
	case BOX_TEXT:
		return read_word(object + step->a, &words[0]) &&
		       read_word(object + step->b, &words[1]) && put_text(box, words[0], words[1]);
	case BOX_MEMBERS:
		return put_members(box, step, object);
	case BOX_OPTIONAL:
		if (!read_number(object + step->a, step->b, words))
			return false;
		return put_byte(box, words[0] != 0) &&
		       (!words[0] || put_value(box, first_child(step), object));
	case BOX_FOLLOW:
		if (!read_word(object + step->a, words))
			return false;
		return put_byte(box, words[0] != 0) &&
		       (!words[0] || put_value(box, first_child(step), words[0]));
	case BOX_VARIANT:
		return put_variant(box, step, object);
	default:
		return put_elements(box, step, object);
	}
}

void capture_box(const struct box_step *steps, uint32_t nr_steps, uint64_t object, uint8_t *to,
		 uint32_t bytes)
{
	struct box box = { .to = to, .len = 1, .bytes = bytes, .looks = LOOKS_MAX };

	if (!bytes)
		return;
	to[0] = BOX_GOOD;
	if (!nr_steps || !put_value(&box, steps, object)) {
		to[0] = BOX_NOTHING;
		box.len = 1;
	}
	for (uint32_t i = box.len; i < bytes; i++)
		to[i] = 0;
}
