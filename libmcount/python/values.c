/* Arguments and results of Python functions (see values.h). */
#include "libmcount/python/values.h"

#include <string.h>

#include "libmcount/python/layout.h"
#include "libmcount/python/text.h"
#include "utils/base/compiler.h"

/* All zero if values cannot be read. */
static struct py_layout layout;

void values_begin(void)
{
	if (text_begin())
		layout = layout_find();
}

bool values_can_be_had(void)
{
	return layout.minor != 0;
}

/*
 * Returns the variables of the call, parameters first, or NULL when the frame has an unknown form.
 */
static struct py_object **locals_of(const struct valued_call *call)
{
	struct py_object **inner = layout_inner(&layout, call->frame);

	return inner && inner[layout.frame_code] == call->code ? inner + layout.frame_locals : NULL;
}

static void release(struct py_object *o)
{
	if (o)
		py.let_go(o);
}

/* Returns the index of @name in the tuple, or -1. In code objects, equal names are one object. */
static intptr_t place_of(struct py_object *names, const struct py_object *name)
{
	for (intptr_t i = 0; i < py.tuple_size(names); i++) {
		if (py.tuple_item(names, i) == name)
			return i;
	}
	return -1;
}

/*
 * For Python before 3.11: returns the value of parameter @nr from its cell, or NULL. A parameter
 * that inner functions use has a cell. The cells come after the variables, in the order of
 * co_cellvars.
 */
static struct py_object *value_in_cell(struct py_object *code, struct py_object **locals,
				       unsigned nr)
{
	struct py_object *nr_locals = py.attribute(code, "co_nlocals");
	struct py_object *names = py.attribute(code, "co_varnames");
	struct py_object *cells = py.attribute(code, "co_cellvars");
	struct py_object *cell = NULL;

	if (nr_locals && names && cells && nr < (size_t)py.tuple_size(names)) {
		intptr_t place = place_of(cells, py.tuple_item(names, nr));

		if (place >= 0)
			cell = locals[py.number(nr_locals) + place];
	}
	py.error_clear();
	release(nr_locals);
	release(names);
	release(cells);
	return cell && text_is_cell(cell) ? text_out_of_cell(cell) : NULL;
}

#define KIND_CELL 0x40 /* CO_FAST_CELL: pycore_code.h */

/*
 * For Python 3.11 and later: true when inner functions use variable @nr. For such a variable, the
 * frame has a cell in place of the value. A cell in the frame does not prove that inner functions
 * use the variable, because a program may pass a cell as an argument.
 */
static bool has_cell(struct py_object *code, unsigned nr)
{
	int kind = text_byte(((struct py_object **)code)[layout.code_kinds], nr);

	return kind >= 0 && (kind & KIND_CELL);
}

/*
 * Returns the value of parameter @nr as a borrowed reference, or NULL when the parameter has no
 * value. The first parameter has number 0.
 */
static struct py_object *value_of(const struct valued_call *call, struct py_object **locals,
				  unsigned nr)
{
	struct py_object *o = locals[nr];

	if (!layout.code_kinds)
		return o ? o : value_in_cell(call->code, locals, nr);
	return o && text_is_cell(o) && has_cell(call->code, nr) ? text_out_of_cell(o) : o;
}

/* The bytes for all texts of one payload, including the length and the padding of each text. */
#define TEXTS_BYTES 1000U

static unsigned limit_for(unsigned nr)
{
	unsigned bytes = (TEXTS_BYTES / nr) & ~(ARGBLOB_ALIGN - 1);

	return MIN(bytes - (unsigned)sizeof(uint16_t), ARGBLOB_STRING_MAX);
}

static void put_unset(struct capture_text *text)
{
	static const char unset[] = "<unset>";

	text->is_real = false;
	text->len = sizeof(unset) - 1;
	memcpy(text->text, unset, sizeof(unset) - 1);
}

/* An error that is pending when a call begins: throw() of a generator has raised it. */
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
	if (!wanted) {
		/*
		 * The recorder may have sent a new plan. A condition of the new plan may read any
		 * element of @texts.
		 */
		for (unsigned i = 1; i <= CALLABLE_ARGS_MAX; i++)
			put_unset(&texts[i]);
		return;
	}
	py.error_take(&error.type, &error.value, &error.trace);
	for (unsigned i = 1; i <= CALLABLE_ARGS_MAX; i++) {
		bool is_wanted = wanted & 1ULL << i;
		/*
		 * Store only the wanted values in @texts. The other elements of @texts become
		 * "<unset>", because the recorder may have sent a new plan, and a condition of the
		 * new plan may read any element of @texts.
		 */
		struct py_object *o = locals && is_wanted ? value_of(call, locals, i - 1) : NULL;

		if (o)
			text_of_object(o, limit, &texts[i]);
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
