/*
 * Reads the heads and the options of a trace.dat (see parts.h). The heads tell where the parts of
 * the file are.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "utils/base/containers/vec.h"
#include "utils/format/text.h"
#include "utils/tracecmd/parts.h"

#define OPTION_MAX_BYTES   (16U << 20)
#define SECTION_MAX_BYTES  (128UL << 20)
#define OPTIONS_MAX	   4096 /* maximum number of option sections; each buffer has one section */
#define BUFFERS_MAX	   4096
#define LIST_MAX	   4096
#define SECTION_PACKED	   1
#define SECTION_HEAD_BYTES 16
#define V6_CPU_BYTES	   16 /* 8 bytes for the offset of a CPU's records, 8 for the size */

static struct tracedat_cursor cursor_at(const struct tracedat *file, uint64_t offset)
{
	return (struct tracedat_cursor){ .fd = file->fd,
					 .at = MIN(offset, file->bytes),
					 .end = file->bytes,
					 .is_big_endian = file->is_big_endian };
}

/* --- options of both versions --- */

/*
 * Read the length of the option at @in, set @option to its content, and move @in past the option.
 */
static int take_option(struct tracedat_cursor *in, uint64_t max, struct tracedat_cursor *option,
		       struct uft_err *err)
{
	uint32_t len = 0;
	int ret = tracedat_take_u32(in, &len, err);

	if (ret == 0 && (len > tracedat_cursor_left(in) || len > max))
		ret = err_set(err, -EBADMSG, "%s: an option of %u bytes",
			      tracedat_cursor_place(in).text, len);
	if (ret < 0)
		return ret;
	*option = *in;
	in->at += len;
	option->end = in->at;
	return 0;
}

/*
 * Handle @ret and @why, the result and the error of reading an option. If @ret is -ENOMEM or
 * -EDQUOT, copy the text of @why to @err and return @ret, so that reading ends. Store any other
 * error in file->damage and return 0.
 */
static int note_option(struct tracedat *file, int ret, const struct uft_err *why,
		       struct uft_err *err)
{
	if (ret == -ENOMEM || ret == -EDQUOT)
		return err_set(err, ret, "%s", why->text);
	if (ret < 0)
		tracedat_note(file, "%s", why->text);
	return 0;
}

/* Read a number, such as "0x1234" or "-17". */
static bool read_number(const char *text, int64_t *value)
{
	struct text in = text_of(text, strlen(text));
	uint64_t number;

	if (!text_word(&in, "0x"))
		return text_i64(&in, value) && !text_left(&in);
	if (!text_hex(&in, &number) || text_left(&in) || number > INT64_MAX)
		return false;
	*value = number;
	return true;
}

/*
 * Read an option that is a number as text. Returns 1 on success, 0 with a note in file->damage if
 * the number is damaged, or a negative errno.
 */
static int read_number_option(struct tracedat *file, const char *what, int64_t max,
			      struct tracedat_cursor *in, int64_t *value, struct uft_err *err)
{
	const struct tracedat_place place = tracedat_cursor_place(in);
	char text[64];
	int64_t number;
	int ret = tracedat_take_text(in, text, sizeof(text), err);

	if (ret < 0)
		return ret;
	if (!read_number(text, &number) || number > max || number < -max) {
		tracedat_note(file, "%s: the %s is no number", place.text, what);
		return 0;
	}
	*value = number;
	return 1;
}

static int read_tsc(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	const struct tracedat_place place = tracedat_cursor_place(in);
	uint32_t mult;
	uint32_t shift;
	int ret = tracedat_take_u32(in, &mult, err);

	if (ret == 0)
		ret = tracedat_take_u32(in, &shift, err);
	if (ret < 0)
		return ret;
	if (!mult || shift > 32) {
		tracedat_note(file, "%s: a counter cannot run so fast", place.text);
		return 0;
	}
	/*
	 * The next number in the option is the start value of the CPU's counter. utrail ignores
	 * the start value, which would only shift all times by the same amount.
	 */
	file->tsc_mult = mult;
	file->tsc_shift = shift;
	file->has_tsc = true;
	return 0;
}

/* Read an option that has the same meaning in versions 6 and 7. Other options are ignored. */
static int read_option(struct tracedat *file, unsigned id, struct tracedat_cursor *in,
		       struct uft_err *err)
{
	char list[LIST_MAX];
	int64_t number = 0;
	int ret;

