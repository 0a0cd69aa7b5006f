/* The text of `info` after the header: program, machine, and end of the recording. */
#ifndef UTRAIL_FORMAT_INFO_H
#define UTRAIL_FORMAT_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/header.h"

/* info.exit_status of a recording that ended by a "finish" trigger. */
#define INFO_FINISHED_BY_TRIGGER (1 << 16)

/*
 * The state of the recording. utrail writes the state into the last line of `info`; uftrace writes
 * no such line. The line has a fixed length, so utrail can overwrite the line on a full disk.
 */
enum info_state {
	INFO_STATE_UNKNOWN, /* written by another version of utrail, or by uftrace */
	INFO_STATE_RUNNING, /* the program had not ended when the line was written */
	INFO_STATE_ENDED,
};

#define INFO_STATE_BYTES 57

/*
 * All items of doc/formats/info.md. A struct info starts as { 0 } and ends with info_deinit().
 *
 * @mask: the items that are present, as bits of enum header_info. If an item is absent, its integer
 *        members are undefined
 *
 * Strings are on the heap and belong to the struct. An absent string is NULL.
 */
struct info {
	uint64_t mask;

	char *exename;	     /* EXE_NAME: real path */
	char *build_id;	     /* EXE_BUILD_ID: lowercase hex */
	int32_t exit_status; /* EXIT_STATUS: as from wait(2), or INFO_FINISHED_BY_TRIGGER */
	char *cmdline;	     /* CMDLINE: plain text; quotes are escaped in the file only */

	int32_t cpus_online; /* CPUINFO */
	int32_t cpus_possible;
	char *cpu_desc;

	char *meminfo; /* MEMINFO: "22.8 / 23.5 GB (free / total)"; see info_set_meminfo() */

	char *kernel; /* OSINFO: "Linux 6.1.0" */
	char *hostname;
	char *distro; /* the quotation marks in os-release are kept */

	int32_t *tids; /* TASKINFO: ascending */
	size_t nr_tids;

	uint64_t systime_us; /* USAGEINFO */
	uint64_t usrtime_us;
	int64_t ctxsw_voluntary;
	int64_t ctxsw_involuntary;
	int64_t maxrss_kb;
	int64_t pagefault_major;
	int64_t pagefault_minor;
	int64_t iops_read;
	int64_t iops_write;

	uint64_t load_percent[3]; /* LOADINFO: 1, 5, 15 minutes; 150 is a load of 1.50 */

	char *argspec; /* ARG_SPEC: this member and the next five; each may be absent */
	char *retspec;
	char *argauto;
	char *retauto;
	char *enumauto;
	bool auto_args;

	char *record_date; /* RECORD_DATE: as ctime(3), without its newline */
	uint64_t elapsed_ns;
	char *pattern_type;   /* PATTERN_TYPE: "regex", "glob", "simple" */
	char *version;	      /* VERSION: of the recorder */
	int64_t utc_offset_s; /* UTC_OFFSET: seconds to add to a timestamp to get the time of day */
	int32_t perf_event_paranoid; /* SYSCTL */
	int32_t kptr_restrict;

	/* The following items have no bit in the mask, since uftrace does not know them. */
	char *too_deep;	    /* number of calls left out for their depth, as text; NULL: none */
	char *kept_returns; /* modules whose return addresses were not replaced, and why */
	char *cut_events;   /* as text: the number of the program's events whose data were cut */
	enum info_state state;
	uint64_t records_lost;
	int32_t write_error; /* errno of the first write that failed, or 0 */
};

void info_deinit(struct info *info);
#define cleanup_info cleanup(info_deinit)

/* Set the item MEMINFO from the numbers of /proc/meminfo. Returns 0 or -ENOMEM. */
int info_set_meminfo(struct info *info, uint64_t free_kb, uint64_t total_kb);

/* Append a single line: the line with the state. The line has INFO_STATE_BYTES bytes. */
void info_encode_state(const struct info *info, struct strbuf *out);

/* Append the text of the items in info->mask, in the order of the format. */
void info_encode(const struct info *info, struct strbuf *out);

/*
 * Parse the text of `info` into the empty @info. Unknown keys are skipped. An invalid last line
 * without newline is skipped, because a recorder that was killed may leave such a line.
 *
 * Returns 0, -EINVAL with the line and the key in @err, or -ENOMEM.
 */
int info_decode(const char *text, size_t len, struct info *info, struct uft_err *err);

#endif
