/*
 * Unit tests of cmds/record/attach/text.c: bytes of a running process that change, and bytes that
 * stay because of its threads.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/attach/text.h"
#include "utils/base/compiler.h"

#define PAGE 4096

/*
 * The content of the two pages of code: a loop that a thread stays in, and places that no thread is
 * in.
 */
#define LOOP	  16
#define QUIET	  64
#define RETURNED  128
#define HANDLED	  192
#define ISLAND	  256
#define SHORT	  320
#define TWO_PAGES (PAGE - 2)

/* 1: incq (%rdi); jmp 1b */
static const uint8_t loop_code[] = { 0x48, 0xff, 0x07, 0xeb, 0xfb };

static uint8_t *code;
/* Memory that a child shares: the turns of its loop, and 1 when its handler runs. */
static _Atomic uint64_t *turns;
static _Atomic uint64_t *has_handler;
static struct attach_change changes[8];

NOINLINE static void handler(int sig)
{
	atomic_store(has_handler, 1);
	for (;;)
		pause();
}

static void *loop(void *arg)
{
	((void (*)(_Atomic uint64_t *))(code + LOOP))(turns);
	return NULL;
}

/* The number of zeros between the stack pointer and the words of the next child. */
static size_t nr_zeros;
/* True when the handler of the next child has a stack of its own. */
static bool has_own_stack;

/*
 * A child whose stack has words that lead into the code, like return addresses, and addresses at
 * which a signal has interrupted the code.
 */
NOINLINE static void be_child(const uint64_t *leads, size_t nr)
{
	static char own_stack[1 << 16];
	const stack_t stack = { .ss_sp = own_stack, .ss_size = sizeof(own_stack) };
	const struct sigaction action = { .sa_handler = handler,
					  .sa_flags = has_own_stack ? SA_ONSTACK : 0 };
	volatile uint64_t *words = __builtin_alloca((nr_zeros + 8) * sizeof(*words));
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < nr_zeros + 8; i++)
		words[i] = i >= nr_zeros && i - nr_zeros < nr ? leads[i - nr_zeros] : 0;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, loop, NULL);
	raise(SIGUSR1);
	_exit((int)words[0]);
}

static struct attach_change change(uint64_t at, uint8_t clear, uint8_t flags)
{
	struct attach_change c = {
		.site = (uint64_t)code + at, .len = 5, .clear = clear, .flags = flags
	};

	memcpy(c.before, code + at, c.len);
	memcpy(c.after, "\xe9\x01\x02\x03\x04", c.len);
	return c;
}

struct child {
	pid_t pid;
	struct attached w;
	struct maps maps;
	struct text text;
};

static void begin(struct child *c, size_t nr_changes, const uint64_t *leads, size_t nr_leads)
{
	*c = (struct child){ .w = ATTACHED_CLOSED };
	atomic_store(turns, 0);
	atomic_store(has_handler, 0);
	c->pid = fork();
	if (c->pid == 0)
		be_child(leads, nr_leads);
	while (atomic_load(turns) < 10 || !atomic_load(has_handler))
		usleep(1000);
	assert_int_equal(attached_open(&c->w, c->pid, NULL), 0);
	assert_int_equal(attached_stop(&c->w, NULL), 0);
	assert_int_equal(maps_read(&c->maps, c->pid), 0);
	assert_int_equal(text_read(&c->text, &c->w, (uint64_t)changes, nr_changes, NULL), 0);
}

static void end(struct child *c)
{
	uint64_t before = atomic_load(turns);

	attached_let_go(&c->w);
	while (atomic_load(turns) < before + 10)
		usleep(1000);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	text_deinit(&c->text);
	maps_deinit(&c->maps);
	attached_close(&c->w);
}

static bool is_in(const struct child *c, size_t i)
{
	uint8_t there[5];

	assert_int_equal(attached_read(&c->w, changes[i].site, there, 5), 5);
	return memcmp(there, changes[i].after, 5) == 0;
}

/*
 * Patches are put in, and taken out again, where the bytes are as expected. Nothing is written
 * where other bytes are found.
 */
TEST(test_in_and_out)
{
	struct child c;

	changes[0] = change(QUIET, 5, 0);
	changes[1] = change(RETURNED, 5, 0);
	changes[1].before[0] ^= 1;
	changes[2] = change(TWO_PAGES, 5, 0);
	changes[3] = change(QUIET + 4, 5, 0); /* overlaps another change */
	changes[4] = change(HANDLED, 5, 0);
	changes[4].site = (uint64_t)turns; /* an address without code */
	begin(&c, 5, NULL, 0);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 0);
	assert_true(is_in(&c, 0));
	for (size_t i = 1; i < 5; i++)
		assert_false(is_in(&c, i));
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 0);
	assert_int_equal(text_take_out(&c.text, &c.w, &c.maps), 0);
	assert_false(is_in(&c, 0));
	end(&c);
}

/*
 * A thread in the bytes to be patched keeps a patch out. So does a return address, or a similar
 * word, on a stack. A word that leads to the first byte does not keep a patch out.
 */
