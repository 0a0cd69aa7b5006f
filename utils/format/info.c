/* The text of `info` after the header (see info.h). Each line has a row in a table. */
#include "utils/format/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/text.h"
#include "utils/base/units.h"

struct info_line;

typedef void (*put_fn)(const struct info *info, const struct info_line *line, struct strbuf *out);
typedef bool (*get_fn)(struct info *info, const struct info_line *line, struct text *in);

/*
 * One line of the text.
 *
 * @prefix: the beginning of the line
 * @bit: the item to which the line belongs; 0: none
 * @put, @get: write and parse the text after the prefix
 * @offset: the offset of the field in struct info
 * @lines: the number that put_lines() writes; 0: put_lines() computes the number
 * @names: the text that put_pair() writes in parentheses ("read / write")
 */
struct info_line {
	const char *prefix;
	uint64_t bit;
	put_fn put;
	get_fn get;
	size_t offset;
	unsigned lines;
	const char *names;
};

static char **string_field(const struct info *info, const struct info_line *line)
{
	return (char **)((char *)info + line->offset);
}

static void put_string(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	const char *text = *string_field(info, line);

	if (text)
		text_put_name(out, text, strlen(text));
}

static bool get_string(struct info *info, const struct info_line *line, struct text *in)
{
	char **field = string_field(info, line);

	free(*field);
	*field = text_dup(in);
	in->at = in->end;
	return true;
}

/* Write the command line, with a backslash before each quote. */
static void put_cmdline(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	for (const char *p = info->cmdline ? info->cmdline : ""; *p; p++) {
		if (*p == '"')
			strbuf_addch(out, '\\');
		text_put_name(out, p, 1);
	}
}

static bool get_cmdline(struct info *info, const struct info_line *line, struct text *in)
{
	get_string(info, line, in);
	if (!info->cmdline)
		return true;

	char *to = info->cmdline;

	for (const char *from = to; *from; from++) {
		if (from[0] == '\\' && from[1] == '"')
			continue;
		*to++ = *from;
	}
	*to = '\0';
	return true;
}

static void put_i32(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addf(out, "%d", *(const int32_t *)((const char *)info + line->offset));
}

static bool get_i32(struct info *info, const struct info_line *line, struct text *in)
{
	return text_i32(in, (int32_t *)((char *)info + line->offset));
}

static void put_i64(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addf(out, "%lld", (long long)*(const int64_t *)((const char *)info + line->offset));
}

static bool get_i64(struct info *info, const struct info_line *line, struct text *in)
{
	return text_i64(in, (int64_t *)((char *)info + line->offset));
}

/* Write "<a> / <b> (<names>)". <a> is the int64_t at @offset, and <b> is the next int64_t. */
static void put_pair(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	const int64_t *field = (const int64_t *)((const char *)info + line->offset);

	strbuf_addf(out, "%lld / %lld (%s)", (long long)field[0], (long long)field[1], line->names);
}

static bool get_pair(struct info *info, const struct info_line *line, struct text *in)
{
	int64_t *field = (int64_t *)((char *)info + line->offset);
	int64_t first;
	int64_t second;

	if (!text_i64(in, &first) || !text_word(in, " / ") || !text_i64(in, &second))
		return false;
	field[0] = first;
	field[1] = second;
	return true;
}

static void put_usec(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	uint64_t us = *(const uint64_t *)((const char *)info + line->offset);

	strbuf_addf(out, "%llu.%06llu", (unsigned long long)(us / 1000000),
		    (unsigned long long)(us % 1000000));
}

static bool get_usec(struct info *info, const struct info_line *line, struct text *in)
{
	return text_fixed(in, 6, (uint64_t *)((char *)info + line->offset));
}

static unsigned nr_spec_lines(const struct info *info)
{
	return !!info->argspec + !!info->retspec + !!info->argauto + !!info->retauto +
	       !!info->enumauto + info->auto_args;
}

static void put_lines(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addu64(out, line->lines ? line->lines : nr_spec_lines(info));
}

/*
 * Skip the number in a "lines=NUMBER" line. This number is not needed, because each line begins
 * with a key.
 */
static bool get_lines(struct info *info, const struct info_line *line, struct text *in)
{
	uint64_t lines;

	return text_dec(in, &lines);
}

static void put_cpus(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addf(out, "%d / %d (online/possible)", info->cpus_online, info->cpus_possible);
}

