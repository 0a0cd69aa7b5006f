/*
 * Putting the probe into a simulated process: the order of the actions, and the outcome of
 * failures.
 */
#include "tests/unit/lib/attach/scripted.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/attach/hand_over.h"

#define CALLS_BEGIN "open maps gadgets quiet make-room "
/*
 * The log of loading the probe when the process does not see its file at the path: the process gets
 * a descriptor of the file.
 */
#define LOADED	    "write syscall write dlopen syscall maps "
#define CALLS_END   " drop-room let-go close"
#define TAKEN_OUT                                                                        \
	"DOORS_CLOSE HANDLE WITHDRAW read CHANGES text-read stop maps take-out() COUNT " \
	"let-others-go GIVE_BACK dlclose maps"

static struct msg msg;
static char printed[4096];
static char library[64];
static struct attach_how how;
static struct uft_err err;

/* --- simulated functions that scripted.c lacks --- */

static int unwinder_fails;
static int hand_over_result;
static unsigned nr_handed;
static unsigned nr_unwinders;

struct unwinder *__wrap_unwinder_open(const struct attached *w, const struct maps *maps,
				      struct uft_err *why);
struct unwinder *__wrap_unwinder_open(const struct attached *w, const struct maps *maps,
				      struct uft_err *why)
{
	if (unwinder_fails) {
		err_set(why, -ENOMEM, "no unwinder");
		return NULL;
	}
	nr_unwinders++;
	return (struct unwinder *)&nr_unwinders;
}

void __wrap_unwinder_close(struct unwinder *u);
void __wrap_unwinder_close(struct unwinder *u)
{
	if (u)
		nr_unwinders--;
}

int __wrap_hand_over_calls(struct attached *w, struct unwinder *u, struct attached_thread *thread,
			   uint64_t leave_fn, const struct msg *to, struct uft_err *why);
int __wrap_hand_over_calls(struct attached *w, struct unwinder *u, struct attached_thread *thread,
			   uint64_t leave_fn, const struct msg *to, struct uft_err *why)
{
	assert_int_equal(leave_fn, SCRIPTED_LEAVE);
	assert_ptr_equal(thread, &scripted.threads[0]);
	nr_handed++;
	return hand_over_result < 0 ? err_set(why, hand_over_result, "not handed over") : 0;
}

/* In these tests, /proc/4711/fd/7 is a copy of the probe's file. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
static char copy[64];

int __wrap_open64(const char *path, int flags, ...)
{
	if (strcmp(path, "/proc/4711/fd/7") == 0)
		return __real_open64(copy, flags);
	return __real_open64(path, flags);
}

/* Return the file that the process sees at the path of the library. */
int __real_stat64(const char *path, struct stat *st);
int __wrap_stat64(const char *path, struct stat *st);
static const char *seen_at;

int __wrap_stat64(const char *path, struct stat *st)
{
	char theirs[128];

	snprintf(theirs, sizeof(theirs), "/proc/4711/root%s", library);
	if (strcmp(path, theirs) != 0)
		return __real_stat64(path, st);
	if (seen_at)
		return __real_stat64(seen_at, st);
	errno = ENOENT;
	return -1;
}

static int setup(void **state)
{
	int fd;

	scripted_begin();
	err_clear(&err);
	unwinder_fails = hand_over_result = 0;
	nr_handed = nr_unwinders = 0;
	seen_at = library;
	strcpy(library, "/tmp/utrail-attach.XXXXXX");
	strcpy(copy, "/tmp/utrail-copied.XXXXXX");
	fd = mkstemp(library);
	assert_true(fd >= 0 && write(fd, "the probe", 9) == 9);
	close(fd);
	fd = mkstemp(copy);
	assert_true(fd >= 0);
	close(fd);
	memset(printed, 0, sizeof(printed));
	msg = (struct msg){ .file = fmemopen(printed, sizeof(printed), "w"), .level = 1 };
	how = (struct attach_how){
		.address = "the address",
		.library = library,
		.msg = &msg,
		.wait = scripted_wait,
		.wait_arg = &scripted,
	};
	return 0;
}