TEST(test_threads_in_the_way)
{
	const uint64_t leads[] = { (uint64_t)code + RETURNED + 2, (uint64_t)code + QUIET,
				   (uint64_t)code + HANDLED + 9, 0x202, 0x33 };
	struct child c;

	changes[0] = change(LOOP - 2, 10, 0);
	changes[1] = change(QUIET, 5, 0);
	changes[2] = change(RETURNED, 5, 0);
	changes[3] = change(HANDLED, 10, 0);
	begin(&c, 4, leads, 5);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 3);
	assert_false(is_in(&c, 0));
	assert_true(is_in(&c, 1));
	assert_false(is_in(&c, 2));
	assert_false(is_in(&c, 3));
	assert_int_equal(text_take_out(&c.text, &c.w, &c.maps), 0);
	assert_false(is_in(&c, 1));
	end(&c);
}

/*
 * A word on the stack that leads to the end of no call is a number, or an old address. No thread
 * returns there, so the patch goes in.
 */
TEST(test_words_that_lead_nowhere)
{
	const uint64_t leads[] = { (uint64_t)code + QUIET + 1, (uint64_t)code + RETURNED + 3,
				   (uint64_t)code + HANDLED + 4, 0x202, 0x2b };
	struct child c;

	changes[0] = change(QUIET, 5, 0);
	changes[1] = change(RETURNED, 5, 0);
	changes[2] = change(HANDLED, 5, 0);
	begin(&c, 3, leads, 5);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 0);
	for (size_t i = 0; i < 3; i++)
		assert_true(is_in(&c, i));
	assert_int_equal(text_take_out(&c.text, &c.w, &c.maps), 0);
	for (size_t i = 0; i < 3; i++)
		assert_false(is_in(&c, i));
	end(&c);
}

/*
 * A jump to an island is written only together with the island. It is taken out only when no thread
 * is on the island.
 */
TEST(test_islands)
{
	const uint64_t leads[] = { (uint64_t)code + ISLAND, 0x202, 0x33 };
	struct child c;

	changes[0] = change(ISLAND, 5, ATTACH_CHANGE_ISLAND);
	changes[1] = change(SHORT, 5, ATTACH_CHANGE_ON_FORMER);
	changes[2] = change(TWO_PAGES, 5, ATTACH_CHANGE_ISLAND);
	changes[3] = change(QUIET, 5, ATTACH_CHANGE_ON_FORMER);
	begin(&c, 4, leads, 3);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 0);
	assert_true(is_in(&c, 0));
	assert_true(is_in(&c, 1));
	assert_false(is_in(&c, 3));
	assert_int_equal(text_take_out(&c.text, &c.w, &c.maps), 1);
	assert_true(is_in(&c, 0));
	assert_false(is_in(&c, 1));
	end(&c);
}

/* Changes may touch each other. The second of two that overlap is not made. */
TEST(test_neighbours)
{
	struct child c;

	changes[0] = change(QUIET, 8, 0);
	changes[1] = change(QUIET + 8, 5, 0);
	changes[2] = change(HANDLED, 8, 0);
	changes[3] = change(HANDLED + 7, 5, 0);
	changes[4] = change(HANDLED + 12, 5, 0);
	changes[5] = change(PAGE - 5, 5, 0);
	changes[6] = change(PAGE, 5, 0);
	begin(&c, 7, NULL, 0);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 0);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(is_in(&c, i), i != 3);
		assert_int_equal(text_is_in(&c.w, &changes[i]), i != 3);
	}
	assert_int_equal(text_take_out(&c.text, &c.w, &c.maps), 0);
	for (size_t i = 0; i < 7; i++)
		assert_false(text_is_in(&c.w, &changes[i]));
	end(&c);
}

/*
 * A change that overlaps an earlier one is dropped. A thread in the bytes of the earlier change is
 * found nevertheless.
 */
TEST(test_thread_where_changes_overlap)
{
	const uint64_t leads[] = { (uint64_t)code + RETURNED + 2 };
	struct child c;

	changes[0] = change(RETURNED, 10, 0);
	changes[1] = change(RETURNED + 1, 6, 0);
	changes[2] = change(RETURNED + 10, 5, 0);
	begin(&c, 3, leads, 1);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 1);
	assert_false(is_in(&c, 0));
	assert_false(is_in(&c, 1));
	assert_true(is_in(&c, 2));
	end(&c);
}

/* The probe is told of each change that was made: 0 for in, 1 for out. */
TEST(test_probe_is_told)
{
	static uint8_t is_out[3] = { 7, 7, 7 };
	uint8_t told[3];
	struct child c;

	changes[0] = change(QUIET, 5, 0);
	changes[1] = change(RETURNED, 5, 0);
	changes[2] = change(HANDLED, 5, 0);
	changes[0].out_at = (uint64_t)&is_out[0];
	changes[1].out_at = (uint64_t)&is_out[1];
	changes[1].before[4] ^= 1;
	begin(&c, 3, NULL, 0);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 0);
	assert_int_equal(attached_read(&c.w, (uint64_t)is_out, told, 3), 3);
	assert_memory_equal(told, "\0\7\7", 3);
	assert_int_equal(text_take_out(&c.text, &c.w, &c.maps), 0);
	assert_int_equal(attached_read(&c.w, (uint64_t)is_out, told, 3), 3);
	assert_memory_equal(told, "\1\7\7", 3);
	end(&c);
}

