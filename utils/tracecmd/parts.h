/*
 * The parts of a trace.dat, for the files of this directory: the places of sections, and their
 * content.
 */
#ifndef UTRAIL_TRACECMD_PARTS_H
#define UTRAIL_TRACECMD_PARTS_H

#include "utils/tracecmd/cursor.h"
#include "utils/tracecmd/tracedat.h"

/* Limits that no machine reaches: CPUs, and events, whose numbers have 16 bits. */
#define TRACEDAT_CPUS_MAX	    65536
#define TRACEDAT_EVENTS_MAX	    65536
/*
 * The limit of files that are copied into a recording: readers of recordings accept no larger ones.
 */
#define TRACEDAT_FILES_MAX_BYTES    (64UL << 20)
#define TRACEDAT_KALLSYMS_MAX_BYTES (64UL << 20)
#define TRACEDAT_CMDLINES_MAX_BYTES (64UL << 20)

/* Numbers of options, and of the sections that they describe. */
enum tracedat_id {
	TRACEDAT_DONE = 0,
	TRACEDAT_DATE = 1,
	TRACEDAT_BUFFER = 3,
	TRACEDAT_TRACECLOCK = 4,
	TRACEDAT_UNAME = 5,
	TRACEDAT_OFFSET = 7,
	TRACEDAT_TIME_SHIFT = 12,
	TRACEDAT_TSC2NSEC = 14,
	TRACEDAT_HEADER_INFO = 16,
	TRACEDAT_FTRACE_EVENTS = 17,
	TRACEDAT_EVENT_FORMATS = 18,
	TRACEDAT_KALLSYMS = 19,
	TRACEDAT_PRINTK = 20,
	TRACEDAT_CMDLINES = 21,
	TRACEDAT_BUFFER_TEXT = 22,
};

/*
 * Read the content of the section @id, HEADER_INFO to CMDLINES, which is the same in both versions.
 */
int tracedat_read_section(struct tracedat *file, enum tracedat_id id, struct tracedat_cursor *in,
			  struct uft_err *err);

/* Read everything after the beginning that both versions share. */
int tracedat_read_v6(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err);
int tracedat_read_v7(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err);

/*
 * Read one option, if it has the same meaning in both versions. @in contains nothing but this
 * option. Other options are skipped.
 */
int tracedat_read_option(struct tracedat *file, unsigned id, struct tracedat_cursor *in,
			 struct uft_err *err);

/* Add a new buffer. NULL with @err. */
struct tracedat_buffer *tracedat_add_buffer(struct tracedat *file, struct uft_err *err);

/* Add the next CPU of a buffer. 0, or negative with @err. */
int tracedat_add_cpu(struct tracedat *file, struct tracedat_buffer *buffer, struct tracedat_cpu cpu,
		     struct uft_err *err);

/* Find the selected clock in a list "local [mono] boot". */
void tracedat_chosen_clock(const char *list, char clock[static TRACEDAT_NAME_MAX]);

#endif
