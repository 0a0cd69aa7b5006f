/* Calls that were open before the probe was loaded: calls inside of them, and their ends. */
#include <errno.h>

#include "libmcount/hot/callers.h"
#include "libmcount/system/earlier_calls.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/probe/attach.h"

#define PLACES	   64
#define RET(place) (0x500000UL + (place))
#define ADDR(n)	   (0x400000UL + 16 * (n))

/*
 * The stack is part of the test's structure. It lies above the frames of all called functions. The
 * optimizer must not know that.
 */
struct scene {
	struct pair pair;
	struct thread *t;
	uint64_t stack[PLACES];
	struct strbuf expected;
};

void __cyg_profile_func_exit(void *fn, void *caller);

static struct arch_regs no_regs;

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	for (unsigned i = 0; i < PLACES; i++)
		s->stack[i] = RET(i);
	pair_init(&s->pair);
	s->pair.settings.depth = s->pair.settings.max_stack = 5;
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
}

static void end(struct scene *s)
{
	pair_look(&s->pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&s->pair, s->t->ring->tid);
	const struct record *r = (const struct record *)strbuf_str(&file);
	const uint64_t *expected = (const uint64_t *)strbuf_str(&s->expected);

	assert_int_equal(file.len / sizeof(*r), s->expected.len / sizeof(*expected));
	for (size_t i = 0; i < file.len / sizeof(*r); i++)
		assert_int_equal(r[i].data, expected[i]);
	assert_int_equal(s->t->busy, 0);
	strbuf_deinit(&s->expected);
	earlier_calls_drop();
	pair_stop(&s->pair);
	pair_close(&s->pair);
}

static void expect(struct scene *s, enum record_type type, unsigned depth, unsigned n)
{
	uint64_t data = record_data(type, depth, ADDR(n));

	strbuf_add(&s->expected, &data, sizeof(data));
}

/*
 * Note open calls of this thread, as the recorder tells them: function n has its slot at places[n],
 * and its stack pointer at sps[n]. @sps: NULL when unknown
 */
static void note(struct scene *s, const unsigned *places, const unsigned *sps, uint32_t nr)
{
	uint64_t words[ATTACH_THREAD_BYTES_MAX / sizeof(uint64_t)] = { 0 };
	struct attach_thread *told = (struct attach_thread *)words;

	*told = (struct attach_thread){ .tid = s->t->ring->tid, .nr = nr };
	for (unsigned n = 0; n < nr; n++)
		told->calls[n] = (struct attach_call){
			.slot = (uint64_t)&s->stack[places[n]],
			.ret = RET(places[n]),
			.addr = ADDR(n),
			.sp = sps ? (uint64_t)&s->stack[sps[n]] : 0,
		};
	assert_int_equal(earlier_calls_note(told, attach_thread_bytes(nr)), 0);
}

static void call(struct scene *s, unsigned place, unsigned depth, unsigned n)
{
	uint64_t ret = RET(place) + 0x1000;

	s->stack[place] = ret;
	assert_int_equal(probe_entry(&s->stack[place], ADDR(n), &no_regs), 1);
	expect(s, RECORD_ENTRY, depth, n);
	assert_int_equal(probe_exit((uint64_t)&s->stack[place], &no_regs), ret);
	expect(s, RECORD_EXIT, depth, n);
}

TEST(test_depth)
{
	struct scene s;

	begin(&s);
	note(&s, (const unsigned[]){ 60, 50, 40 }, NULL, 3);
	earlier_calls_begin(s.t);
	call(&s, 30, 3, 9);
	call(&s, 39, 3, 9);
	/* Function 2 has returned, and its caller has called another one. */
	expect(&s, RECORD_EXIT, 2, 2);
	call(&s, 45, 2, 9);
	call(&s, 20, 2, 9);
	/* The caller of function 0 makes a call. */
	expect(&s, RECORD_EXIT, 1, 1);
	expect(&s, RECORD_EXIT, 0, 0);
	call(&s, 60, 0, 9);
	call(&s, 20, 0, 9);
	end(&s);
}

