/*
 * Processes traced by eBPF, where the kernel permits that; proc_scene.c has the checks of their
 * records.
 */
#include "tests/unit/lib/record/proc_scene.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

const struct proc_way *const proc_scene_way = &proc_by_bpf;

/* Returns the reason why eBPF cannot be used; NULL when it can. */
static const char *cannot(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_RINGBUF, .max_entries = 1 << 20 };
	struct utsname name;
	unsigned major, minor;
	int fd;

	if (!proc_by_bpf.start)
		return "this utrail was built without";
	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2 ||
	    major * 1000 + minor < 5017 || access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return "the kernel is older than 5.17, or has no BTF";
	fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (fd < 0)
		return strerror(errno);
	close(fd);
	return NULL;
}

static int make_top(void **state)
{
	setenv("UTRAIL_PROC_RING", "4194304", 1);
	return proc_scene_make_top(state);
}

static struct uft_err err;

static int prepare_with(const char *ring)
{
	struct proc proc = { 0 };
	int ret;

	err = (struct uft_err){ 0 };
	setenv("UTRAIL_PROC_RING", ring, 1);
	ret = proc_by_bpf.prepare(&proc, &proc_scene.settings, &err);
	setenv("UTRAIL_PROC_RING", "4194304", 1);
	if (ret == 0)
		assert_non_null(proc.own);
	else
		assert_null(proc.own);
	proc_by_bpf.release(&proc);
	assert_null(proc.own);
	return ret;
}

static void a_ring_that_cannot_be_is_said(void **state)
{
	assert_int_equal(prepare_with("1000"), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text,
			    "cannot follow processes by eBPF: Invalid argument: it needs Linux "
			    "5.17 with BTF (/sys/kernel/btf/vmlinux); --proc=ptrace does not");
	assert_int_equal(prepare_with("1048576"), 0);
	proc_scene_prepare();
}

static int is_there(void)
{
	return 0;
}

static void nothing_is_lost(void **state)
{
	proc_scene.proc.lost = 4711;
	proc_scene_trace(is_there);
	assert_int_equal(proc_scene_finish(), 0);
	assert_int_equal(proc_scene.proc.lost, 0);
	assert_int_equal(proc_scene.nr - proc_scene.at, 1);
}

static void times_are_of_the_recordings_clock(void **state)
{
	uint64_t before;

	proc_scene.settings.clock_id = CLOCK_REALTIME;
	before = clock_now_ns(CLOCK_REALTIME);
	proc_scene_trace(is_there);
	assert_int_equal(proc_scene_finish(), 0);
	/*
	 * Times are converted: the difference of the clocks is measured when the ring is emptied.
	 */
	assert_true(proc_scene.records[0].time_ns + 1000000000 > before);
	assert_true(proc_scene.records[0].time_ns < clock_now_ns(CLOCK_REALTIME) + 1000000000);
}

static void one_that_is_not_there_cannot_be_followed(void **state)
{
	proc_scene_prepare();
	err = (struct uft_err){ 0 };
	assert_int_equal(proc_scene_start(0x3ffffff, &err), -ESRCH);
	assert_int_equal(err.code, -ESRCH);
	assert_string_equal(err.text,
			    "cannot follow processes by eBPF: No such process: it needs Linux 5.17 "
			    "with BTF (/sys/kernel/btf/vmlinux); --proc=ptrace does not");
}

static void nothing_stays_open(void **state)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	assert_int_equal(prepare_with("4194304"), 0);
	assert_int_equal(prepare_with("1000"), -EINVAL);
	assert_int_equal(dup(STDERR_FILENO), fd);
	close(fd);
	proc_scene_prepare();
}

static void it_waits_itself_for_nobody(void **state)
{
	proc_scene_prepare();
	assert_false(proc_by_bpf.uses_filter);
	assert_false(proc_by_bpf.tells_end);
	assert_null(proc_by_bpf.end);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		PROC_SCENE_TESTS,
		PROC_SCENE_TEST(a_ring_that_cannot_be_is_said),
		PROC_SCENE_TEST(nothing_is_lost),
		PROC_SCENE_TEST(times_are_of_the_recordings_clock),
		PROC_SCENE_TEST(one_that_is_not_there_cannot_be_followed),
		PROC_SCENE_TEST(nothing_stays_open),
		PROC_SCENE_TEST(it_waits_itself_for_nobody),
	};
	const char *why;

	proc_scene_main(argc, argv);
	why = cannot();
	if (why) {
		printf("skipped: no processes can be followed by eBPF: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, make_top, proc_scene_remove_top);
}
