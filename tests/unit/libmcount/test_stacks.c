/* Stacks that the program has made itself: calls on one are no part of the calls on another. */
#include <sys/mman.h>

#include "libmcount/stacks.h"
#include "tests/unit/lib/pair.h"
#include "tests/unit/lib/unit.h"

#define PAGE  4096UL
#define STACK (16 * PAGE)

/* Two stacks with a page between them that nobody may read. */
struct scene {
	struct pair pair;
	struct thread *t;
	uint64_t low;  /* end of the lower one */
	uint64_t high; /* end of the upper one */
	char *memory;
};

static struct arch_regs no_regs;

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	pair_init(&s->pair);
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
	s->memory = mmap(NULL, 2 * STACK + PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(s->memory, MAP_FAILED);
	assert_int_equal(mprotect(s->memory + STACK, PAGE, PROT_NONE), 0);
	s->low = (uint64_t)s->memory + STACK;
	s->high = (uint64_t)s->memory + 2 * STACK + PAGE;
}

static void end(struct scene *s)
{
	pair_stop(&s->pair);
	pair_close(&s->pair);
	munmap(s->memory, 2 * STACK + PAGE);
}

static uint64_t enter(struct scene *s, uint64_t slot)
{
	*(uint64_t *)slot = 0x500000 + slot % PAGE;
	assert_int_equal(probe_entry((uint64_t *)slot, 0x400000, &no_regs), 1);
	return slot;
}

static unsigned open_calls(void)
{
	return self->top - self->frames;
}

/* Within one stack the distance says nothing: large frames are no switch. */
static void large_frames(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, s.low - 5 * PAGE);
	enter(&s, s.low - 8 * PAGE);
	/* Jumped out of both. */
	enter(&s, s.low - PAGE);
	assert_false(probe.follows_stacks);
	assert_ptr_equal(self, s.t);
	assert_int_equal(open_calls(), 1);
	end(&s);
}

static void a_switch_is_noticed(void **state)
{
	struct scene s;

	begin(&s);
	enter(&s, s.low - 64);
	enter(&s, s.low - 128);
	assert_false(probe.follows_stacks);
	/* Further out, and in memory that is no part of the same stack. */
	enter(&s, s.high - 64);
	assert_true(probe.follows_stacks);
	/* From here on each stack has calls of its own, which stay open while another runs. */
	enter(&s, s.low - 192);
	assert_ptr_equal(self, s.t);
	assert_int_equal(open_calls(), 2);
	enter(&s, s.high - 128);
	assert_ptr_not_equal(self, s.t);
	assert_int_equal(open_calls(), 1);
	enter(&s, s.low - 256);
	assert_ptr_equal(self, s.t);
	assert_int_equal(open_calls(), 3);
	enter(&s, s.high - 192);
	assert_int_equal(open_calls(), 2);
	stacks_go_home();
	assert_ptr_equal(self, s.t);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_frames),
		cmocka_unit_test(a_switch_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
