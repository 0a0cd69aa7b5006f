/* The layout of kernel records: the types of a kernel_header, by number. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/format/bytes.h"
#include "utils/pipeline/recording/kernel_formats.h"

static const struct kernel_layout layout = { 4096, 8, false };

static void put_type(struct strbuf *header, const char *name, unsigned id, const char *fields)
{
	struct strbuf format cleanup_strbuf = { 0 };

	strbuf_addf(&format, "name: x\nID: %u\nformat:\n%s\nprint fmt: \"\"\n", id, fields);
	kernel_header_put_file(header, name, format.data, format.len);
}

#define PID_FIELD  "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
#define FUNC_FIELD "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"

TEST(types_are_found_by_their_numbers)
{
	struct kernel_formats formats = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	kernel_header_put_layout(&text, &layout);
	put_type(&text, "events/a/late/format", 300, "");
	kernel_header_put_file(&text, "events/header_page", "x\n", 2);
	put_type(&text, "events/b/first/format", 7, "");
	put_type(&text, "events/c/zero/format", 0, "");
	put_type(&text, "events/d/middle/format", 20, "");
	assert_int_equal(kernel_formats_read(&formats, &text, NULL), 1);
	assert_int_equal(text.len, 0);
	assert_int_equal(formats.nr_types, 4);
	assert_int_equal(formats.nr_places, 301);
	for (unsigned id = 0; id < 400; id++) {
		const struct kernel_event_type *type = kernel_formats_find(&formats, id);

		assert_int_equal(type != NULL, id == 0 || id == 7 || id == 20 || id == 300);
		if (type)
			assert_int_equal(type->id, id);
	}
	assert_int_equal(formats.types[0].id, 0);
	assert_int_equal(formats.types[3].id, 300);
	assert_false(kernel_formats_have_calls(&formats));
	kernel_formats_deinit(&formats);
	assert_null(formats.types);
	assert_null(kernel_formats_find(&formats, 7));
}

TEST(a_header_without_types)
{
	struct kernel_formats formats = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };

	kernel_header_put_layout(&text, &layout);
	assert_int_equal(kernel_formats_read(&formats, &text, NULL), 1);
	assert_non_null(formats.types);
	assert_int_equal(formats.nr_types, 0);
	assert_int_equal(formats.nr_places, 0);
	assert_null(kernel_formats_find(&formats, 0));
	assert_false(kernel_formats_have_calls(&formats));
	/* A second header replaces the first one, and has a type. */
	kernel_header_put_layout(&text, &layout);
	put_type(&text, "events/ftrace/funcgraph_exit/format", 12, FUNC_FIELD);
	assert_int_equal(kernel_formats_read(&formats, &text, NULL), 1);
	assert_int_equal(formats.nr_types, 1);
	assert_true(kernel_formats_have_calls(&formats));
	kernel_formats_deinit(&formats);
}

TEST(whom_a_record_is_about)
{
	uint8_t bytes[16] = { 0 };
	struct kernel_record rec = { .data = bytes, .len = 16 };
	struct kernel_formats formats = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	const struct kernel_event_type *woken;

	kernel_header_put_layout(&text, &layout);
	put_type(&text, "events/sched/sched_wakeup/format", 5, PID_FIELD);
	put_type(&text, "events/other/other/format", 6, PID_FIELD);
	assert_int_equal(kernel_formats_read(&formats, &text, NULL), 1);
	woken = kernel_formats_find(&formats, 5);
	put_u32(bytes + 12, 0x1234, false);
	assert_int_equal(kernel_formats_other_task(&formats, woken, &rec), 0x1234);
	rec.len = 15;
	assert_int_equal(kernel_formats_other_task(&formats, woken, &rec), 0);
	rec.len = 16;
	assert_int_equal(
		kernel_formats_other_task(&formats, kernel_formats_find(&formats, 6), &rec), 0);
	assert_int_equal(kernel_formats_other_task(&formats, NULL, &rec), 0);
	formats.header.layout.is_big_endian = true;
	assert_int_equal(kernel_formats_other_task(&formats, woken, &rec), 0x34120000);
	kernel_formats_deinit(&formats);
}

TEST(a_file_is_read_once)
{
	char dir[] = "/tmp/utrail-unit-XXXXXX";
	struct kernel_formats formats = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err broken = { 0 };
	struct uft_err again = { 0 };
	struct uft_err err = { 0 };
	char expected[128];
	char path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/kernel_header", dir);
	assert_int_equal(kernel_formats_load(&formats, dir, &broken, &err), 0);
	assert_null(formats.types);
	/* A damaged file counts as a missing one, but an error is noted. */
	assert_int_equal(outfile_put(path, "nonsense\n", 9, NULL), 0);
	assert_int_equal(kernel_formats_load(&formats, dir, &broken, &err), 0);
	assert_int_equal(broken.code, -EBADMSG);
	assert_int_equal(err.code, 0);
	snprintf(expected, sizeof(expected), "cannot read '%s': ", path);
	assert_int_equal(strncmp(broken.text, expected, strlen(expected)), 0);
	/* The next caller gets the error, too, and the file is not read again. */
	unlink(path);
	assert_int_equal(kernel_formats_load(&formats, dir, &again, &err), 0);
	assert_int_equal(again.code, -EBADMSG);
	assert_string_equal(again.text, broken.text);
	kernel_formats_deinit(&formats);
	kernel_header_put_layout(&text, &layout);
	put_type(&text, "events/a/b/format", 5, "");
	assert_int_equal(outfile_put(path, text.data, text.len, NULL), 0);
	assert_int_equal(kernel_formats_load(&formats, dir, NULL, &err), 1);
	assert_non_null(kernel_formats_find(&formats, 5));
	unlink(path);
	assert_int_equal(kernel_formats_load(&formats, dir, NULL, &err), 1);
	kernel_formats_deinit(&formats);
	/* A file that exists and cannot be read is an error. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(kernel_formats_load(&formats, dir, NULL, &err) < 0);
	assert_non_null(strstr(err.text, path));
	rmdir(path);
	rmdir(dir);
}
