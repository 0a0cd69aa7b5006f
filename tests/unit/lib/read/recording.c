/* A recording made of strings (see recording.h). */
#include "tests/unit/lib/read/recording.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#include "tests/unit/lib/unit.h"
#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/base/cleanup.h"
#include "utils/format/bytes.h"
#include "utils/format/calls/compact.h"
#include "utils/format/header.h"
#include "utils/format/record.h"

#define BASE_ADDR  0x400000
#define FIRST_TIME 1000

void recording_init(struct recording *rec)
{
	*rec = (struct recording){ .version = 4 };
	strcpy(rec->dir, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(rec->dir));
	strbuf_addstr(
		&rec->task_txt,
		"SESS timestamp=0.000000100 pid=100 sid=0123456789abcdef exename=\"/x/prog\"\n");
}

void recording_add_file(struct recording *rec, const char *name, const void *data, size_t len)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", rec->dir, name);
	assert_int_equal(outfile_put(path, data, len, NULL), 0);
}

void recording_finish(struct recording *rec)
{
	static const char map[] = "400000-500000 r-xp 00000000 00:00 0 /x/prog\n";
	struct data_header header = {
		.version = rec->version,
		.endian = rec->big ? HEADER_BIG_ENDIAN : HEADER_LITTLE_ENDIAN,
		.elf_class = HEADER_CLASS_64,
		.max_stack = 1024,
		.feat_mask = rec->features,
	};
	struct strbuf syms cleanup_strbuf = { 0 };
	uint8_t bytes[HEADER_SIZE];

	header_encode(&header, bytes);
	recording_add_file(rec, "info", bytes, sizeof(bytes));
	recording_add_file(rec, "task.txt", rec->task_txt.data, rec->task_txt.len);
	recording_add_file(rec, "sid-0123456789abcdef.map", map, strlen(map));
	strbuf_addstr(&syms, "# path name: /x/prog\n");
	for (int i = 0; i < 26; i++)
		strbuf_addf(&syms, "%x 10 P %c%s\n", 0x800 + i * 0x10,
			    rec->has_fork && i == 'F' - 'A' ? 'f' : 'A' + i,
			    rec->has_fork && i == 'F' - 'A' ? "ork" : "");
	for (int i = 0; i < 26; i++)
		strbuf_addf(&syms, "%x 40 T %c\n", 0x1000 + i * 0x40, 'a' + i);
	if (rec->symbols) {
		strbuf_reset(&syms);
		strbuf_addstr(&syms, rec->symbols);
	}
	recording_add_file(rec, "prog.sym", syms.data, syms.len);
}

