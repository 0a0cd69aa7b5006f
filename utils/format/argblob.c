/* Payloads after ENTRY and EXIT records (see argblob.h). */
#include "utils/format/argblob.h"

#include "utils/base/compiler.h"
#include "utils/format/bytes.h"

ssize_t argblob_next(const uint8_t *blob, size_t len, size_t at, struct arg_type type, bool big,
		     struct arg_value *value)
{
	size_t start = at;
	size_t bytes = type.size;

	if (at > len)
		return -1;
	if (arg_format_is_string(type.format)) {
		if (len - at < sizeof(uint16_t))
			return -1;
		bytes = get_u16(blob + at, big);
		start += sizeof(uint16_t);
	}
	if (bytes > len - start)
		return -1;
	*value = (struct arg_value){ blob + start, bytes };
	/* Padding holds no data, so the padding of the last value may be missing. */
	return MIN(at + ALIGN_UP(start - at + bytes, (size_t)ARGBLOB_ALIGN), len);
}
