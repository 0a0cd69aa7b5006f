/*
 * Unit tests of cmds/record/attach/unwind.c: calls that are open in this thread, which walks its
 * own stack as another process would.
 */
#include "tests/unit/lib/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "cmds/record/attach/unwind.h"
#include "utils/base/compiler.h"

#define FRAMES_MAX 65536

/* Returns the program's path as /proc/self/maps shows it. */
static const char *path_of_self(void)
{
	static char path[PATH_MAX];

	assert_non_null(realpath("/proc/self/exe", path));
	return path;
}

struct place {
	struct attached w;
	struct maps maps;
	struct unwinder *u;
	struct uft_err err;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->w = (struct attached){ .pid = getpid(),
				  .memory_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC) };
	assert_true(p->w.memory_fd >= 0);
	assert_int_equal(maps_read(&p->maps, getpid()), 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unwinder_close(p->u);
	maps_deinit(&p->maps);
	close(p->w.memory_fd);
	free(p);
	return 0;
}

static void begin(struct place *p)
{
	p->u = unwinder_open(&p->w, &p->maps, &p->err);
	if (!p->u)
		fail_msg("%s", p->err.text);
}

/* Make a thread with the registers of getcontext(3), in the order of the kernel. */
static struct attached_thread thread_at(const ucontext_t *at)
{
	static const int from[] = { REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX };
	struct attached_thread t = { .tid = getpid(), .is_stopped = true };

	for (size_t i = 0; i < ARRAY_SIZE(from); i++)
		t.regs.words[i] = at->uc_mcontext.gregs[from[i]];
	t.regs.words[16] = at->uc_mcontext.gregs[REG_RIP];
	t.regs.words[19] = at->uc_mcontext.gregs[REG_RSP];
	assert_int_equal(arch_remote_pc(&t.regs), at->uc_mcontext.gregs[REG_RIP]);
	assert_int_equal(arch_remote_sp(&t.regs), at->uc_mcontext.gregs[REG_RSP]);
	return t;
}

/*
 * Input and output of a walk.
 *
 * @returns, @cfa: return address and frame address of the innermost function
 */
struct walk {
	struct place *p;
	int nr;
	uint64_t pc;
	uint64_t sp;
	uint64_t returns;
	uint64_t cfa;
	const struct unwind_frame *frames;
};

NOINLINE static int walk(struct walk *walk)
{
	ucontext_t at;

	getcontext(&at);

	struct attached_thread thread = thread_at(&at);

	walk->returns = (uintptr_t)__builtin_return_address(0);
	walk->cfa = (uintptr_t)__builtin_dwarf_cfa();
	walk->pc = arch_remote_pc(&thread.regs);
	walk->sp = arch_remote_sp(&thread.regs);
	walk->nr = unwind_thread(walk->p->u, &thread, &walk->frames, &walk->p->err);
	return walk->nr;
}

/* Walk the stack from @depth calls further in. */
NOINLINE static int walk_deep(struct walk *to, unsigned depth);
NOINLINE static int walk_deep(struct walk *to, unsigned depth)
{
	int ret = depth ? walk_deep(to, depth - 1) : walk(to);

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

/* Walk the stack from @depth calls further in, each with a frame of more than a page. */
NOINLINE static int walk_large(struct walk *to, unsigned depth);
NOINLINE static int walk_large(struct walk *to, unsigned depth)
{
	volatile char room[5000];
	int ret;

	room[depth] = 1;
	ret = depth ? walk_large(to, depth - 1) : walk(to);
	return ret + room[depth] - 1;
}

TEST_WITH(calls_are_told_innermost_first, setup, teardown)
{
	struct place *p = *state;
	struct walk w = { .p = p };
	int nr;

	begin(p);
	walk(&w);
	nr = w.nr;
	assert_true(nr >= 3);
	assert_int_equal(w.frames[0].pc, w.pc);
	assert_int_equal(w.frames[0].sp, w.sp);
	assert_true(w.frames[0].is_interrupted);
	assert_int_equal(w.frames[1].pc, w.returns);
	assert_int_equal(w.frames[1].sp, w.cfa);
	for (int i = 1; i < nr; i++) {
		assert_false(w.frames[i].is_interrupted);
		assert_true(w.frames[i].sp > w.frames[i - 1].sp);
	}
	/* The second walk begins further in. Its result has no frames of the first one. */
	assert_int_equal(walk_deep(&w, 9), nr + 10);
	assert_int_equal(w.frames[1].pc, w.returns);
	for (int i = 3; i <= 10; i++)
		assert_int_equal(w.frames[i].pc, w.frames[2].pc);
	walk(&w);
	assert_int_equal(w.nr, nr);
	assert_int_equal(w.frames[1].pc, w.returns);
}

TEST_WITH(a_stack_of_many_pages_is_walked, setup, teardown)
{
	struct place *p = *state;
	struct walk w = { .p = p };
	int nr;

	begin(p);
	walk(&w);
	nr = w.nr;
	assert_int_equal(walk_large(&w, 40), nr + 41);
	for (int i = 3; i <= 41; i++) {
		assert_int_equal(w.frames[i].pc, w.frames[2].pc);
		assert_int_equal(w.frames[i].sp - w.frames[i - 1].sp,
				 w.frames[3].sp - w.frames[2].sp);
	}
}

static void *walk_at_the_limit(void *arg)
{
	struct walk *w = arg;
	unsigned deep;

	walk_deep(w, 0);
	if (w->nr < 2 || w->nr > 100)
		return "no walk";
	deep = FRAMES_MAX - w->nr;
	if (walk_deep(w, deep) != FRAMES_MAX)
		return "fewer than there may be";
	if (walk_deep(w, deep + 1) != -ENOENT)
		return "more than there may be";
	return NULL;
}

TEST_WITH(there_are_no_more_than_65536_calls, setup, teardown)
{
	struct place *p = *state;
	struct walk w = { .p = p };
	pthread_attr_t attr;
	pthread_t thread;
	void *wrong = "no thread";

	/* The stack has room for frames as large as sanitizers make them. */
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, 64 << 20), 0);
	maps_read(&p->maps, getpid());
	begin(p);
	assert_int_equal(pthread_create(&thread, &attr, walk_at_the_limit, &w), 0);
	pthread_join(thread, &wrong);
	pthread_attr_destroy(&attr);
	if (wrong)
		fail_msg("%s", (char *)wrong);
	assert_null(w.frames);
	assert_memory_equal(p->err.text, "there are too many (at 0x", 25);
	assert_null(strstr(p->err.text, "'?'"));
}

