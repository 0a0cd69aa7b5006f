/*
 * Does the least work that a recorder of Python needs with sys.setprofile() in C, as VizTracer does
 * it: each event writes its time and the called function to a ring buffer.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <time.h>

struct event {
	uint64_t time_ns;
	PyObject *what;
	int64_t kind;
};

#define EVENTS (1U << 16)

static struct event *events;
static size_t nr;

static int take_event(PyObject *object, PyFrameObject *frame, int kind, PyObject *arg)
{
	struct event *e = &events[nr++ % EVENTS];
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	e->time_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	e->kind = kind;
	if (kind == PyTrace_CALL || kind == PyTrace_RETURN)
		e->what = (PyObject *)PyFrame_GetCode(frame);
	else
		e->what = Py_NewRef(arg);
	return 0;
}

/* Does nothing: measures the interpreter's own cost of a profile function. */
static int take_nothing(PyObject *object, PyFrameObject *frame, int kind, PyObject *arg)
{
	return 0;
}

static PyObject *start_nothing(PyObject *self, PyObject *none)
{
	PyEval_SetProfile(take_nothing, NULL);
	Py_RETURN_NONE;
}

static PyObject *start(PyObject *self, PyObject *none)
{
	if (!events)
		events = calloc(EVENTS, sizeof(*events));
	PyEval_SetProfile(take_event, NULL);
	Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *none)
{
	PyEval_SetProfile(NULL, NULL);
	return PyLong_FromSize_t(nr);
}

static PyMethodDef methods[] = {
	{ "start", start, METH_NOARGS, NULL },
	{ "start_nothing", start_nothing, METH_NOARGS, NULL },
	{ "stop", stop, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "python_profile", NULL, -1, methods,
};

PyMODINIT_FUNC PyInit_python_profile(void)
{
	return PyModule_Create(&module);
}