	switch (id) {
	case TRACEDAT_DATE:
		ret = read_number_option(file, "time of day", INT64_MAX / 4000, in, &number, err);
		if (ret > 0) {
			file->date_ns = number * 1000;
			file->has_date = true;
		}
		return MIN(ret, 0);
	case TRACEDAT_OFFSET:
		ret = read_number_option(file, "offset of times", INT64_MAX / 4, in, &number, err);
		if (ret > 0)
			file->offset = number;
		return MIN(ret, 0);
	case TRACEDAT_UNAME:
		return tracedat_take_text(in, file->uname, sizeof(file->uname), err);
	case TRACEDAT_TSC2NSEC:
		return read_tsc(file, in, err);
	case TRACEDAT_TIME_SHIFT:
		file->has_other_clocks = true;
		return 0;
	case TRACEDAT_TRACECLOCK:
		/*
		 * The option TRACEDAT_TRACECLOCK is a list of clocks, with the chosen clock in
		 * brackets. In version 6, the list is for the top instance. In version 7, each
		 * buffer has an option TRACEDAT_BUFFER with the name of the buffer's clock.
		 */
		ret = tracedat_take_text(in, list, sizeof(list), err);
		if (ret == 0 && file->nr_buffers)
			tracedat_chosen_clock(list, file->buffers[0].clock);
		return ret;
	default:
		return 0;
	}
}

/* --- buffers --- */

static struct tracedat_buffer *add_buffer(struct tracedat *file, struct uft_err *err)
{
	struct tracedat_buffer *buffers = file->nr_buffers < BUFFERS_MAX
						  ? vec_grow(file->buffers, file->nr_buffers,
							     sizeof(*buffers))
						  : NULL;

	if (!buffers) {
		err_set_errno(err, -ENOMEM, "cannot keep %zu buffers", file->nr_buffers + 1);
		return NULL;
	}
	file->buffers = buffers;
	buffers += file->nr_buffers++;
	*buffers = (struct tracedat_buffer){ .page_bytes = file->page_bytes };
	return buffers;
}

/*
 * Add a CPU. If the CPU's records extend beyond the end of the file, only the bytes before the end
 * are used, and file->damage gets a note.
 */
static int add_cpu(struct tracedat *file, struct tracedat_buffer *buffer, struct tracedat_cpu cpu,
		   struct uft_err *err)
{
	struct tracedat_cpu *cpus;

	if (cpu.cpu >= TRACEDAT_CPUS_MAX) {
		tracedat_note(file, "no machine has a CPU %u: its records are left out", cpu.cpu);
		return 0;
	}
	if (cpu.offset > file->bytes || cpu.bytes > file->bytes - cpu.offset) {
		uint64_t there = cpu.offset < file->bytes ? file->bytes - cpu.offset : 0;

		tracedat_note(file,
			      "CPU %u: of %" PRIu64 " bytes of records at offset %" PRIu64
			      " there are %" PRIu64,
			      cpu.cpu, cpu.bytes, cpu.offset, there);
		cpu.bytes = there;
	}
	if (!cpu.bytes)
		return 0;

	struct uft_err why = { 0 };
	int ret = budget_take_part(&file->budget, cpu.offset, cpu.bytes, &why);

	if (ret == -EBADMSG) {
		tracedat_note(file, "CPU %u: %s", cpu.cpu, why.text);
		return 0;
	}
	cpus = ret < 0 ? NULL : vec_grow(buffer->cpus, buffer->nr_cpus, sizeof(*cpus));
	if (!cpus)
		return err_set_errno(err, -ENOMEM, "cannot keep %zu CPUs", buffer->nr_cpus + 1);
	buffer->cpus = cpus;
	cpus[buffer->nr_cpus++] = cpu;
	return 0;
}

/* Read the offset and the size of the records of @cpu, and pass them to add_cpu(). */
static int read_cpu(struct tracedat *file, struct tracedat_buffer *buffer, uint32_t cpu,
		    struct tracedat_cursor *in, struct uft_err *err)
{
	struct tracedat_cpu added = { .cpu = cpu };
	int ret = tracedat_take_u64(in, &added.offset, err);

	if (ret == 0)
		ret = tracedat_take_u64(in, &added.bytes, err);
	return ret < 0 ? ret : add_cpu(file, buffer, added, err);
}

/* --- version 6 --- */

static const char v6_options[] = "options  ";
static const char v6_records[] = "flyrecord";
static const char v6_text[] = "latency  ";

