/*
 * Calls of a played interpreter: functions of Python and of C, that end in order, out of order or
 * unseen. The records must be those of a simple model.
 */
#include "libmcount/python/calls.h"

#include "libmcount/hot/frames.h"
#include "libmcount/python/codes.h"
#include "libmcount/python/names.h"
#include "libmcount/python/natives.h"
#include "libmcount/python/threads.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define FUNCTIONS  8
#define CALLS	   200
#define FIRST_ADDR 0x1000

/* Functions 0 to 2 belong to the program, the others to a library, and each has a twin in C. */
#define OWN 3

/* As CPython 3.11 has them (layout.c). */
static union {
	struct py_object object;
	void *words[32];
} codes[FUNCTIONS];
static struct {
	struct py_code_extra extra;
	void *values[1];
} facts_of[FUNCTIONS];
static void *inner_frames[CALLS][16];
static void *frames[CALLS][4];
static struct py_method_def defs[FUNCTIONS];
static struct py_c_function natives[FUNCTIONS];

/* @key: of the interpreter's object; @addr: 0: it has no record */
struct call {
	unsigned function;
	unsigned frame; /* of @frames */
	bool is_native;
	bool is_own;
	uint64_t addr;
};

struct scene {
	struct pair pair;
	struct thread *t;
	struct call calls[CALLS];
	unsigned nr;
	unsigned depth; /* calls with a record */
	unsigned limit; /* of @depth */
	bool records_libraries;
	bool records_nested;
	struct strbuf expected; /* data words */
	uint64_t random;
};

/* --- the interpreter --- */

static const char *version(void)
{
	return "3.11.2";
}

static struct py_thread *first_thread(struct py_interpreter *interpreter)
{
	return python_threads.newest;
}

static uint64_t code_addr(unsigned function)
{
	return FIRST_ADDR + function;
}

static uint64_t native_addr(unsigned function)
{
	return FIRST_ADDR + FUNCTIONS + function;
}

static name_facts facts(uint64_t addr, bool is_own)
{
	return addr << NAME_SHIFT | NAME_KNOWN | NAME_ASKED | (is_own ? NAME_OWN : 0);
}

name_facts __wrap_names_ask_native(const struct py_c_function *fn);

name_facts __wrap_names_ask_native(const struct py_c_function *fn)
{
	return facts(native_addr(fn->def - defs), false);
}

static void make_interpreter(void)
{
	py.version = version;
	py.first_thread = first_thread;
	python_codes.layout = layout_find();
	python_codes.reads_frames = python_codes.reads_extra = true;
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		facts_of[i].extra.size = 1;
		facts_of[i].extra.values[0] = (void *)facts(code_addr(i), i < OWN);
		codes[i].words[python_codes.layout.code_extra] = &facts_of[i];
		defs[i].name = "f";
		natives[i].def = &defs[i];
	}
	for (unsigned i = 0; i < CALLS; i++)
		frames[i][python_codes.layout.frame_inner] = inner_frames[i];
	names_have_main = true;
}

static void tell(const struct call *c, enum py_event event)
{
	int code_event = event == PY_C_CALL ? PY_CALL : PY_RETURN;

	if (c->is_native) {
		calls_take_event(NULL, NULL, event, (struct py_object *)&natives[c->function]);
		return;
	}
	inner_frames[c->frame][python_codes.layout.frame_code] = &codes[c->function];
	calls_take_event(NULL, (struct py_frame *)frames[c->frame], code_event, NULL);
}

/* --- the model --- */

static uint64_t random_below(struct scene *s, uint64_t below)
{
	uint64_t z = (s->random += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % below;
}

static void expect(struct scene *s, enum record_type type, uint64_t addr)
{
	uint64_t data = record_data(type, s->depth, addr);

	strbuf_add(&s->expected, &data, sizeof(data));
}

/* The caller's code is the program's: then calls of libraries are recorded. */
static bool is_in_own(const struct scene *s)
{
	return s->nr == 0 || s->calls[s->nr - 1].is_own;
}

static bool is_recorded(const struct scene *s, const struct call *c)
{
	if (s->depth >= s->limit)
		return false;
	if (!c->is_native && c->is_own)
		return true;
	return s->records_libraries && (s->records_nested || is_in_own(s));
}

static void call(struct scene *s, unsigned function, bool is_native)
{
	struct call *c = &s->calls[s->nr];

	*c = (struct call){ function, s->nr, is_native, .is_own = function < OWN };
	/* It calls others as its caller would. */
	if (is_native)
		c->is_own = is_in_own(s);
	if (is_recorded(s, c)) {
		c->addr = is_native ? native_addr(function) : code_addr(function);
		expect(s, RECORD_ENTRY, c->addr);
		s->depth++;
	}
	s->nr++;
	tell(c, PY_C_CALL);
}

/* Call number @nr ends; those inside of it have ended unseen. */
static void leave(struct scene *s, unsigned nr, enum py_event event)
{
	struct call ended = s->calls[nr];

	while (s->nr > nr) {
		const struct call *c = &s->calls[--s->nr];

		if (c->addr) {
			s->depth--;
			expect(s, RECORD_EXIT, c->addr);
		}
	}
	tell(&ended, event);
}

/* The call that an end belongs to: the innermost of that function, or of that frame. */
static unsigned found(const struct scene *s, unsigned nr)
{
	const struct call *wanted = &s->calls[nr];

	for (unsigned i = s->nr; i-- > nr;) {
		if (wanted->is_native && s->calls[i].is_native &&
		    s->calls[i].function == wanted->function)
			return i;
	}
	return nr;
}

static void check(struct scene *s)
{
	pair_look(&s->pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&s->pair, s->t->ring->tid);
	const struct record *r = (const struct record *)strbuf_str(&file);
	const uint64_t *expected = (const uint64_t *)strbuf_str(&s->expected);
	size_t nr = s->expected.len / sizeof(*expected);

	assert_int_equal(file.len, nr * sizeof(*r));
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(r[i].data, expected[i]);
		assert_true(i == 0 || r[i].time_ns >= r[i - 1].time_ns);
	}
	assert_int_equal(s->t->busy, 0);
	assert_int_equal(s->t->nr_python_calls, s->nr);
}

