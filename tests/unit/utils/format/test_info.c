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