/*
 * Read the places of the records of the @nr CPUs, and then the list of clocks, which names the
 * chosen clock. Files from old releases of trace-cmd lack this list.
 */
static int read_v6_cpus(struct tracedat *file, struct tracedat_buffer *buffer, uint32_t nr,
			struct tracedat_cursor *in, struct uft_err *err)
{
	struct strbuf clocks cleanup_strbuf = { 0 };
	uint64_t len = 0;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < nr; i++)
		ret = read_cpu(file, buffer, i, in, err);
	if (ret < 0)
		return ret;
	if (tracedat_take_u64(in, &len, NULL) == 0 && len && len < LIST_MAX &&
	    tracedat_take_blob(in, len, LIST_MAX, &clocks, NULL) == 0)
		tracedat_chosen_clock(strbuf_str(&clocks), buffer->clock);
	return 0;
}

/*
 * Read the option that tells the place of an instance's table of records. The table has the same
 * format as the top instance's table. This function reserves the bytes of the table, so that no
 * later option can name the same table. Without the reservation, thousands of options could name
 * one table. A damaged option may name a place that contains records. A damaged option must not
 * reserve bytes, so the function first checks that a table begins at the place.
 */
static int read_v6_instance(struct tracedat *file, uint32_t nr_cpus, struct tracedat_cursor *in,
			    struct uft_err *err)
{
	struct tracedat_buffer *buffer;
	struct tracedat_cursor at = cursor_at(file, 0);
	int ret = tracedat_take_u64(in, &at.at, err);

	if (ret < 0)
		return ret;
	buffer = add_buffer(file, err);
	if (!buffer)
		return -ENOMEM;
	ret = tracedat_take_text(in, buffer->name, sizeof(buffer->name), err);
	if (ret == 0 && at.at > at.end)
		ret = err_set(err, -EBADMSG,
			      "offset %" PRIu64
			      ", where the buffer '%s' is to be, is behind the end",
			      at.at, buffer->name);
	if (ret == 0)
		ret = tracedat_take_word(&at, v6_records, sizeof(v6_records), err);
	if (ret == 0)
		ret = budget_take_part(&file->budget, at.at - sizeof(v6_records),
				       sizeof(v6_records) + (uint64_t)nr_cpus * V6_CPU_BYTES, err);
	return ret < 0 ? ret : read_v6_cpus(file, buffer, nr_cpus, &at, err);
}

/* Read the options. A damaged option is noted, and reading continues with the next one. */
static int read_v6_options(struct tracedat *file, uint32_t nr_cpus, struct tracedat_cursor *in,
			   struct uft_err *err)
{
	for (;;) {
		struct uft_err why = { 0 };
		struct tracedat_cursor option;
		uint16_t id;
		int ret = tracedat_take_u16(in, &id, err);

		if (ret < 0 || id == TRACEDAT_DONE)
			return ret;
		ret = take_option(in, UINT32_MAX, &option, err);
		if (ret < 0)
			return ret;
		ret = id == TRACEDAT_BUFFER ? read_v6_instance(file, nr_cpus, &option, &why)
					    : read_option(file, id, &option, &why);
		ret = note_option(file, ret, &why, err);
		if (ret < 0)
			return ret;
	}
}

static int read_v6_tables(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	const struct tracedat_place place = tracedat_cursor_place(in);
	char kind[sizeof(v6_records)] = "";
	uint32_t nr_cpus;
	int ret = tracedat_take_u32(in, &nr_cpus, err);

	if (ret == 0 && nr_cpus > TRACEDAT_CPUS_MAX)
		ret = err_set(err, -EBADMSG, "%s: %u CPUs are too many", place.text, nr_cpus);
	if (ret == 0 && !add_buffer(file, err))
		ret = -ENOMEM;
	if (ret == 0)
		ret = tracedat_take(in, kind, sizeof(kind), err);
	if (ret == 0 && memcmp(kind, v6_options, sizeof(kind)) == 0) {
		ret = read_v6_options(file, nr_cpus, in, err);
		if (ret == 0)
			ret = tracedat_take(in, kind, sizeof(kind), err);
	}
	if (ret < 0)
		return ret;
	if (memcmp(kind, v6_text, sizeof(kind)) == 0) {
		file->has_text = true;
		return 0;
	}
	if (memcmp(kind, v6_records, sizeof(kind)) != 0)
		return err_set(err, -EBADMSG, "offset %" PRIu64 ": expected '%s' or '%s'",
			       in->at - sizeof(kind), v6_records, v6_text);
	return read_v6_cpus(file, &file->buffers[0], nr_cpus, in, err);
}

