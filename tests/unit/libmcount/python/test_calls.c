/*
 * Calls of a simulated interpreter: functions of Python and of C, that end in order, out of order
 * or unseen. The records must be those of a simple model.
 */
#include "libmcount/python/calls.h"

#include "libmcount/hot/frames.h"
#include "libmcount/python/codes.h"
#include "libmcount/python/names.h"
#include "libmcount/python/natives.h"
#include "libmcount/python/threads.h"
#include "libmcount/python/values.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define FUNCTIONS  8
#define CALLS	   200
#define FIRST_ADDR 0x1000

/*
 * Functions with lower numbers belong to the program, the others to a library. Each has a twin in
 * C.
 */
#define OWN 3

/* Code objects as in CPython 3.11 (layout.c). */
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

/*
 * @caller: for a function in C, the frame that calls it; @addr: 0 when the call has no record
 */
struct call {
	unsigned function;
	unsigned frame; /* index in @frames */
	unsigned caller;
	bool is_native;
	bool is_own;
	bool is_open; /* the probe counts it as open */
	uint64_t addr;
};

/* The number of the program's outermost frame, which has not called a function yet. */
#define OUTERMOST (CALLS - 1)

struct scene {
	struct pair pair;
	struct thread *t;
	struct call calls[CALLS];
	unsigned nr;
	unsigned depth; /* number of open calls with a record */
	unsigned limit; /* the largest @depth */
	bool has_libcalls;
	unsigned nr_own;
	struct strbuf expected; /* the data words of records */
	uint64_t random;
};

/* --- the simulated interpreter --- */

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

static void make_interpreter(unsigned nr_own)
{
	py.version = version;
	py.first_thread = first_thread;
	python_codes.layout = layout_find();
	python_codes.reads_frames = python_codes.reads_extra = true;
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		facts_of[i].extra.size = 1;
		facts_of[i].extra.values[0] = (void *)facts(code_addr(i), i < nr_own);
		codes[i].words[python_codes.layout.code_extra] = &facts_of[i];
		defs[i].name = "f";
		natives[i].def = &defs[i];
	}
	for (unsigned i = 0; i < CALLS; i++)
		frames[i][python_codes.layout.frame_inner] = inner_frames[i];
	inner_frames[OUTERMOST][python_codes.layout.frame_code] = &codes[0];
	names_have_main = true;
}

static void tell(const struct call *c, enum py_event event)
{
	int code_event = event == PY_C_CALL ? PY_CALL : PY_RETURN;

	if (c->is_native) {
		calls_take_event(NULL, (struct py_frame *)frames[c->caller], event,
				 (struct py_object *)&natives[c->function]);
		return;
	}
	inner_frames[c->frame][python_codes.layout.frame_code] = &codes[c->function];
	calls_take_event(NULL, (struct py_frame *)frames[c->frame], code_event, NULL);
}

/* --- the model --- */

static uint64_t random_below(struct scene *s, uint64_t below)
{
	return unit_random(&s->random) % below;
}

static void expect(struct scene *s, enum record_type type, uint64_t addr)
{
	uint64_t data = record_data(type, s->depth, addr);

	strbuf_add(&s->expected, &data, sizeof(data));
}

/* The innermost open call, or NULL. */
static const struct call *innermost(const struct scene *s)
{
	for (unsigned i = s->nr; i-- > 0;) {
		if (s->calls[i].is_open)
			return &s->calls[i];
	}
	return NULL;
}

/* True when the innermost open call is the program's: then calls of libraries are recorded. */
static bool is_in_own(const struct scene *s)
{
	const struct call *c = innermost(s);

	return !c || c->is_own;
}

static unsigned calling_frame(const struct scene *s)
{
	for (unsigned i = s->nr; i-- > 0;) {
		if (!s->calls[i].is_native)
			return s->calls[i].frame;
	}
	return OUTERMOST;
}

static bool is_frame_own(const struct scene *s, unsigned frame)
{
	return frame == OUTERMOST || s->calls[frame].function < s->nr_own;
}

/*
 * True when the probe counts a call as open: when the call, or a call made by it, can have a
 * record.
 */
