/*
 * The functions of libpython that scripts need, from its stable interface (PEP 384). Python 3.7 and
 * later versions have them. The library is loaded on demand, and the build does not need its
 * headers.
 */
#ifndef UTRAIL_SCRIPT_PYTHON_API_H
#define UTRAIL_SCRIPT_PYTHON_API_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"

/* A Python object. The first word is the count of references (PEP 384, "Structures"). */
typedef struct python_object {
	ssize_t refs;
} PyObject;

#define PYTHON_FILE_INPUT 257 /* Py_file_input */

/* X(result, name, arguments), as docs.python.org/3/c-api has them. */
#define PYTHON_FUNCTIONS(X)                                                                        \
	X(void, Py_InitializeEx, (int signals))                                                    \
	X(int, Py_FinalizeEx, (void))                                                              \
	X(void, Py_IncRef, (PyObject * o))                                                         \
	X(void, Py_DecRef, (PyObject * o))                                                         \
	X(PyObject *, Py_CompileString, (const char *text, const char *path, int start))           \
	X(PyObject *, PyImport_ExecCodeModuleEx, (const char *, PyObject *code, const char *path)) \
	X(PyObject *, PyObject_GetAttrString, (PyObject * o, const char *name))                    \
	X(PyObject *, PyObject_CallFunctionObjArgs, (PyObject * callable, ...))                    \
	X(PyObject *, PyObject_Call, (PyObject * callable, PyObject * args, PyObject * keywords))  \
	X(int, PyCallable_Check, (PyObject * o))                                                   \
	X(PyObject *, PySys_GetObject, (const char *name))                                         \
	X(int, PySys_SetObject, (const char *name, PyObject *o))                                   \
	X(PyObject *, PyList_New, (ssize_t len))                                                   \
	X(int, PyList_Append, (PyObject * list, PyObject * o))                                     \
	X(int, PyList_Insert, (PyObject * list, ssize_t at, PyObject * o))                         \
	X(PyObject *, PySequence_List, (PyObject * o))                                             \
	X(ssize_t, PyList_Size, (PyObject * list))                                                 \
	X(PyObject *, PyList_GetItem, (PyObject * list, ssize_t at))                               \
	X(PyObject *, PyTuple_New, (ssize_t len))                                                  \
	X(int, PyTuple_SetItem, (PyObject * tuple, ssize_t at, PyObject * o))                      \
	X(PyObject *, PyDict_New, (void))                                                          \
	X(ssize_t, PyDict_Size, (PyObject * dict))                                                 \
	X(int, PyDict_SetItem, (PyObject * dict, PyObject * key, PyObject * o))                    \
	X(PyObject *, PyLong_FromLong, (long v))                                                   \
	X(PyObject *, PyLong_FromLongLong, (long long v))                                          \
	X(PyObject *, PyLong_FromUnsignedLongLong, (unsigned long long v))                         \
	X(PyObject *, PyLong_FromString, (const char *text, char **end, int base))                 \
	X(long, PyLong_AsLong, (PyObject * o))                                                     \
	X(PyObject *, PyBool_FromLong, (long v))                                                   \
	X(PyObject *, PyFloat_FromDouble, (double v))                                              \
	X(PyObject *, PyUnicode_DecodeUTF8, (const char *text, ssize_t len, const char *errors))   \
	X(PyObject *, PyUnicode_DecodeFSDefault, (const char *text))                               \
	X(PyObject *, PyUnicode_InternFromString, (const char *text))                              \
	X(PyObject *, PyUnicode_AsUTF8String, (PyObject * o))                                      \
	X(PyObject *, PyBytes_FromStringAndSize, (const char *bytes, ssize_t len))                 \
	X(PyObject *, PyMemoryView_FromObject, (PyObject * o))                                     \
	X(PyObject *, PyObject_CallMethod, (PyObject * o, const char *name, const char *how, ...)) \
	X(int, PyDict_SetItemString, (PyObject * dict, const char *key, PyObject *o))              \
	X(int, PyBytes_AsStringAndSize, (PyObject * o, char **text, ssize_t *len))                 \
	X(PyObject *, PyErr_Occurred, (void))                                                      \
	X(void, PyErr_Clear, (void))                                                               \
	X(void, PyErr_Print, (void))                                                               \
	X(int, PyErr_ExceptionMatches, (PyObject * type))                                          \
	X(void, PyErr_Fetch, (PyObject * *type, PyObject * *value, PyObject * *traceback))         \
	X(void, PyErr_NormalizeException, (PyObject * *type, PyObject * *value, PyObject * *trace))

/*
 * @system_exit: set when Python starts
 * @refs_of: Py_REFCNT(), which is a function since Python 3.14. NULL if Python is older. In this
 *         case, the first word of an object is the object's reference count
 */
struct python_api {
#define PYTHON_MEMBER(result, name, args) result(*name) args;
	PYTHON_FUNCTIONS(PYTHON_MEMBER)
#undef PYTHON_MEMBER
	PyObject *none;
	PyObject **system_exit;
	ssize_t (*refs_of)(PyObject *o);
};

/*
 * Load the library for the version of /usr/bin/python3. If this library is missing, load the newest
 * installed libpython3. The library stays loaded. Returns 0, or -ENOENT with @err when no library
 * is found, or when the library lacks a function.
 */
int python_load(struct python_api *py, struct uft_err *err);

#endif
