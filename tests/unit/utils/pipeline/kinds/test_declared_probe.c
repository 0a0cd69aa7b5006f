/*
 * Arguments of static probes as readers see them: types, values of each size, missing values, and
 * payloads that are too short.
 */
#include "tests/unit/lib/unit.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/format/event_data.h"
#include "utils/pipeline/kinds/declared.h"
#include "utils/pipeline/kinds/event_kind.h"

static char dir[] = "/tmp/utrail-test-probe-XXXXXX";

/* Load a recording that has these lines in events.def. */
static void load(struct declared_events *declared, const char *lines)
{
	char path[sizeof(dir) + 32];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(lines, file);
	fclose(file);
	assert_int_equal(declared_events_load(declared, dir, NULL), 0);
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t bits_of_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/*
 * Check the text of an event whose payload is the first @len bytes of @words.
 */
static void check(const char *types, const uint64_t *words, size_t len, const char *text)
{
	struct declared_events declared = { 0 };
	struct strbuf line cleanup_strbuf = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	struct event_kind kind = { .id = 1000000, .name = "app:paid" };
	uint8_t *data = exact_copy(words, len);
	struct event event = { .id = 1000000, .data = data, .data_len = len };
	const struct event_context context = { .event = &event };

	strbuf_addf(&line, "CLOCK: 5\nDECLARED: 1000000 sdt app:paid %s\n", types);
	load(&declared, strbuf_str(&line));

	struct declared_event *found = declared_events_find(&declared, 1000000);

	assert_non_null(found);
	declared_event_set(found, &kind);
	event_kind_put(&kind, &context, &out);
	assert_string_equal(strbuf_str(&out), text);
	/* An event without a payload has no text. */
	event.data = NULL;
	strbuf_reset(&out);
	event_kind_put(&kind, &context, &out);
	assert_string_equal(strbuf_str(&out), "");
	declared_events_deinit(&declared);
	free(data);
}

TEST(values)
{
	const uint64_t words[] = {
		htole64(0x3ff), -5,	    -32768,	htole64(5),   INT64_MIN,	   255,
		65535,		4294967295, UINT64_MAX, bits_of(0.1), bits_of_float(0.1F),
	};
	uint64_t reals[] = { 0xf, bits_of(-0.0), bits_of(1e300), bits_of(INFINITY), bits_of(0.5) };

	check("-1+-2+-4+-8+1+2+4+8+8f+4f", words, sizeof(words),
	      "arg1=-5 arg2=-32768 arg3=5 arg4=-9223372036854775808 arg5=255 arg6=65535 "
	      "arg7=4294967295 arg8=0xffffffffffffffff arg9=0.1 arg10=0.1");
	check("8f+8f+8f+8f", reals, sizeof(reals), "arg1=-0 arg2=1e+300 arg3=inf arg4=0.5");
}

TEST(missing)
{
	uint64_t words[] = { 0x5, 7, 8, 9 };

	check("-4+-4+-4", words, sizeof(words), "arg1=7 arg2=? arg3=9");
	words[0] = 0;
	check("-4+-4+-4", words, sizeof(words), "arg1=? arg2=? arg3=?");
	words[0] = UINT64_MAX;
	/* An unknown type has no value, whatever the payload is. */
	check("-4+%3F+8", words, sizeof(words), "arg1=7 arg2=? arg3=0x9");
	/* The payload is cut at each byte. */
	for (size_t len = 0; len < sizeof(words); len++)
		check("-4+-4+-4", words, len, "arg1=? arg2=? arg3=?");
	/* The payload is longer than its values. */
	check("-4", words, sizeof(words), "arg1=7");
}

TEST(definitions)
{
	static const char *const bad[] = {
		"",	   "%",	       "%00",
		"x",	   "-4+",      "+-4",
		"-4++-4",  "-4+x",     "16",
		"-4f",	   "2f",       "--4",
		"3",	   "-",	       "%3F%3F",
		"-4%01",   "8@%25rax", "4 8",
		"-4%2B-4", "%ZZ",      "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1",
	};
	struct declared_events declared = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct strbuf line cleanup_strbuf = { 0 };
		bool is_cut = strchr(bad[i], ' ');

		strbuf_addf(&line, "DECLARED: 1000000 sdt a:b %s\nDECLARED: 1000001 sdt a:b 4\n",
			    bad[i]);
		load(&declared, strbuf_str(&line));
		/* A later version may add text after the types. */
		assert_int_equal(declared_events_find(&declared, 1000000) != NULL, is_cut);
		assert_non_null(declared_events_find(&declared, 1000001));
		declared_events_deinit(&declared);
	}
	load(&declared,
	     "DECLARED: 1000000 sdt a:b 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1\n"
	     "DECLARED: 1000001 sdt\nDECLARED: 1000002 sdt %00 4\nDECLARED: 1000003 sdt a:b\n");
	assert_int_equal(declared.nr, 1);
	assert_int_equal(declared.events[0].nr_fields, 16);
	assert_string_equal(declared.events[0].fields[15].name, "arg16");
	declared_events_deinit(&declared);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[sizeof(dir) + 32];

	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	unlink(path);
	return rmdir(dir);
}

TEST_GROUP(make_dir, remove_dir)
