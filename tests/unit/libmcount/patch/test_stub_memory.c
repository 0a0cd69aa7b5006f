/*
 * Memory for code near a module: its place, its protection, taking it over, and cleaning up when it
 * cannot be had.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "libmcount/patch/stub_memory.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

#define STUBS 100

/* A module of one page. No other memory of the program is near it. */
struct module {
	void *page;
	ElfW(Phdr) load;
	struct dl_phdr_info info;
};

static int setup(void **state)
{
	struct module *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->page = mmap(NULL, STUB_MEMORY_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(m->page, MAP_FAILED);
	m->load = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_memsz = STUB_MEMORY_PAGE };
	m->info = (struct dl_phdr_info){
		.dlpi_addr = (uintptr_t)m->page,
		.dlpi_phdr = &m->load,
		.dlpi_phnum = 1,
	};
	probe = (struct probe){ 0 };
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct module *m = *state;

	munmap(m->page, STUB_MEMORY_PAGE);
	free(m);
	probe = (struct probe){ 0 };
	return 0;
}

static bool write_bytes(struct stub_memory *to, const struct stub_memory *as, void *arg)
{
	const uint8_t *byte = arg;

	if (byte)
		memset(to->stubs, *byte, STUBS);
	return byte;
}

static struct stub_memory *make(struct module *m, uint8_t byte)
{
	return stub_memory_make(&m->info, STUBS, write_bytes, &byte);
}

/* True when the kernel can write to @at, as the program could. */
static bool is_writable(void *at)
{
	int fds[2];
	char byte = *(char *)at;
	bool is;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], &byte, 1), 1);
	is = read(fds[0], at, 1) == 1;
	close(fds[0]);
	close(fds[1]);
	return is;
}

TEST_WITH(code_and_cells, setup, teardown)
{
	struct module *m = *state;
	struct stub_memory *memory = make(m, 7);
	uint64_t at = (uint64_t)memory;

	assert_non_null(memory);
	assert_true(MAX(at, (uint64_t)m->page) - MIN(at, (uint64_t)m->page) < 1UL << 31);
	assert_true(memory->bytes >= sizeof(*memory) + STUBS);
	for (unsigned i = 0; i < ARCH_HOOKS; i++)
		assert_int_equal(memory->cells[i], (uint64_t)arch_hooks[i]);
	for (unsigned i = 0; i < STUBS; i++)
		assert_int_equal(memory->stubs[i], 7);
	assert_true(is_writable((void *)memory->cells));
	assert_false(is_writable(memory->gates));
	assert_false(is_writable(memory->stubs + STUBS - 1));
	/* A second set of stubs for the same module gets memory of its own. */
	assert_ptr_not_equal(make(m, 7), memory);
	stub_memory_pass(memory);
	for (unsigned i = 0; i < ARCH_HOOKS; i++)
		assert_int_equal(memory->cells[i], (uint64_t)memory->pass);
}

/* Each gate jumps by its own cell. */
TEST_WITH(gates_are_written, setup, teardown)
{
	struct stub_memory *memory = make(*state, 7);
	uint8_t gate[ARCH_GATE_BYTES];

	assert_non_null(memory);
	for (unsigned i = 0; i < ARCH_HOOKS; i++) {
		memset(gate, 0, sizeof(gate));
		assert_memory_not_equal(memory->gates[i], gate, sizeof(gate));
	}
}

/*
 * Act as a probe that was attached to a running process, but for this call only: when a test fails,
 * cmocka calls functions that the probe interposes.
 */
static struct stub_memory *make_attached(struct module *m, uint8_t byte)
{
	struct stub_memory *memory;

	probe.is_attached = true;
	memory = make(m, byte);
	probe.is_attached = false;
	return memory;
}

/*
 * Stubs that an earlier probe has left are used again if they have the same bytes. No other test
 * writes such stubs.
 */
TEST_WITH(what_is_there_already, setup, teardown)
{
	struct module *m = *state;
	struct stub_memory *first = make(m, 17);
	struct stub_memory *other;

	assert_non_null(first);
	stub_memory_pass(first);
	other = make_attached(m, 18);
	assert_non_null(other);
	assert_ptr_not_equal(other, first);
	assert_int_equal(first->stubs[0], 17);
	assert_ptr_equal(make_attached(m, 17), first);
	for (unsigned i = 0; i < ARCH_HOOKS; i++)
		assert_int_equal(first->cells[i], (uint64_t)arch_hooks[i]);
	assert_ptr_equal(make_attached(m, 18), other);
}

static unsigned count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned nr = 0;
	int c;

	assert_non_null(maps);
	while ((c = getc(maps)) != EOF)
		nr += c == '\n';
	fclose(maps);
	return nr;
}

/* The stubs would be too far away to reach their targets. */
TEST_WITH(stubs_that_cannot_be, setup, teardown)
{
	struct module *m = *state;
	unsigned before = count_mappings();

	assert_null(stub_memory_make(&m->info, STUBS, write_bytes, NULL));
	assert_int_equal(count_mappings(), before);
}

/* Act as a hardened system, on which memory that was written cannot be made executable. */
static void refuse_new_code(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		_exit(77);
}

TEST_WITH(where_no_code_may_be_made, setup, teardown)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		refuse_new_code();
		_exit(make(*state, 7) != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip_because("the kernel does not let it refuse memory for code");
	assert_int_equal(status, 0);
}
