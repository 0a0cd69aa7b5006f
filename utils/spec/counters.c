/* Counters by name (see counters.h). */
#include "utils/spec/counters.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/nearest.h"

/* Names are those of perf-list(1). */
static const struct {
	const char *name;
	const char *alias;
	uint32_t type;
	uint64_t config;
} known[] = {
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", NULL, PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", NULL, PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
};

static bool parse_code(const char *name, struct counter *out)
{
	if (tolower((unsigned char)name[0]) != 'r')
		return false;

	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	if (digits < 1 || digits > 16 || name[1 + digits])
		return false;
	out->type = PERF_TYPE_RAW;
	out->config = strtoull(name + 1, NULL, 16);
	snprintf(out->name, sizeof(out->name), "r%llx", (unsigned long long)out->config);
	return true;
}

bool counter_parse(const char *name, struct counter *out)
{
	*out = (struct counter){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcasecmp(name, known[i].name) != 0 &&
		    (!known[i].alias || strcasecmp(name, known[i].alias) != 0))
			continue;
		snprintf(out->name, sizeof(out->name), "%s", known[i].name);
		out->type = known[i].type;
		out->config = known[i].config;
		return true;
	}
	return parse_code(name, out);
}

void counters_offer(struct nearest *near)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		nearest_offer(near, known[i].name);
}

int counters_add(struct counters *all, const struct counter *one)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (strcmp(all->list[i].name, one->name) == 0)
			return i;
	}
	if (all->nr == COUNTERS_MAX)
		return -ENOSPC;
	all->list[all->nr] = *one;
	return all->nr++;
}
