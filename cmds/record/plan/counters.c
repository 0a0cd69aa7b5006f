/* The counters that filters read (see counters.h). */
#include "cmds/record/plan/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/format/event_ids.h"

void counters_bind(const struct record_settings *settings, struct plan_entries *plan)
{
	const struct counters *counters = &settings->filters->counters;

	for (size_t i = 0; i < counters->nr; i++) {
		struct plan_counter counter = {
			.config = counters->list[i].config,
			.type = counters->list[i].type,
		};

		strbuf_add(&plan->lists[PLAN_COUNTERS], &counter, sizeof(counter));
	}
}

void counters_put_events(const struct counters *counters, struct strbuf *lines)
{
	for (size_t i = 0; i < counters->nr; i++) {
		size_t id = EVENT_ID_COUNTER + 2 * i;
		const char *name = counters->list[i].name;

		strbuf_addf(lines, "EVENT: %zu read:%s\nEVENT: %zu diff:%s\n", id, name, id + 1,
			    name);
	}
}

/* Opens the counter as libmcount/values/counters.c does. Returns 0 or a negative errno. */
static int try_counter(const struct counter *counter)
{
	struct perf_event_attr attr = {
		.type = counter->type,
		.size = sizeof(attr),
		.config = counter->config,
		.exclude_kernel = counter->type != PERF_TYPE_SOFTWARE,
		.exclude_hv = 1,
	};
	int fd cleanup_fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : 0;
}

/*
 * Warns that the program could not open a counter. To find the reason, the recorder tries to open
 * the same counter. Most likely the recorder fails for the same reason as the program.
 */
static void warn_counter(const struct counter *counter, const struct msg *msg)
{
	int ret = try_counter(counter);

	if (ret == -EACCES || ret == -EPERM)
		msg_warn(msg,
			 "'read=%s': not read: it needs CAP_PERFMON, or a lower number in "
			 "/proc/sys/kernel/perf_event_paranoid",
			 counter->name);
	else if (ret < 0)
		msg_warn(msg, "'read=%s': not read: this machine has no such counter (%s)",
			 counter->name, strerror(-ret));
	else
		msg_warn(msg, "'read=%s': not read in some threads: the kernel refused it there",
			 counter->name);
}

void counters_warn(const struct counters *counters, uint32_t failed, const struct msg *msg)
{
	static const char *const names[] = { "proc/statm", "page-fault", "pmu-cycle", "pmu-cache",
					     "pmu-branch" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (failed & (1U << i))
			msg_warn(msg, "'read=%s': this machine does not let us read it", names[i]);
	}
	for (size_t i = 0; i < counters->nr; i++) {
		if (failed & ((uint32_t)PLAN_READ_COUNTER << i))
			warn_counter(&counters->list[i], msg);
	}
}
