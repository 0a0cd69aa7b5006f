/* Separate debug files (see debug_file.h). */
#include "utils/object/dwarf/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/format/bytes.h"
#include "utils/object/build_id.h"
#include "utils/object/dwarf/debug_server.h"

#define DEBUG_DIR "/usr/lib/debug"

/* The CRC of .gnu_debuglink is that of zlib and Ethernet (GDB manual, "Separate Debug Files"). */
static uint32_t crc32_add(uint32_t crc, const unsigned char *data, size_t len)
{
	/*
	 * The remainders of 0..15 for the reversed polynomial 0xedb88320: half a byte is looked up
	 * at once.
	 */
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= data[i];
		crc = (crc >> 4) ^ table[crc & 15];
		crc = (crc >> 4) ^ table[crc & 15];
	}
	return ~crc;
}

static bool has_crc(int fd, uint32_t expected)
{
	unsigned char buf[65536];
	uint32_t crc = 0;
	uint64_t at = 0;
	ssize_t len;

	while ((len = fd_pread_full(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32_add(crc, buf, len);
		at += len;
	}
	return len == 0 && crc == expected;
}

/* True when the debug file has this build-id. Otherwise the file is closed. */
static bool has_build_id(struct elf_file *debug, const char *build_id)
{
	char found[BUILD_ID_HEX_SIZE];

	elf_build_id(debug, found);
	if (strcmp(found, build_id) == 0)
		return true;
	elf_file_close(debug);
	return false;
}

static bool open_by_build_id(const char *build_id, struct elf_file *debug)
{
	char path[PATH_MAX];

	if (strlen(build_id) < 4)
		return false;
	snprintf(path, sizeof(path), DEBUG_DIR "/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	return elf_file_open(debug, path, NULL) == 0 && has_build_id(debug, build_id);
}

static bool open_candidate(const char *path, const char *build_id, uint32_t crc,
			   struct elf_file *debug)
{
	char found[BUILD_ID_HEX_SIZE];

	if (elf_file_open(debug, path, NULL) < 0)
		return false;
	elf_build_id(debug, found);
	if (*build_id && *found ? strcmp(found, build_id) == 0 : has_crc(debug->fd, crc))
		return true;
	elf_file_close(debug);
	return false;
}

/* Read the name and the CRC of .gnu_debuglink. */
static bool read_link(const struct elf_file *file, const char **name, uint32_t *crc)
{
	struct elf_section sec;

	if (!elf_section_by_name(file, ".gnu_debuglink", &sec) || !sec.data)
		return false;

	const char *text = sec.data->d_buf;
	size_t len = strnlen(text, sec.data->d_size);
	size_t crc_at = ALIGN_UP(len + 1, (size_t)4);

	/* Refuse a name with a slash: such a path could lead anywhere. */
	if (len == 0 || crc_at + 4 > sec.data->d_size || memchr(text, '/', len))
		return false;
	*name = text;
	*crc = get_u32(text + crc_at, file->head.e_ident[EI_DATA] == ELFDATA2MSB);
	return true;
}

static bool open_by_link(const struct elf_file *file, const char *path, const char *build_id,
			 struct elf_file *debug)
{
	static const struct {
		const char *top;
		const char *sub;
	} places[] = { { "", "" }, { "", ".debug/" }, { DEBUG_DIR, "" } };
	const char *name;
	uint32_t crc;

	if (!read_link(file, &name, &crc))
		return false;

	const char *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash - path) + 1 : 0;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char place[PATH_MAX];
		int used = snprintf(place, sizeof(place), "%s%.*s%s%s", places[i].top, dir_len,
				    path, places[i].sub, name);

		if (used >= (int)sizeof(place) || strcmp(place, path) == 0)
			continue;
		if (open_candidate(place, build_id, crc, debug))
			return true;
	}
	return false;
}

bool debug_file_open(const struct elf_file *file, const char *path, struct elf_file *debug)
{
	char build_id[BUILD_ID_HEX_SIZE];

	elf_build_id(file, build_id);
	return open_by_build_id(build_id, debug) || open_by_link(file, path, build_id, debug);
}

bool debug_file_open_or_fetch(const struct elf_file *file, const char *path, struct elf_file *debug)
{
	char build_id[BUILD_ID_HEX_SIZE];

	if (debug_file_open(file, path, debug))
		return true;
	elf_build_id(file, build_id);
	return debug_server_open(build_id, debug) && has_build_id(debug, build_id);
}

bool debug_file_open_shared(const char *name, const uint8_t *id, size_t bytes,
			    struct elf_file *debug)
{
	char build_id[BUILD_ID_HEX_SIZE] = "";

	for (size_t i = 0; i < MIN(bytes, (sizeof(build_id) - 1) / 2); i++)
		snprintf(build_id + 2 * i, 3, "%02x", id[i]);
	if (open_by_build_id(build_id, debug))
		return true;
	return *name == '/' && elf_file_open_strange(debug, name) == 0 &&
	       has_build_id(debug, build_id);
}
