/* System calls that the probe makes no more after the program has got a filter. */
#include "libmcount/system/seal.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>

#include "libmcount/hot/probe.h"
#include "libmcount/system/arena.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/probe/control.h"

#define ADDRESS "name:0123456789abcdef"

static struct pair pair;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	self = pair_thread();
	assert_non_null(self);
	probe.has_counter = true;
	strcpy(probe.address, ADDRESS ":00000");
	setenv(CONTROL_ENV_SOCKET, ADDRESS ":00007", 1);
	return 0;
}

/* Allow all system calls again. No filter was given to the kernel. */
static void unseal(void)
{
	memset(&seal, 0, sizeof(seal));
}

static int teardown(void **state)
{
	unseal();
	unsetenv(CONTROL_ENV_SOCKET);
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

/* Tell the probe of a filter that refuses only the system call @number. */
static void refuse(uint32_t number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(code), code };

	errno = 4711;
	seal_before_filter((uint64_t)&program);
	assert_int_equal(errno, 4711);
}

#define NONE 0xffffU

TEST_WITH(a_filter_that_refuses_nothing, setup, teardown)
{
	assert_true(seal_allows(SYS_fork));
	refuse(NONE);
	assert_true(seal.is_on);
	assert_true(seal_may_begin());
	assert_true(seal_may_talk());
	assert_true(seal_allows(SYS_kill));
	assert_true(seal_allows(SYS_mmap));
	assert_true(seal_allows(SYS_socket));
	assert_true(seal_allows(SYS_ioctl));
	/* With a filter, system calls that the probe does not make itself count as forbidden. */
	assert_false(seal_allows(SYS_fork));
	assert_false(seal_allows(SYS_execve));
	assert_false(seal_allows(-1));
	assert_false(seal_allows(SEAL_NUMBERS));
	assert_int_equal(probe.arena->seals, 1);
	assert_true(probe.tracing);
	assert_int_equal(probe.arena->threads_caged, 0);
}

/*
 * One system call is refused. Threads may begin, and the probe may talk to the recorder, only if
 * they do not need that call. Calls that read values are needed for neither.
 */
