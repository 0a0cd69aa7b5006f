/*
 * A trace.dat, the file of trace-cmd, versions 6 and 7: its content, and the places of the kernel's
 * records.
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
 * The records of one CPU: @bytes of the file from @offset on, in pages or in packed chunks of
 * pages.
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
 * @clock: its name in the kernel ("mono"); "" when the file has none
 * @is_packed: its pages are in chunks
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
 * @bytes: size of the file. @long_size: size of a page's second word. @page_bytes: size of a page,
 *         for buffers that do not tell it themselves
 * @packing: the method that sections are compressed with, "" for none; @unpack undoes it, and is
 *           NULL when the method is not known here
 * @files: files of tracefs, each as kernel_header_put_file() has it; @nr_events of them are formats
 *         of events
 * @kallsyms, @cmdlines: the contents of these files of the kernel
 * @uname: the machine's uname, "" when it is not known
 * @offset: is added to all raw times. @date_ns: if @has_date, a time plus this is the time of day
 * @tsc_mult, @tsc_shift: if @has_tsc, these make nanoseconds of raw times
 * @has_other_clocks: times should be corrected by those of another machine, which is not done here
 * @has_text: a buffer was stored as text
 * @damage: the damaged parts that were left out, a line for each; @nr_damage: their number, which
 *          may exceed the number of lines
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
 * Read everything except the records. Damage is noted in @file->damage, and the rest is used.
 * -EINVAL when @path is not a trace.dat of these versions, -EDQUOT when it costs more than @limit
 * allows, -EBADMSG when the place of its records is missing, -ENOSYS when this build cannot unpack
 * it, or another negative errno.
 */
int tracedat_open(struct tracedat *file, const char *path, enum tracedat_limit limit,
		  struct uft_err *err);
void tracedat_close(struct tracedat *file);
#define cleanup_tracedat cleanup(tracedat_close)

/*
 * Find the function that unpacks blocks packed by the method @name. NULL when the method is
 * unknown, or "none".
 */
unpack_fn *tracedat_unpacker(const char *name);

/* True when the file @path begins like a trace.dat. */
bool tracedat_is_one(const char *path);

/* Note a part that was left out. */
void tracedat_note(struct tracedat *file, const char *fmt, ...) PRINTF_FORMAT(2, 3);

/* The number of notes that are kept. */
#define TRACEDAT_NOTES_MAX 20

/*
 * Convert the raw time of a record to nanoseconds. An impossible time becomes the nearest possible
 * one.
 */
uint64_t tracedat_time_ns(const struct tracedat *file, uint64_t raw);

/* True when times of the clock @name are nanoseconds, or can be converted. */
bool tracedat_clock_is_time(const struct tracedat *file, const char *name);

#endif