static int teardown(void **state)
{
	fclose(msg.file);
	unlink(library);
	unlink(copy);
	assert_int_equal(nr_unwinders, 0);
	return 0;
}

static int attach(void)
{
	return attach_begin(SCRIPTED_PID, &how, &err);
}

static const char *said(void)
{
	fflush(msg.file);
	return printed;
}

#define SEEN_LOADED "write dlopen maps "

#define STAYS(why)                                                                    \
	"WARN: the probe stays in process 4711: " why "; it does nothing there, and " \
	"'utrail record -p 4711' takes it out when that is possible\n"

TEST_WITH(the_whole_way, setup, teardown)
{
	scripted_answer("dlopen", 0, 0, 0x77);
	assert_int_equal(attach(), 0);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES text-read CHANGED stop BEGIN let-others-go "
			    "DOORS_OPEN" CALLS_END);
	assert_int_equal(nr_handed, 1);
	assert_string_equal((char *)scripted.room, "the address");
	assert_string_equal(said(), "");
	scripted_check_over();
}

/*
 * Text is written while all threads are stopped, and again after a thread was in the way. Places
 * that stay unwritten count as failed.
 */
TEST_WITH(text_is_put_in, setup, teardown)
{
	scripted.nr_changes = 2;
	scripted.changes[0].site = 0xa;
	scripted.changes[1].site = 0xb;
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("CHANGES", 0, 0, 2);
	scripted_answer("put-in(a,b)", 0, 0, 1);
	assert_int_equal(attach(), 0);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES read text-read "
			    "stop maps put-in(a,b) let-others-go sleep-1000 "
			    "stop maps put-in(a,b) let-others-go "
			    "CHANGED stop BEGIN let-others-go DOORS_OPEN" CALLS_END);
	assert_int_equal(scripted.in, 3);
	assert_int_equal(scripted.waits, 1);
	scripted_check_over();
}

TEST_WITH(text_that_somebody_stays_in, setup, teardown)
{
	scripted.nr_changes = 1;
	scripted.changes[0].site = 0xa;
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("CHANGES", 0, 0, 1);
	scripted_answer_always("put-in(a)", 0, 1);
	assert_int_equal(attach(), 0);
	assert_int_equal(scripted.waits, 50);
}

/*
 * The process sees another file at the path, or none. It is made to open a file in memory, into
 * which the recorder copies the probe. The descriptor of this file is closed afterwards.
 */
TEST_WITH(another_file_is_seen, setup, teardown)
{
	char word[32];
	int fd;
	char bytes[16];

	snprintf(word, sizeof(word), "syscall");
	/*
	 * The file at the path is missing, is in another file system, or is another file in the
	 * same one.
	 */
	for (int round = 0; round < 3; round++) {
		seen_at = (const char *const[]){ NULL, "/dev/null", copy }[round];
		scripted.has_probe = false;
		scripted_answer(word, 0, 0, 7);
		scripted_answer("dlopen", 0, 0, 1);
		assert_int_equal(attach(), 0);
		assert_string_equal(scripted_log(), CALLS_BEGIN LOADED
				    "write ATTACH CHANGES text-read CHANGED stop BEGIN "
				    "let-others-go DOORS_OPEN" CALLS_END);
		fd = open(copy, O_RDONLY);
		assert_int_equal(read(fd, bytes, sizeof(bytes)), 9);
		assert_memory_equal(bytes, "the probe", 9);
		close(fd);
	}
	scripted_check_over();
}

