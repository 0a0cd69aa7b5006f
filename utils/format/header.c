/* The 40-byte binary header at the start of `info` (see header.h). */
#include "utils/format/header.h"

#include <errno.h>
#include <string.h>

#include "utils/format/bytes.h"

static const uint8_t header_magic[8] = { 'F', 't', 'r', 'a', 'c', 'e', '!', 0 };

void header_encode(const struct data_header *hdr, uint8_t out[static HEADER_SIZE])
{
	bool big = hdr->endian == HEADER_BIG_ENDIAN;

	memset(out, 0, HEADER_SIZE);
	memcpy(out, header_magic, sizeof(header_magic));
	put_u32(out + 8, hdr->version, big);
	put_u16(out + 12, HEADER_SIZE, big);
	out[14] = hdr->endian;
	out[15] = hdr->elf_class;
	put_u64(out + 16, hdr->feat_mask, big);
	put_u64(out + 24, hdr->info_mask, big);
	put_u16(out + 32, hdr->max_stack, big);
}

int header_decode(const uint8_t *data, size_t len, struct data_header *hdr, struct uft_err *err)
{
	if (len < HEADER_SIZE)
		return err_set(err, -EINVAL, "header is cut short: %zu bytes, expected %d", len,
			       HEADER_SIZE);
	if (memcmp(data, header_magic, sizeof(header_magic)) != 0)
		return err_set(err, -EINVAL, "not a recording: it does not start with 'Ftrace!'");

	struct data_header h = { .endian = data[14], .elf_class = data[15] };
	bool big = h.endian == HEADER_BIG_ENDIAN;

	if (h.endian != HEADER_LITTLE_ENDIAN && h.endian != HEADER_BIG_ENDIAN)
		return err_set(err, -EINVAL, "byte order %u at offset 14: expected 1 or 2",
			       h.endian);
	if (h.elf_class != HEADER_CLASS_32 && h.elf_class != HEADER_CLASS_64)
		return err_set(err, -EINVAL, "word size %u at offset 15: expected 1 or 2",
			       h.elf_class);

	h.version = get_u32(data + 8, big);
	if (h.version < HEADER_VERSION_MIN || h.version > HEADER_VERSION)
		return err_set(err, -EINVAL, "format version %u at offset 8: expected 3 or 4",
			       h.version);
	h.header_size = get_u16(data + 12, big);
	if (h.header_size < HEADER_SIZE)
		return err_set(err, -EINVAL, "header size %u at offset 12: expected at least %d",
			       h.header_size, HEADER_SIZE);
	h.feat_mask = get_u64(data + 16, big);
	h.info_mask = get_u64(data + 24, big);
	h.max_stack = get_u16(data + 32, big);
	*hdr = h;
	return 0;
}