/* --- walks that end early --- */

static int walk_from(struct place *p, uint64_t pc, uint64_t sp, const struct unwind_frame **frames)
{
	struct attached_thread thread = { .tid = getpid() };

	thread.regs.words[16] = pc;
	thread.regs.words[19] = sp;
	p->err = (struct uft_err){ 0 };
	return unwind_thread(p->u, &thread, frames, &p->err);
}

TEST_WITH(code_that_nobody_knows_ends_it, setup, teardown)
{
	static const struct unwind_frame none;
	struct place *p = *state;
	const struct unwind_frame *frames = &none;
	uint64_t word = 0;

	begin(p);
	assert_int_equal(walk_from(p, 0x1234, (uintptr_t)&word, &frames), -ENOENT);
	assert_null(frames);
	assert_int_equal(p->err.code, -ENOENT);
	assert_non_null(strstr(p->err.text, " (at 0x1234 in '?')"));
}

/*
 * The return address is read correctly at the end of a page, across two pages, and at the beginning
 * of a page.
 */
TEST_WITH(a_word_is_read_wherever_it_lies, setup, teardown)
{
	static _Alignas(4096) uint8_t stack[3 * 4096];
	static const unsigned places[] = { 4096 - 8, 4096 - 4, 4096, 4096 + 8, 8192 - 7, 64 };
	struct place *p = *state;
	const struct unwind_frame *frames;
	char where[64];

	begin(p);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const uint64_t nowhere = 0x5000 + i;

		memset(stack, 0xee, sizeof(stack));
		memcpy(stack + places[i], &nowhere, sizeof(nowhere));
		/* At the beginning of a function the stack pointer points to the return address. */
		assert_int_equal(
			walk_from(p, (uintptr_t)walk, (uintptr_t)stack + places[i], &frames),
			-ENOENT);
		snprintf(where, sizeof(where), " (at %#llx in '?')", (unsigned long long)nowhere);
		if (!strstr(p->err.text, where))
			fail_msg("at %u: %s", places[i], p->err.text);
	}
}

TEST_WITH(without_modules_nothing_can_be_walked, setup, teardown)
{
	struct place *p = *state;

	maps_deinit(&p->maps);
	p->u = unwinder_open(&p->w, &p->maps, &p->err);
	assert_null(p->u);
	assert_int_equal(p->err.code, -ENOENT);
	assert_true(p->err.text[0]);
	unwinder_close(NULL);
}

/* --- modules --- */

static int bias_of(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct unwind_module *m = arg;
	uint64_t at = m->bias;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && at - (info->dlpi_addr + ph->p_vaddr) < ph->p_memsz) {
			m->bias = info->dlpi_addr;
			return 1;
		}
	}
	return 0;
}

/* The bias by the dynamic linker's own list. */
static uint64_t real_bias(const void *at)
{
	struct unwind_module m = { .bias = (uintptr_t)at };

	assert_int_equal(dl_iterate_phdr(bias_of, &m), 1);
	return m.bias;
}

static void set_path(struct place *p, const void *at, const char *path)
{
	char *former = strdup(maps_find(&p->maps, (uintptr_t)at)->path);

	assert_non_null(former);
	for (size_t i = 0; i < p->maps.nr; i++) {
		if (strcmp(p->maps.lines[i].path, former) == 0) {
			free(p->maps.lines[i].path);
			p->maps.lines[i].path = strdup(path);
		}
	}
	free(former);
}