TEST_WITH(no_descriptor_for_it, setup, teardown)
{
	seen_at = NULL;
	scripted_answer("syscall", 0, 0, -EMFILE);
	assert_int_equal(attach(), -EMFILE);
	assert_string_equal(err.text, "cannot attach to process 4711: it does not see the probe's "
				      "file, and cannot be given another one");
	assert_string_equal(scripted_log(), CALLS_BEGIN "write syscall maps" CALLS_END);
	err_clear(&err);
	/* The descriptor that the process reports does not exist. It is closed all the same. */
	scripted_answer("syscall", 0, 0, 8);
	assert_int_equal(attach(), -ENOENT);
	assert_string_equal(err.text,
			    "cannot give process 4711 the probe: No such file or directory");
	assert_string_equal(scripted_log(), CALLS_BEGIN "write syscall syscall maps" CALLS_END);
	scripted_answer("syscall", 0, -EFAULT, 0);
	assert_int_equal(attach(), -EFAULT);
	assert_string_equal(scripted_log(), CALLS_BEGIN "write syscall maps" CALLS_END);
	assert_string_equal(said(), "");
}

/* After the probe was loaded, the call that closes its descriptor does not return. */
TEST_WITH(the_descriptor_is_not_closed, setup, teardown)
{
	seen_at = NULL;
	scripted_answer("syscall", 0, 0, 7);
	scripted_answer("syscall", 0, -ETIMEDOUT, 0);
	scripted_answer("dlopen", 0, 0, 1);
	assert_int_equal(attach(), -ETIMEDOUT);
	assert_string_equal(scripted_log(),
			    CALLS_BEGIN "write syscall write dlopen syscall let-go close");
	assert_string_equal(said(), STAYS("a thread is still in a call that it was made to do"));
}

/* The error has the words of the process' dynamic linker. */
TEST_WITH(it_is_not_loaded, setup, teardown)
{
	static const char why[] = "no such thing";

	scripted_answer("dlerror", 0, 0, SCRIPTED_ROOM + 4096);
	memcpy(scripted.room + 4096, why, sizeof(why));
	assert_int_equal(attach(), -ENOEXEC);
	assert_string_equal(err.text, "cannot attach to process 4711: its dynamic linker does not "
				      "load the probe: no such thing");
	assert_string_equal(scripted_log(), CALLS_BEGIN "write dlopen dlerror read maps" CALLS_END);
	err_clear(&err);
	assert_int_equal(attach(), -ENOEXEC);
	assert_non_null(strstr(err.text, "load the probe: no reason was given"));
	assert_string_equal(scripted_log(), CALLS_BEGIN "write dlopen dlerror maps" CALLS_END);
	err_clear(&err);
	scripted_answer("dlerror", 0, -EFAULT, 0);
	assert_int_equal(attach(), -EIO);
	scripted_log();
	assert_string_equal(said(), "");
	scripted_answer("dlopen", 0, -ETIMEDOUT, 0);
	assert_int_equal(attach(), -ETIMEDOUT);
	assert_string_equal(scripted_log(), CALLS_BEGIN "write dlopen let-go close");
	assert_string_equal(said(), STAYS("a thread is still in a call that it was made to do"));
	scripted_answer("write", 0, -EIO, 0);
	err_clear(&err);
	assert_int_equal(attach(), -EIO);
	assert_string_equal(err.text,
			    "cannot write to the memory of process 4711: Input/output error");
}

/* A fault during dlopen(3): the probe is in the process, but without a handle. */
TEST_WITH(it_is_loaded_in_part, setup, teardown)
{
	scripted_answer("dlopen", 0, -EFAULT, 1);
	assert_int_equal(attach(), -EFAULT);
	assert_string_equal(scripted_log(), CALLS_BEGIN "write dlopen maps" CALLS_END);
	assert_string_equal(said(), STAYS("it is loaded in part"));
}

