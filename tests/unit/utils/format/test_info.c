/* The text of info: round trips of all keys, missing keys, cut lines and wrong ones. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/format/info.h"

static const char sample[] = "exename:/tmp/w/pg\n"
			     "build_id:e4687ae744ba53df908f930dd69e0c21d4f05164\n"
			     "exit_status:139\n"
			     "cmdline:utrail record ./pg \\\"a b\\\" c\\d\n"
			     "cpuinfo:lines=2\n"
			     "cpuinfo:nr_cpus=2 / 4 (online/possible)\n"
			     "cpuinfo:desc=Intel(R) Xeon(R) Processor\n"
			     "meminfo:22.8 / 23.5 GB (free / total)\n"
			     "osinfo:lines=3\n"
			     "osinfo:kernel=Linux 6.18.44\n"
			     "osinfo:hostname=vm\n"
			     "osinfo:distro=\"Debian GNU/Linux 12 (bookworm)\"\n"
			     "taskinfo:lines=2\n"
			     "taskinfo:nr_tid=3\n"
			     "taskinfo:tids=7456,7457,7458\n"
			     "usageinfo:lines=6\n"
			     "usageinfo:systime=0.023976\n"
			     "usageinfo:usrtime=1.423583\n"
			     "usageinfo:ctxsw=1 / 7 (voluntary / involuntary)\n"
			     "usageinfo:maxrss=8680\n"
			     "usageinfo:pagefault=0 / 1050 (major / minor)\n"
			     "usageinfo:iops=2 / 8 (read / write)\n"
			     "loadinfo:0.37 / 0.12 / 10.03\n"
			     "argspec:lines=4\n"
			     "argspec:main@arg1\n"
			     "argauto:a@arg1;\n"
			     "enumauto:enum a { A };\n"
			     "auto-args:1\n"
			     "record_date:Sat Nov 21 05:55:18 2026\n"
			     "elapsed_time:0.447890874 sec\n"
			     "pattern_type:regex\n"
			     "uftrace_version:v0.19 ( x86_64 dwarf )\n"
			     "utc_offset:-1774069000\n"
			     "sysctl:perf_event_paranoid=-1 kptr_restrict=1\n";

TEST(round_trip)
{
	struct info info cleanup_info = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(info_decode(sample, strlen(sample), &info, NULL), 0);
	assert_int_equal(info.mask, 0xffff);
	info_encode(&info, &out);
	assert_string_equal(strbuf_str(&out), sample);
}

TEST(fields)
{
	struct info info cleanup_info = { 0 };

	assert_int_equal(info_decode(sample, strlen(sample), &info, NULL), 0);
	assert_string_equal(info.cmdline, "utrail record ./pg \"a b\" c\\d");
	assert_int_equal(info.cpus_possible, 4);
	assert_int_equal(info.nr_tids, 3);
	assert_int_equal(info.tids[2], 7458);
	assert_int_equal(info.usrtime_us, 1423583);
	assert_int_equal(info.pagefault_minor, 1050);
	assert_int_equal(info.load_percent[2], 1003);
	assert_int_equal(info.elapsed_ns, 447890874);
	assert_int_equal(info.utc_offset_s, -1774069000);
	assert_int_equal(info.perf_event_paranoid, -1);
	assert_null(info.retspec);
	assert_true(info.auto_args);
}

TEST(times_have_six_digits)
{
	static const struct {
		uint64_t us;
		const char *text;
	} cases[] = {
		{ 0, "0.000000" },
		{ 999999, "0.999999" },
		{ 1000000, "1.000000" },
		{ 61000001, "61.000001" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct info info = { .mask = INFO_USAGEINFO, .usrtime_us = cases[i].us };
		struct strbuf out cleanup_strbuf = { 0 };
		char line[64];

		snprintf(line, sizeof(line), "usageinfo:usrtime=%s\n", cases[i].text);
		info_encode(&info, &out);
		assert_non_null(strstr(strbuf_str(&out), line));
	}
}

TEST(only_what_is_there)
{
	static const char text[] = "pattern_type:glob\nsomething_new:lines=1\nsomething_new:x\n"
				   "argspec:f@arg1\n";
	struct info info cleanup_info = { 0 };

	assert_int_equal(info_decode(text, strlen(text), &info, NULL), 0);
	assert_int_equal(info.mask, INFO_PATTERN_TYPE | INFO_ARG_SPEC);
	assert_string_equal(info.argspec, "f@arg1");
}

TEST(cut_anywhere)
{
	for (size_t len = 0; len < strlen(sample); len++) {
		struct info info cleanup_info = { 0 };
		struct uft_err err = { 0 };
		char *copy = exact_copy(sample, len);

		assert_int_equal(info_decode(copy, len, &info, &err), 0);
		free(copy);
	}
}

TEST(bad_lines)
{
	static const char *const bad[] = {
		"exit_status:x\n",	 "cpuinfo:nr_cpus=2\n",	      "taskinfo:tids=1,2,a\n",
		"loadinfo:1.0 / 2.0\n",	 "usageinfo:ctxsw=1\n",	      "usageinfo:systime=1\n",
		"elapsed_time:.5 sec\n", "exit_status:99999999999\n", "sysctl:kptr_restrict\n",
		"auto-args:yes\n",	 "taskinfo:tids=1-2-3\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct info info cleanup_info = { 0 };
		struct uft_err err = { 0 };

		assert_int_equal(info_decode(bad[i], strlen(bad[i]), &info, &err), -EINVAL);
		assert_non_null(strstr(err.text, "line 1"));
	}
}

TEST(memory_in_a_unit_that_fits)
{
	struct info info cleanup_info = { 0 };

	assert_int_equal(info_set_meminfo(&info, 23907533, 24641536), 0);
	assert_string_equal(info.meminfo, "22.8 / 23.5 GB (free / total)");
	assert_int_equal(info_set_meminfo(&info, 5, 100), 0);
	assert_string_equal(info.meminfo, "5.0 / 100.0 KB (free / total)");
	assert_int_equal(info.mask, INFO_MEMINFO);
}

/* "auto-args:0" means that there are no specifications, so there are no lines to count. */
TEST(no_specs_no_count)
{
	static const char text[] = "auto-args:0\n";
	struct info info cleanup_info = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(info_decode(text, strlen(text), &info, NULL), 0);
	info_encode(&info, &out);
	assert_string_equal(strbuf_str(&out), "");
}