int tracedat_read_v6(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	int ret = 0;

	/*
	 * The length of a section is not stored, so a section must be read to find the next
	 * section.
	 */
	for (unsigned id = TRACEDAT_HEADER_INFO; ret == 0 && id <= TRACEDAT_CMDLINES; id++)
		ret = tracedat_read_section(file, id, in, err);
	return ret < 0 ? ret : read_v6_tables(file, in, err);
}

/* --- version 7 --- */

struct section {
	uint16_t id;
	uint16_t flags;
	uint64_t bytes;
};

/* Read the section's header at @in, and set @in to the section's content. */
static int open_section(struct tracedat_cursor *in, unsigned id, struct section *section,
			struct uft_err *err)
{
	const struct tracedat_place place = tracedat_cursor_place(in);
	uint32_t name;
	int ret = tracedat_take_u16(in, &section->id, err);

	if (ret == 0)
		ret = tracedat_take_u16(in, &section->flags, err);
	if (ret == 0)
		ret = tracedat_take_u32(in, &name, err);
	if (ret == 0)
		ret = tracedat_take_u64(in, &section->bytes, err);
	if (ret < 0)
		return ret;
	if (section->id != id)
		return err_set(err, -EBADMSG, "%s: expected a section %u, found a section %u",
			       place.text, id, section->id);
	if (section->bytes > tracedat_cursor_left(in))
		return err_set(err, -EBADMSG,
			       "%s: a section of %" PRIu64 " bytes, there are %" PRIu64, place.text,
			       section->bytes, tracedat_cursor_left(in));
	in->end = in->at + section->bytes;
	return 0;
}

/* Unpack the section at @in to @room, and set @in to the unpacked content. */
static int unpack_section(struct tracedat *file, struct tracedat_cursor *in, struct strbuf *room,
			  struct uft_err *err)
{
	const struct tracedat_place place = tracedat_cursor_place(in);
	struct strbuf packed cleanup_strbuf = { 0 };
	uint32_t packed_bytes;
	uint32_t bytes;
	int ret = tracedat_take_u32(in, &packed_bytes, err);

	if (ret == 0)
		ret = tracedat_take_u32(in, &bytes, err);
	if (ret == 0 && bytes > SECTION_MAX_BYTES)
		ret = err_set(err, -EFBIG, "%s: a section of %u bytes when unpacked is too large",
			      place.text, bytes);
	if (ret == 0)
		ret = tracedat_take_blob(in, packed_bytes, SECTION_MAX_BYTES, &packed, err);
	if (ret == 0)
		ret = budget_unpack(&file->budget, bytes, err);
	if (ret == 0 && !strbuf_grow(room, bytes))
		ret = err_set_errno(err, -ENOMEM, "%s", place.text);
	if (ret < 0)
		return ret;
	if (!file->unpack)
		return err_set(err, -EBADMSG, "%s: a packed section, in a file with none",
			       place.text);
	ret = file->unpack(packed.data, packed.len, room->data, bytes);
	if (ret < 0)
		return err_set_errno(err, ret, "%s: cannot unpack %u bytes", place.text,
				     packed_bytes);
	*in = (struct tracedat_cursor){
		.fd = -1,
		.bytes = (const uint8_t *)room->data,
		.start = in->at - packed_bytes,
		.end = bytes,
		.is_big_endian = in->is_big_endian,
	};
	return 0;
}

/* Read the section to which @option points. */
static int read_v7_section(struct tracedat *file, unsigned id, struct tracedat_cursor *option,
			   struct uft_err *err)
{
	struct strbuf room cleanup_strbuf = { 0 };
	struct tracedat_cursor in;
	struct section section = { 0 };
	uint64_t offset;
	int ret = tracedat_take_u64(option, &offset, err);

	if (ret < 0)
		return ret;
	in = cursor_at(file, offset);
	ret = open_section(&in, id, &section, err);
	if (ret == 0)
		ret = budget_take_part(&file->budget, offset, SECTION_HEAD_BYTES + section.bytes,
				       err);
	if (ret == 0 && (section.flags & SECTION_PACKED))
		ret = unpack_section(file, &in, &room, err);
	return ret < 0 ? ret : tracedat_read_section(file, id, &in, err);
}