/*
 * The program went on between the note and this thread's first call. Later another thread may get
 * the same number.
 */
TEST(test_first_call)
{
	struct scene s;

	begin(&s);
	note(&s, (const unsigned[]){ 60, 50, 40 }, NULL, 3);
	s.stack[50] = 0;
	earlier_calls_begin(s.t);
	call(&s, 30, 1, 9);
	expect(&s, RECORD_EXIT, 0, 0);
	call(&s, 62, 0, 9);
	earlier_calls_begin(s.t);
	call(&s, 30, 0, 9);
	end(&s);
}

/* Open calls beyond the depth limit are dropped, with the calls inside of them. */
TEST(test_limit)
{
	struct scene s;

	begin(&s);
	note(&s, (const unsigned[]){ 60, 58, 56 }, NULL, 3);
	note(&s, (const unsigned[]){ 54, 52, 50 }, NULL, 3);
	earlier_calls_begin(s.t);
	s.stack[40] = RET(40);
	assert_int_equal(probe_entry(&s.stack[40], ADDR(9), &no_regs), 0);
	assert_int_equal(s.stack[40], RET(40));
	/* The call is made by the caller of function 1 of the second note. */
	expect(&s, RECORD_EXIT, 4, 1);
	call(&s, 52, 4, 9);
	end(&s);
}

TEST(test_explicit)
{
	struct scene s;

	begin(&s);
	note(&s, (const unsigned[]){ 60, 50, 40 }, (const unsigned[]){ 55, 45, 35 }, 3);
	earlier_calls_begin(s.t);
	call(&s, 30, 3, 9);
	/* The functions announce their own ends. */
	__cyg_profile_func_exit((void *)ADDR(2), (void *)RET(40));
	expect(&s, RECORD_EXIT, 2, 2);
	call(&s, 30, 2, 9);
	__cyg_profile_func_exit((void *)ADDR(0), (void *)RET(60));
	expect(&s, RECORD_EXIT, 1, 1);
	expect(&s, RECORD_EXIT, 0, 0);
	call(&s, 30, 0, 9);
	end(&s);
}

static void begin_with(struct scene *s, struct attach_call call)
{
	const struct attach_thread head = { .tid = s->t->ring->tid, .nr = 1 };
	char told[sizeof(head) + sizeof(call)];

	memcpy(told, &head, sizeof(head));
	memcpy(told + sizeof(head), &call, sizeof(call));
	assert_int_equal(earlier_calls_note(told, sizeof(told)), 0);
	earlier_calls_begin(s->t);
	assert_ptr_equal(s->t->top, s->t->frames);
}

/* Impossible values are ignored. */
TEST(test_nonsense)
{
	struct scene s;
	struct attach_thread head = { .tid = 1, .nr = UINT32_MAX };

	begin(&s);

	uint64_t slot = (uint64_t)&s.stack[60];

	assert_int_equal(earlier_calls_note(&head, sizeof(head)), -EINVAL);
	assert_int_equal(earlier_calls_note(&head, sizeof(head) - 1), -EINVAL);
	assert_int_equal(earlier_calls_note(&head, attach_thread_bytes(UINT32_MAX)), -EINVAL);
	begin_with(&s, (struct attach_call){ .slot = 8, .ret = 1 });
	begin_with(&s, (struct attach_call){ .slot = slot + 1, .ret = RET(60) });
	begin_with(&s, (struct attach_call){ .slot = 0x7ffffffff000, .ret = 1 });
	begin_with(&s, (struct attach_call){ .slot = UINT64_MAX - 7, .ret = 1 });
	begin_with(&s, (struct attach_call){ .slot = slot, .ret = RET(59) });
	begin_with(&s, (struct attach_call){ .slot = slot, .ret = RET(60), .sp = slot + 8 });
	begin_with(&s, (struct attach_call){ .slot = slot, .ret = RET(60), .sp = 16 });
	begin_with(&s, (struct attach_call){ .slot = slot, .ret = RET(60), .is_library_call = 1 });
	call(&s, 30, 0, 9);
	end(&s);
}

int main(void)
{
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	return unit_run();
}