/* A probe without utrail_leave() cannot be asked to leave. It has done nothing, and is unloaded. */
TEST_WITH(another_version, setup, teardown)
{
	scripted_answer("dlopen", 0, 0, 1);
	scripted.missing = LEAVE_FUNCTION;
	assert_int_equal(attach(), -ENOEXEC);
	assert_string_equal(err.text, "cannot attach to process 4711: the probe's file is of "
				      "another version");
	assert_string_equal(scripted_log(), CALLS_BEGIN "write dlopen maps dlclose" CALLS_END);
	assert_false(scripted.has_probe);
	/* A probe without utrail_attach() can be asked to leave. */
	err_clear(&err);
	scripted.missing = ATTACH_FUNCTION;
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("HANDLE", 0, 0, 1);
	assert_int_equal(attach(), -ENOEXEC);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED TAKEN_OUT CALLS_END);
}

/* The probe refuses and says why; the loaded library is removed again. */
TEST_WITH(refusals, setup, teardown)
{
	static const struct {
		enum attach_result result;
		const char *why;
	} results[] = {
		{ ATTACH_NO_MEMORY, "it has no memory for the probe" },
		{ ATTACH_SHADOW_STACK, "its return addresses are protected by a shadow stack" },
		{ ATTACH_OTHER_LIBC, "its C library is not glibc, which the probe needs" },
		{ ATTACH_NO_ADDRESS_SPACE, "its address space is limited (ulimit -v)" },
		{ ATTACH_BUSY, "the probe in it could not speak with the recorder" },
		{ ATTACH_REFUSED, "the probe in it could not speak with the recorder" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		char text[256];

		err_clear(&err);
		scripted_answer("dlopen", 0, 0, 1);
		scripted_answer("ATTACH", 0, 0, results[i].result);
		scripted_answer("HANDLE", 0, 0, 1);
		assert_int_equal(attach(), -ECONNREFUSED);
		snprintf(text, sizeof(text), "cannot attach to process 4711: %s", results[i].why);
		assert_string_equal(err.text, text);
		assert_string_equal(scripted_log(),
				    CALLS_BEGIN SEEN_LOADED "write ATTACH " TAKEN_OUT CALLS_END);
		assert_false(scripted.has_probe);
	}
	scripted_check_over();
}

/* A thread that has not returned from the probe cannot remove the probe. */
TEST_WITH(it_does_not_come_back, setup, teardown)
{
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("ATTACH", 0, -ETIMEDOUT, 0);
	assert_int_equal(attach(), -ETIMEDOUT);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED "write ATTACH let-go close");
	assert_string_equal(said(), STAYS("a thread is still in a call that it was made to do"));
	scripted.has_probe = false;
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("CHANGED", 0, -EFAULT, 0);
	scripted_answer("HANDLE", 0, 0, 1);
	assert_int_equal(attach(), -EFAULT);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES text-read CHANGED " TAKEN_OUT CALLS_END);
}

/* --- a probe that is there already --- */

static void check_stays(uint64_t is, const char *why)
{
	err_clear(&err);
	scripted.has_probe = true;
	scripted_answer("STATE", 0, 0, is);
	assert_int_equal(attach(), -EBUSY);
	assert_string_equal(err.text, why);
	assert_string_equal(scripted_log(), CALLS_BEGIN "maps STATE" CALLS_END);
	assert_true(scripted.has_probe);
}

TEST_WITH(recorded_by_others, setup, teardown)
{
	check_stays(ATTACH_STATE_RECORDED,
		    "cannot attach to process 4711: it is being recorded already");
	check_stays(ATTACH_STATE_PRELOADED,
		    "cannot attach to process 4711: it was started by 'utrail record', whose "
		    "probe it keeps until it ends");
	err_clear(&err);
	scripted.missing = ATTACH_FUNCTION;
	assert_int_equal(attach(), -EBUSY);
	assert_string_equal(err.text,
			    "cannot attach to process 4711: there is a probe of another version in "
			    "it, which stays; only that version of utrail takes it out");
	scripted_log();
	scripted.missing = NULL;
	err_clear(&err);
	scripted_answer("STATE", 0, -EFAULT, 0);
	assert_int_equal(attach(), -EFAULT);
	assert_string_equal(err.text, "cannot attach to process 4711, which has a probe already: "
				      "'STATE' failed");
	assert_string_equal(scripted_log(), CALLS_BEGIN "maps STATE" CALLS_END);
}

