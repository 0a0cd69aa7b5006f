/*
 * Functions that the files of this directory share. The functions read the heads and the sections
 * of a trace.dat.
 */
#ifndef UTRAIL_TRACECMD_PARTS_H
#define UTRAIL_TRACECMD_PARTS_H

#include "utils/tracecmd/cursor.h"
#include "utils/tracecmd/tracedat.h"

/*
 * The maximum numbers of CPUs and of events. No machine has more CPUs, and an event's id has 16
 * bits.
 */
#define TRACEDAT_CPUS_MAX	    65536
#define TRACEDAT_EVENTS_MAX	    65536
/*
 * The maximum sizes of the formats, of kallsyms, and of saved_cmdlines. The formats are stored in
 * kernel_header, and readers of recordings refuse a larger kernel_header.
 */
#define TRACEDAT_FILES_MAX_BYTES    (64UL << 20)
#define TRACEDAT_KALLSYMS_MAX_BYTES (64UL << 20)
#define TRACEDAT_CMDLINES_MAX_BYTES (64UL << 20)

/* The ids of options, and of the sections that the options describe. */
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
 * Read the content of a section. @id is one of the ids from TRACEDAT_HEADER_INFO to
 * TRACEDAT_CMDLINES. These sections have the same content in versions 6 and 7 of the file.
 */
int tracedat_read_section(struct tracedat *file, enum tracedat_id id, struct tracedat_cursor *in,
			  struct uft_err *err);

/*
 * Read the rest of a file of version 6 or 7. The beginning, which both versions share, was read
 * before.
 */
int tracedat_read_v6(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err);
int tracedat_read_v7(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err);

/*
 * Copy the name in brackets from @list to @clock: "mono" from "local [mono] boot". If @list has no
 * name in brackets, or if the name is too long for @clock, @clock stays unchanged.
 */
void tracedat_chosen_clock(const char *list, char clock[static TRACEDAT_NAME_MAX]);

#endif
