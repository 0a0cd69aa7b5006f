/*
 * Does the least work that a recorder of Python needs with sys.setprofile() in C, as VizTracer does
 * it: each event writes its time and the called function to a ring buffer.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <stdbool.h>
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

/* Does nothing: measures the time that the interpreter takes to tell of a call. */
static int take_nothing(PyObject *object, PyFrameObject *frame, int kind, PyObject *arg)
{
	return 0;
}

static uint64_t read_counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
#endif
}

/*
 * The least work of a recorder: reads the counter, and writes it with the called object to the
 * ring.
 */
static void put_least(const void *what)
{
	struct event *e = &events[nr++ % EVENTS];

	e->time_ns = read_counter();
	e->what = (PyObject *)what;
}

static int take_least(PyObject *object, PyFrameObject *frame, int kind, PyObject *arg)
{
	put_least(frame);
	return 0;
}

#if PY_VERSION_HEX >= 0x030c0000

/* The empty callback of sys.monitoring: the interpreter calls it directly. */
static PyObject *tell_nothing(PyObject *callable, PyObject *const *args, size_t nr_args,
			      PyObject *names)
{
	return Py_None;
}

static PyObject *tell_least(PyObject *callable, PyObject *const *args, size_t nr_args,
			    PyObject *names)
{
	put_least(args[0]);
	return Py_None;
}

static PyObject *never_called(PyObject *self, PyObject *arg)
{
	Py_RETURN_NONE;
}

static PyObject *listen(bool is_least)
{
	static PyMethodDef def = { "tell", never_called, METH_O, NULL };
	/*
	 * numbers of events: PY_START, PY_RESUME, PY_RETURN, PY_YIELD, CALL, PY_UNWIND, PY_THROW,
	 * C_RETURN, C_RAISE
	 */
	static const int kinds[] = { 0, 1, 2, 3, 4, 12, 13, 15, 16 };
	PyObject *monitoring = PySys_GetObject("monitoring");
	int all = 0;

	if (!PyObject_CallMethod(monitoring, "use_tool_id", "is", 4, "least"))
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		PyObject *teller = PyCFunction_NewEx(&def, NULL, NULL);

		((PyCFunctionObject *)teller)->vectorcall =
			(vectorcallfunc)(is_least ? tell_least : tell_nothing);
		if (!PyObject_CallMethod(monitoring, "register_callback", "iiO", 4, 1 << kinds[i],
					 teller))
			return NULL;
		all |= 1 << kinds[i];
	}
	return PyObject_CallMethod(monitoring, "set_events", "ii", 4, all);
}

#else

static PyObject *listen(bool is_least)
{
	PyEval_SetProfile(is_least ? take_least : take_nothing, NULL);
	Py_RETURN_NONE;
}

#endif

static PyObject *start_nothing(PyObject *self, PyObject *none)
{
	return listen(false);
}

static PyObject *start_least(PyObject *self, PyObject *none)
{
	if (!events)
		events = calloc(EVENTS, sizeof(*events));
	return listen(true);
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
	{ "start_least", start_least, METH_NOARGS, NULL },
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
