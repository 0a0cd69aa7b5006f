/* Captures the contents of containers of the C++ library (see capture_box.h). */
#include "libmcount/values/capture_box.h"

#include "libmcount/system/fault.h"

/*
 * @to: the memory of the box
 * @len: the number of bytes that were written to @to
 * @bytes: the size of @to
 * @looks: the number of elements that may still be read. This number is limited, because nested
 *         sequences multiply the elements
 */
struct box {
	uint8_t *to;
	uint32_t len;
	uint32_t bytes;
	uint32_t looks;
};

#define LOOKS_MAX    256U
#define CLIMB_MAX    64		  /* levels of a red-black tree with less than 2^32 nodes */
#define ELEMENTS_MAX (1ULL << 40) /* a container with at least so many elements is invalid */

static bool read_at(uint64_t address, void *to, uint32_t bytes)
{
	return fault_copy(to, (const void *)address, bytes) == bytes;
}

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

static bool put_in_box(struct box *box, const void *from, uint32_t bytes)
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
	return put_in_box(box, &byte, sizeof(byte));
}

static bool put_bytes(struct box *box, uint64_t address, uint32_t bytes)
{
	if (!has_room(box, bytes) || !read_at(address, box->to + box->len, bytes))
		return false;
	box->len += bytes;
	return true;
}

/*
 * Writes the length of a text in two bytes, and after it the text. A text of more than
 * ARGBLOB_STRING_MAX bytes is cut, and ends with dots. Returns false when the text cannot be read,
 * or there is no room for it.
 */
static bool put_text(struct box *box, uint64_t address, uint64_t len)
{
	uint16_t wanted = MIN(len, (uint64_t)ARGBLOB_STRING_MAX);
	uint8_t *text = box->to + box->len + sizeof(wanted);

	if (len >= ELEMENTS_MAX || !has_room(box, sizeof(wanted) + wanted) ||
	    (wanted && !read_at(address, text, wanted)))
		return false;
	if (len > ARGBLOB_STRING_MAX)
		__builtin_memcpy(text + ARGBLOB_STRING_MAX - 3, ARGBLOB_STRING_CUT, 3);
	put_in_box(box, &wanted, sizeof(wanted));
	box->len += wanted;
	return true;
}

static bool put_c_string(struct box *box, uint64_t address)
{
	uint8_t text[ARGBLOB_STRING_MAX + 16];
	int64_t len;

	if (!address)
		return put_text(box, (uint64_t)ARGBLOB_NULL, ARGBLOB_NULL_LEN);
	/* Read one byte more than the limit: put_text() cuts a text that exceeds the limit. */
	len = fault_copy_string(text, (const void *)address, ARGBLOB_STRING_MAX + 1);
	return len >= 0 && put_text(box, (uint64_t)text, len);
}

static bool put_std_string(struct box *box, uint64_t object, bool is_llvm)
{
	uint64_t words[STRING_WORDS];
	struct string_text text;

	if (!read_at(object, words, string_bytes(is_llvm)))
		return false;
	text = string_text_of(words, object, is_llvm);
	return put_text(box, text.at, text.len);
}

static bool put_value(struct box *box, const struct box_step *step, uint64_t object);

static inline const struct box_step *first_child(const struct box_step *step)
{
	return step + 1;
}

static inline const struct box_step *next_sibling(const struct box_step *step)
{
	return step + 1 + step->skip;
}

/*
 * The position in a sequence.
 *
 * @at: the address of the element, or of its node
 * @block_end: for elements in blocks: the end of the present block
 * @slot: for elements in blocks: the table entry that holds the block's address
 * @bit: for elements that are bits: the number of the bit
 */
struct cursor {
	const struct box_step *step;
	uint64_t at;
	uint64_t block_end;
	uint64_t slot;
	uint32_t bit;
};

/* In the ABI of each library, the size of a deque's blocks depends on the size of an element. */
static uint32_t gnu_block_bytes(uint32_t bytes)
{
	return bytes < 512 ? 512 / bytes * bytes : bytes;
}

static uint32_t llvm_block_elements(uint32_t bytes)
{
	return bytes < 256 ? 4096 / bytes : 16;
}