TEST_WITH(what_is_possible_without_a_call, setup, teardown)
{
	static const struct {
		uint32_t number;
		bool may_begin, may_talk;
	} cases[] = {
		{ SYS_rt_sigprocmask, false, false },
		{ SYS_mmap, false, false },
		{ SYS_mremap, false, false },
		{ SYS_gettid, false, false },
		{ SYS_socket, true, false },
		{ SYS_sched_yield, true, false },
		{ SYS_munmap, true, false },
		{ SYS_pwrite64, true, false },
		{ SYS_rt_sigaction, true, false },
		{ SYS_rt_sigreturn, true, false },
		{ SYS_tgkill, true, false },
		{ SYS_clock_gettime, true, false },
		{ SYS_kill, true, true },
		{ SYS_getrusage, true, true },
		{ SYS_perf_event_open, true, true },
		{ SYS_ioctl, true, true },
		{ SYS_prctl, true, true },
		{ SYS_fork, true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unseal();
		refuse(cases[i].number);
		assert_int_equal(seal_may_begin(), cases[i].may_begin);
		assert_int_equal(seal_may_talk(), cases[i].may_talk);
		assert_false(seal_allows(cases[i].number));
		assert_true(seal_allows(SYS_close));
		assert_int_equal(probe.arena->seals, i + 1);
	}
}

/* An executed program has the filter from its beginning, if the probe can record it at all. */
TEST_WITH(executed_programs_have_one_filter_more, setup, teardown)
{
	refuse(NONE);
	assert_string_equal(probe.address, ADDRESS ":00001");
	assert_string_equal(getenv(CONTROL_ENV_SOCKET), ADDRESS ":00008");
	refuse(SYS_kill);
	assert_string_equal(probe.address, ADDRESS ":00002");
	assert_string_equal(getenv(CONTROL_ENV_SOCKET), ADDRESS ":00009");
	refuse(SYS_connect);
	assert_string_equal(probe.address, ADDRESS ":00002");
	/* The program may have removed the variable. */
	unseal();
	unsetenv(CONTROL_ENV_SOCKET);
	refuse(NONE);
	assert_string_equal(probe.address, ADDRESS ":00003");
	assert_null(getenv(CONTROL_ENV_SOCKET));
}

TEST_WITH(filters_add_up, setup, teardown)
{
	refuse(SYS_kill);
	refuse(SYS_socket);
	assert_false(seal_may_talk());
	refuse(NONE);
	assert_false(seal_allows(SYS_kill));
	assert_false(seal_allows(SYS_socket));
	assert_false(seal_may_talk());
	assert_true(seal_may_begin());
	assert_true(seal_allows(SYS_getrusage));
	refuse(SYS_mmap);
	assert_false(seal_may_begin());
	assert_int_equal(probe.arena->seals, 4);
	/* Without this call the probe cannot even read a filter. */
	unseal();
	refuse(SYS_rt_sigprocmask);
	refuse(NONE);
	assert_false(seal_allows(SYS_close));
	assert_false(seal_allows(SYS_getpid));
	assert_int_equal(probe.arena->seals, 6);
}

TEST_WITH(no_call_is_allowed, setup, teardown)
{
	seal_all();
	assert_true(seal.is_on);
	assert_false(seal_may_begin());
	assert_false(seal_may_talk());
	for (long number = -1; number <= SEAL_NUMBERS; number++)
		assert_false(seal_allows(number));
	assert_int_equal(probe.arena->seals, 1);
	assert_string_equal(probe.address, ADDRESS ":00000");
}

/* The kernel refuses such filters, so that nothing changes. */
TEST_WITH(filters_that_cannot_be_read, setup, teardown)
{
	const size_t page = 4096;
	char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	struct sock_filter *code;
	struct sock_fprog program;

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + 2 * page, page, PROT_NONE), 0);
	/* The filter has 601 instructions. The last one is beyond the readable memory. */
	code = (struct sock_filter *)(memory + 2 * page) - 600;
	for (int i = 0; i < 600; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program = (struct sock_fprog){ 601, code };
	errno = 4711;
	seal_before_filter((uint64_t)&program);
	program.len = 0;
	seal_before_filter((uint64_t)&program);
	program = (struct sock_fprog){ 1, NULL };
	seal_before_filter((uint64_t)&program);
	seal_before_filter(8);
	seal_before_filter((uint64_t)memory + 2 * page - 8);
	seal_before_filter((uint64_t)memory + 2 * page);
	assert_int_equal(errno, 4711);
	assert_false(seal.is_on);
	assert_int_equal(probe.arena->seals, 0);
	assert_string_equal(probe.address, ADDRESS ":00000");
	/* The first and the last page can be read, and the one between them cannot. */
	assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
	assert_int_equal(mprotect(memory + 2 * page, page, PROT_READ | PROT_WRITE), 0);
	program = (struct sock_fprog){ page / sizeof(*code) + 16,
				       (struct sock_filter *)(memory + page) - 8 };
	seal_before_filter((uint64_t)&program);
	assert_false(seal.is_on);
	assert_int_equal(mprotect(memory + page, page, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(mprotect(memory + 2 * page, page, PROT_NONE), 0);
	/* The same filter without the bytes that cannot be read. */
	program = (struct sock_fprog){ 600, code };
	seal_before_filter((uint64_t)&program);
	assert_true(seal.is_on);
	assert_int_equal(probe.arena->seals, 1);
	munmap(memory, 3 * page);
}

/* After the seal a thread cannot make its state any more, so it makes the state before. */
TEST_WITH(a_thread_begins_before_its_seal, setup, teardown)
{
	self = NULL;
	refuse(SYS_mmap);
	assert_non_null(self);
	assert_non_null(self->ring);
	/* Another thread comes too late. */
	self = NULL;
	refuse(NONE);
	assert_null(self);
	/* A thread does not begin while recording is off. */
	unseal();
	probe.tracing = false;
	refuse(NONE);
	assert_null(self);
	probe.tracing = true;
}

TEST_WITH(seals_of_a_program_that_is_not_recorded, setup, teardown)
{
	probe.ready = false;
	self = NULL;
	refuse(NONE);
	probe.ready = true;
	assert_null(self);
	assert_true(seal.is_on);
	assert_int_equal(probe.arena->seals, 0);
}

/* --- filters of a process, as the kernel states them --- */

TEST(counts_of_filters)
{
	static const struct {
		const char *status;
		unsigned nr;
	} cases[] = {
		{ "", 0 },
		{ "Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n", 0 },
		{ "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t3\nSpeculation:\t9\n", 3 },
		{ "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t120", 120 },
		{ "Name:\tx\nSeccomp:\t2\nSeccomp_filters: \t 19\n", 19 },
		/* Before Linux 5.9: the mode only. */
		{ "Name:\tx\nSeccomp:\t2\n", 1 },
		{ "Name:\tx\nSeccomp:\t1\n", 1 },
		{ "Name:\tx\nSeccomp:\t0\n", 0 },
		{ "Name:\tSeccomp:\t2\n", 0 },
		{ "Name:\tSeccomp_filters:\t2\nSeccomp:\t0\n", 0 },
		{ "Name:\tx\nSeccomp:\n", 0 },
		{ "Name:\tx\nSeccomp_filters:\n", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(seal_count_filters(cases[i].status), cases[i].nr);
}

TEST(filters_of_this_process)
{
	char status[16384];
	FILE *file = fopen("/proc/self/status", "r");
	size_t len;
	unsigned nr;

	assert_non_null(file);
	len = fread(status, 1, sizeof(status) - 1, file);
	fclose(file);
	status[len] = '\0';
	nr = seal_count_filters(status);
	assert_false(seal_was_before(nr));
	assert_false(seal_was_before(nr + 1));
	if (nr)
		assert_true(seal_was_before(nr - 1));
}
