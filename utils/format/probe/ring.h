/* Memory that probe and recorder share: an arena for each process, a ring for each thread. */
#ifndef UTRAIL_FORMAT_RING_H
#define UTRAIL_FORMAT_RING_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * An arena is a sparse memfd. The recorder makes one for each process, and sends it by SCM_RIGHTS.
 *
 *   arena:  struct arena | ring 0 | ring 1 | ... | ring nr_rings - 1
 *   ring:   struct ring (one page) | segment 0 | ... | segment nr_segments - 1
 *
 * A ring has one producer and one consumer. The producer is the thread that owns the ring. The
 * consumer is a writer thread of the recorder.
 *
 * - Positions (head, tail) count bytes since the ring came into use, and never wrap. The
 *   offset of a byte is its position modulo the data size.
 * - A record never crosses the end of a segment. When the next record does not fit, the producer
 *   stores the filled length in segment_used[], and goes on in the next segment.
 * - The producer enters a segment only after the consumer has emptied it. So bytes between tail and
 *   head are never overwritten, even if producer or consumer dies.
 * - Programs can declare events (libutrail-trace). At its first declared event, a thread takes a
 *   second ring, for payloads (event_data.h). Both rings have the same writer. The tid and the
 *   number of lost records in the first ring apply to both rings. Both rings are released together.
 * - With PLAN_FLIGHT the producer overwrites the oldest records and ignores tail. So the consumer
 *   reads head again after it has copied a segment. The producer has not overwritten the segment if
 *   head is less than START + SIZE (flight.c). START is the position at which the segment starts,
 *   and SIZE is the size of all segments together.
 */
#define RING_PAGE	  4096
#define RING_SEGMENTS_MAX 64
#define ARENA_MAGIC	  0x616e6572412e7475ULL

enum ring_state {
	RING_FREE = 0,	   /* not in use; a thread of the owning process may take the ring */
	RING_CLAIMED = 3,  /* the thread that has taken the ring prepares it */
	RING_LIVE = 1,	   /* a thread writes to it */
	RING_DONE = 2,	   /* the thread ended; the writer empties the ring, then sets RING_FREE */
	RING_PAYLOADS = 4, /* a thread's second ring, for payloads (see @payloads) */
};

/*
 * A program can make stacks, for example for coroutines (libmcount/hot/stacks.h). Such a stack has
 * its own ring, with the tid RING_TID_STACK. In the recording, the stack has a task id of
 * RING_FIRST_STACK_TID or more. The thread ids of the kernel are lower: at most 2^22.
 */
#define RING_TID_STACK	     INT32_MIN
#define RING_FIRST_STACK_TID 5000000

/*
 * The header of a ring. While a thread uses the ring, each cache line is written either only by the
 * producer or only by the consumer.
 */
struct ring {
	/*
	 * The owning process writes these members when it takes the ring. It writes @state last,
	 * with release.
	 */
	_Atomic uint32_t state; /* enum ring_state */
	int32_t tid;
	uint64_t start_ns; /* when the thread was first seen: a time of the recording's clock */
	/*
	 * 1 + the index of the ring that has the payloads of this ring's records; 0: there is none.
	 * This member is set before the first payload is written
	 */
	_Atomic uint32_t payloads;
	uint32_t is_child; /* @tid is a child that runs in the process' memory: vfork(2) */
	uint64_t pad0[5];

	/*
	 * Written by the producer. @head is stored with release after the record's bytes. This
	 * store publishes all bytes below @head. It also publishes segment_used[] of each segment
	 * that is completely below @head.
	 */
	_Atomic uint64_t head;
	_Atomic uint64_t lost;	    /* number of dropped records, mostly for lack of room */
	_Atomic uint64_t lost_told; /* the part of @lost that was reported by LOST records */
	_Atomic uint32_t waiting;   /* 1 while the producer sleeps on @room */
	/*
	 * The index of this ring, or, with RING_PAYLOADS, the index of the thread's first ring.
	 * Only the owning process uses this member
	 */
	uint32_t index;
	/*
	 * The part of @lost that comes from signal handlers that have interrupted a hook (aside.c).
	 * A larger ring would not prevent these losses
	 */
	_Atomic uint64_t lost_inside;
	/* with PLAN_TELLS_DEPTH, number of calls that were too deep to be recorded */
	_Atomic uint64_t too_deep;
	uint64_t pad2[2];