static bool next_in_blocks(struct cursor *cursor, uint32_t bytes, uint32_t block_bytes)
{
	cursor->at += bytes;
	if (cursor->at != cursor->block_end)
		return true;
	cursor->slot += sizeof(uint64_t);
	if (!read_word(cursor->slot, &cursor->at))
		return false;
	cursor->block_end = cursor->at + block_bytes;
	return true;
}

static bool climb_tree(const struct box_step *step, uint64_t *node)
{
	uint64_t above;
	uint64_t right;

	/*
	 * The next node is the leftmost node of the right subtree. If there is no right subtree,
	 * the next node is the nearest ancestor whose left subtree contains *@node.
	 */
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
		return climb_tree(step, &cursor->at);
	case BOX_LINKS:
		return read_word(cursor->at + step->b, &cursor->at);
	case BOX_BITS:
	case BOX_COUNTED_BITS:
		cursor->at += ++cursor->bit % 8 == 0;
		return true;
	case BOX_DEQUE:
		return next_in_blocks(cursor, step->c, gnu_block_bytes(step->c));
	case BOX_COUNTED_DEQUE:
		return next_in_blocks(cursor, step->d, llvm_block_elements(step->d) * step->d);
	default:
		cursor->at += step->c;
		return true;
	}
}

/* Counts the nodes of a list that does not store the number of its nodes. */
static bool count_links(const struct box_step *step, uint64_t node, uint64_t *number)
{
	for (*number = 0; node; ++*number) {
		if (*number == BOX_WALK_MAX) {
			*number = BOX_MANY;
			return true;
		}
		if (!read_word(node + step->b, &node))
			return false;
	}
	return true;
}

/* The members of an iterator of GNU's deque. */
struct gnu_iterator {
	uint64_t at, first, last, slot;
};

static bool find_in_gnu_deque(struct cursor *cursor, uint64_t object, uint64_t *number)
{
	const struct box_step *step = cursor->step;
	uint32_t per_block = gnu_block_bytes(step->c) / step->c;
	struct gnu_iterator start;
	struct gnu_iterator finish;

	if (!read_at(object + step->a, &start, sizeof(start)) ||
	    !read_at(object + step->b, &finish, sizeof(finish)) || finish.slot < start.slot ||
	    start.last < start.at || finish.at < finish.first ||
	    (finish.slot - start.slot) / sizeof(uint64_t) >= ELEMENTS_MAX / per_block)
		return false;
	*cursor = (struct cursor){ step, start.at, start.last, start.slot, 0 };
	if (start.slot == finish.slot)
		*number = finish.at < start.at ? 0 : (finish.at - start.at) / step->c;
	else
		*number = (start.last - start.at) / step->c +
			  ((finish.slot - start.slot) / sizeof(uint64_t) - 1) * per_block +
			  (finish.at - finish.first) / step->c;
	return *number < ELEMENTS_MAX;
}

static bool find_in_llvm_deque(struct cursor *cursor, uint64_t object, uint64_t *number)
{
	const struct box_step *step = cursor->step;
	uint32_t per_block = llvm_block_elements(step->d);
	uint64_t table;
	uint64_t start;
	uint64_t block;

	if (!read_word(object + step->a, &table) || !read_word(object + step->b, &start) ||
	    !read_word(object + step->c, number) || *number >= ELEMENTS_MAX ||
	    start >= ELEMENTS_MAX)
		return false;
	/* An empty container may have no table. */
	if (*number == 0)
		return true;
	table += start / per_block * sizeof(uint64_t);
	if (!read_word(table, &block))
		return false;
	cursor->slot = table;
	cursor->at = block + start % per_block * step->d;
	cursor->block_end = block + (uint64_t)per_block * step->d;
	return true;
}

static bool find_bits(const struct box_step *step, uint64_t object, uint64_t *first,
		      uint64_t *number)
{
	uint64_t end;
	uint64_t bit;

	if (!read_word(object + step->a, first) || !read_word(object + step->b, &end) ||
	    !read_number(object + step->b + sizeof(end), sizeof(uint32_t), &bit) || end < *first ||
	    (end - *first) % sizeof(uint64_t) || bit >= 64)
		return false;
	*number = (end - *first) * 8 + bit;
	return *number < ELEMENTS_MAX;
}