static bool get_cpus(struct info *info, const struct info_line *line, struct text *in)
{
	return text_i32(in, &info->cpus_online) && text_word(in, " / ") &&
	       text_i32(in, &info->cpus_possible);
}

static void put_nr_tids(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addu64(out, info->nr_tids);
}

/* Skip the number of tids. This number is not needed: the list of tids ends at the line's end. */
static bool get_nr_tids(struct info *info, const struct info_line *line, struct text *in)
{
	uint64_t nr;

	return text_dec(in, &nr);
}

static void put_tids(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	for (size_t i = 0; i < info->nr_tids; i++) {
		if (i)
			strbuf_addch(out, ',');
		strbuf_addf(out, "%d", info->tids[i]);
	}
}

static bool get_tids(struct info *info, const struct info_line *line, struct text *in)
{
	size_t cap = text_left(in) / 2 + 1;
	int32_t *tids = calloc(cap, sizeof(*tids));

	free(info->tids);
	info->tids = tids;
	info->nr_tids = 0;
	if (!tids)
		return false;
	while (text_i32(in, &tids[info->nr_tids])) {
		info->nr_tids++;
		if (!text_word(in, ","))
			break;
	}
	return in->at == in->end;
}

static void put_load(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	for (int i = 0; i < 3; i++)
		strbuf_addf(out, "%s%llu.%02llu", i ? " / " : "",
			    (unsigned long long)(info->load_percent[i] / 100),
			    (unsigned long long)(info->load_percent[i] % 100));
}

static bool get_load(struct info *info, const struct info_line *line, struct text *in)
{
	return text_fixed(in, 2, &info->load_percent[0]) && text_word(in, " / ") &&
	       text_fixed(in, 2, &info->load_percent[1]) && text_word(in, " / ") &&
	       text_fixed(in, 2, &info->load_percent[2]);
}

static void put_auto_args(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addch(out, info->auto_args ? '1' : '0');
}

static bool get_auto_args(struct info *info, const struct info_line *line, struct text *in)
{
	uint64_t on;

	if (!text_dec(in, &on))
		return false;
	info->auto_args = on != 0;
	return true;
}

static void put_elapsed(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addf(out, SECONDS_FORMAT " sec", SECONDS_OF(info->elapsed_ns));
}

static bool get_elapsed(struct info *info, const struct info_line *line, struct text *in)
{
	return text_fixed(in, 9, &info->elapsed_ns);
}

static void put_sysctl(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addf(out, "perf_event_paranoid=%d kptr_restrict=%d", info->perf_event_paranoid,
		    info->kptr_restrict);
}

static bool get_sysctl(struct info *info, const struct info_line *line, struct text *in)
{
	return text_word(in, "perf_event_paranoid=") && text_i32(in, &info->perf_event_paranoid) &&
	       text_word(in, " kptr_restrict=") && text_i32(in, &info->kptr_restrict);
}

#define LINE(prefix, bit, put, get)         \
	{                                   \
		prefix, bit, put, get, 0, 0 \
	}
#define FIELD_LINE(prefix, bit, put, get, field)                       \
	{                                                              \
		prefix, bit, put, get, offsetof(struct info, field), 0 \
	}
#define PAIR_LINE(prefix, bit, field, names)                                            \
	{                                                                               \
		prefix, bit, put_pair, get_pair, offsetof(struct info, field), 0, names \
	}
#define COUNT_LINE(prefix, bit, lines)                      \
	{                                                   \
		prefix, bit, put_lines, get_lines, 0, lines \
	}

static const char *const state_words[] = {
	[INFO_STATE_RUNNING] = "running",
	[INFO_STATE_ENDED] = "ended",
};

static void put_state(const struct info *info, const struct info_line *line, struct strbuf *out)
{
	strbuf_addf(out, "%-7s lost=%020llu error=%03d", state_words[info->state],
		    (unsigned long long)info->records_lost, info->write_error % 1000);
}

static bool get_state(struct info *info, const struct info_line *line, struct text *in)
{
	uint64_t error = 0;

	info->state = text_word(in, "running")	 ? INFO_STATE_RUNNING
		      : text_word(in, "ended  ") ? INFO_STATE_ENDED
						 : INFO_STATE_UNKNOWN;
	/* A newer recorder may write a state that this reader does not know. */
	if (!info->state)
		return true;
	if (!text_word(in, " lost=") || !text_dec(in, &info->records_lost) ||
	    !text_word(in, " error=") || !text_dec(in, &error) || error > INT32_MAX)
		return false;
	info->write_error = (int32_t)error;
	return true;
}