	/*
	 * Written by the consumer, which copies bytes and then stores @tail with release. The
	 * producer may overwrite the bytes below @tail.
	 */
	_Atomic uint64_t tail;
	_Atomic uint32_t room; /* futex: changes when @tail leaves a segment and @waiting is 1 */
	uint32_t pad3;
	uint64_t pad4[6];

	uint32_t segment_used[RING_SEGMENTS_MAX]; /* bytes filled; valid for segments below @head */
	/*
	 * Flight recording: before the producer enters segment i, it stores in segment_before[i]
	 * the number of bytes of all earlier records. The value is valid when @head has reached
	 * segment i
	 */
	uint64_t segment_before[RING_SEGMENTS_MAX];
};
_Static_assert(sizeof(struct ring) <= RING_PAGE, "the ring's header fits its page");
_Static_assert(__builtin_offsetof(struct ring, head) == 64, "the producer has its own line");
_Static_assert(__builtin_offsetof(struct ring, tail) == 128, "the consumer has its own line");

/*
 * Children of fork(2). A child reports itself at its first record. Before its first record, the
 * child uses the arena of its parent, and the child's own forks are counted in this arena.
 *
 * @pids: child number n of this process has pids[n % ARENA_FORKS]; a negative pid means that the
 *        child is in another pid namespace than its parent
 */
#define ARENA_FORKS 960

struct arena_forks {
	_Atomic uint32_t begun; /* number of forks; the parent adds 1 before each fork */
	_Atomic uint32_t noted; /* number of children that have stored a pid in @pids */
	_Atomic uint32_t nr;
	uint32_t pad;
	_Atomic int32_t pids[ARENA_FORKS];
};

/*
 * The first page of the arena. The process can write to the page, so the recorder does not trust
 * the page's content. The recorder keeps the numbers and sizes of rings and segments in its own
 * memory. The probe reads these values from this page, and checks the values once (arena_adopt()).
 * A process that changes the values harms only itself.
 *
 * @may_skip: only with PLAN_STEERABLE. If 1, entry stubs may skip the code that reads @news. The
 *            recorder clears @may_skip when it sets @news. The process sets @may_skip when it has
 *            the newest plan
 * @finish_wanted: if 1, this process wants the whole recording to end (control_page.finished)
 * @reads_failed: the values that at least one thread cannot read, as bits of enum plan_read
 * @points_failed: the number of patches that failed, except patches with PLAN_PATCH_SILENT
 * @news: only with PLAN_STEERABLE. If 1, the control page announces the end of the recording, or
 *        another plan. The process sets @news to 0 before it looks at the control page
 *        (libmcount/plan/plan_update.h)
 * @seals: number of system call filters (seccomp) that the process has put on itself; the probe
 *         makes no system call that these filters forbid
 *
 * The members below count causes of gaps in the recording. The recording itself does not show these
 * gaps:
 *
 * @threads_caged: threads that were traced until the program forbade them to make system calls, or
 *                 to read the CPU's time-stamp counter. The number includes threads that
 *                 inherited such a ban
 * @threads_shared: threads that were traced until another thread shared their thread-local storage
 * @children_cut_off: forked children that could not reach the recorder
 * @threads_sealed: threads that were never traced, because system call filters forbade system calls
 *                  that the probe needs to begin the tracing of a thread
 * @talks_sealed: calls of dlopen(3) after which the probe could not report new modules, because
 *                system call filters forbade a conversation with the recorder
 * @events_undeclared: events of the program that could not be declared to the recorder
 * @events_nameless: events that could not be declared, since they have no name. These events are
 *                   not counted in @events_undeclared
 * @events_cut: events that lost a part of their bytes. These events had more bytes than a segment
 *         or an entry (event_data.h) has room for
 * @threads_without_payloads: threads that found no second ring, and so lost their declared events
 */
