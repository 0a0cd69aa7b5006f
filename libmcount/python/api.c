/* The interpreter's functions (see api.h). */
#include "libmcount/python/api.h"

#include <string.h>

#include "libmcount/program/definition.h"
#include "utils/base/compiler.h"

struct py_api py;

/*
 * The functions of the Python interpreter that the probe calls. Some versions of Python lack the
 * functions whose @place is FIRST_OPTIONAL or greater.
 *
 * @other: the function's name in later versions of Python; NULL: the name has not changed
 */
static const struct {
	size_t place;
	const char *name;
	const char *other;
} functions[] = {
#define PLACE(member) offsetof(struct py_api, member)
	{ PLACE(add_audit_hook), "PySys_AddAuditHook", NULL },
	{ PLACE(profile), "PyEval_SetProfile", NULL },
	{ PLACE(frame_code), "PyFrame_GetCode", NULL },
	{ PLACE(let_go), "Py_DecRef", NULL },
	{ PLACE(hold), "Py_IncRef", NULL },
	{ PLACE(code_index), "_PyEval_RequestCodeExtraIndex",
	  "PyUnstable_Eval_RequestCodeExtraIndex" },
	{ PLACE(code_get), "_PyCode_GetExtra", "PyUnstable_Code_GetExtra" },
	{ PLACE(code_set), "_PyCode_SetExtra", "PyUnstable_Code_SetExtra" },
	{ PLACE(error_take), "PyErr_Fetch", NULL },
	{ PLACE(error_put), "PyErr_Restore", NULL },
	{ PLACE(error_clear), "PyErr_Clear", NULL },
	{ PLACE(attribute), "PyObject_GetAttrString", NULL },
	{ PLACE(text), "PyUnicode_AsUTF8", NULL },
	{ PLACE(number), "PyLong_AsLong", NULL },
	{ PLACE(globals), "PyEval_GetGlobals", NULL },
	{ PLACE(frame), "PyEval_GetFrame", NULL },
	{ PLACE(tuple_size), "PyTuple_Size", NULL },
	{ PLACE(tuple_item), "PyTuple_GetItem", NULL },
	{ PLACE(next_item), "PyDict_Next", NULL },
	{ PLACE(thread), "_PyThreadState_UncheckedGet", "PyThreadState_GetUnchecked" },
	{ PLACE(interpreter), "PyThreadState_GetInterpreter", NULL },
	{ PLACE(first_thread), "PyInterpreterState_ThreadHead", NULL },
	{ PLACE(next_thread), "PyThreadState_Next", NULL },
	{ PLACE(thread_id), "PyThreadState_GetID", NULL },
	{ PLACE(is_initialized), "Py_IsInitialized", NULL },
	{ PLACE(recursion_limit), "Py_GetRecursionLimit", NULL },
	{ PLACE(has_gil), "PyGILState_Check", NULL },
	{ PLACE(version), "Py_GetVersion", NULL },
	{ PLACE(call_later), "Py_AddPendingCall", NULL },
	{ PLACE(sys_object), "PySys_GetObject", NULL },
	{ PLACE(profile_other), "_PyEval_SetProfile", NULL },
	{ PLACE(new_function), "PyCFunction_NewEx", NULL },
	{ PLACE(new_number), "PyLong_FromLong", NULL },
	{ PLACE(call_method), "PyObject_CallMethod", NULL },
	{ PLACE(vectorcall_of), "PyVectorcall_Function", NULL },
	{ PLACE(frame_back), "PyFrame_GetBack", NULL },
#undef PLACE
};

#define FIRST_OPTIONAL offsetof(struct py_api, vectorcall_of)

static uint64_t find_function(size_t i)
{
	uint64_t found = definition_find(functions[i].name);

	return found || !functions[i].other ? found : definition_find(functions[i].other);
}

bool python_api_find(void)
{
	struct py_api found = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		uint64_t at = find_function(i);

		if (!at && functions[i].place < FIRST_OPTIONAL)
			return false;
		memcpy((char *)&found + functions[i].place, &at, sizeof(at));
	}
	py = found;
	return true;
}