static bool is_open(const struct scene *s, const struct call *c)
{
	if (c->is_native)
		return s->has_libcalls && is_frame_own(s, c->caller);
	return s->has_libcalls || c->is_own;
}

static bool is_recorded(const struct scene *s, const struct call *c)
{
	if (s->depth >= s->limit || !c->is_open)
		return false;
	return (!c->is_native && c->is_own) || (s->has_libcalls && is_in_own(s));
}

static void call(struct scene *s, unsigned function, bool is_native)
{
	struct call *c = &s->calls[s->nr];

	*c = (struct call){ function, s->nr, .is_native = is_native };
	c->caller = calling_frame(s);
	/* A function in C makes calls on behalf of its caller. */
	c->is_own = is_native ? is_in_own(s) : function < s->nr_own;
	c->is_open = is_open(s, c);
	if (is_recorded(s, c)) {
		c->addr = is_native ? native_addr(function) : code_addr(function);
		expect(s, RECORD_ENTRY, c->addr);
		s->depth++;
	}
	s->nr++;
	tell(c, PY_C_CALL);
}

/* End call number @nr, and the calls inside of it, which have no events of their own. */
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

/*
 * End call number @nr, whose inner calls have ended without an event; or, in its place, the
 * innermost call of the same function.
 */
static void leave_outer(struct scene *s, unsigned nr)
{
	const struct call wanted = s->calls[nr];

	for (unsigned i = s->nr; wanted.is_native && i-- > nr;) {
		const struct call *c = &s->calls[i];

		if (c->is_open && c->is_native && c->function == wanted.function) {
			nr = i;
			break;
		}
	}
	/*
	 * The end of a call also ends the calls within it, but not if the probe does not count the
	 * call as open. In that case end the innermost call, which has no calls within it.
	 */
	if (wanted.is_open)
		leave(s, nr, PY_C_RETURN);
	else
		leave(s, s->nr - 1, PY_C_RETURN);
}

static unsigned count_open(const struct scene *s)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < s->nr; i++)
		nr += s->calls[i].is_open;
	return nr;
}

static void check(struct scene *s)
{
	pair_check_data(&s->pair, s->t->ring->tid, &s->expected);
	assert_int_equal(s->t->busy, 0);
	assert_int_equal(s->t->nr_python_calls, count_open(s));
}