/* The recorder of the loaded probe is dead: this probe leaves, and a new one is loaded. */
TEST_WITH(left_by_others, setup, teardown)
{
	static const uint64_t states[] = { ATTACH_STATE_NONE, ATTACH_STATE_LEFT };

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		scripted.has_probe = true;
		scripted_answer("STATE", 0, 0, states[i]);
		scripted_answer("HANDLE", 0, 0, 1);
		scripted_answer("dlopen", 0, 0, 1);
		assert_int_equal(attach(), 0);
		assert_string_equal(scripted_log(),
				    CALLS_BEGIN "maps STATE " TAKEN_OUT " " SEEN_LOADED
						"write ATTACH CHANGES text-read CHANGED stop BEGIN "
						"let-others-go DOORS_OPEN" CALLS_END);
	}
	scripted_answer("STATE", 0, 0, ATTACH_STATE_LEFT);
	scripted_answer("WITHDRAW", 0, 0, CODES_MAX + 1);
	assert_int_equal(attach(), -E2BIG);
	assert_string_equal(err.text, "cannot attach to process 4711: the probe stays in process "
				      "4711: the probe has made more code in process 4711 than "
				      "utrail can watch; it does nothing there, and 'utrail record "
				      "-p 4711' takes it out when that is possible");
}

/* --- calls that are open --- */

/* If the open calls cannot be found, recording begins without them, and -v reports why. */
TEST_WITH(open_calls_are_not_known, setup, teardown)
{
	unwinder_fails = true;
	scripted_answer("dlopen", 0, 0, 1);
	assert_int_equal(attach(), 0);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES text-read CHANGED BEGIN let-others-go "
			    "DOORS_OPEN" CALLS_END);
	assert_int_equal(nr_handed, 0);
	assert_non_null(strstr(said(), "process 4711: its open calls are not known, so its threads "
				       "begin at depth 0: no unwinder\n"));
}

/* One thread does not stop: all threads are let go, and another thread makes the calls. */
TEST_WITH(not_all_stop, setup, teardown)
{
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("stop", 0, -EBUSY, 0);
	assert_int_equal(attach(), 0);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES text-read CHANGED stop quiet BEGIN "
			    "let-others-go DOORS_OPEN" CALLS_END);
	assert_int_equal(nr_handed, 0);
	assert_non_null(strstr(said(), "begin at depth 0: 'stop' failed\n"));
	scripted_check_over();
}

/* All attempts to stop the threads fail. Then one thread is made to take the probe out. */
TEST_WITH(they_never_all_stop, setup, teardown)
{
	scripted.nr_changes = 1;
	scripted.changes[0].site = 0xa;
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("CHANGES", 0, 0, 1);
	for (int i = 0; i < 3; i++)
		scripted_answer("stop", 0, -EBUSY, 0);
	scripted_answer("HANDLE", 0, 0, 1);
	assert_int_equal(attach(), -EBUSY);
	assert_string_equal(err.text, "'stop' failed");
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES read text-read "
			    "stop quiet stop quiet stop quiet " TAKEN_OUT CALLS_END);
	assert_false(scripted.has_probe);
	scripted_check_over();
	/* The same with calls that are open, when no thread was quiet at first. */
	err_clear(&err);
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("stop", 0, -EBUSY, 0);
	scripted_answer("quiet", 1, -EBUSY, 0);
	scripted_answer("HANDLE", 0, 0, 1);
	assert_int_equal(attach(), -EBUSY);
	assert_string_equal(err.text, "cannot attach to process 4711: 'quiet' failed");
	assert_string_equal(
		scripted_log(), CALLS_BEGIN SEEN_LOADED
		"write ATTACH CHANGES text-read CHANGED stop quiet quiet " TAKEN_OUT CALLS_END);
	assert_false(scripted.has_probe);
	scripted_check_over();
}