/*
 * The lines in the order of the file. If the prefix of one line begins with the whole prefix of
 * another line, the line with the longer prefix is first, because its prefix must be compared
 * first.
 */
static const struct info_line info_lines[] = {
	FIELD_LINE("exename:", INFO_EXE_NAME, put_string, get_string, exename),
	FIELD_LINE("build_id:", INFO_EXE_BUILD_ID, put_string, get_string, build_id),
	FIELD_LINE("exit_status:", INFO_EXIT_STATUS, put_i32, get_i32, exit_status),
	FIELD_LINE("cmdline:", INFO_CMDLINE, put_cmdline, get_cmdline, cmdline),
	COUNT_LINE("cpuinfo:lines=", INFO_CPUINFO, 2),
	LINE("cpuinfo:nr_cpus=", INFO_CPUINFO, put_cpus, get_cpus),
	FIELD_LINE("cpuinfo:desc=", INFO_CPUINFO, put_string, get_string, cpu_desc),
	FIELD_LINE("meminfo:", INFO_MEMINFO, put_string, get_string, meminfo),
	COUNT_LINE("osinfo:lines=", INFO_OSINFO, 3),
	FIELD_LINE("osinfo:kernel=", INFO_OSINFO, put_string, get_string, kernel),
	FIELD_LINE("osinfo:hostname=", INFO_OSINFO, put_string, get_string, hostname),
	FIELD_LINE("osinfo:distro=", INFO_OSINFO, put_string, get_string, distro),
	COUNT_LINE("taskinfo:lines=", INFO_TASKINFO, 2),
	LINE("taskinfo:nr_tid=", INFO_TASKINFO, put_nr_tids, get_nr_tids),
	LINE("taskinfo:tids=", INFO_TASKINFO, put_tids, get_tids),
	COUNT_LINE("usageinfo:lines=", INFO_USAGEINFO, 6),
	FIELD_LINE("usageinfo:systime=", INFO_USAGEINFO, put_usec, get_usec, systime_us),
	FIELD_LINE("usageinfo:usrtime=", INFO_USAGEINFO, put_usec, get_usec, usrtime_us),
	PAIR_LINE("usageinfo:ctxsw=", INFO_USAGEINFO, ctxsw_voluntary, "voluntary / involuntary"),
	FIELD_LINE("usageinfo:maxrss=", INFO_USAGEINFO, put_i64, get_i64, maxrss_kb),
	PAIR_LINE("usageinfo:pagefault=", INFO_USAGEINFO, pagefault_major, "major / minor"),
	PAIR_LINE("usageinfo:iops=", INFO_USAGEINFO, iops_read, "read / write"),
	LINE("loadinfo:", INFO_LOADINFO, put_load, get_load),
	COUNT_LINE("argspec:lines=", INFO_ARG_SPEC, 0),
	FIELD_LINE("argspec:", INFO_ARG_SPEC, put_string, get_string, argspec),
	FIELD_LINE("retspec:", INFO_ARG_SPEC, put_string, get_string, retspec),
	FIELD_LINE("argauto:", INFO_ARG_SPEC, put_string, get_string, argauto),
	FIELD_LINE("retauto:", INFO_ARG_SPEC, put_string, get_string, retauto),
	FIELD_LINE("enumauto:", INFO_ARG_SPEC, put_string, get_string, enumauto),
	LINE("auto-args:", INFO_ARG_SPEC, put_auto_args, get_auto_args),
	FIELD_LINE("record_date:", INFO_RECORD_DATE, put_string, get_string, record_date),
	LINE("elapsed_time:", INFO_RECORD_DATE, put_elapsed, get_elapsed),
	FIELD_LINE("pattern_type:", INFO_PATTERN_TYPE, put_string, get_string, pattern_type),
	FIELD_LINE("uftrace_version:", INFO_VERSION, put_string, get_string, version),
	FIELD_LINE("utc_offset:", INFO_UTC_OFFSET, put_i64, get_i64, utc_offset_s),
	LINE("sysctl:", INFO_SYSCTL, put_sysctl, get_sysctl),
	FIELD_LINE("utrail_too_deep:", 0, put_string, get_string, too_deep),
	FIELD_LINE("utrail_kept_returns:", 0, put_string, get_string, kept_returns),
	FIELD_LINE("utrail_cut_events:", 0, put_string, get_string, cut_events),
	LINE("utrail_state:", 0, put_state, get_state),
};

