/*
 * Reads the sections of a trace.dat that contain copies of files from tracefs and /proc (see
 * parts.h).
 */
#include <errno.h>
#include <stdio.h>

#include "utils/format/kernel/kernel_dat.h"
#include "utils/format/text.h"
#include "utils/tracecmd/parts.h"

/* Limits of a format file and of the names of systems and events, in bytes. */
#define FORMAT_MAX_BYTES (1UL << 20)
#define SYSTEM_MAX	 128
#define EVENT_MAX	 128

static const char header_page[] = "header_page";
static const char header_event[] = "header_event";

/*
 * True for a name of visible ASCII characters without '/' and ':'. Only such a name is accepted for
 * a system or an event.
 */
static bool is_name(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++) {
		if (*name <= ' ' || *name > '~' || *name == '/' || *name == ':')
			return false;
	}
	return true;
}

/*
 * Read the next @len bytes of @in into @content. These bytes are a copy of a file of tracefs. If
 * @name is not NULL, also append the bytes to file->files, under the name @name.
 */
static int take_file(struct tracedat *file, const char *name, struct tracedat_cursor *in,
		     uint64_t len, struct strbuf *content, struct uft_err *err)
{
	int ret = tracedat_take_blob(in, len, FORMAT_MAX_BYTES, content, err);

	if (ret < 0)
		return ret;
	if (file->files.len + len + EVENT_MAX * 4 > TRACEDAT_FILES_MAX_BYTES)
		return err_set(err, -EFBIG, "%s: the files of tracefs are more than %lu bytes",
			       tracedat_cursor_place(in).text, TRACEDAT_FILES_MAX_BYTES);
	if (name)
		kernel_header_put_file(&file->files, name, strbuf_str(content), content->len);
	return strbuf_oom(&file->files) ? err_set_errno(err, -ENOMEM, "cannot keep '%s'", name) : 0;
}

static int read_header_info(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	struct strbuf page cleanup_strbuf = { 0 };
	struct strbuf event cleanup_strbuf = { 0 };
	uint64_t len = 0;
	int ret = tracedat_take_word(in, header_page, sizeof(header_page), err);

	if (ret == 0)
		ret = tracedat_take_u64(in, &len, err);
	if (ret == 0)
		ret = take_file(file, "events/header_page", in, len, &page, err);
	if (ret < 0)
		return ret;
	file->long_size = kernel_header_page_long(text_of(page.data, page.len));
	/*
	 * The file header_event describes the layout of the first bytes of each record. This layout
	 * is the same in all versions of Linux, so the file is skipped.
	 */
	ret = tracedat_take_word(in, header_event, sizeof(header_event), err);
	if (ret == 0)
		ret = tracedat_take_u64(in, &len, err);
	return ret < 0 ? ret : tracedat_take_blob(in, len, FORMAT_MAX_BYTES, &event, err);
}

/* Find the event's name in @format. The first line of a valid @format is "name: <name>". */
static bool find_event_name(const struct strbuf *format, char name[static EVENT_MAX])
{
	struct text in = text_of(format->data, format->len);
	struct text line;
	bool is_whole;

	if (!text_line(&in, &line, &is_whole) || !text_word(&line, "name: ") ||
	    text_left(&line) >= EVENT_MAX)
		return false;
	snprintf(name, EVENT_MAX, "%.*s", (int)text_left(&line), line.at);
	return is_name(name);
}

/* Read the format of an event of @system. */
static int read_format(struct tracedat *file, const char *system, struct tracedat_cursor *in,
		       struct uft_err *err)
{
	struct strbuf format cleanup_strbuf = { 0 };
	const struct tracedat_place place = tracedat_cursor_place(in);
	char event[EVENT_MAX];
	char path[SYSTEM_MAX + EVENT_MAX + 32];
	uint64_t len;
	int ret = tracedat_take_u64(in, &len, err);

	if (ret == 0)
		ret = take_file(file, NULL, in, len, &format, err);
	if (ret < 0)
		return ret;
	if (!find_event_name(&format, event)) {
		tracedat_note(file, "%s: an event of '%s' has no name; its records have no fields",
			      place.text, system);
		return 0;
	}
	snprintf(path, sizeof(path), "events/%s/%s/format", system, event);
	kernel_header_put_file(&file->files, path, format.data, format.len);
	return strbuf_oom(&file->files) ? err_set_errno(err, -ENOMEM, "cannot keep '%s'", path) : 0;
}

