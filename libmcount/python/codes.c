/* Facts about Python's code objects (see codes.h). */
#include "libmcount/python/codes.h"

struct py_codes python_codes;

/*
 * The index of the probe's extra value in code objects. The index must be 0. If the index is
 * higher, another module has index 0, and the probe must store no extra values (see has_others()).
 */
static intptr_t code_index = -1;

bool codes_begin(void)
{
	code_index = py.code_index(NULL);
	python_codes.layout = layout_find();
	return code_index == 0;
}

name_facts codes_ask_facts(struct py_object *code)
{
	void *known = NULL;

	if (py.code_get(code, code_index, &known) < 0)
		py.error_clear();
	return (name_facts)known;
}

/*
 * Asks the interpreter for the code of @frame. Returns the code, borrowed. Sets
 * python_codes.reads_frames to true if the layout leads to the same code, and to false otherwise.
 */
struct py_object *codes_ask_frame(struct py_frame *frame)
{
	const struct py_layout *l = &python_codes.layout;
	struct py_object *code = py.frame_code(frame);
	struct py_object **inner = l->minor ? layout_inner(l, frame) : NULL;

	python_codes.reads_frames = inner && inner[l->frame_code] == code;
	py.let_go(code);
	return code;
}

/*
 * True when a module other than the probe has extra values in code objects. In this case the probe
 * must store no extra value. The other module has registered a function that frees the module's
 * values. If the probe stored a value in a code object, the interpreter would call this function
 * with NULL when the code object is freed.
 */
static bool has_others(struct py_object *code, bool is_of_main)
{
	static struct py_object *kept;
	static bool have_come;
	void *theirs = NULL;

	if (have_come || !is_of_main)
		return have_come;
	if (!kept) {
		py.hold(code);
		kept = code;
	}
	have_come = (py.code_get(kept, code_index + 1, &theirs) == 0 && theirs) ||
		    py.code_set(kept, code_index + 1, NULL) == 0;
	py.error_clear();
	return have_come;
}

/*
 * Stores facts as the probe's extra value of @code. If @code had no extra values before, also
 * checks whether the probe can find these facts by python_codes.layout.
 */
static bool put_facts(struct py_object *code, name_facts facts)
{
	const struct py_layout *l = &python_codes.layout;
	bool was_empty = l->minor && !layout_extra(l, code);
	struct py_code_extra *extra;

	if (py.code_set(code, code_index, (void *)facts) < 0)
		return false;
	extra = was_empty ? layout_extra(l, code) : NULL;
	if (extra && extra->size > 0 && extra->values[0] == (void *)facts)
		python_codes.reads_extra = true;
	return true;
}

/*
 * Stores changed @facts in @code. In each interpreter but the first, put_facts() fails until the
 * probe has got an index for its extra values.
 */
static void keep_facts(struct py_object *code, name_facts facts)
{
	if (put_facts(code, facts))
		return;
	py.error_clear();
	if (py.code_index(NULL) != code_index || !put_facts(code, facts))
		py.error_clear();
}

/*
 * If has_others() is true, the probe cannot store facts in @code, and does not record calls of
 * @code. In this case the returned facts include NAME_ASKED, although the probe has not asked the
 * recorder for the address of @code. Without NAME_ASKED, the probe would ask at each call of @code.
 */
name_facts codes_look(struct py_object *code, bool is_of_main)
{
	name_facts facts = names_look(code);

	if (has_others(code, is_of_main))
		return facts | NAME_ASKED;
	keep_facts(code, facts);
	return facts;
}

name_facts codes_ask_recorder(struct py_object *code, name_facts facts)
{
	facts = names_ask_code(code, facts);
	keep_facts(code, facts);
	return facts;
}