_Static_assert(offsetof(struct info, ctxsw_involuntary) ==
		       offsetof(struct info, ctxsw_voluntary) + sizeof(int64_t),
	       "put_pair() takes neighbours");
_Static_assert(offsetof(struct info, pagefault_minor) ==
		       offsetof(struct info, pagefault_major) + sizeof(int64_t),
	       "put_pair() takes neighbours");
_Static_assert(offsetof(struct info, iops_write) ==
		       offsetof(struct info, iops_read) + sizeof(int64_t),
	       "put_pair() takes neighbours");

void info_deinit(struct info *info)
{
	for (size_t i = 0; i < ARRAY_SIZE(info_lines); i++) {
		const struct info_line *line = &info_lines[i];

		if (line->put == put_string || line->put == put_cmdline)
			free(*string_field(info, line));
	}
	free(info->tids);
	*info = (struct info){ 0 };
}

int info_set_meminfo(struct info *info, uint64_t free_kb, uint64_t total_kb)
{
	static const char *const units[] = { "KB", "MB", "GB", "TB" };
	struct strbuf text cleanup_strbuf = { 0 };
	uint64_t scale = 1;
	unsigned unit = 0;

	while (total_kb / scale >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		scale *= 1024;
		unit++;
	}
	strbuf_addf(&text, "%llu.%llu / %llu.%llu %s (free / total)",
		    (unsigned long long)(free_kb / scale),
		    (unsigned long long)(free_kb % scale * 10 / scale),
		    (unsigned long long)(total_kb / scale),
		    (unsigned long long)(total_kb % scale * 10 / scale), units[unit]);
	if (strbuf_oom(&text))
		return -ENOMEM;
	free(info->meminfo);
	info->meminfo = take_ptr(text.data);
	info->mask |= INFO_MEMINFO;
	return 0;
}

/*
 * True when the line must be written:
 *
 * - A line of ARG_SPEC is written if info->mask has the bit of the line, and the value is present.
 * - Any other line with a bit is written if info->mask has the bit.
 * - A line without a bit is written if the value is present.
 */
static bool line_is_wanted(const struct info *info, const struct info_line *line)
{
	if (line->put == put_state)
		return info->state != INFO_STATE_UNKNOWN;
	if (!line->bit)
		return *string_field(info, line);
	if (!(info->mask & line->bit))
		return false;
	if (line->put == put_auto_args)
		return info->auto_args;
	if (line->put == put_lines && !line->lines)
		return nr_spec_lines(info) > 0;
	return line->bit != INFO_ARG_SPEC || line->put != put_string || *string_field(info, line);
}

void info_encode(const struct info *info, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(info_lines); i++) {
		const struct info_line *line = &info_lines[i];

		if (!line_is_wanted(info, line))
			continue;
		strbuf_addstr(out, line->prefix);
		line->put(info, line, out);
		strbuf_addch(out, '\n');
	}
}

void info_encode_state(const struct info *info, struct strbuf *out)
{
	strbuf_addstr(out, "utrail_state:");
	put_state(info, NULL, out);
	strbuf_addch(out, '\n');
}

static const struct info_line *line_find(struct text *in)
{
	for (size_t i = 0; i < ARRAY_SIZE(info_lines); i++) {
		if (text_word(in, info_lines[i].prefix))
			return &info_lines[i];
	}
	return NULL;
}

/* True when memory was too short for the value of the line. */
static bool lacks_memory(const struct info *info, const struct info_line *line)
{
	if (line->get == get_tids)
		return !info->tids;
	return (line->get == get_string || line->get == get_cmdline) && !*string_field(info, line);
}

static int lines_decode(struct text in, struct info *info, struct uft_err *err)
{
	struct text line;
	bool whole;

	for (size_t nr = 1; text_line(&in, &line, &whole); nr++) {
		const struct info_line *form = line_find(&line);

		if (!form)
			continue;

		bool is_read = form->get(info, form, &line);

		if (lacks_memory(info, form))
			return err_set_errno(err, -ENOMEM, "line %zu", nr);
		if (!is_read) {
			if (!whole)
				break;
			return err_set(err, -EINVAL, "line %zu: cannot read the value of '%.*s'",
				       nr, (int)strlen(form->prefix) - 1, form->prefix);
		}
		if (form->get != get_lines)
			info->mask |= form->bit;
	}
	return 0;
}

int info_decode(const char *text, size_t len, struct info *info, struct uft_err *err)
{
	int ret = lines_decode(text_of(text, len), info, err);

	if (ret < 0)
		info_deinit(info);
	return ret;
}
