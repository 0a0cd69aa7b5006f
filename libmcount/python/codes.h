/*
 * Facts about Python's code objects. The probe attaches an extra value to each code object
 * (PEP 523). The extra value contains the facts about the code object.
 */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_CODES_H
#define UTRAIL_LIBMCOUNT_PYTHON_CODES_H

#include "libmcount/python/layout.h"
#include "libmcount/python/names.h"
#include "utils/base/compiler.h"

/*
 * @layout: the layout of frames and code objects; each part is checked before it is used
 * @reads_frames: the code of a frame is where the layout says
 * @reads_extra: the values that are attached to code objects are where the layout says
 * @inherited: NAME_OWN or 0. If @inherited is NAME_OWN, a call of a library's function is recorded
 *             when the facts about the calling function contain NAME_OWN. If @inherited is 0, no
 *             call of a library's function is recorded
 */
struct py_codes {
	struct py_layout layout;
	bool reads_frames;
	bool reads_extra;
	name_facts inherited;
};

extern struct py_codes python_codes;

/*
 * COLD, with the GIL, once. Gets the index of the probe's extra values in code objects. Returns
 * false when the index is not 0. The probe can use no other index than 0 (codes.c).
 */
bool codes_begin(void);

/*
 * Ask the interpreter for the facts about @code, or for the code of @frame. codes_facts() and
 * codes_of_frame() use these functions while python_codes.layout is not known to be right.
 */
name_facts codes_ask_facts(struct py_object *code);
struct py_object *codes_ask_frame(struct py_frame *frame);

/*
 * HOT, with the GIL. Returns the facts about @code, or 0 when the code was not looked up yet, or
 * the layout is not known. Calls no function of the interpreter.
 */
static inline name_facts codes_known_facts(struct py_object *code)
{
	struct py_code_extra *extra;

	if (unlikely(!python_codes.reads_extra))
		return 0;
	extra = layout_extra(&python_codes.layout, code);
	return likely(extra) && likely(extra->size > 0) ? (name_facts)extra->values[0] : 0;
}

/* HOT, with the GIL. Returns the facts about @code, or 0 when @code was not looked up yet. */
static inline name_facts codes_facts(struct py_object *code)
{
	if (unlikely(!python_codes.reads_extra))
		return codes_ask_facts(code);
	return codes_known_facts(code);
}

/* HOT, with the GIL. Returns the code of the running @frame, borrowed. */
static inline struct py_object *codes_of_frame(struct py_frame *frame)
{
	if (unlikely(!python_codes.reads_frames))
		return codes_ask_frame(frame);
	return layout_inner(&python_codes.layout, frame)[python_codes.layout.frame_code];
}

/*
 * COLD, with the GIL. codes_look() returns the facts about @code that need no recorder.
 * codes_ask_recorder() returns all facts.
 *
 * @is_of_main: the running interpreter is the one that began first
 */
name_facts codes_look(struct py_object *code, bool is_of_main);
name_facts codes_ask_recorder(struct py_object *code, name_facts facts);

#endif
