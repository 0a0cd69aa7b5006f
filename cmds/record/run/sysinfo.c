/*
 * Writes facts about the machine, and about the resources that the program has used, to the `info`
 * file (see sysinfo.h).
 */
#include "cmds/record/run/sysinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "utils/base/fd.h"

#define SMALL_FILE (1 << 20)

static int read_file(const char *path, struct strbuf *text)
{
	strbuf_reset(text);
	return file_read_all(path, SMALL_FILE, text, NULL);
}

/*
 * Returns the rest of the first line that begins with @key, on the heap. Returns NULL when no line
 * begins with @key.
 */
static char *line_after(const struct strbuf *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = strbuf_str(text); *line;) {
		size_t end = strcspn(line, "\n");

		if (end >= len && strncmp(line, key, len) == 0) {
			const char *value = line + len + strspn(line + len, " \t:=");

			return strndup(value, line + end - value);
		}
		line += end;
		line += *line == '\n';
	}
	return NULL;
}

static int add_cpu(struct info *info, struct strbuf *text)
{
	info->cpus_online = sysconf(_SC_NPROCESSORS_ONLN);
	info->cpus_possible = sysconf(_SC_NPROCESSORS_CONF);
	if (read_file("/proc/cpuinfo", text) < 0)
		return 0;
	info->cpu_desc = line_after(text, "model name");
	if (info->cpu_desc)
		info->mask |= INFO_CPUINFO;
	return 0;
}

static int add_memory(struct info *info, struct strbuf *text)
{
	if (read_file("/proc/meminfo", text) < 0)
		return 0;

	char *total cleanup_free = line_after(text, "MemTotal");
	char *available cleanup_free = line_after(text, "MemFree");

	if (!total || !available)
		return 0;
	return info_set_meminfo(info, strtoull(available, NULL, 10), strtoull(total, NULL, 10));
}

static int add_system(struct info *info, struct strbuf *text)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return 0;
	if (asprintf(&info->kernel, "%s %s", uts.sysname, uts.release) < 0) {
		info->kernel = NULL;
		return -ENOMEM;
	}
	info->hostname = strdup(uts.nodename);
	if (read_file("/etc/os-release", text) == 0)
		info->distro = line_after(text, "PRETTY_NAME");
	if (!info->distro)
		info->distro = strdup("\"Linux\"");
	if (!info->hostname || !info->distro)
		return -ENOMEM;
	info->mask |= INFO_OSINFO;
	return 0;
}

static void add_load(struct info *info)
{
	double load[3];

	if (getloadavg(load, 3) != 3)
		return;
	for (int i = 0; i < 3; i++)
		info->load_percent[i] = load[i] * 100 + 0.5;
	info->mask |= INFO_LOADINFO;
}

static void add_sysctl(struct info *info, struct strbuf *text)
{
	if (read_file("/proc/sys/kernel/perf_event_paranoid", text) < 0)
		return;
	info->perf_event_paranoid = strtol(strbuf_str(text), NULL, 10);
	if (read_file("/proc/sys/kernel/kptr_restrict", text) < 0)
		return;
	info->kptr_restrict = strtol(strbuf_str(text), NULL, 10);
	info->mask |= INFO_SYSCTL;
}

int sysinfo_add_machine(struct info *info)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = add_cpu(info, &text);

	if (ret == 0)
		ret = add_memory(info, &text);
	if (ret == 0)
		ret = add_system(info, &text);
	add_load(info);
	add_sysctl(info, &text);
	return ret;
}

static uint64_t to_us(struct timeval tv)
{
	return tv.tv_sec * 1000000ULL + tv.tv_usec;
}

void sysinfo_add_usage(struct info *info, const struct rusage *usage)
{
	info->systime_us = to_us(usage->ru_stime);
	info->usrtime_us = to_us(usage->ru_utime);
	info->ctxsw_voluntary = usage->ru_nvcsw;
	info->ctxsw_involuntary = usage->ru_nivcsw;
	info->maxrss_kb = usage->ru_maxrss;
	info->pagefault_major = usage->ru_majflt;
	info->pagefault_minor = usage->ru_minflt;
	info->iops_read = usage->ru_inblock;
	info->iops_write = usage->ru_oublock;
	info->mask |= INFO_USAGEINFO;
}
