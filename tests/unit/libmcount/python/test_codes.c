/*
 * The probe keeps facts in code objects. After it has checked the layout of code objects, it reads
 * the facts without calling the interpreter.
 */
#include "libmcount/python/codes.h"

#include <string.h>

#include "tests/unit/lib/unit.h"

struct py_api py;

/* A code object, and the interpreter's functions for values in it, as in CPython 3.11. */
static union {
	void *words[32];
	struct py_object object;
} code;

static union {
	struct py_code_extra extra;
	void *words[3];
} values;

static intptr_t nr_users;
static unsigned nr_asked;
static size_t place; /* the index of the word of @code that points to the values */

static const char *version(void)
{
	return "3.11.2";
}

static intptr_t code_index(void (*free_value)(void *))
{
	return nr_users++;
}

static int code_get(struct py_object *o, intptr_t index, void **value)
{
	struct py_code_extra *extra = code.words[place];

	nr_asked++;
	if (index >= nr_users)
		return -1;
	*value = extra && index < extra->size ? extra->values[index] : NULL;
	return 0;
}

static int code_set(struct py_object *o, intptr_t index, void *value)
{
	if (index >= nr_users)
		return -1;
	values.extra.size = nr_users;
	values.extra.values[index] = value;
	code.words[place] = &values;
	return 0;
}

static void nothing(void)
{
}

static void hold_nothing(struct py_object *o)
{
}

name_facts names_look(struct py_object *o)
{
	return NAME_KNOWN | NAME_OWN;
}

name_facts names_ask_code(struct py_object *o, name_facts facts)
{
	return facts | NAME_ASKED | 77 << NAME_SHIFT;
}

static void begin(size_t extra_place)
{
	memset(&code, 0, sizeof(code));
	memset(&values, 0, sizeof(values));
	python_codes = (struct py_codes){ 0 };
	place = extra_place;
	nr_users = 0;
	nr_asked = 0;
	py.version = version;
	py.code_index = code_index;
	py.code_get = code_get;
	py.code_set = code_set;
	py.error_clear = nothing;
	py.hold = hold_nothing;
	py.let_go = hold_nothing;
	assert_true(codes_begin());
}

TEST(test_facts_are_read_in_place)
{
	begin(22);
	assert_int_equal(codes_facts(&code.object), 0);
	assert_int_equal(codes_look(&code.object, false), NAME_KNOWN | NAME_OWN);
	assert_true(python_codes.reads_extra);
	nr_asked = 0;
	assert_int_equal(codes_facts(&code.object), NAME_KNOWN | NAME_OWN);
	assert_int_equal(name_address(codes_ask_recorder(&code.object, NAME_KNOWN)), 77);
	assert_int_equal(name_address(codes_facts(&code.object)), 77);
	assert_int_equal(nr_asked, 0);
}

TEST(test_values_elsewhere_are_asked_for)
{
	begin(21);
	codes_look(&code.object, false);
	assert_false(python_codes.reads_extra);
	assert_int_equal(codes_facts(&code.object), NAME_KNOWN | NAME_OWN);
	assert_int_equal(nr_asked, 1);
}

TEST(test_others_came_first)
{
	begin(22);
	assert_false(codes_begin());
}

/* --- frames --- */

static void *inner[12];
static void *frame_words[4] = { NULL, NULL, NULL, inner };
#define FRAME ((struct py_frame *)frame_words)

static struct py_object *frame_code(struct py_frame *frame)
{
	nr_asked++;
	return &code.object;
}

TEST(test_code_of_frames)
{
	begin(22);
	py.frame_code = frame_code;
	assert_ptr_equal(codes_of_frame(FRAME), &code.object);
	assert_false(python_codes.reads_frames);
	inner[python_codes.layout.frame_code] = &code;
	assert_ptr_equal(codes_of_frame(FRAME), &code.object);
	assert_true(python_codes.reads_frames);
	nr_asked = 0;
	assert_ptr_equal(codes_of_frame(FRAME), &code.object);
	assert_int_equal(nr_asked, 0);
}

/*
 * Another library uses places in code objects, too. From then on the probe stores no facts in code
 * objects. The effect is permanent, so this test is the last.
 */
TEST(test_others_are_left_alone)
{
	begin(22);
	nr_users = 2;
	assert_int_equal(codes_look(&code.object, true), NAME_KNOWN | NAME_OWN | NAME_ASKED);
	assert_null(values.extra.values[0]);
}