void recording_deinit(struct recording *rec)
{
	DIR *dir = opendir(rec->dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(rec->dir);
	strbuf_deinit(&rec->task_txt);
}

uint64_t recording_addr(const char *name)
{
	if (*name == '\'')
		return KERNEL_ADDR_BIT + 0x1000 + (name[1] - 'a') * 0x40;
	if (*name >= 'A' && *name <= 'Z')
		return BASE_ADDR + 0x800 + (*name - 'A') * 0x10;
	return BASE_ADDR + 0x1000 + (*name - 'a') * 0x40 + 4;
}

void recording_put(const struct recording *rec, struct strbuf *out, uint64_t time_ns, uint64_t data)
{
	uint8_t bytes[16];

	put_u64(bytes, time_ns, rec->big);
	put_u64(bytes + 8, data, rec->big);
	strbuf_add(out, bytes, sizeof(bytes));
}

void recording_add_task(struct recording *rec, int32_t tid, const char *tree, uint64_t start_ns)
{
	struct strbuf out cleanup_strbuf = { 0 };
	char open[1024] = "";
	unsigned depth = 0;
	uint64_t time_ns = start_ns;
	char name[32];

	for (const char *p = tree; *p; p++) {
		uint64_t data;

		if (*p == '{')
			continue;
		if (*p == ' ') {
			time_ns += 1000;
			continue;
		}
		if (*p >= '0' && *p <= '9') {
			depth += *p - '0';
			continue;
		}
		if (*p == '!') {
			recording_put(rec, &out, 0, record_data(RECORD_LOST, 0, 7));
			continue;
		}
		if (*p == '*') {
			data = record_data(RECORD_EVENT, 0, EVENT_ID_USER + 1);
		} else if (*p == '}') {
			depth--;
			assert_true(open[depth]);
			data = record_data(RECORD_EXIT, depth, recording_addr(&open[depth]));
		} else if (*p == ')') {
			depth -= depth > 0;
			data = record_data(RECORD_EXIT, depth, recording_addr(++p));
		} else {
			open[depth] = *p;
			data = record_data(RECORD_ENTRY, depth++, recording_addr(p));
		}
		recording_put(rec, &out, time_ns, data);
		time_ns += 10;
	}
	snprintf(name, sizeof(name), "%d.dat", tid);
	recording_add_file(rec, name, out.data, out.len);
	strbuf_addf(&rec->task_txt, "TASK timestamp=0.000000200 tid=%d pid=100\n", tid);
}

void recording_pack(struct recording *rec, int32_t tid, size_t block_bytes)
{
	struct compact_coder *coder cleanup_compact_coder = compact_coder_create();
	uint8_t *out cleanup_free = malloc(compact_bound(COMPACT_RAW_MAX));
	struct strbuf raw cleanup_strbuf = { 0 };
	struct strbuf packed cleanup_strbuf = { 0 };
	char path[PATH_MAX];
	char kept[PATH_MAX];
	char name[32];

	snprintf(path, sizeof(path), "%s/%d.dat", rec->dir, tid);
	snprintf(kept, sizeof(kept), "%s/%d.kept", rec->dir, tid);
	rename(path, kept);
	assert_int_equal(file_read_all(kept, 1 << 24, &raw, NULL), 0);
	assert_true(coder && out);
	for (size_t at = 0; at < raw.len;) {
		size_t left = MIN(raw.len - at, block_bytes);
		size_t len;

		at += compact_encode(coder, tid, (uint8_t *)raw.data + at, left, false, out, &len);
		strbuf_add(&packed, out, len);
	}
	snprintf(name, sizeof(name), "%d.cdat", tid);
	recording_add_file(rec, name, packed.data, packed.len);
}

void perf_add_sched(struct strbuf *out, char what, int32_t tid, uint64_t time_ns)
{
	uint8_t bytes[24];
	uint16_t misc = what == 'o' ? 0x2000 : what == 'p' ? 0x6000 : 0;

	put_u32(bytes, 14, false);
	put_u16(bytes + 4, misc, false);
	put_u16(bytes + 6, sizeof(bytes), false);
	put_u32(bytes + 8, 100, false);
	put_u32(bytes + 12, tid, false);
	put_u64(bytes + 16, time_ns, false);
	strbuf_add(out, bytes, sizeof(bytes));
}

static void write_event(struct strbuf *out, const struct event *event)
{
	switch (event->type) {
	case EVENT_ENTRY:
		strbuf_addstr(out, event->func->name);
		strbuf_addch(out, '{');
		break;
	case EVENT_EXIT:
		strbuf_addstr(out, event->flags & EVENT_UNPAIRED ? "}?" : "}");
		break;
	case EVENT_LOST:
		strbuf_addch(out, '!');
		break;
	case EVENT_POINT:
		strbuf_addch(out, '*');
		break;
	case EVENT_SCHED_OUT:
		strbuf_addch(out, '~');
		break;
	case EVENT_SCHED_IN:
		strbuf_addch(out, '^');
		break;
	case EVENT_EXTERN:
		strbuf_addch(out, '#');
		break;
	}
}

int recording_write(void *self, const struct event_span *span, struct uft_err *err)
{
	struct recording_writer *writer = self;

	if (span->task && span->task != writer->task) {
		writer->task = span->task;
		strbuf_addf(writer->out, "%s%d:", writer->out->len ? " " : "", span->task->tid);
	}
	for (size_t i = 0; i < span->nr; i++)
		write_event(writer->out, &span->events[i]);
	return 0;
}

/* Writes the events of a view that takes those of several tasks in one order. */
static int write_mixed(void *self, const struct task_event *events, size_t nr, struct uft_err *err)
{
	for (size_t i = 0; i < nr; i++) {
		struct event_span span = { events[i].task, events[i].event, 1 };

		recording_write(self, &span, err);
	}
	return 0;
}

static void run_view(struct recording *rec, const struct pipeline_config *config,
		     const struct view *view, struct strbuf *out)
{
	struct uft_err err = { 0 };
	struct trace_data data;
	struct pipeline pipe;

	assert_int_equal(data_open(&data, rec->dir, DEMANGLE_SIMPLE, &err), 0);
	assert_int_equal(pipeline_open(&pipe, &data, config, &err), 0);
	assert_int_equal(pipeline_run(&pipe, view, &err), 0);
	if (pipe.broken.code)
		strbuf_addf(out, " broken");
	pipeline_close(&pipe);
	data_close(&data);
}

void recording_run(struct recording *rec, const struct pipeline_config *config, struct strbuf *out)
{
	struct strbuf mixed_out cleanup_strbuf = { 0 };
	struct recording_writer writer = { .out = out };
	struct recording_writer mixed_writer = { .out = &mixed_out };
	const struct view view = { .events = recording_write, .self = &writer };
	const struct view mixed = { .events = recording_write,
				    .mixed = write_mixed,
				    .self = &mixed_writer };
	size_t start = out->len;

	run_view(rec, config, &view, out);
	run_view(rec, config, &mixed, &mixed_out);
	assert_string_equal(strbuf_str(&mixed_out), strbuf_str(out) + start);
}