TEST_WITH(they_are_not_handed_over, setup, teardown)
{
	hand_over_result = -EFAULT;
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("HANDLE", 0, 0, 1);
	assert_int_equal(attach(), -EFAULT);
	assert_string_equal(err.text, "not handed over");
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES text-read CHANGED stop " TAKEN_OUT CALLS_END);
	/* A thread that did not come back from the probe makes no further calls. */
	hand_over_result = -ETIMEDOUT;
	scripted_answer("dlopen", 0, 0, 1);
	assert_int_equal(attach(), -ETIMEDOUT);
	assert_string_equal(scripted_log(), CALLS_BEGIN SEEN_LOADED
			    "write ATTACH CHANGES text-read CHANGED stop let-go close");
}

/*
 * If attaching fails and the probe stays in the process, there is a warning, unless the process has
 * ended. A process that the recorder already knows is left later, and the warning comes then.
 */
TEST_WITH(the_probe_stays, setup, teardown)
{
	scripted_answer("dlopen", 0, 0, 1);
	scripted_answer("ATTACH", 0, 0, ATTACH_REFUSED);
	scripted_answer("HANDLE", 0, -EFAULT, 0);
	assert_int_equal(attach(), -ECONNREFUSED);
	assert_true(scripted.has_probe);
	assert_string_equal(said(), STAYS("'HANDLE' failed"));
	rewind(msg.file);
	memset(printed, 0, sizeof(printed));
	scripted.has_probe = false;
	err_clear(&err);
	hand_over_result = -ESRCH;
	scripted_answer("dlopen", 0, 0, 1);
	assert_int_equal(attach(), -ESRCH);
	assert_true(scripted.has_probe);
	assert_string_equal(said(), "");
	scripted.has_probe = false;
	err_clear(&err);
	hand_over_result = -EFAULT;
	scripted_answer("dlopen", 0, 0, 1);
	assert_int_equal(attach(), -EFAULT);
	assert_string_equal(err.text, "not handed over");
	assert_true(scripted.has_probe);
	assert_string_equal(said(), "");
}

TEST_WITH(nothing_to_attach_to, setup, teardown)
{
	scripted_answer("open", 0, -EPERM, 0);
	assert_int_equal(attach(), -EPERM);
	assert_string_equal(scripted_log(), "open close");
	scripted.has_libc = scripted.has_linker = false;
	scripted.has_musl = true;
	err_clear(&err);
	assert_int_equal(attach(), -ENOEXEC);
	assert_string_equal(scripted_log(), "open maps maps read let-go close");
	scripted.has_libc = scripted.has_linker = true;
	scripted.has_musl = false;
	err_clear(&err);
	scripted_answer("quiet", 0, -EBUSY, 0);
	assert_int_equal(attach(), -EBUSY);
	assert_string_equal(scripted_log(), "open maps gadgets quiet maps read let-go close");
}

/* The process has just started: the dynamic linker has not loaded the C library yet. */
TEST_WITH(it_starts, setup, teardown)
{
	scripted.has_libc = false;
	scripted.libc_after = 2;
	scripted_answer("quiet", 0, -EBUSY, 0);
	assert_int_equal(attach(), -EBUSY);
	assert_string_equal(scripted_log(), "open maps maps read let-go sleep-10000 close "
					    "open maps maps read let-go sleep-10000 close "
					    "open maps gadgets quiet maps read let-go close");
}

/* The process called execve(2) after its memory was opened. */
TEST_WITH(it_becomes_another, setup, teardown)
{
	scripted.is_former = true;
	scripted_answer("quiet", 0, -EBUSY, 0);
	assert_int_equal(attach(), -EBUSY);
	assert_string_equal(scripted_log(),
			    "open maps maps read read read read let-go sleep-10000 close "
			    "open maps gadgets quiet maps read let-go close");
}
