/* The state of a recorder. It leaves nothing open. If it cannot begin, it gives the reason. */
#include "tests/unit/lib/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "cmds/record/plan/patches.h"
#include "cmds/record/run/recorder.h"
#include "utils/base/compiler.h"

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/*
 * This is the state after a data directory could not be made. All descriptors, also number 0,
 * belong to other code.
 */
TEST(never_opened)
{
	unsigned before = count_fds();
	struct recorder rec = { 0 };

	recorder_close(&rec);
	assert_int_equal(count_fds(), before);
}

static int refuse(struct store *store, const char *name)
{
	assert_string_equal(name, "task.txt");
	return -ENOSPC;
}

TEST(store_that_takes_nothing)
{
	const struct store_ops ops = { .open = refuse };
	struct store store = { .ops = &ops };
	struct filters filters = { 0 };
	const struct watch_spec watch = { 0 };
	const struct event_rules events = { 0 };
	struct patch_rules patches = { 0 };
	const struct record_settings settings = {
		.filters = &filters,
		.watch = &watch,
		.events = &events,
		.patches = &patches,
		.segment_bytes = RING_PAGE,
		.clock_id = CLOCK_MONOTONIC,
	};
	unsigned before = count_fds();
	struct uft_err err = { 0 };
	struct recorder rec;

	assert_int_equal(recorder_open(&rec, &settings, &store, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot create 'task.txt': No space left on device");
	recorder_close(&rec);
	assert_int_equal(count_fds(), before);
}

/* --- the beginning --- */

static int take_open(struct store *store, const char *name)
{
	return 1000;
}

static int take_append(struct store *store, int stream, const struct iovec *parts, int nr)
{
	return 0;
}

static void take_close(struct store *store, int stream)
{
	assert_int_equal(stream, 1000);
}

static const struct store_ops takes_all = { .open = take_open,
					    .append = take_append,
					    .close = take_close };

struct begun {
	struct store store;
	struct filters filters;
	struct watch_spec watch;
	struct event_rules events;
	struct patch_rules patches;
	struct record_settings settings;
	struct recorder rec;
	unsigned fds;
};

static int setup(void **state)
{
	struct begun *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->fds = count_fds();
	b->store.ops = &takes_all;
	b->settings = (struct record_settings){
		.filters = &b->filters,
		.watch = &b->watch,
		.events = &b->events,
		.patches = &b->patches,
		.segment_bytes = RING_PAGE,
		.clock_id = CLOCK_MONOTONIC,
		.trace_on = true,
		.use_libcalls = true,
	};
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct recorder *begin(struct begun *b)
{
	struct uft_err err = { 0 };

	if (recorder_open(&b->rec, &b->settings, &b->store, &err) < 0)
		fail_msg("%s", err.text);
	return &b->rec;
}

static void end(struct begun *b)
{
	recorder_stop(&b->rec);
	recorder_close(&b->rec);
	assert_int_equal(count_fds(), b->fds);
}

/* Returns the flags that the settings add to a plan. */
static uint32_t flags_of(struct begun *b)
{
	struct plan plan;

	plan = begin(b)->channel.plan;
	end(b);
	return plan.flags;
}

TEST_WITH(each_setting_has_its_flag, setup, teardown)
{
	struct begun *b = *state;
	const struct record_settings plain = b->settings;

	assert_int_equal(flags_of(b), 0);
	b->settings.use_libcalls = false;
	assert_int_equal(flags_of(b), PLAN_NO_LIBCALLS);
	b->settings = plain;
	b->settings.nest_libcalls = true;
	assert_int_equal(flags_of(b), PLAN_NEST_LIBCALLS);
	b->settings = plain;
	b->settings.trace_on = false;
	assert_int_equal(flags_of(b), PLAN_TRACE_OFF);
	b->settings = plain;
	b->settings.drops_when_full = true;
	assert_int_equal(flags_of(b), PLAN_DROP);
	b->settings = plain;
	b->settings.flight_bytes = 1 << 20;
	b->settings.max_bytes = 1 << 30;
	assert_int_equal(flags_of(b), PLAN_FLIGHT);
	b->settings = plain;
	b->settings.estimates_return = true;
	assert_int_equal(flags_of(b), PLAN_ESTIMATE | PLAN_SELECTIVE);
	b->settings = plain;
	b->settings.reports_crashes = true;
	assert_int_equal(flags_of(b), PLAN_CRASH_REPORT);
	b->settings = plain;
	b->watch.cpu = true;
	assert_int_equal(flags_of(b), PLAN_WATCH_CPU | PLAN_SELECTIVE);
	b->watch.cpu = false;
	b->settings.is_steerable = true;
	assert_int_equal(flags_of(b), PLAN_STEERABLE | PLAN_SELECTIVE);
	b->settings.overhead_percent = 5;
	assert_int_equal(flags_of(b), PLAN_STEERABLE | PLAN_SELECTIVE | PLAN_LEAVES_OUT);
}

TEST_WITH(numbers_of_the_settings_are_in_the_plan, setup, teardown)
{
	struct begun *b = *state;
	const struct plan *plan;

	b->settings.threshold_ns = 1ULL << 40;
	b->settings.size_filter = 1ULL << 33;
	b->settings.depth = 11;
	b->settings.max_stack = 12;
	b->settings.clock_id = CLOCK_MONOTONIC_RAW;
	b->settings.signals = (struct signal_switches){ .on = 1, .off = 2, .finish = 4 };
	plan = &begin(b)->channel.plan;
	assert_int_equal(plan->threshold_ns, 1ULL << 40);
	assert_int_equal(plan->size_filter, UINT32_MAX);
	assert_int_equal(plan->depth, 11);
	assert_int_equal(plan->max_stack, 12);
	assert_int_equal(plan->clock_id, CLOCK_MONOTONIC_RAW);
	assert_int_equal(plan->signals_on, 1);
	assert_int_equal(plan->signals_off, 2);
	assert_int_equal(plan->signals_finish, 4);
	end(b);
}

/* The counter is the clock if the kernel uses it for its own time. */
TEST_WITH(the_clock_is_the_counter_if_the_kernel_says_so, setup, teardown)
{
	struct begun *b = *state;
	char text[64] = "";
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			   "re");
	uint64_t before = settings_now_ns(&b->settings);
	uint64_t counter = arch_counter_read();
	bool is_counter;
	const struct plan *plan;

	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	is_counter = arch_has_invariant_counter() && text[0] &&
		     strlen(text) == strlen(arch_counter_clocksource) + 1 &&
		     strncmp(text, arch_counter_clocksource, strlen(text) - 1) == 0;
	plan = &begin(b)->channel.plan;
	assert_int_equal(plan->clock, is_counter ? PLAN_CLOCK_COUNTER : PLAN_CLOCK_GETTIME);
	if (is_counter) {
		assert_true(plan->anchor_ns >= before);
		assert_true(plan->anchor_ns <= settings_now_ns(&b->settings));
		assert_true(plan->anchor_counter >= counter);
		assert_true(plan->anchor_counter <= arch_counter_read());
	} else {
		assert_int_equal(plan->anchor_ns, 0);
	}
	end(b);
}

/* The address ends with the secret, which differs each time. */
TEST_WITH(probes_find_it_by_a_name_and_a_secret, setup, teardown)
{
	static const uint8_t none[CONTROL_SECRET_BYTES];
	struct begun *b = *state;
	const struct control *ctl = &begin(b)->channel;
	uint8_t former[CONTROL_SECRET_BYTES];
	char name[CONTROL_NAME_SIZE];
	char expected[CONTROL_ADDRESS_SIZE];
	size_t len;

	snprintf(expected, sizeof(expected), "utrail-%d-", getpid());
	assert_memory_equal(ctl->socket_name, expected, strlen(expected));
	assert_int_equal(strspn(ctl->socket_name + strlen(expected), "0123456789abcdef"), 16);
	assert_int_equal(strlen(ctl->socket_name), strlen(expected) + 16);
	len = snprintf(expected, sizeof(expected), "%s:", ctl->socket_name);
	for (size_t i = 0; i < CONTROL_SECRET_BYTES; i++)
		len += snprintf(expected + len, sizeof(expected) - len, "%02x", ctl->secret[i]);
	assert_string_equal(ctl->address, expected);
	assert_memory_not_equal(ctl->secret, none, sizeof(none));
	memcpy(former, ctl->secret, sizeof(former));
	strcpy(name, ctl->socket_name);
	end(b);
	ctl = &begin(b)->channel;
	assert_memory_not_equal(ctl->secret, former, sizeof(former));
	assert_string_not_equal(ctl->socket_name, name);
	end(b);
}

/* The recorder's mapping is the only writable one, and the size of the memory is sealed. */
TEST_WITH(the_control_page_is_closed_to_others, setup, teardown)
{
	struct begun *b = *state;
	struct recorder *rec = begin(b);
	size_t len = sizeof(struct control_page);
	struct control_page *page;

	assert_int_equal(rec->control->recorder_pid, getpid());
	assert_ptr_equal(rec->processes.control, rec->control);
	assert_ptr_equal(rec->writers.control, rec->control);
	assert_int_equal(rec->channel.page_fd, rec->control_fd);
	assert_ptr_equal(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, rec->control_fd, 0),
			 MAP_FAILED);
	page = mmap(NULL, len, PROT_READ, MAP_SHARED, rec->control_fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	rec->control->plan_generation = 77;
	assert_int_equal(page->plan_generation, 77);
	munmap(page, len);
	assert_int_equal(ftruncate(rec->control_fd, len - 1), -1);
	assert_int_equal(ftruncate(rec->control_fd, len + 1), -1);
	assert_true(fcntl(rec->control_fd, F_GETFD) & FD_CLOEXEC);
	end(b);
}

/* --- limits --- */

TEST_WITH(a_limit_on_file_sizes_below_64_gb_is_refused, setup, teardown)
{
	struct begun *b = *state;
	struct uft_err err = { 0 };
	struct rlimit before, less;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	less = (struct rlimit){ (64ULL << 30) - 1, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	assert_int_equal(recorder_open(&b->rec, &b->settings, &b->store, &err), -EFBIG);
	assert_string_equal(err.text, "cannot record under a limit on file sizes (ulimit -f) below "
				      "64 GB");
	recorder_close(&b->rec);
	assert_int_equal(count_fds(), b->fds);
	less.rlim_cur++;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	begin(b);
	end(b);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

/* Conversations of each kind may use an eighth of the descriptors, but between 16 and 4096. */
TEST_WITH(the_number_of_conversations_depends_on_that_of_descriptors, setup, teardown)
{
	static const struct {
		rlim_t max;
		unsigned talks;
		rlim_t then;
	} cases[] = {
		/* The cases have falling limits, since a limit cannot be raised again. */
		{ 0, 4096, 65536 },
		{ 1024, 128, 1024 },
		{ 128, 16, 128 },
		{ 100, 16, 100 },
	};
	struct rlimit limit;
	struct begun *b = *state;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
				_exit(1);
			/* The program's own limit is lower. */
			limit.rlim_cur = 64;
			if (cases[i].max)
				limit.rlim_max = cases[i].max;
			else if (limit.rlim_max < 65536)
				continue;
			if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
				_exit(2);
			if (recorder_open(&b->rec, &b->settings, &b->store, NULL) < 0)
				_exit(3);
			if (b->rec.channel.talks.max != cases[i].talks)
				_exit(10 + i);
			recorder_stop(&b->rec);
			recorder_close(&b->rec);
			if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur != cases[i].then)
				_exit(20 + i);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_WITH(only_a_flight_recording_has_no_end, setup, teardown)
{
	struct begun *b = *state;

	b->settings.max_bytes = 100;
	begin(b);
	assert_int_equal(b->store.max_bytes, 100);
	assert_int_equal(atomic_load(&b->rec.control->finished), 0);
	assert_true(store_may_take(&b->store, 100));
	assert_int_equal(atomic_load(&b->rec.control->finished), 0);
	assert_false(store_may_take(&b->store, 1));
	assert_int_equal(atomic_load(&b->rec.control->finished), 1);
	end(b);
	b->store = (struct store){ .ops = &takes_all };
	b->settings.flight_bytes = 50;
	begin(b);
	assert_int_equal(b->store.max_bytes, 0);
	end(b);
}

/* --- the end --- */

static unsigned nr_finished;

static int finish(struct source *source)
{
	nr_finished++;
	return -ENOSPC;
}

TEST_WITH(sources_end_when_it_stops_and_not_again, setup, teardown)
{
	struct begun *b = *state;
	struct source source = { .finish = finish };

	nr_finished = 0;
	sources_add(&begin(b)->sources, &source);
	recorder_stop(&b->rec);
	assert_int_equal(nr_finished, 1);
	assert_int_equal(atomic_load(&b->store.error), -ENOSPC);
	recorder_close(&b->rec);
	assert_int_equal(nr_finished, 1);
	assert_int_equal(count_fds(), b->fds);
}

/* The recorder is closed without a stop when the program cannot be run. */
TEST_WITH(sources_end_when_it_is_closed_without_a_stop, setup, teardown)
{
	struct begun *b = *state;
	struct source source = { .finish = finish };

	nr_finished = 0;
	sources_add(&begin(b)->sources, &source);
	recorder_close(&b->rec);
	assert_int_equal(nr_finished, 1);
	assert_int_equal(count_fds(), b->fds);
}

/* Changes of the hooks or events of an ended process fail with an error. */
TEST_WITH(a_process_that_is_gone_is_not_changed, setup, teardown)
{
	struct begun *b = *state;
	struct steering *steer = &begin(b)->steering;
	struct process_patches patches = { 0 };
	struct uft_err err = { 0 };
	size_t nr_left = 7;

	assert_ptr_equal(steer->processes_arg, &b->rec);
	assert_true(steer->repatch(&b->rec, 0x7fffffff, &patches, &nr_left, &err) < 0);
	assert_int_equal(nr_left, 0);
	assert_true(err.text[0]);
	err = (struct uft_err){ 0 };
	assert_true(steer->choose(&b->rec, 0x7fffffff, NULL, 0, &err) < 0);
	assert_true(err.text[0]);
	end(b);
}

/* Rules about the program apply to Python's interpreter, too. So do rules about libpython. */
TEST(rules_about_python)
{
	static const struct {
		const char *rules;
		uint32_t flags;
	} cases[] = {
		{ "f", PLAN_PATCHES_PROGRAM },
		{ "!f", 0 },
		{ "f@python3", PLAN_PATCHES_PROGRAM },
		{ "f@python3.9", PLAN_PATCHES_PROGRAM },
		{ "f@python3.13", PLAN_PATCHES_PROGRAM },
		{ "f@python3.8", 0 },
		{ "f@python3.14", 0 },
		{ "!f@python3.12", 0 },
		{ "f@libpython3.9.so", PLAN_PATCHES_LIBPYTHON },
		{ "f@libpython3.13", PLAN_PATCHES_LIBPYTHON },
		{ "f@libpython3.8", 0 },
		{ "f@libpython3.14", 0 },
		{ "!f@libpython3.13", 0 },
		{ "f@libc", 0 },
		{ "f@libpython3;g", PLAN_PATCHES_PROGRAM | PLAN_PATCHES_LIBPYTHON },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct patch_rules rules = { 0 };

		assert_int_equal(patch_rules_parse(cases[i].rules, MATCH_GLOB, &rules, NULL), 0);
		assert_int_equal(recorder_python_flags(&rules), cases[i].flags);
		patch_rules_deinit(&rules);
	}
	assert_int_equal(recorder_python_flags(&(struct patch_rules){ 0 }), 0);
}
