/* Functions of a probe that a recorder has put into a running process. The recorder calls them. */
#ifndef UTRAIL_FORMAT_ATTACH_H
#define UTRAIL_FORMAT_ATTACH_H

#include <stdint.h>

/*
 * A thread of the process calls these functions for the recorder, with arguments in registers:
 *
 *   utrail_attach(address of the recorder in the form of UTRAIL_SOCKET, handle from dlopen(3))
 *       -> enum attach_result
 *   utrail_leave(enum attach_step, address of a buffer, number)
 *       -> depends on the step
 *
 * The buffer is memory of the process, and holds the step's data. If a step writes ranges of code
 * to the buffer, the third argument is the number of ranges for which the buffer has room.
 */
#define ATTACH_FUNCTION "utrail_attach"
#define LEAVE_FUNCTION	"utrail_leave"

enum attach_result {
	ATTACH_DONE = 0,
	ATTACH_BUSY = 1,    /* the probe has, or had, a recorder */
	ATTACH_REFUSED = 2, /* the recorder was not reached, or has refused */
	ATTACH_NO_MEMORY = 3,
	ATTACH_SHADOW_STACK = 4,
	ATTACH_OTHER_LIBC = 5,
	ATTACH_NO_ADDRESS_SPACE = 6,
};

enum attach_step {
	ATTACH_STATE = 0, /* returns enum attach_state */
	/*
	 * Remove the program's references to the probe. Returns the number of code ranges that the
	 * probe has made. The start and the end of each range are written to the buffer of the
	 * step, as long as the buffer has room
	 */
	ATTACH_WITHDRAW = 1,
	/*
	 * While other threads are stopped: restore the return slots that lead to the probe. Returns
	 * a sum: the number of these slots, and the number of threads that are in a hook, or
	 * between undo_enter() and undo_exit() (undo.h)
	 */
	ATTACH_COUNT = 2,
	ATTACH_GIVE_BACK = 3, /* after ATTACH_COUNT: free the probe's memory */
	ATTACH_HANDLE = 4,    /* returns the handle that utrail_attach() got */
	/*
	 * Returns the number of struct attach_change. The address of the first is written to the
	 * buffer, and is valid until the next ATTACH_CHANGES or ATTACH_CHANGED
	 */
	ATTACH_CHANGES = 5,
	/*
	 * Tells the probe that the recorder has tried to write the changes of ATTACH_CHANGES.
	 * Returns the number of patches whose changes are not in the code
	 */
	ATTACH_CHANGED = 6,
	/*
	 * Before ATTACH_BEGIN, while all threads are stopped: tell the probe the open calls of a
	 * thread. The buffer has a struct attach_thread. The third argument is the size of this
	 * struct in bytes, including the array @calls. Returns 0 or -errno
	 */
	ATTACH_OPEN_CALLS = 7,
	ATTACH_BEGIN = 8, /* calls are recorded from now on */
	/*
	 * During a recording: make the stubs of patches. Later, the recorder writes the patches
	 * into the program's code.
	 *
	 * - The second argument is the address of a plan image (plan.h), which contains only a list
	 *   of patches. The third argument is the size of the image
	 * - Returns 0 or -errno. -EAGAIN: a thread, maybe the calling thread, holds a lock that is
	 *   needed, so the recorder must try again later
	 */
	ATTACH_ADOPT = 9,
	/*
	 * Returns the number of code ranges that were made for patches. The start and the end of
	 * each range are written to the buffer of the step, as long as the buffer has room
	 */
	ATTACH_CODES = 10,
	/*
	 * While other threads are stopped outside of the probe, and outside of the code ranges that
	 * the probe has made: find the functions that have open calls.
	 *
	 * - The recorder fills the buffer with addresses of functions. Each of these functions
	 *   calls the probe immediately before the function returns (XRay). The third argument is
	 *   the number of the addresses
	 * - The probe writes 0 over the address of each function that has open calls
	 * - Returns 0, or a negative errno. -EAGAIN: a thread is in a hook, or between undo_enter()
	 *   and undo_exit() (undo.h)
	 */
	ATTACH_OPEN_ANNOUNCED = 11,
	/*
	 * The buffer has an array of struct attach_choice. The third argument is the number of
	 * choices. The choices take effect with ATTACH_CHOSEN. Returns 0 or -errno
	 */
	ATTACH_CHOOSE = 12,
	/*
	 * The choices of ATTACH_CHOOSE take effect. Returns 0, or -EAGAIN if a thread holds a lock
	 * of libutrail-trace
	 */
	ATTACH_CHOSEN = 13,
	/*
	 * After ATTACH_BEGIN, while threads run: record events that the program declares. Returns
	 * the number of copies of libutrail-trace that report such events, or -EAGAIN if a thread
	 * holds a lock of libutrail-trace
	 */
	ATTACH_DOORS_OPEN = 14,
	/*
	 * Before ATTACH_WITHDRAW, while threads run: from now on, libutrail-trace makes no new call
	 * of the probe, even if the result is -EAGAIN. The results are those of ATTACH_DOORS_OPEN
	 */
	ATTACH_DOORS_CLOSE = 15,
};

/*
 * The user's choice for an event that the program declares.
 *
 * @event: the id of the event in records
 * @choice: a negative number turns the event off, and a positive number turns the event on. With 0
 *          the program chooses
 */
struct attach_choice {
	uint32_t event;
	int32_t choice;
};

/*
 * A call that is open in a thread when recording begins.
 *
 * @slot: the address of the call's return slot
 * @ret: the return address in the slot
 * @addr: the address of the function; for a library call, plan_call_site.addr
 * @sp: the stack pointer when the function calls the hooks of -finstrument-functions, or 0 if the
 *      function does not call these hooks
 * @is_library_call: 1 for a library call. The probe skips such a call if
 *                   !libcall_has_frames(@addr)
 */
struct attach_call {
	uint64_t slot;
	uint64_t ret;
	uint64_t addr;
	uint64_t sp;
	uint64_t is_library_call;
};

/*
 * The open calls of one thread, the outermost first. If the calls do not fit into the buffer, the
 * recorder passes the calls in several parts.
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

/* The maximum number of bytes of one change. */
#define ATTACH_CHANGE_MAX 16

enum attach_change_flags {
	/*
	 * The code of this change jumps to the code of the previous change in the list. While this
	 * change is present, the previous change must stay
	 */
	ATTACH_CHANGE_ON_FORMER = 1,
	/*
	 * The change writes a jump into padding. Threads execute this padding only while the jump
	 * is there
	 */
	ATTACH_CHANGE_ISLAND = 2,
	ATTACH_CHANGE_EVENT = 4, /* the change is for an event, not for a function */
};

/*
 * One change of the program's text. While all threads are stopped, the recorder writes the changes
 * in their order. To undo the changes, the recorder goes in reverse order.
 *
 * @len: the length of @before (the original bytes), and of @after (the patched bytes)
 * @clear: a number of bytes at @site, at least @len. When the change is written, no thread may be
 *         in these bytes
 * @out_at: the address of a byte, or 0 if there is no such byte. The byte is 1 while the change is
 *          disabled. If the byte is 1 when the changed module is loaded again, the probe does not
 *          make the change
 */
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
