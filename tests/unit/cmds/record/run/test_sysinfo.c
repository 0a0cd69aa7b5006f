/* The facts in `info` about the machine and the run. */
#include "tests/unit/lib/unit.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "cmds/record/run/sysinfo.h"

/* Each number of rusage has its own place. */
TEST(usage)
{
	const struct rusage usage = {
		.ru_stime = { 1, 2 },
		.ru_utime = { 3, 4 },
		.ru_nvcsw = 5,
		.ru_nivcsw = 6,
		.ru_maxrss = 7,
		.ru_majflt = 8,
		.ru_minflt = 9,
		.ru_inblock = 10,
		.ru_oublock = 11,
	};
	struct info info = { .mask = INFO_CMDLINE };

	sysinfo_add_usage(&info, &usage);
	assert_int_equal(info.mask, INFO_CMDLINE | INFO_USAGEINFO);
	assert_int_equal(info.systime_us, 1000002);
	assert_int_equal(info.usrtime_us, 3000004);
	assert_int_equal(info.ctxsw_voluntary, 5);
	assert_int_equal(info.ctxsw_involuntary, 6);
	assert_int_equal(info.maxrss_kb, 7);
	assert_int_equal(info.pagefault_major, 8);
	assert_int_equal(info.pagefault_minor, 9);
	assert_int_equal(info.iops_read, 10);
	assert_int_equal(info.iops_write, 11);
}

/* Find a line's value: the test reads the same files of this machine in another way. */
static bool value_of(const char *path, const char *format, char value[256])
{
	FILE *file = fopen(path, "re");
	char line[1024];
	bool is_there = false;

	while (file && !is_there && fgets(line, sizeof(line), file))
		is_there = sscanf(line, format, value) == 1;
	if (file)
		fclose(file);
	return is_there;
}

TEST(machine)
{
	struct info info cleanup_info = { .mask = INFO_CMDLINE };
	struct utsname uts;
	char text[256];
	char kernel[256];

	assert_int_equal(sysinfo_add_machine(&info), 0);
	assert_true(info.mask & INFO_CMDLINE);
	assert_int_equal(info.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(info.cpus_possible, sysconf(_SC_NPROCESSORS_CONF));
	assert_int_equal(!!(info.mask & INFO_CPUINFO),
			 value_of("/proc/cpuinfo", "model name : %255[^\n]", text));
	if (info.mask & INFO_CPUINFO)
		assert_string_equal(info.cpu_desc, text);

	assert_int_equal(uname(&uts), 0);
	snprintf(kernel, sizeof(kernel), "%s %s", uts.sysname, uts.release);
	assert_true(info.mask & INFO_OSINFO);
	assert_string_equal(info.kernel, kernel);
	assert_string_equal(info.hostname, uts.nodename);
	if (!value_of("/etc/os-release", "PRETTY_NAME=%255[^\n]", text))
		strcpy(text, "\"Linux\"");
	assert_string_equal(info.distro, text);

	assert_int_equal(!!(info.mask & INFO_MEMINFO),
			 value_of("/proc/meminfo", "MemTotal: %255s", text));
	if (info.mask & INFO_MEMINFO) {
		char expected[64];

		/* The free amount of memory changes in the meantime; the total does not. */
		snprintf(expected, sizeof(expected), " / %.1f GB (free / total)",
			 strtoull(text, NULL, 10) / 1024.0 / 1024);
		assert_non_null(strstr(info.meminfo, expected));
	}

	if (value_of("/proc/sys/kernel/perf_event_paranoid", "%255s", text))
		assert_int_equal(info.perf_event_paranoid, atoi(text));
	if (value_of("/proc/sys/kernel/kptr_restrict", "%255s", text)) {
		assert_true(info.mask & INFO_SYSCTL);
		assert_int_equal(info.kptr_restrict, atoi(text));
	}
}

/* The loads are stated in hundredths. Those of the machine change, so the test has its own. */
int __wrap_getloadavg(double *load, int nr);
static int nr_loads;

int __wrap_getloadavg(double *load, int nr)
{
	static const double loads[] = { 1.5, 0.25, 12 };

	assert_int_equal(nr, 3);
	memcpy(load, loads, sizeof(loads));
	return nr_loads;
}

TEST(load)
{
	struct info info cleanup_info = { 0 };
	struct info without cleanup_info = { 0 };

	nr_loads = 3;
	assert_int_equal(sysinfo_add_machine(&info), 0);
	assert_true(info.mask & INFO_LOADINFO);
	assert_int_equal(info.load_percent[0], 150);
	assert_int_equal(info.load_percent[1], 25);
	assert_int_equal(info.load_percent[2], 1200);
	nr_loads = -1;
	assert_int_equal(sysinfo_add_machine(&without), 0);
	assert_false(without.mask & INFO_LOADINFO);
}
