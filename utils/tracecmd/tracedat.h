/*
 * Reads a trace.dat, the file of trace-cmd. Versions 6 and 7 of the file format are known. The
 * records are not read: struct tracedat has the offsets of the records in the file.
 */
#ifndef UTRAIL_TRACECMD_TRACEDAT_H
#define UTRAIL_TRACECMD_TRACEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/compiler.h"
#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/tracecmd/budget.h"
#include "utils/tracecmd/unpack.h"

/*
 * The records of one CPU. The records are in pages, or in packed chunks of pages.
 *
 * @offset, @bytes: the place and the size of the pages or chunks in the file
 */
struct tracedat_cpu {
	uint32_t cpu;
	uint64_t offset;
	uint64_t bytes;
};

#define TRACEDAT_NAME_MAX 256

/*
 * The recording of one instance of the kernel's tracing.
 *
 * @name: "" for the top instance
 * @clock: the kernel's name of the clock ("mono"); "" when the file does not name the clock
 * @is_packed: the pages are in packed chunks
 */
struct tracedat_buffer {
	char name[TRACEDAT_NAME_MAX];
	char clock[TRACEDAT_NAME_MAX];
	uint32_t page_bytes;
	bool is_packed;
	struct tracedat_cpu *cpus;
	size_t nr_cpus;
};

/*
 * Starts as { .fd = -1 }, ends with tracedat_close().
 *
 * @bytes: size of the file
 * @long_size: size of the second word of a page
 * @page_bytes: the page size of buffers for which the file states no other page size
 * @packing: method of compression. Without compression: "none" in version 7, "" in version 6
 * @unpack: undoes the compression; NULL: no compression
 * @files: files of tracefs, written by kernel_header_put_file()
 * @nr_events: number of events whose formats were read
 * @kallsyms, @cmdlines: contents of the kernel's files kallsyms and saved_cmdlines
 * @uname: the machine's uname; "": unknown
 * @offset: added to all raw times
 * @date_ns: if @has_date: the number to add to a time to get the time of day
 * @tsc_mult, @tsc_shift: if @has_tsc: convert raw times to nanoseconds
 * @has_other_clocks: the times need a correction by another machine's clock, but utrail makes no
 *         such correction
 * @has_text: a buffer was stored as text
 * @damage: a line for each of the first TRACEDAT_NOTES_MAX damaged parts
 * @nr_damage: the number of all damaged parts. These parts are left out
 */
struct tracedat {
	int fd;
	uint64_t bytes;
	unsigned version;
	bool is_big_endian;
	uint32_t page_bytes;
	uint32_t long_size;
	char packing[16];
	unpack_fn *unpack;
	struct strbuf files;
	size_t nr_events;
	struct strbuf kallsyms;
	struct strbuf cmdlines;
	char uname[TRACEDAT_NAME_MAX];
	int64_t offset;
	int64_t date_ns;
	uint32_t tsc_mult;
	uint32_t tsc_shift;
	bool has_date;
	bool has_tsc;
	bool has_other_clocks;
	bool has_text;
	struct tracedat_buffer *buffers;
	size_t nr_buffers;
	struct strbuf damage;
	size_t nr_damage;
	struct tracedat_budget budget;
};

/*
 * Read all parts of the file except the records. Damaged parts are noted and left out. Returns 0,
 * or one of these errors with @err:
 *
 * - -EINVAL: @path is no trace.dat of version 6 or 7, or the method of compression is unknown.
 * - -EDQUOT: the file needs more memory, or has more unpacked bytes, than @limit allows.
 * - -EBADMSG: damage hides the offsets of the records.
 * - -EFBIG: a part of a version 6 file, or a packed list of options, is too large.
 * - -ENOSYS: this build cannot unpack the file.
 * - -ENOMEM, or an error of open(2) or read(2).
 *
 * If an error is returned, the caller must still close @file.
 */
int tracedat_open(struct tracedat *file, const char *path, enum tracedat_limit limit,
		  struct uft_err *err);
void tracedat_close(struct tracedat *file);
#define cleanup_tracedat cleanup(tracedat_close)

/* Add a line to @file->damage about a damaged part that is left out. */
void tracedat_note(struct tracedat *file, const char *fmt, ...) PRINTF_FORMAT(2, 3);

#define TRACEDAT_NOTES_MAX 20

/*
 * Convert the raw time of a record to nanoseconds. A time out of range becomes the nearest possible
 * time.
 */
uint64_t tracedat_time_ns(const struct tracedat *file, uint64_t raw);

/* True when times of the clock @name are nanoseconds, or can be converted to nanoseconds. */
bool tracedat_clock_is_time(const struct tracedat *file, const char *name);

#endif