static void begin(struct scene *s, uint32_t depth, uint32_t flags)
{
	*s = (struct scene){
		.random = depth,
		.limit = depth,
		.records_libraries = !(flags & PLAN_NO_LIBCALLS),
		.records_nested = flags & PLAN_NEST_LIBCALLS,
	};
	make_interpreter();
	pair_init(&s->pair);
	s->pair.settings.max_stack = 1000;
	s->pair.settings.depth = depth;
	pair_open(&s->pair);
	probe.plan.flags &= ~(uint32_t)(PLAN_NO_LIBCALLS | PLAN_NEST_LIBCALLS);
	probe.plan.flags |= flags;
	probe.ready = probe.tracing = true;
	s->t = self = pair_thread();
	assert_non_null(s->t);
}

static void end(struct scene *s)
{
	while (s->nr)
		leave(s, s->nr - 1, PY_C_RETURN);
	check(s);
	strbuf_deinit(&s->expected);
	pair_stop(&s->pair);
	pair_close(&s->pair);
	self = NULL;
}

static void go(uint32_t depth, uint32_t flags)
{
	struct scene s;

	begin(&s, depth, flags);
	for (unsigned step = 0; step < 3000; step++) {
		unsigned what = random_below(&s, 100);

		if (s.nr < CALLS - 1 && (s.nr == 0 || what < 48))
			call(&s, random_below(&s, FUNCTIONS), random_below(&s, 3) == 0);
		else if (what < 95)
			leave(&s, s.nr - 1, what % 2 ? PY_C_RETURN : PY_C_EXCEPTION);
		else
			leave(&s, found(&s, s.nr - 1 - random_below(&s, s.nr < 40 ? s.nr : 40)),
			      PY_C_RETURN);
		if (step % 100 == 0)
			check(&s);
	}
	end(&s);
}

TEST(libraries_are_one_level)
{
	go(1000, 0);
}

TEST(libraries_are_whole_with_nest_libcall)
{
	go(1000, PLAN_NEST_LIBCALLS);
}

TEST(libraries_are_left_out_with_no_libcall)
{
	go(1000, PLAN_NO_LIBCALLS);
}

/* Calls that are too deep are open all the same: what they call, and their ends, are theirs. */
TEST(calls_within_a_depth)
{
	go(3, 0);
	go(2, PLAN_NEST_LIBCALLS);
}

/* An end of a call that has begun before we listened. */
TEST(an_end_without_a_call_changes_nothing)
{
	struct scene s;
	struct call unknown = { .function = 4, .frame = CALLS - 1 };

	begin(&s, 1000, PLAN_NEST_LIBCALLS);
	tell(&unknown, PY_C_RETURN);
	unknown.is_native = true;
	tell(&unknown, PY_C_EXCEPTION);
	call(&s, 0, false);
	call(&s, 1, true);
	tell(&unknown, PY_C_RETURN);
	check(&s);
	end(&s);
}

/* An end is looked for among the last 64 calls. */
TEST(an_end_that_is_far_out_is_not_looked_for)
{
	struct scene s;

	begin(&s, 1000, PLAN_NEST_LIBCALLS);
	for (unsigned i = 0; i < 65; i++)
		call(&s, 1, false);
	tell(&s.calls[0], PY_C_RETURN);
	check(&s);
	leave(&s, 1, PY_C_RETURN);
	check(&s);
	end(&s);
}

/* More calls than there is room for are counted, so that the others end where they do. */
TEST(more_calls_than_there_is_room_for)
{
	struct scene s;
	struct call deep = { .function = 5, .frame = 1 };
	uint32_t begun = 65536 + 10;

	begin(&s, 4, PLAN_NEST_LIBCALLS);
	call(&s, 0, false);
	for (uint32_t i = 1; i < begun; i++) {
		s.nr = 1;
		if (i < 4) {
			expect(&s, RECORD_ENTRY, code_addr(5));
			s.depth++;
		}
		tell(&deep, PY_C_CALL);
	}
	assert_int_equal(s.t->nr_python_calls, begun);
	for (uint32_t i = 1; i < begun; i++) {
		if (i > begun - 4) {
			s.depth--;
			expect(&s, RECORD_EXIT, code_addr(5));
		}
		tell(&deep, PY_C_RETURN);
	}
	check(&s);
	end(&s);
}

TEST(nothing_is_recorded_while_the_probe_is_busy_or_off)
{
	struct scene s;
	struct call unseen = { .function = 0, .frame = 7 };

	begin(&s, 1000, 0);
	s.t->busy++;
	tell(&unseen, PY_C_CALL);
	tell(&unseen, PY_C_RETURN);
	s.t->busy--;
	probe.tracing = false;
	tell(&unseen, PY_C_CALL);
	probe.tracing = true;
	check(&s);
	end(&s);
}