static int read_formats(struct tracedat *file, const char *system, struct tracedat_cursor *in,
			struct uft_err *err)
{
	const struct tracedat_place place = tracedat_cursor_place(in);
	uint32_t nr;
	int ret = tracedat_take_u32(in, &nr, err);

	if (ret == 0 && nr > TRACEDAT_EVENTS_MAX - file->nr_events)
		return err_set(err, -EBADMSG, "%s: %u events are too many", place.text, nr);
	for (uint32_t i = 0; ret == 0 && i < nr; i++) {
		ret = read_format(file, system, in, err);
		file->nr_events++;
	}
	return ret;
}

static int read_systems(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	const struct tracedat_place place = tracedat_cursor_place(in);
	char system[SYSTEM_MAX];
	uint32_t nr;
	int ret = tracedat_take_u32(in, &nr, err);

	if (ret == 0 && nr > TRACEDAT_EVENTS_MAX)
		return err_set(err, -EBADMSG, "%s: %u systems are too many", place.text, nr);
	for (uint32_t i = 0; ret == 0 && i < nr; i++) {
		const struct tracedat_place at = tracedat_cursor_place(in);

		ret = tracedat_take_text(in, system, sizeof(system), err);
		if (ret == 0 && !is_name(system))
			ret = err_set(err, -EBADMSG, "%s: expected the name of a system of events",
				      at.text);
		if (ret == 0)
			ret = read_formats(file, system, in, err);
	}
	return ret;
}

/* Read a length, which is stored in @len_bytes bytes. Then read a file of this length. */
static int read_blob(struct tracedat_cursor *in, size_t len_bytes, size_t max, struct strbuf *to,
		     struct uft_err *err)
{
	uint32_t narrow;
	uint64_t len;
	int ret;

	if (len_bytes == sizeof(len)) {
		ret = tracedat_take_u64(in, &len, err);
	} else {
		ret = tracedat_take_u32(in, &narrow, err);
		len = ret == 0 ? narrow : 0;
	}
	return ret < 0 ? ret : tracedat_take_blob(in, len, max, to, err);
}

/*
 * Read a file as read_blob() does. The content stays in memory, so file->budget counts the bytes of
 * the content.
 */
static int keep_blob(struct tracedat *file, struct tracedat_cursor *in, size_t len_bytes,
		     size_t max, struct strbuf *to, struct uft_err *err)
{
	size_t before = to->len;
	int ret = read_blob(in, len_bytes, max, to, err);

	return ret < 0 ? ret : budget_hold(&file->budget, to->len - before, err);
}

/*
 * Read and discard the format strings of trace_printk(). Views show no records of trace_printk().
 * The strings must be read, because in version 6 of trace.dat the next section begins where the
 * strings end.
 */
static int read_printk(struct tracedat_cursor *in, struct uft_err *err)
{
	struct strbuf formats cleanup_strbuf = { 0 };

	return read_blob(in, 4, FORMAT_MAX_BYTES * 16, &formats, err);
}

int tracedat_read_section(struct tracedat *file, enum tracedat_id id, struct tracedat_cursor *in,
			  struct uft_err *err)
{
	switch (id) {
	case TRACEDAT_HEADER_INFO:
		return read_header_info(file, in, err);
	case TRACEDAT_FTRACE_EVENTS:
		return read_formats(file, "ftrace", in, err);
	case TRACEDAT_EVENT_FORMATS:
		return read_systems(file, in, err);
	case TRACEDAT_KALLSYMS:
		return keep_blob(file, in, 4, TRACEDAT_KALLSYMS_MAX_BYTES, &file->kallsyms, err);
	case TRACEDAT_PRINTK:
		return read_printk(in, err);
	case TRACEDAT_CMDLINES:
		return keep_blob(file, in, 8, TRACEDAT_CMDLINES_MAX_BYTES, &file->cmdlines, err);
	default:
		return 0;
	}
}