/* The line about the end always has the same length, and is read back unchanged. */
TEST(the_line_of_its_end)
{
	const struct info lines[] = {
		{ .state = INFO_STATE_RUNNING },
		{ .state = INFO_STATE_ENDED, .records_lost = 1685348, .write_error = 28 },
		{ .state = INFO_STATE_ENDED, .records_lost = UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct strbuf text cleanup_strbuf = { 0 };
		struct strbuf all cleanup_strbuf = { 0 };
		struct info info cleanup_info = { 0 };

		info_encode_state(&lines[i], &text);
		info_encode(&lines[i], &all);
		assert_string_equal(strbuf_str(&all), strbuf_str(&text));
		assert_int_equal(text.len, INFO_STATE_BYTES);
		assert_int_equal(info_decode(text.data, text.len, &info, NULL), 0);
		assert_int_equal(info.state, lines[i].state);
		assert_true(info.records_lost == lines[i].records_lost);
		assert_int_equal(info.write_error, lines[i].write_error);
	}
}

static void check_encoded(const struct info *info, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	info_encode(info, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

/* The count is that of the lines about arguments which follow. */
TEST(counts_of_specs)
{
	struct info info = { .mask = INFO_ARG_SPEC };
	char text[] = "x";

	check_encoded(&info, "");
	info.auto_args = true;
	check_encoded(&info, "argspec:lines=1\nauto-args:1\n");
	info.retauto = text;
	check_encoded(&info, "argspec:lines=2\nretauto:x\nauto-args:1\n");
	info.auto_args = false;
	info.retspec = text;
	check_encoded(&info, "argspec:lines=2\nretspec:x\nretauto:x\n");
	info.argspec = text;
	info.argauto = text;
	info.enumauto = text;
	info.auto_args = true;
	check_encoded(&info, "argspec:lines=6\nargspec:x\nretspec:x\nargauto:x\nretauto:x\n"
			     "enumauto:x\nauto-args:1\n");
	info.mask = 0;
	check_encoded(&info, "");
}

/* These lines have no bit of their own. They are written when they have something to say. */
TEST(lines_without_a_bit)
{
	struct info info = { 0 };
	char text[] = "7";

	check_encoded(&info, "");
	info.too_deep = text;
	check_encoded(&info, "utrail_too_deep:7\n");
	info.kept_returns = text;
	info.cut_events = text;
	check_encoded(&info, "utrail_too_deep:7\nutrail_kept_returns:7\nutrail_cut_events:7\n");
}

/* Items whose texts are missing are written without them. */
TEST(items_without_text)
{
	const struct info info = { .mask = INFO_EXE_NAME | INFO_CMDLINE | INFO_TASKINFO };

	check_encoded(&info, "exename:\ncmdline:\ntaskinfo:lines=2\ntaskinfo:nr_tid=0\n"
			     "taskinfo:tids=\n");
}

TEST(units_of_memory)
{
	static const struct {
		uint64_t free_kb;
		uint64_t total_kb;
		const char *text;
	} cases[] = {
		{ 0, 0, "0.0 / 0.0 KB (free / total)" },
		{ 1023, 1023, "1023.0 / 1023.0 KB (free / total)" },
		{ 512, 1024, "0.5 / 1.0 MB (free / total)" },
		{ 1024, (1 << 20) - 1, "1.0 / 1023.9 MB (free / total)" },
		{ 1 << 19, 1 << 20, "0.5 / 1.0 GB (free / total)" },
		{ 1, 3ULL << 29, "0.0 / 1.5 TB (free / total)" },
		{ 1ULL << 40, 1ULL << 41, "1024.0 / 2048.0 TB (free / total)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct info info cleanup_info = { 0 };

		assert_int_equal(info_set_meminfo(&info, cases[i].free_kb, cases[i].total_kb), 0);
		assert_string_equal(info.meminfo, cases[i].text);
	}
}

/* Decode @text, and encode the result again. */
static void check_again(const char *text, const char *expected)
{
	struct info info cleanup_info = { 0 };

	assert_int_equal(info_decode(text, strlen(text), &info, NULL), 0);
	check_encoded(&info, expected);
}

TEST(unusual_values)
{
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{ "cmdline:a\\b \\\"c\\\" \\\\\"d\\\n", "cmdline:a\\b \\\"c\\\" \\\\\"d\\\n" },
		{ "cmdline:\"a\"\n", "cmdline:\\\"a\\\"\n" },
		{ "exename:a\nexename:b\n", "exename:b\n" },
		{ "taskinfo:tids=\n", "taskinfo:lines=2\ntaskinfo:nr_tid=0\ntaskinfo:tids=\n" },
		{ "taskinfo:tids=5\n", "taskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=5\n" },
		{ "taskinfo:tids=1,2,\ntaskinfo:tids=3,4\n",
		  "taskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=3,4\n" },
		{ "auto-args:2\n", "argspec:lines=1\nauto-args:1\n" },
		{ "loadinfo:0.00 / 1.05 / 99.99\n", "loadinfo:0.00 / 1.05 / 99.99\n" },
		{ "elapsed_time:0.000000001 sec\nrecord_date:x\n",
		  "record_date:x\nelapsed_time:0.000000001 sec\n" },
		{ "utrail_too_deep:3\nutrail_kept_returns:m\nutrail_cut_events:4\n",
		  "utrail_too_deep:3\nutrail_kept_returns:m\nutrail_cut_events:4\n" },
		{ "utrail_state:paused since noon\n", "" },
		{ "argspec:lines=3\n", "" },
		{ "unknown:1\nsysctl:perf_event_paranoid=2 kptr_restrict=1\n",
		  "sysctl:perf_event_paranoid=2 kptr_restrict=1\n" },
		/* The recorder was killed while it wrote the last line. */
		{ "utc_offset:5\nsysctl:perf_event_par", "utc_offset:5\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_again(cases[i].text, cases[i].expected);
}

/* The message names the line and its key. No item is left. */
TEST(messages)
{
	static const struct {
		const char *line;
		const char *key;
	} cases[] = {
		{ "cpuinfo:nr_cpus=1 / x", "cpuinfo:nr_cpus" },
		{ "cpuinfo:nr_cpus=x / 1", "cpuinfo:nr_cpus" },
		{ "cpuinfo:lines=x", "cpuinfo:lines" },
		{ "taskinfo:nr_tid=x", "taskinfo:nr_tid" },
		{ "taskinfo:tids=1,,2", "taskinfo:tids" },
		{ "usageinfo:iops=x / 1", "usageinfo:iops" },
		{ "usageinfo:iops=1 / x", "usageinfo:iops" },
		{ "usageinfo:iops=1,1", "usageinfo:iops" },
		{ "usageinfo:maxrss=x", "usageinfo:maxrss" },
		{ "loadinfo:x / 1.00 / 1.00", "loadinfo" },
		{ "loadinfo:1.00 / x / 1.00", "loadinfo" },
		{ "loadinfo:1.00 / 1.00 / x", "loadinfo" },
		{ "loadinfo:1.00,1.00 / 1.00", "loadinfo" },
		{ "loadinfo:1.00 / 1.00,1.00", "loadinfo" },
		{ "sysctl:perf_event_paranoid=x kptr_restrict=1", "sysctl" },
		{ "sysctl:perf_event_paranoid=1 kptr_restrict=x", "sysctl" },
		{ "sysctl:perf_event_paranoid=1,kptr_restrict=1", "sysctl" },
		{ "utrail_state:running lost=x error=0", "utrail_state" },
		{ "utrail_state:running", "utrail_state" },
		{ "utrail_state:running lost=0", "utrail_state" },
		{ "utrail_state:running lost=0 error=x", "utrail_state" },
		{ "utrail_state:running lost=0 error=2147483648", "utrail_state" },
		{ "utrail_state:ended   lost=0 error=4294967296", "utrail_state" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct info info = { 0 };
		struct uft_err err = { 0 };
		char text[128];
		char expected[128];

		snprintf(text, sizeof(text), "exename:x\nunknown\n%s\n", cases[i].line);
		snprintf(expected, sizeof(expected), "line 3: cannot read the value of '%s'",
			 cases[i].key);
		assert_int_equal(info_decode(text, strlen(text), &info, &err), -EINVAL);
		assert_string_equal(err.text, expected);
		assert_null(info.exename);
		assert_int_equal(info.mask, 0);
	}
}

TEST(the_largest_error)
{
	static const char text[] = "utrail_state:ended   lost=7 error=2147483647\n";
	struct info info cleanup_info = { 0 };

	assert_int_equal(info_decode(text, strlen(text), &info, NULL), 0);
	assert_int_equal(info.state, INFO_STATE_ENDED);
	assert_int_equal(info.records_lost, 7);
	assert_int_equal(info.write_error, INT32_MAX);
	/* Only three digits have room in the line. */
	check_encoded(&info, "utrail_state:ended   lost=00000000000000000007 error=647\n");
}