/*
 * Finds the first element and the number of elements. Returns false when the container's memory
 * cannot be read or contains impossible values.
 */
static bool find_elements(struct cursor *cursor, uint64_t object, uint64_t *number)
{
	const struct box_step *step = cursor->step;
	uint64_t *first = &cursor->at;
	uint64_t end;

	switch (step->op) {
	case BOX_LINKS:
		return read_word(object + step->a, first) && count_links(step, *first, number);
	case BOX_BITS:
		return find_bits(step, object, first, number);
	case BOX_DEQUE:
		return find_in_gnu_deque(cursor, object, number);
	case BOX_COUNTED_DEQUE:
		return find_in_llvm_deque(cursor, object, number);
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

static bool put_element(struct box *box, const struct cursor *cursor)
{
	const struct box_step *step = cursor->step;
	uint8_t byte;

	switch (step->op) {
	case BOX_BITS:
	case BOX_COUNTED_BITS:
		return read_at(cursor->at, &byte, sizeof(byte)) &&
		       put_byte(box, byte >> cursor->bit % 8 & 1);
	case BOX_LINKS:
		return put_value(box, first_child(step), cursor->at + step->c);
	case BOX_CHAIN:
	case BOX_TREE:
		return put_value(box, first_child(step), cursor->at + step->d);
	default:
		return put_value(box, first_child(step), cursor->at);
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
	if (!find_elements(&cursor, object, &number)) {
		number = 0;
		put_in_box(box, &wild, sizeof(wild));
	} else {
		uint32_t shown = MIN(number, (uint64_t)BOX_MANY);

		put_in_box(box, &shown, sizeof(shown));
	}

	/* After the loop, the number of stored elements is written at this place. */
	uint32_t count_at = box->len;

	put_in_box(box, &stored, sizeof(stored));
	number = MIN(number, (uint64_t)step->limit);
	while (stored < number && box->looks) {
		uint32_t start = box->len;

		box->looks--;
		if (!put_element(box, &cursor)) {
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

static bool put_members(struct box *box, const struct box_step *step, uint32_t nr, uint64_t object)
{
	const struct box_step *child = first_child(step);

	for (uint32_t i = 0; i < nr; i++) {
		if (!put_value(box, child, object))
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

/*
 * Writes a weak_ptr: 1 and the object to which the weak_ptr points, or 0 for a null pointer. If no
 * shared_ptr owns the object any more, writes BOX_EXPIRED instead.
 */
static bool put_weak(struct box *box, const struct box_step *step, uint64_t object)
{
	uint64_t pointer;
	uint64_t control;
	uint64_t owners;

	if (!read_word(object + step->a, &pointer) || !read_word(object + step->b, &control))
		return false;
	if (!pointer || !control)
		return put_byte(box, 0);
	if (!read_number(control + step->c, step->d, &owners))
		return false;
	owners += step->e;
	if (step->d == sizeof(uint32_t) ? (uint32_t)owners == 0 : owners == 0)
		return put_byte(box, BOX_EXPIRED);
	return put_byte(box, 1) && put_value(box, first_child(step), pointer);
}

/*
 * Writes the value that @step selects from the object at address @object. Returns false when the
 * value is unreadable, or when the box has no room for the value.
 */
static bool put_value(struct box *box, const struct box_step *step, uint64_t object)
{
	uint64_t words[2];

	switch (step->op) {
	case BOX_BYTES:
		return put_bytes(box, object + step->a, step->b);
	case BOX_STRING:
		return read_word(object + step->a, words) && put_c_string(box, words[0]);
	case BOX_STD_STRING:
		return put_std_string(box, object + step->a, false);
	case BOX_STD_STRING_LLVM:
		return put_std_string(box, object + step->a, true);
	case BOX_TEXT:
		return read_word(object + step->a, &words[0]) &&
		       read_word(object + step->b, &words[1]) && put_text(box, words[0], words[1]);
	case BOX_MEMBERS:
		return put_members(box, step, step->b, object + step->a);
	case BOX_FIELDS:
		return put_bytes(box, object + step->a, step->b) &&
		       put_members(box, step, step->c, object + step->a);
	case BOX_FOLLOW_WEAK:
		return put_weak(box, step, object);
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
