/*
 * The calls between a recorder and a probe that it has put into a running process: utrail_attach(),
 * utrail_leave().
 */
#ifndef UTRAIL_FORMAT_ATTACH_H
#define UTRAIL_FORMAT_ATTACH_H

#include <stdint.h>

/*
 * The recorder has a thread of the process call these; the registers hold addresses and
 * numbers.
 *
 *   utrail_attach(address of the recorder, as in UTRAIL_SOCKET; dlopen(3)'s handle)
 *       -> enum attach_result
 *   utrail_leave(enum attach_step, room, pairs that the room has)
 *       -> as the step says
 */
#define ATTACH_FUNCTION "utrail_attach"
#define LEAVE_FUNCTION	"utrail_leave"

enum attach_result {
	ATTACH_DONE = 0,
	ATTACH_BUSY = 1,    /* it has, or had, a recorder */
	ATTACH_REFUSED = 2, /* the recorder was not reached, or has said no */
	ATTACH_NO_MEMORY = 3,
	ATTACH_SHADOW_STACK = 4,
	ATTACH_OTHER_LIBC = 5,
	ATTACH_NO_ADDRESS_SPACE = 6,
};

enum attach_step {
	ATTACH_STATE = 0, /* enum attach_state */
	/*
	 * Nothing of the program leads to the probe any more. Returns how many ranges of code it
	 * has made; the room gets their first and last addresses
	 */
	ATTACH_WITHDRAW = 1,
	/*
	 * With all other threads stopped: 0 when none of them is within the probe, or returns to it
	 */
	ATTACH_COUNT = 2,
	ATTACH_GIVE_BACK = 3, /* after that: all memory; then dlclose(3) */
	ATTACH_HANDLE = 4,    /* the handle that utrail_attach() was given */
	/*
	 * Returns how many struct attach_change there are; the room gets the address of the first.
	 * Valid until the next call of these two
	 */
	ATTACH_CHANGES = 5,
	/*
	 * The recorder has put in all changes that it could. Returns how many are not in, and count
	 * as failed
	 */
	ATTACH_CHANGED = 6,
	/*
	 * Before ATTACH_BEGIN, with all threads stopped: the room has a struct attach_thread, and
	 * the third argument is its bytes. 0 or -errno
	 */
	ATTACH_OPEN_CALLS = 7,
	ATTACH_BEGIN = 8, /* from now on calls are recorded */
	/*
	 * While it is recorded, by whatever way it began: the second argument is the address of an
	 * image of a plan that has only patches, the third its bytes. Their stubs are made now; the
	 * recorder writes the patches into the text later. 0 or -errno; -EAGAIN: not by this
	 * thread, or not now
	 */
	ATTACH_ADOPT = 9,
	/*
	 * Returns how many ranges of code it has made for patches; the room gets their first and
	 * last addresses
	 */
	ATTACH_CODES = 10,
	/*
	 * With all other threads stopped, and none of them within the probe or its code: the room
	 * has addresses of functions, as many as the third argument says. Those of which a call is
	 * open that announces its end itself (XRay) become 0. 0 or -errno; -EAGAIN: a thread is
	 * within a hook
	 */
	ATTACH_OPEN_ANNOUNCED = 11,
	/*
	 * The room has so many struct attach_choice as the third argument says: noted, and in force
	 * by ATTACH_CHOSEN. 0 or -errno
	 */
	ATTACH_CHOOSE = 12,
	ATTACH_CHOSEN = 13, /* 0; -EAGAIN: not by this thread, or not now */
	/*
	 * After ATTACH_BEGIN, while threads run: events that the program declares are recorded,
	 * too. Returns how many copies of the library do so; -EAGAIN as above
	 */
	ATTACH_DOORS_OPEN = 14,
	/*
	 * Before ATTACH_WITHDRAW, while threads run: the library comes to the probe no more. The
	 * same results; it holds with -EAGAIN, too
	 */
	ATTACH_DOORS_CLOSE = 15,
};

/*
 * The user's choice about an event that the program declares, by its id in records: below 0 off,
 * above 0 on, 0: the program decides.
 */
struct attach_choice {
	uint32_t event;
	int32_t choice;
};

/*
 * A call that is open in a thread when recording begins, and that would have a frame, had it been
 * seen.
 *
 * @slot: of its return address
 * @ret: the return address in it
 * @addr: of the function, or the one that a library call is known by (struct plan_call_site)
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

/* Those of one thread, outermost first. One that has too many for the room is told in several. */
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
	ATTACH_STATE_NONE = 0,	    /* nobody has ever recorded it */
	ATTACH_STATE_RECORDED = 1,  /* its recorder is alive */
	ATTACH_STATE_LEFT = 2,	    /* the recorder that had attached to it is not */
	ATTACH_STATE_PRELOADED = 3, /* the recorder that had started it is not */
};

/*
 * A place of the program's text, in the order in which they are put in: the reverse is that in
 * which they are taken out. The recorder does both, while all threads stand.
 *
 * @len: of @before, which is there without us, and @after, which is with us
 * @clear: no thread may be in so many bytes from @site on when it is put in: these run elsewhere
 *         from then on. Not less than @len
 * @out_at: address of a byte that is 1 while it is not to be there, so that the probe leaves it
 *          out, too, when a module is loaded again; 0: there is none
 */
#define ATTACH_CHANGE_MAX 16

enum attach_change_flags {
	/* It leads to the one before it, which must be there as long as this one is */
	ATTACH_CHANGE_ON_FORMER = 1,
	ATTACH_CHANGE_ISLAND = 2, /* the code there without us is never executed */
	ATTACH_CHANGE_EVENT = 4,  /* it is no function's */
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