/* Words far away from the stack pointer are found, too. */
TEST(test_deep_stacks)
{
	static const size_t zeros[] = { 0, 7000, 8120, 8191, 8192, 8300, 16500, 100000 };
	const uint64_t leads[] = { (uint64_t)code + RETURNED + 2, (uint64_t)code + HANDLED + 3,
				   0x202, 0x33 };

	for (size_t i = 0; i < ARRAY_SIZE(zeros); i++) {
		struct child c;

		nr_zeros = zeros[i];
		changes[0] = change(QUIET, 5, 0);
		changes[1] = change(RETURNED, 5, 0);
		changes[2] = change(HANDLED, 5, 0);
		begin(&c, 3, leads, 4);
		nr_zeros = 0;
		assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 2);
		assert_true(is_in(&c, 0));
		assert_false(is_in(&c, 1));
		assert_false(is_in(&c, 2));
		end(&c);
	}
}

/* The stack that a signal has interrupted is found from the stack of the signal's handler. */
TEST(test_stacks_of_handlers)
{
	const uint64_t leads[] = { (uint64_t)code + RETURNED + 2 };
	static const char *const libc[] = { "libc.so.", "libc-2.", NULL };

	for (int has_gadgets = 0; has_gadgets <= 1; has_gadgets++) {
		const struct mapping *text;
		struct child c;

		has_own_stack = true;
		changes[0] = change(RETURNED, 5, 0);
		begin(&c, 1, leads, 1);
		has_own_stack = false;
		text = maps_code(&c.maps, maps_module(&c.maps, libc));
		assert_non_null(text);
		assert_int_equal(attached_find_gadgets(&c.w, text->start, text->end, NULL), 0);
		/* Without the address, a frame of a signal cannot be recognized. */
		if (!has_gadgets)
			c.w.return_gadget = 1;
		assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), has_gadgets);
		assert_int_equal(is_in(&c, 0), !has_gadgets);
		end(&c);
	}
}

/* If a thread prevents the removal of a jump, the jump's island stays, too. */
TEST(test_needed_islands)
{
	const uint64_t leads[] = { (uint64_t)code + SHORT + 2, 0x202, 0x33 };
	struct child c;

	changes[0] = change(ISLAND, 5, ATTACH_CHANGE_ISLAND);
	changes[1] = change(SHORT, 5, ATTACH_CHANGE_ON_FORMER);
	changes[2] = change(QUIET, 5, 0);
	begin(&c, 3, leads, 3);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 1);
	assert_false(is_in(&c, 1));
	/* The process itself writes what the recorder could not. */
	assert_int_equal(attached_write(&c.w, changes[1].site, changes[1].after, 5), 5);
	assert_int_equal(text_take_out(&c.text, &c.w, &c.maps), 2);
	assert_true(is_in(&c, 0));
	assert_true(is_in(&c, 1));
	assert_false(is_in(&c, 2));
	end(&c);
}

TEST(test_nothing_is_believed)
{
	struct child c;

	begin(&c, 0, NULL, 0);
	assert_int_equal(text_put_in(&c.text, &c.w, &c.maps), 0);
	assert_int_equal(text_read(&c.text, &c.w, (uint64_t)changes, UINT64_MAX, NULL), -ENOMEM);
	assert_int_equal(text_read(&c.text, &c.w, 8, 1, NULL), -EIO);
	changes[0] = change(QUIET, 5, 0);
	assert_int_equal(attached_write(&c.w, (uint64_t)changes, changes, sizeof(changes)),
			 sizeof(changes));
	changes[0].len = 255;
	assert_int_equal(attached_write(&c.w, (uint64_t)changes, changes, sizeof(changes)),
			 sizeof(changes));
	assert_int_equal(text_read(&c.text, &c.w, (uint64_t)changes, 1, NULL), 0);
	assert_int_equal(c.text.changes[0].len, ATTACH_CHANGE_MAX);
	assert_int_equal(c.text.changes[0].clear, ATTACH_CHANGE_MAX);
	end(&c);
}

int main(void)
{
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	turns = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_ptr_not_equal(turns, MAP_FAILED);
	has_handler = turns + 1;
	memset(code, 0x90, 2 * PAGE);
	memcpy(code + LOOP, loop_code, sizeof(loop_code));
	code[RETURNED - 3] = 0xe8; /* a call that ends at RETURNED + 2 */
	mprotect(code, 2 * PAGE, PROT_READ | PROT_EXEC);
	return unit_run();
}