static const void *in_libc(void)
{
	return dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
}

TEST_WITH(the_module_of_an_address_is_told, setup, teardown)
{
	struct place *p = *state;
	const struct mapping *libc = maps_find(&p->maps, (uintptr_t)in_libc());
	struct unwind_module m = { 0 };
	struct stat st;

	begin(p);
	assert_true(unwind_module(p->u, (uintptr_t)walk, &m));
	assert_string_equal(m.path, path_of_self());
	assert_int_equal(m.bias, real_bias((void *)(uintptr_t)walk));
	assert_int_equal(m.file.fd, -1);
	assert_non_null(m.file.elf);
	assert_int_equal(m.file.head.e_machine, EM_X86_64);
	assert_true(m.file.head.e_shnum > 0);
	assert_int_equal(stat(path_of_self(), &st), 0);
	assert_int_equal(m.file.size, st.st_size);
	assert_true(unwind_module(p->u, (uintptr_t)in_libc(), &m));
	assert_string_equal(m.path, libc->path);
	assert_int_equal(m.bias, real_bias(in_libc()));
}

TEST_WITH(what_is_no_module_is_none, setup, teardown)
{
	struct place *p = *state;
	struct unwind_module m;
	int local = 0;

	begin(p);
	assert_false(unwind_module(p->u, 0x1000, &m));
	assert_false(unwind_module(p->u, (uintptr_t)&local, &m));
	assert_false(unwind_module(p->u, UINT64_MAX, &m));
}

/*
 * After a module there may be other code, such as code made at run time, which does not belong to
 * it.
 */
TEST_WITH(a_module_ends_where_its_last_line_does, setup, teardown)
{
	struct place *p = *state;
	const struct mapping *end = maps_find(&p->maps, (uintptr_t)walk);
	const struct mapping *last = p->maps.lines + p->maps.nr - 1;
	struct unwind_module m;

	while (end < last && strcmp(end[1].path, end->path) == 0)
		end++;
	begin(p);
	assert_true(unwind_module(p->u, end->end - 1, &m));
	assert_string_equal(m.path, path_of_self());
	assert_false(unwind_module(p->u, end->end, &m));
}

TEST_WITH(the_kernels_own_code_is_a_module, setup, teardown)
{
	struct place *p = *state;
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	struct unwind_module m = { 0 };

	if (!vdso || !maps_find(&p->maps, vdso) || !maps_find(&p->maps, vdso)->is_code)
		skip_because("there is no vdso here");
	begin(p);
	assert_true(unwind_module(p->u, vdso + 16, &m));
	assert_string_equal(m.path, "[vdso]");
	assert_int_equal(m.bias, vdso);
	assert_int_equal(m.file.head.e_type, ET_DYN);
	/* The second search finds the module, too. */
	assert_true(unwind_module(p->u, vdso + 32, &m));
}

/* A deleted program can still be read as /proc/PID/exe; a deleted library cannot. */
TEST_WITH(a_file_that_is_gone_is_found_if_it_is_the_program, setup, teardown)
{
	struct place *p = *state;
	struct unwind_module m = { 0 };

	set_path(p, (void *)(uintptr_t)walk, "/no/such/program (deleted)");
	set_path(p, in_libc(), "/no/such/libc.so.6");
	begin(p);
	assert_true(unwind_module(p->u, (uintptr_t)walk, &m));
	assert_string_equal(m.path, "/no/such/program (deleted)");
	assert_int_equal(m.bias, real_bias((void *)(uintptr_t)walk));
	assert_false(unwind_module(p->u, (uintptr_t)in_libc(), &m));
}

/* Another file now has the name of the mapped file. */
TEST_WITH(a_file_that_is_not_what_was_mapped_is_not_taken, setup, teardown)
{
	struct place *p = *state;
	struct unwind_module m;

	set_path(p, in_libc(), path_of_self());
	begin(p);
	assert_false(unwind_module(p->u, (uintptr_t)in_libc(), &m));
	assert_true(unwind_module(p->u, (uintptr_t)walk, &m));
}

TEST_WITH(what_has_no_file_or_no_code_is_no_module, setup, teardown)
{
	struct place *p = *state;
	const char *libc = maps_find(&p->maps, (uintptr_t)in_libc())->path;
	struct unwind_module m;

	for (size_t i = 0; i < p->maps.nr; i++) {
		if (strcmp(p->maps.lines[i].path, libc) == 0)
			p->maps.lines[i].is_code = false;
	}
	begin(p);
	assert_false(unwind_module(p->u, (uintptr_t)in_libc(), &m));
	assert_true(unwind_module(p->u, (uintptr_t)walk, &m));
	unwinder_close(p->u);
	p->u = NULL;
	for (size_t i = 0; i < p->maps.nr; i++)
		p->maps.lines[i].is_code = true;
	set_path(p, in_libc(), "libc.so.6");
	begin(p);
	assert_false(unwind_module(p->u, (uintptr_t)in_libc(), &m));
}
