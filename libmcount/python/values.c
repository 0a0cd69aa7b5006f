/* Arguments and results of Python functions (see values.h). */
#include "libmcount/python/values.h"

#include <string.h>

#include "libmcount/python/text.h"
#include "utils/base/compiler.h"

/* The second number of 3.N; 0: none that is known. */
static unsigned minor_version;

/* Frames as these versions have them, in words. */
#define FRAME_CODE_3_9	  4  /* PyFrameObject.f_code */
#define FRAME_LOCALS_3_9  45 /* f_localsplus */
#define FRAME_LOCALS_3_10 44
#define FRAME_INNER_3_11  3 /* f_frame: a struct _PyInterpreterFrame */
#define INNER_CODE_3_11	  4
#define INNER_CODE_3_12	  0
#define INNER_LOCALS	  9 /* localsplus */

static unsigned parse_minor(const char *version)
{
	unsigned nr = 0;

	if (version[0] != '3' || version[1] != '.')
		return 0;
	for (const char *c = version + 2; *c >= '0' && *c <= '9'; c++)
		nr = nr * 10 + (*c - '0');
	return nr;
}

void values_begin(void)
{
	unsigned minor = parse_minor(py.version());

	if (minor >= PYTHON_MINOR_FIRST && minor <= PYTHON_MINOR_LAST && text_begin())
		minor_version = minor;
}

bool values_can_be_had(void)
{
	return minor_version != 0;
}

/* The parameters, the first ones of all variables; NULL: a frame of an unknown form. */
static struct py_object **locals_of(const struct valued_call *call)
{
	struct py_object **words = (struct py_object **)call->frame;
	struct py_object **inner = (struct py_object **)words[FRAME_INNER_3_11];
	unsigned code = minor_version == 11 ? INNER_CODE_3_11 : INNER_CODE_3_12;

	if (minor_version >= 11)
		return inner && inner[code] == call->code ? inner + INNER_LOCALS : NULL;
	if (words[FRAME_CODE_3_9] != call->code)
		return NULL;
	return words + (minor_version == 9 ? FRAME_LOCALS_3_9 : FRAME_LOCALS_3_10);
}

/* Texts of one payload share its room; each has its length and padding beside it. */
#define TEXTS_BYTES 1000U

static unsigned limit_for(unsigned nr)
{
	unsigned bytes = (TEXTS_BYTES / nr) & ~(ARGBLOB_ALIGN - 1);

	return MIN(bytes - (unsigned)sizeof(uint16_t), ARGBLOB_STRING_MAX);
}

static void put_unset(struct capture_text *text)
{
	static const char unset[] = "<unset>";

	text->len = sizeof(unset) - 1;
	memcpy(text->text, unset, sizeof(unset) - 1);
}

/* A call may begin with an error: one that is thrown into a generator. */
struct error {
	struct py_object *type, *value, *trace;
};

void values_of_call(const struct valued_call *call,
		    struct capture_text texts[CALLABLE_ARGS_MAX + 1])
{
	uint64_t wanted = call->values & ~CALLABLE_RESULT;
	struct py_object **locals = locals_of(call);
	unsigned limit = limit_for(wanted ? __builtin_popcountll(wanted) : 1);
	struct error error;

	put_unset(&texts[0]);
	if (!wanted)
		return;
	py.error_take(&error.type, &error.value, &error.trace);
	for (unsigned i = 1; i <= CALLABLE_ARGS_MAX; i++) {
		struct py_object *o = locals ? locals[i - 1] : NULL;

		if (!(wanted & 1ULL << i))
			continue;
		if (o)
			text_of_object(text_out_of_cell(o), limit, &texts[i]);
		else
			put_unset(&texts[i]);
	}
	py.error_put(error.type, error.value, error.trace);
}

void values_of_result(struct py_object *result, struct capture_text *text)
{
	struct error error;

	py.error_take(&error.type, &error.value, &error.trace);
	text_of_object(result, ARGBLOB_STRING_MAX, text);
	py.error_put(error.type, error.value, error.trace);
}
