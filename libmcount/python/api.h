/*
 * The functions of the Python interpreter that the probe calls. The probe is not linked to Python,
 * and needs no header of Python. It searches all loaded modules for these functions.
 */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_API_H
#define UTRAIL_LIBMCOUNT_PYTHON_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object of the interpreter. The members here and below are those of CPython 3.9 to 3.13. */
struct py_object {
	intptr_t nr_refs;
	struct py_type *type;
};

typedef struct py_object *py_function(struct py_object *self, struct py_object *arg);

/* The definition of a function that is written in C: PyMethodDef, methodobject.h. */
struct py_method_def {
	const char *name;
	py_function *function;
	int flags;
	const char *doc;
};

/*
 * PyTypeObject, cpython/object.h, up to the last member that is needed.
 *
 * @methods: the methods that the type itself defines in C, or NULL; the last entry has no name
 * @parent: the type that this type extends (tp_base), or NULL
 */
struct py_type {
	struct py_object base;
	intptr_t nr_items;
	const char *name;
	uint64_t before_flags[17];
	uint64_t flags;
	uint64_t before_methods[7];
	const struct py_method_def *methods;
	void *before_parent[2];
	const struct py_type *parent;
};

#define METH_O 8 /* a function that takes one argument: methodobject.h */

#define PY_TYPE_OF_INTS	 (1UL << 24) /* int, or a type that extends it */
#define PY_TYPE_OF_TYPES (1UL << 31) /* `type`, or a type that extends `type` */

/* A function written in C: PyCFunctionObject, methodobject.h. */
struct py_c_function {
	struct py_object base;
	const struct py_method_def *def;
	struct py_object *self;
	struct py_object *module;
};

struct py_frame;
struct py_thread;
struct py_interpreter;

/* Events of a profile function: PyTrace_..., pystate.h. */
enum py_event {
	PY_CALL = 0,
	PY_RETURN = 3,
	PY_C_CALL = 4,
	PY_C_EXCEPTION = 5,
	PY_C_RETURN = 6,
};

typedef int py_profile(struct py_object *self, struct py_frame *frame, int event,
		       struct py_object *arg);
typedef int py_audit(const char *event, struct py_object *args, void *data);

/*
 * @code_index, @code_get, @code_set: for the probe's extra value of each code object (PEP 523)
 * @call_method: calls a method. The arguments are C values; @format says how to convert the values
 *               to Python objects (Py_BuildValue())
 * @vectorcall_of: returns the C function that the interpreter runs for a call of @callable. The
 *               pointer @vectorcall_of is NULL before Python 3.11
 * @frame_back: returns a reference to the frame that has called @frame, or NULL
 * @profile_other: sets the profile function of another thread; the caller has the GIL
 */
struct py_api {
	int (*add_audit_hook)(py_audit *hook, void *data);
	void (*profile)(py_profile *fn, struct py_object *self);
	struct py_object *(*frame_code)(struct py_frame *frame);
	void (*let_go)(struct py_object *o);
	void (*hold)(struct py_object *o);
	intptr_t (*code_index)(void (*free)(void *));
	int (*code_get)(struct py_object *code, intptr_t index, void **value);
	int (*code_set)(struct py_object *code, intptr_t index, void *value);
	void (*error_take)(struct py_object **type, struct py_object **value,
			   struct py_object **trace);
	void (*error_put)(struct py_object *type, struct py_object *value, struct py_object *trace);
	void (*error_clear)(void);
	struct py_object *(*attribute)(struct py_object *o, const char *name);
	const char *(*text)(struct py_object *o);
	long (*number)(struct py_object *o);
	struct py_object *(*globals)(void);
	struct py_frame *(*frame)(void);
	intptr_t (*tuple_size)(struct py_object *tuple);
	struct py_object *(*tuple_item)(struct py_object *tuple, intptr_t index);
	int (*next_item)(struct py_object *dict, intptr_t *at, struct py_object **key,
			 struct py_object **value);
	struct py_thread *(*thread)(void);
	struct py_interpreter *(*interpreter)(struct py_thread *t);
	struct py_thread *(*first_thread)(struct py_interpreter *interpreter);
	struct py_thread *(*next_thread)(struct py_thread *t);
	uint64_t (*thread_id)(struct py_thread *t);
	int (*is_initialized)(void);
	int (*recursion_limit)(void);
	int (*has_gil)(void);
	const char *(*version)(void);
	int (*call_later)(int (*fn)(void *), void *arg);
	struct py_object *(*sys_object)(const char *name);
	int (*profile_other)(struct py_thread *t, py_profile *fn, struct py_object *self);
	struct py_object *(*new_function)(const struct py_method_def *def, struct py_object *self,
					  struct py_object *module);
	struct py_object *(*new_number)(long value);
	struct py_object *(*call_method)(struct py_object *o, const char *name, const char *format,
					 ...);
	void *(*vectorcall_of)(struct py_object *callable);
	struct py_frame *(*frame_back)(struct py_frame *frame);
};

extern struct py_api py;

/*
 * COLD. Fills `py`. Returns false, with `py` unchanged, when a required function was not found.
 * The functions from @vectorcall_of on are not required.
 */
bool python_api_find(void);

#endif
