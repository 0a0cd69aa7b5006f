/*
 * Finds the interpreter of a Python program, and listens to the interpreter's audit events and
 * calls (doc/internals/python.md).
 */
#include "libmcount/system/fault.h"
#include "libmcount/system/modules.h"

#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "libmcount/hot/probe.h"
#include "libmcount/program/definition.h"
#include "libmcount/python/api.h"
#include "libmcount/python/breaker.h"
#include "libmcount/python/calls.h"
#include "libmcount/python/own_profile.h"
#include "libmcount/python/threads.h"
#include "libmcount/system/own_syscall.h"
#include "utils/format/callables.h"

/*
 * @is_hearing: the interpreter tells the probe of its audit events (PEP 578)
 * @is_program: the executed file is the interpreter, and not a program that embeds an interpreter
 * @has_begun: the probe listens to calls
 * @has_failed: the probe cannot listen to the interpreter. For example, the interpreter has no GIL,
 *              or functions of the interpreter will be patched
 */
static struct {
	bool is_found;
	bool is_hearing;
	bool is_program;
	bool has_begun;
	bool has_failed;
} python;

/* True for an interpreter with a GIL. In a build without a GIL, objects have another header. */
static bool is_known_kind(void)
{
	return !strstr(py.version(), "free-threading");
}

static bool is_of_program(const void *function)
{
	const ElfW(Phdr) *list = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	uint64_t nr = list ? getauxval(AT_PHNUM) : 0;
	uint64_t bias = 0;

	for (uint64_t i = 0; i < nr; i++) {
		if (list[i].p_type == PT_PHDR)
			bias = (uint64_t)list - list[i].p_vaddr;
	}
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t start = bias + list[i].p_vaddr;

		if (list[i].p_type == PT_LOAD && (uint64_t)function - start < list[i].p_memsz)
			return true;
	}
	return false;
}

/*
 * True when functions of the interpreter will be patched. In this case the probe does not listen to
 * events. Listening would change the interpreter's own calls, which are to be recorded.
 */
static bool is_patched(void)
{
	uint32_t flag = is_of_program((const void *)py.version) ? PLAN_PATCHES_PROGRAM
								: PLAN_PATCHES_LIBPYTHON;

	return (probe.plan.flags & flag) != 0;
}

static void begin_listening(void)
{
	if (python.has_begun || python.has_failed)
		return;
	python.has_failed = !is_known_kind() || !breaker_begin() || !calls_begin();
	python.has_begun = !python.has_failed;
	if (!python.has_begun)
		return;
	threads_begin();
}

/* Called in the main thread, soon after the program has set or removed a profile function. */
static int look_later(void *arg)
{
	own_profile_look();
	return 0;
}

/* --- audit events --- */

/* True when the event is the import of "site", which is a part of the interpreter's start. */
static bool is_about_site(struct py_object *args)
{
	struct py_object *first = args ? py.tuple_item(args, 0) : NULL;
	const char *name = first ? py.text(first) : NULL;

	if (!name)
		py.error_clear();
	return name && strcmp(name, "site") == 0;
}

/*
 * True when the Python program begins with @event. The events of the interpreter's own start do not
 * count. In a host program that embeds the interpreter, the Python program begins when native code
 * executes Python source code or imports a module.
 */
static bool is_beginning(const char *event, struct py_object *args)
{
	if (strncmp(event, "cpython.run_", strlen("cpython.run_")) == 0)
		return true;
	if (python.is_program || !py.is_initialized() || !py.thread() || py.frame())
		return false;
	return strcmp(event, "exec") == 0 || (strcmp(event, "import") == 0 && !is_about_site(args));
}

/* Called for each audit event of the interpreter, in all its threads. Never raises anything. */
static int hear_event(const char *event, struct py_object *args, void *data)
{
	if (strcmp(event, "sys.addaudithook") == 0)
		python_threads.has_hooks = true;
	if (!probe.ready || !probe.tracing || python_threads.is_setting)
		return 0;
	if (!python.has_begun) {
		if (!python.has_failed && !python_threads.has_hooks && is_beginning(event, args) &&
		    py.thread())
			begin_listening();
		return 0;
	}
	/*
	 * At this event, Python is about to set a profile function. Python refuses to set a second
	 * profile function during the event. Therefore look_later() sets the probe's function soon
	 * after the event.
	 */
	if (strcmp(event, "sys.setprofile") == 0 && !python_threads.is_monitored)
		py.call_later(look_later, NULL);
	else
		threads_see_this();
	return 0;
}

/* --- the interpreter --- */

static bool is_interpreter_itself(void)
{
	char path[PATH_MAX];
	long len = own_syscall(SYS_readlink, "/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return false;
	path[len] = '\0';
	return python_is_name(path);
}

/*
 * Adds the audit hook as soon as the interpreter has a thread. By then the interpreter has chosen
 * its allocator (PYTHONMALLOC, -X dev), which provides the memory for the hook.
 */
static void begin_hearing(void)
{
	if (!python.is_found || python.is_hearing || python.has_failed || !probe.ready)
		return;
	python.has_failed = is_patched();
	if (python.has_failed || !py.thread() || !py.has_gil())
		return;
	python.is_hearing = true;
	if (py.add_audit_hook(hear_event, NULL) < 0)
		py.error_clear();
}

/*
 * Called when the program sets or reads a signal handler (fault.h). Python sets its own handlers
 * after its first thread is made, and before the first import. So begin_hearing() adds the audit
 * hook in time for the first import.
 */
void fault_before_handler(void)
{
	begin_hearing();
}

bool modules_look_for_python(void)
{
	begin_hearing();
	if (python.is_found || python.has_failed || probe.is_attached ||
	    !definition_find("PySys_AddAuditHook"))
		return false;
	python.is_found = python_api_find();
	python.has_failed = !python.is_found;
	python.is_program = is_interpreter_itself();
	return python.is_found;
}
