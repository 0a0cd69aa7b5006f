/*
 * The calls between a recorder and a probe that it has put into a running process: utrail_attach(),
 * utrail_leave().
 */
#ifndef UTRAIL_FORMAT_ATTACH_H
#define UTRAIL_FORMAT_ATTACH_H

#include <stdint.h>

/*
 * The recorder makes a thread of the process call these; the arguments in registers are addresses
 * and numbers.
 *   utrail_attach(address of the recorder, as in UTRAIL_SOCKET; dlopen(3)'s handle)
 *       -> enum attach_result
 *   utrail_leave(enum attach_step, room, pairs that the room has)
 *       -> depends on the step
 */
#define ATTACH_FUNCTION "utrail_attach"
#define LEAVE_FUNCTION	"utrail_leave"

enum attach_result {
	ATTACH_DONE = 0,
	ATTACH_BUSY = 1,    /* the probe has, or had, a recorder */
	ATTACH_REFUSED = 2, /* the recorder was not reached, or has said no */
	ATTACH_NO_MEMORY = 3,
	ATTACH_SHADOW_STACK = 4,
	ATTACH_OTHER_LIBC = 5,
	ATTACH_NO_ADDRESS_SPACE = 6,
};

enum attach_step {
	ATTACH_STATE = 0, /* enum attach_state */
	/*
	 * The program has no references to the probe any more. Returns the number of code ranges
	 * that it has made; the room gets their first and last addresses
	 */
	ATTACH_WITHDRAW = 1,
	/*
	 * With all other threads stopped: 0 when none of them is within the probe, or returns to it
	 */
	ATTACH_COUNT = 2,
	ATTACH_GIVE_BACK = 3, /* after that: all memory; then dlclose(3) */
	ATTACH_HANDLE = 4,    /* the handle that utrail_attach() was given */
	/*
	 * Returns the number of struct attach_change; the room gets the address of the first. Valid
	 * until the next call of these two
	 */
	ATTACH_CHANGES = 5,
	/* The recorder has written all changes that it could. Returns the number of failed ones */
	ATTACH_CHANGED = 6,
	/*
	 * Before ATTACH_BEGIN, with all threads stopped: the room has a struct attach_thread, and
	 * the third argument is its size. 0 or -errno
	 */
	ATTACH_OPEN_CALLS = 7,
	ATTACH_BEGIN = 8, /* from now on calls are recorded */
	/*
	 * During a recording, however it began: the second argument is the address of a plan's
	 * image with patches only, the third its size. Their stubs are made now; the recorder
	 * writes the patches into the text later. 0 or -errno; -EAGAIN: not possible in this
	 * thread, or now
	 */
	ATTACH_ADOPT = 9,
	/*
	 * Returns the number of code ranges made for patches; the room gets their first and last
	 * addresses
	 */
	ATTACH_CODES = 10,
	/*
	 * With all other threads stopped, and none of them within the probe or its code: the room
	 * has addresses of functions, and the third argument is their number. Functions with an
	 * open call that announces its own end (XRay) become 0. 0 or -errno; -EAGAIN: a thread is
	 * within a hook
	 */
	ATTACH_OPEN_ANNOUNCED = 11,
	/*
	 * The room has struct attach_choice; the third argument is their number. They take effect
	 * with ATTACH_CHOSEN. 0 or -errno
	 */
	ATTACH_CHOOSE = 12,
	ATTACH_CHOSEN = 13, /* 0; -EAGAIN: not by this thread, or not now */
	/*
	 * After ATTACH_BEGIN, while threads run: record events that the program declares, too.
	 * Returns the number of copies of the library that do so; -EAGAIN as above
	 */
	ATTACH_DOORS_OPEN = 14,
	/*
	 * Before ATTACH_WITHDRAW, while threads run: the library stops calling the probe. The same
	 * results; effective also with -EAGAIN
	 */
	ATTACH_DOORS_CLOSE = 15,
};

/*
 * The user's choice for an event that the program declares, by its id in records: below 0 off,
 * above 0 on, 0: as the program chooses.
 */
struct attach_choice {
	uint32_t event;
	int32_t choice;
};

/*
 * A call that is open in a thread when recording begins, and would have a frame if recorded.
 *
 * @slot: of its return address
 * @ret: the return address in it
 * @addr: of the function, or the address that a library call has in records (struct plan_call_site)
 * @sp: of the function when it calls its hooks, of -finstrument-functions; else 0
 * @is_library_call: it counts if the call is recorded
 */
struct attach_call {
	uint64_t slot;
	uint64_t ret;
	uint64_t addr;
	uint64_t sp;
	uint64_t is_library_call;
};

/*
 * The open calls of one thread, outermost first. If they exceed the room, they come in several
 * parts.
 */
struct attach_thread {
	int32_t tid;
	uint32_t nr;
	struct attach_call calls[];
};

#define ATTACH_THREAD_BYTES_MAX 8192

static inline uint64_t attach_thread_bytes(uint32_t nr)
{
	return sizeof(struct attach_thread) + nr * (uint64_t)sizeof(struct attach_call);
}

enum attach_state {
	ATTACH_STATE_NONE = 0,	    /* the process was never recorded */
	ATTACH_STATE_RECORDED = 1,  /* its recorder is alive */
	ATTACH_STATE_LEFT = 2,	    /* the recorder that had attached to the process is gone */
	ATTACH_STATE_PRELOADED = 3, /* the recorder that had started the process is gone */
};

/*
 * One change of the program's text, in the order of insertion; removal is in reverse. The recorder
 * does both, while all threads are stopped.
 *
 * @len: of @before, the original bytes, and @after, the patched ones
 * @clear: no thread may be in so many bytes from @site on when it is written: these run elsewhere
 *         from then on. Not less than @len
 * @out_at: address of a byte that is 1 while the change is disabled, so that the probe skips it,
 *          too, when a module is loaded again; 0: there is none
 */
#define ATTACH_CHANGE_MAX 16

enum attach_change_flags {
	/* It jumps to the change before it, which must be present as long as this one is */
	ATTACH_CHANGE_ON_FORMER = 1,
	ATTACH_CHANGE_ISLAND = 2, /* the code there without us is never executed */
	ATTACH_CHANGE_EVENT = 4,  /* the change is not about a function */
};

struct attach_change {
	uint64_t site;
	uint8_t len;
	uint8_t clear;
	uint8_t flags; /* enum attach_change_flags */
	uint8_t pad[5];
	uint64_t out_at;
	uint8_t before[ATTACH_CHANGE_MAX];
	uint8_t after[ATTACH_CHANGE_MAX];
};
_Static_assert(sizeof(struct attach_change) == 56, "attach_change is laid out without holes");

#endif