struct arena {
	uint64_t magic;
	uint32_t nr_rings;
	uint32_t nr_segments;	   /* number of segments of each ring */
	uint32_t segment_bytes;	   /* a multiple of RING_PAGE */
	_Atomic uint32_t may_skip; /* entry stubs read this at ARENA_MAY_SKIP */
	uint64_t ring_stride;	   /* bytes from the header of a ring to the next header */
	/* 1 + the largest index of a ring that a thread has ever taken */
	_Atomic uint32_t high_water;
	_Atomic uint32_t threads_untraced; /* threads that found no free ring */
	_Atomic uint32_t finish_wanted;
	_Atomic uint32_t reads_failed;
	_Atomic uint32_t points_failed;
	_Atomic uint32_t threads_caged;
	_Atomic uint32_t threads_shared;
	_Atomic uint32_t children_cut_off;
	_Atomic uint32_t news;
	_Atomic uint32_t events_undeclared;
	_Atomic uint32_t threads_without_payloads;
	_Atomic uint32_t seals;
	_Atomic uint32_t threads_sealed;
	_Atomic uint32_t talks_sealed;
	_Atomic uint32_t events_nameless;
	_Atomic uint32_t events_cut;
	struct arena_forks forks;
};
#define ARENA_MAY_SKIP 20
_Static_assert(sizeof(struct arena) <= RING_PAGE, "the arena's header fits its page");
_Static_assert(__builtin_offsetof(struct arena, may_skip) == ARENA_MAY_SKIP,
	       "the stubs find it there");

/* Returns the number of bytes of a whole arena. */
static inline uint64_t arena_bytes(uint32_t nr_rings, uint64_t ring_stride)
{
	return RING_PAGE + (uint64_t)nr_rings * ring_stride;
}

static inline uint64_t ring_stride(uint32_t nr_segments, uint32_t segment_bytes)
{
	return RING_PAGE + (uint64_t)nr_segments * segment_bytes;
}

static inline struct ring *arena_ring(struct arena *a, uint32_t index)
{
	return (struct ring *)((char *)a + RING_PAGE + index * a->ring_stride);
}

static inline char *ring_data(struct ring *r)
{
	return (char *)r + RING_PAGE;
}

#define CONTROL_WRITERS_MAX 64

/*
 * The recorder's data for all probes. A seal prevents writable mappings by probes
 * (F_SEAL_FUTURE_WRITE): with a writable mapping, one process could deceive all others.
 *
 * @nr_writers: 1 to CONTROL_WRITERS_MAX; ring i belongs to writer i % nr_writers
 * @finished: a futex. If it is not 0, the recording was ended by a trigger, a signal or the
 *            recorder
 * @plan_generation: the generation of the newest plan; 0 is the first plan
 */
struct control_page {
	uint32_t nr_writers;
	int32_t recorder_pid;
	_Atomic uint32_t finished;
	_Atomic uint32_t plan_generation;
	uint32_t pad[12];
	struct {
		/*
		 * A futex. For example, a producer wakes a sleeping writer when half of the
		 * producer's ring is full. Without a wake-up, the writer checks the rings at
		 * intervals.
		 */
		_Atomic uint32_t wake;
		_Atomic uint32_t sleeping; /* 1 while the writer waits on @wake */
		uint32_t pad[14];
	} writers[CONTROL_WRITERS_MAX];
};
_Static_assert(sizeof(struct control_page) == 64 + 64 * CONTROL_WRITERS_MAX,
	       "a cache line per writer");

#endif
