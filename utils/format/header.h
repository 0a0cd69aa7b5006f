/* The 40-byte binary header at the start of `info`. */
#ifndef UTRAIL_FORMAT_HEADER_H
#define UTRAIL_FORMAT_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

#define HEADER_SIZE	   40
#define HEADER_VERSION	   4
#define HEADER_VERSION_MIN 3

enum header_endian {
	HEADER_LITTLE_ENDIAN = 1, /* as in ELF's EI_DATA */
	HEADER_BIG_ENDIAN = 2,
};

enum header_class {
	HEADER_CLASS_32 = 1, /* as in ELF's EI_CLASS */
	HEADER_CLASS_64 = 2,
};

/* Bits of feat_mask: doc/formats/info.md, "Features". */
enum header_feature {
	FEAT_PLTHOOK = 1U << 0,
	FEAT_TASK_SESSION = 1U << 1,
	FEAT_KERNEL = 1U << 2,
	FEAT_ARGUMENT = 1U << 3,
	FEAT_RETVAL = 1U << 4,
	FEAT_SYM_REL_ADDR = 1U << 5,
	FEAT_MAX_STACK = 1U << 6,
	FEAT_EVENT = 1U << 7,
	FEAT_PERF_EVENT = 1U << 8,
	FEAT_AUTO_ARGS = 1U << 9,
	FEAT_DEBUG_INFO = 1U << 10,
	FEAT_ESTIMATE_RETURN = 1U << 11,
	FEAT_SYM_SIZE = 1U << 12,
	FEAT_CALLSITE = 1U << 13,
};

/*
 * Bits of info_mask. Each bit stands for an item of the text that follows the header:
 * doc/formats/info.md, "Text".
 */
enum header_info {
	INFO_EXE_NAME = 1U << 0,
	INFO_EXE_BUILD_ID = 1U << 1,
	INFO_EXIT_STATUS = 1U << 2,
	INFO_CMDLINE = 1U << 3,
	INFO_CPUINFO = 1U << 4,
	INFO_MEMINFO = 1U << 5,
	INFO_OSINFO = 1U << 6,
	INFO_TASKINFO = 1U << 7,
	INFO_USAGEINFO = 1U << 8,
	INFO_LOADINFO = 1U << 9,
	INFO_ARG_SPEC = 1U << 10,
	INFO_RECORD_DATE = 1U << 11,
	INFO_PATTERN_TYPE = 1U << 12,
	INFO_VERSION = 1U << 13,
	INFO_UTC_OFFSET = 1U << 14,
	INFO_SYSCTL = 1U << 15,
};

/* The header, in the byte order of this machine: doc/formats/info.md, "Header". */
struct data_header {
	uint32_t version;     /* 3 or 4 */
	uint16_t header_size; /* the offset of the text that follows the header */
	/* enum header_endian: the byte order of the traced program and of all binary files */
	uint8_t endian;
	uint8_t elf_class; /* enum header_class: the class of the traced program */
	uint64_t feat_mask;
	uint64_t info_mask;
	uint16_t max_stack;
};

/* Encode the header into @out, in the byte order of @hdr->endian. */
void header_encode(const struct data_header *hdr, uint8_t out[static HEADER_SIZE]);

/*
 * Decode the first @len bytes of an `info` file. Returns 0, or -EINVAL with a text that names the
 * expected value. After an error, @hdr is unchanged.
 */
int header_decode(const uint8_t *data, size_t len, struct data_header *hdr, struct uft_err *err);

#endif