static int read_v7_buffer(struct tracedat *file, struct tracedat_cursor *option,
			  struct uft_err *err)
{
	struct tracedat_buffer *buffer = add_buffer(file, err);
	struct tracedat_cursor in;
	struct section section = { 0 };
	uint64_t offset;
	uint32_t nr_cpus = 0;
	int ret = buffer ? tracedat_take_u64(option, &offset, err) : -ENOMEM;

	if (ret == 0)
		ret = tracedat_take_text(option, buffer->name, sizeof(buffer->name), err);
	if (ret == 0)
		ret = tracedat_take_text(option, buffer->clock, sizeof(buffer->clock), err);
	if (ret == 0)
		ret = tracedat_take_u32(option, &buffer->page_bytes, err);
	if (ret == 0)
		ret = tracedat_take_u32(option, &nr_cpus, err);
	if (ret < 0)
		return ret;
	/*
	 * If the section extends beyond the file's end, open_section() fails. This error is
	 * ignored, because add_cpu() limits the records of each CPU to the file's end.
	 */
	in = cursor_at(file, offset);
	ret = open_section(&in, TRACEDAT_BUFFER, &section, NULL);
	if (ret < 0 && (section.id != TRACEDAT_BUFFER || in.at != offset + SECTION_HEAD_BYTES))
		return err_set(err, -EBADMSG, "offset %" PRIu64 ": expected the buffer '%s'",
			       offset, buffer->name);
	ret = 0;
	buffer->is_packed = section.flags & SECTION_PACKED;
	for (uint32_t i = 0; ret == 0 && i < nr_cpus; i++) {
		uint32_t cpu = 0;

		ret = tracedat_take_u32(option, &cpu, err);
		if (ret == 0)
			ret = read_cpu(file, buffer, cpu, option, err);
	}
	return ret;
}

static int read_v7_option(struct tracedat *file, unsigned id, struct tracedat_cursor *option,
			  struct uft_err *err)
{
	if (id == TRACEDAT_BUFFER)
		return read_v7_buffer(file, option, err);
	if (id == TRACEDAT_BUFFER_TEXT)
		file->has_text = true;
	if (id >= TRACEDAT_HEADER_INFO && id <= TRACEDAT_CMDLINES)
		return read_v7_section(file, id, option, err);
	return read_option(file, id, option, err);
}

/* Read a section of options. @next: the offset of the next section; 0: none. */
static int read_v7_options(struct tracedat *file, struct tracedat_cursor *in, uint64_t *next,
			   struct uft_err *err)
{
	*next = 0;
	while (tracedat_cursor_left(in)) {
		struct uft_err why = { 0 };
		struct tracedat_cursor option;
		uint16_t id = 0;
		int ret = tracedat_take_u16(in, &id, err);

		if (ret == 0)
			ret = take_option(in, OPTION_MAX_BYTES, &option, err);
		if (ret < 0)
			return ret;
		if (id == TRACEDAT_DONE)
			return tracedat_take_u64(&option, next, err);
		ret = read_v7_option(file, id, &option, &why);
		ret = note_option(file, ret, &why, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Reserve the bytes of a section of options, which begins at @at. If some of the bytes are reserved
 * already, @at may lead back to an earlier section, and reading would never end. This is an error.
 */
static int take_options(struct tracedat *file, uint64_t at, uint64_t bytes, struct uft_err *err)
{
	struct uft_err why = { 0 };
	int ret = budget_take_part(&file->budget, at, SECTION_HEAD_BYTES + bytes, &why);

	return ret < 0 ? err_set(err, ret, "too many sections of options: %s", why.text) : 0;
}

int tracedat_read_v7(struct tracedat *file, struct tracedat_cursor *in, struct uft_err *err)
{
	uint64_t next;
	int ret = tracedat_take_u64(in, &next, err);

	for (unsigned nr = 0; ret == 0 && next; nr++) {
		struct strbuf room cleanup_strbuf = { 0 };
		struct tracedat_cursor at = cursor_at(file, next);
		struct section section = { 0 };

		if (nr == OPTIONS_MAX)
			return err_set(err, -EBADMSG, "%s: too many sections of options",
				       tracedat_cursor_place(&at).text);
		ret = open_section(&at, TRACEDAT_DONE, &section, err);
		if (ret == 0)
			ret = take_options(file, next, section.bytes, err);
		if (ret == 0 && (section.flags & SECTION_PACKED))
			ret = unpack_section(file, &at, &room, err);
		if (ret == 0)
			ret = read_v7_options(file, &at, &next, err);
	}
	return ret;
}
