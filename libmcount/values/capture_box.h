/*
 * Captures the contents of containers of the C++ library. A box holds the captured content of one
 * container (utils/format/probe/capture.h).
 */
#ifndef UTRAIL_LIBMCOUNT_CAPTURE_BOX_H
#define UTRAIL_LIBMCOUNT_CAPTURE_BOX_H

#include "utils/format/probe/capture.h"

/*
 * HOT: fills @to[@bytes] from the object at @object, as @steps[@nr_steps] describe. Memory may be
 * unreadable. Containers may be cyclic, or in the middle of a change. Elements without room in the
 * box are left out.
 */
void capture_box(const struct box_step *steps, uint32_t nr_steps, uint64_t object, uint8_t *to,
		 uint32_t bytes);

/*
 * The text of a std::string. string_text_of() finds the text by the first 8-byte words of the
 * object:
 *
 * - In libstdc++, the first word is the address of the text, and the second word is the length.
 * - In libc++, if bit 0 of the first word is set, the words are capacity, length and address.
 * - In libc++, if bit 0 of the first word is 0, the first byte of the object is twice the length,
 *   and the text follows this byte.
 *
 * The two forms of libc++ are those of little-endian machines.
 */
struct string_text {
	uint64_t at;
	uint64_t len;
};

#define STRING_WORDS 3

static inline struct string_text string_text_of(const uint64_t words[STRING_WORDS], uint64_t object,
						bool is_llvm)
{
	if (!is_llvm)
		return (struct string_text){ words[0], words[1] };
	if (words[0] & 1)
		return (struct string_text){ words[2], words[1] };
	return (struct string_text){ object + 1, (words[0] & 0xff) >> 1 };
}

/*
 * Returns the number of bytes that the caller of string_text_of() must read from the beginning of
 * the string object.
 */
static inline uint32_t string_bytes(bool is_llvm)
{
	return (is_llvm ? STRING_WORDS : 2) * sizeof(uint64_t);
}

#endif