static void begin(struct scene *s, uint32_t depth, unsigned nr_own, bool has_libcalls)
{
	*s = (struct scene){ .random = depth + nr_own, .limit = depth, .nr_own = nr_own };
	s->has_libcalls = has_libcalls;
	make_interpreter(nr_own);
	python_codes.inherited = has_libcalls ? NAME_OWN : 0;
	pair_init(&s->pair);
	s->pair.settings.max_stack = 1000;
	s->pair.settings.depth = depth;
	pair_open(&s->pair);
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

static void go(uint32_t depth, unsigned nr_own, bool has_libcalls)
{
	struct scene s;

	begin(&s, depth, nr_own, has_libcalls);
	for (unsigned step = 0; step < 3000; step++) {
		unsigned what = random_below(&s, 100);

		if (s.nr < CALLS - 1 && (s.nr == 0 || what < 48))
			call(&s, random_below(&s, FUNCTIONS), random_below(&s, 3) == 0);
		else if (what < 95)
			leave(&s, s.nr - 1, what % 2 ? PY_C_RETURN : PY_C_EXCEPTION);
		else
			leave_outer(&s, s.nr - 1 - random_below(&s, s.nr < 40 ? s.nr : 40));
		if (step % 100 == 0)
			check(&s);
	}
	end(&s);
}

TEST(libraries_are_one_level)
{
	go(1000, OWN, true);
}

/* With --nest-libcall all functions count as the program's own (names.c). */
TEST(all_functions_are_own)
{
	go(1000, FUNCTIONS, true);
}

TEST(libraries_are_left_out_with_no_libcall)
{
	go(1000, OWN, false);
	go(1000, 0, false);
}

/* Calls beyond the depth limit are kept, too, so that calls in them and their ends are known. */
TEST(calls_within_a_depth)
{
	go(3, OWN, true);
	go(2, FUNCTIONS, true);
	go(2, OWN, false);
}

/* A call ends that began before the probe listened. */
TEST(an_end_without_a_call_changes_nothing)
{
	struct scene s;
	struct call unknown = { .function = 4, .frame = CALLS - 2, .caller = OUTERMOST };

	begin(&s, 1000, FUNCTIONS, true);
	tell(&unknown, PY_C_RETURN);
	unknown.is_native = true;
	tell(&unknown, PY_C_EXCEPTION);
	call(&s, 0, false);
	call(&s, 1, true);
	tell(&unknown, PY_C_RETURN);
	check(&s);
	end(&s);
}

/* The call that ends is searched among the last 64 open calls. */
TEST(an_end_that_is_far_out_is_not_looked_for)
{
	struct scene s;

	begin(&s, 1000, FUNCTIONS, true);
	for (unsigned i = 0; i < 65; i++)
		call(&s, 1, false);
	tell(&s.calls[0], PY_C_RETURN);
	check(&s);
	leave(&s, 1, PY_C_RETURN);
	check(&s);
	end(&s);
}

/* Calls beyond the table's room are counted, so that the ends of the others fit. */
TEST(more_calls_than_there_is_room_for)
{
	struct scene s;
	struct call deep = { .function = 5, .frame = 1 };
	uint32_t begun = 65536 + 10;

	begin(&s, 4, FUNCTIONS, true);
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

static struct py_frame *frame_back(struct py_frame *frame)
{
	return (struct py_frame *)frames[2];
}

static void let_go(struct py_object *o)
{
}

/* A call beyond the table's room is counted if it would be recorded at a smaller depth. */
TEST(calls_beyond_the_room_are_counted)
{
	struct scene s;
	struct call library = { .function = 5, .frame = 1 };
	struct call own = { .function = 0, .frame = 2 };
	struct call native = { .function = 1, .caller = 1, .is_native = true };

	begin(&s, 1000, OWN, true);
	py.frame_back = frame_back;
	py.let_go = let_go;
	s.pair.settings.tells_depth = true;
	probe.plan.flags |= PLAN_TELLS_DEPTH;
	for (uint32_t i = 0; i <= 65536; i++)
		tell(&library, PY_C_CALL);
	assert_int_equal(s.t->ring->too_deep, 0);
	tell(&own, PY_C_CALL);
	assert_int_equal(s.t->ring->too_deep, 1);
	/* Calls by the library, then by the program's function. */
	tell(&native, PY_C_CALL);
	assert_int_equal(s.t->ring->too_deep, 1);
	native.caller = 2;
	tell(&native, PY_C_CALL);
	assert_int_equal(s.t->ring->too_deep, 2);
	tell(&library, PY_C_CALL);
	assert_int_equal(s.t->ring->too_deep, 3);
	inner_frames[2][python_codes.layout.frame_code] = &codes[6];
	tell(&library, PY_C_CALL);
	assert_int_equal(s.t->ring->too_deep, 3);
	py.frame_back = NULL;
	pair_stop(&s.pair);
	pair_close(&s.pair);
	strbuf_deinit(&s.expected);
	self = NULL;
}

TEST(nothing_is_recorded_while_the_probe_is_busy_or_off)
{
	struct scene s;
	struct call unseen = { .function = 0, .frame = 7 };

	begin(&s, 1000, OWN, true);
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

/* A condition of a later plan may read texts that no plan wanted at the call. They are unset. */
TEST(texts_that_are_not_wanted_are_unset)
{
	static struct capture_text texts[CALLABLE_ARGS_MAX + 1];
	void *words[1] = { NULL };
	const struct valued_call call = { (struct py_frame *)words, NULL, CALLABLE_RESULT };

	memset(texts, 0xff, sizeof(texts));
	values_of_call(&call, texts);
	for (unsigned i = 0; i <= CALLABLE_ARGS_MAX; i++) {
		assert_false(texts[i].is_real);
		assert_int_equal(texts[i].len, strlen("<unset>"));
		assert_memory_equal(texts[i].text, "<unset>", strlen("<unset>"));
	}
}
