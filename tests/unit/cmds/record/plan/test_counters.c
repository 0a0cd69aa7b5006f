/*
 * Counters by name: in the plan, in events.txt, and in warnings about counters that could not be
 * read.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/syscall.h>

#include "cmds/record/plan/counters.h"
#include "utils/format/event_ids.h"
#include "utils/spec/filters.h"

/* The error of perf_event_open(2); 0 when it returns a descriptor. */
static int refusal;
static uint64_t asked_for;

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

/* Only the first argument is used: a struct perf_event_attr, whose third word is the config. */
long __wrap_syscall(long number, ...)
{
	const uint64_t *attr;
	va_list args;

	assert_int_equal(number, SYS_perf_event_open);
	va_start(args, number);
	attr = va_arg(args, const uint64_t *);
	va_end(args);
	asked_for = attr[1];
	if (refusal) {
		errno = refusal;
		return -1;
	}
	return __real_syscall(SYS_dup, 0);
}

static const struct counters two = {
	.list = { { .name = "one", .type = 1, .config = 11 },
		  { .name = "two", .type = 2, .config = 22 } },
	.nr = 2,
};

TEST(in_the_plan)
{
	struct filters filters = { .counters = two };
	const struct record_settings settings = { .filters = &filters };
	struct plan_entries plan cleanup_plan_entries = { 0 };
	const struct plan_counter *list;

	counters_bind(&settings, &plan);
	assert_int_equal(plan_entries_nr(&plan, PLAN_COUNTERS), 2);
	list = (const struct plan_counter *)plan.lists[PLAN_COUNTERS].data;
	assert_int_equal(list[0].type, 1);
	assert_int_equal(list[0].config, 11);
	assert_int_equal(list[1].type, 2);
	assert_int_equal(list[1].config, 22);
}

/* Each counter has two ids: one for the value that was read, one for the difference. */
TEST(in_events_txt)
{
	struct strbuf lines cleanup_strbuf = { 0 };
	char expected[256];
	unsigned id = EVENT_ID_COUNTER;

	counters_put_events(&two, &lines);
	snprintf(expected, sizeof(expected),
		 "EVENT: %u read:one\nEVENT: %u diff:one\nEVENT: %u read:two\nEVENT: %u diff:two\n",
		 id, id + 1, id + 2, id + 3);
	assert_string_equal(strbuf_str(&lines), expected);
}

/* Return all warnings that were printed for counters @failed. */
static const char *warned(uint32_t failed)
{
	static char text[2048];
	struct msg msg = { .file = fmemopen(text, sizeof(text), "w") };

	assert_non_null(msg.file);
	text[0] = '\0';
	counters_warn(&two, failed, &msg);
	fclose(msg.file);
	return text;
}

TEST(what_was_not_read)
{
	assert_string_equal(warned(0), "");
	assert_string_equal(warned(PLAN_READ_STATM),
			    "WARN: 'read=proc/statm': this machine does not let us read it\n");
	assert_string_equal(warned(PLAN_READ_PAGE_FAULT | PLAN_READ_PMU_BRANCH),
			    "WARN: 'read=page-fault': this machine does not let us read it\n"
			    "WARN: 'read=pmu-branch': this machine does not let us read it\n");
	assert_non_null(strstr(warned(PLAN_READ_PMU_CYCLE), "'read=pmu-cycle'"));
	assert_non_null(strstr(warned(PLAN_READ_PMU_CACHE), "'read=pmu-cache'"));
}

/* The recorder asks the kernel why: it gets the same answer as the program. */
TEST(why_it_was_not_read)
{
	static const char denied[] =
		"WARN: 'read=two': not read: it needs CAP_PERFMON, or a lower number in "
		"/proc/sys/kernel/perf_event_paranoid\n";

	refusal = EACCES;
	assert_string_equal(warned(PLAN_READ_COUNTER << 1), denied);
	assert_int_equal(asked_for, 22);
	refusal = EPERM;
	assert_string_equal(warned(PLAN_READ_COUNTER << 1), denied);
	refusal = ENOENT;
	assert_string_equal(warned(PLAN_READ_COUNTER),
			    "WARN: 'read=one': not read: this machine has no such counter (No "
			    "such file or directory)\n");
	assert_int_equal(asked_for, 11);
	refusal = 0;
	assert_string_equal(
		warned(PLAN_READ_COUNTER),
		"WARN: 'read=one': not read in some threads: the kernel refused it there\n");
	/* No rule asked for this counter. */
	assert_string_equal(warned((uint32_t)PLAN_READ_COUNTER << 2), "");
}
