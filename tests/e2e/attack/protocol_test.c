/*
 * Compares the hostile client's copy of the protocol with the original: each number, and the place
 * and size of each member. A difference is an error of the compiler. The client's messages may be
 * longer than the true ones, where it sends some that are too long.
 */
#include <stdio.h>

#include "utils/format/probe/control.h"
#include "utils/format/probe/ring.h"

/* Names that are in both headers. */
#define ring	      their_ring
#define arena	      their_arena
#define ring_is_empty their_ring_is_empty
#include "protocol.h"
#undef ring
#undef arena

#define SAME_NUMBER(theirs, ours) _Static_assert((int)(theirs) == (int)(ours), #ours)
#define SAME_PLACE(theirs, ours, their_member, member)                                           \
	_Static_assert(offsetof(struct theirs, their_member) == offsetof(struct ours, member) && \
			       sizeof(((struct theirs *)0)->their_member) ==                     \
				       sizeof(((struct ours *)0)->member),                       \
		       #ours "." #member)
#define SAME_START(theirs, ours, their_member, member)                                         \
	_Static_assert(offsetof(struct theirs, their_member) == offsetof(struct ours, member), \
		       #ours "." #member)

SAME_NUMBER(VERSION, CONTROL_VERSION);
SAME_NUMBER(HELLO, CONTROL_HELLO);
SAME_NUMBER(MODULE, CONTROL_MODULE);
SAME_NUMBER(READY, CONTROL_READY);
SAME_NUMBER(WELCOME, CONTROL_WELCOME);
SAME_NUMBER(PLAN, CONTROL_PLAN);
SAME_NUMBER(CRASH, CONTROL_CRASH);
SAME_NUMBER(ERROR, CONTROL_ERROR);
SAME_NUMBER(STATUS, CONTROL_STATUS);
SAME_NUMBER(STATUS_IS, CONTROL_STATUS_IS);
SAME_NUMBER(DECLARE, CONTROL_DECLARE);
SAME_NUMBER(DECLARED, CONTROL_DECLARED);
SAME_NUMBER(CALLABLE, CONTROL_CALLABLE);
SAME_NUMBER(CALLABLE_IS, CONTROL_CALLABLE_IS);
SAME_NUMBER(OPTIONAL, CONTROL_OPTIONAL);
SAME_NUMBER(ANSWER, CONTROL_ANSWER);
SAME_NUMBER(EXEC, CONTROL_EXEC);
SAME_NUMBER(FORK, CONTROL_FORK);
SAME_NUMBER(DLOPEN, CONTROL_DLOPEN);
SAME_NUMBER(ENDING, CONTROL_ENDING);
SAME_NUMBER(EVENTS, CONTROL_EVENTS);
SAME_NUMBER(NAMES, CONTROL_NAMES);

SAME_NUMBER(sizeof(struct header), sizeof(struct control_header));
SAME_PLACE(header, control_header, magic, magic);
SAME_PLACE(header, control_header, type, type);
SAME_PLACE(header, control_header, version, version);
SAME_PLACE(header, control_header, flags, flags);
SAME_PLACE(header, control_header, len, len);
SAME_PLACE(header, control_header, seq, seq);

SAME_NUMBER(sizeof(struct hello), sizeof(struct control_hello));
SAME_PLACE(hello, control_hello, pid, pid);
SAME_PLACE(hello, control_hello, ppid, ppid);
SAME_PLACE(hello, control_hello, kind, kind);
SAME_PLACE(hello, control_hello, secret, secret);
SAME_PLACE(hello, control_hello, token, token);
SAME_PLACE(hello, control_hello, time_ns, time_ns);

SAME_NUMBER(sizeof(struct error), sizeof(struct control_error));
SAME_PLACE(error, control_error, verdict, verdict);
SAME_PLACE(error, control_error, type, type);

SAME_NUMBER(sizeof(struct status), sizeof(struct control_status_is));
SAME_PLACE(status, control_status_is, flags, flags);
SAME_PLACE(status, control_status_is, nr_alive, nr_alive);
SAME_PLACE(status, control_status_is, bytes_written, bytes_written);
SAME_PLACE(status, control_status_is, records_lost, records_lost);

SAME_PLACE(declare, control_declare, has_common, has_common);
SAME_START(declare, control_declare, texts, texts);
SAME_PLACE(declared, control_declared, event, event);
SAME_PLACE(declared, control_declared, choice, choice);

SAME_PLACE(callable, control_callable, line, line);
SAME_PLACE(callable, control_callable, is_native, is_native);
SAME_PLACE(callable, control_callable, wants_plan, wants_plan);
SAME_PLACE(callable, control_callable, nr_args, nr_args);
SAME_START(callable, control_callable, texts, texts);
SAME_PLACE(callable_is, control_callable_is, addr, addr);
SAME_PLACE(callable_is, control_callable_is, values, values);
SAME_PLACE(callable_is, control_callable_is, range, range);

SAME_PLACE(module, control_module, start, start);
SAME_PLACE(module, control_module, end, end);
SAME_PLACE(module, control_module, load_bias, load_bias);
SAME_PLACE(module, control_module, time_ns, time_ns);
SAME_PLACE(module, control_module, tid, tid);
SAME_PLACE(module, control_module, has_text, has_text);
SAME_START(module, control_module, path, path);

SAME_PLACE(crash, control_crash, pid, pid);
SAME_PLACE(crash, control_crash, tid, tid);
SAME_PLACE(crash, control_crash, signal, signal);
SAME_PLACE(crash, control_crash, code, code);
SAME_PLACE(crash, control_crash, address, address);
SAME_PLACE(crash, control_crash, time_ns, time_ns);
SAME_PLACE(crash, control_crash, depth, depth);
SAME_PLACE(crash, control_crash, nr_frames, nr_frames);
SAME_PLACE(crash, control_crash, frames, frames);

SAME_PLACE(welcome_start, control_welcome, token, token);

SAME_PLACE(their_ring, ring, state, state);
SAME_PLACE(their_ring, ring, tid, tid);
SAME_PLACE(their_ring, ring, start_ns, start_ns);
SAME_PLACE(their_ring, ring, payloads, payloads);
SAME_PLACE(their_ring, ring, head, head);
SAME_PLACE(their_ring, ring, lost, lost);
SAME_PLACE(their_ring, ring, lost_told, lost_told);
SAME_PLACE(their_ring, ring, waiting, waiting);
SAME_PLACE(their_ring, ring, index, index);
SAME_PLACE(their_ring, ring, lost_inside, lost_inside);
SAME_PLACE(their_ring, ring, tail, tail);

SAME_PLACE(their_arena, arena, magic, magic);
SAME_PLACE(their_arena, arena, nr_rings, nr_rings);
SAME_PLACE(their_arena, arena, nr_segments, nr_segments);
SAME_PLACE(their_arena, arena, segment_bytes, segment_bytes);
SAME_PLACE(their_arena, arena, may_skip, may_skip);
SAME_PLACE(their_arena, arena, ring_stride, ring_stride);
SAME_PLACE(their_arena, arena, high_water, high_water);
SAME_PLACE(their_arena, arena, threads_untraced, threads_untraced);
SAME_PLACE(their_arena, arena, finish_wanted, finish_wanted);
SAME_PLACE(their_arena, arena, reads_failed, reads_failed);
SAME_PLACE(their_arena, arena, points_failed, points_failed);
SAME_PLACE(their_arena, arena, threads_caged, threads_caged);
SAME_PLACE(their_arena, arena, threads_shared, threads_shared);
SAME_PLACE(their_arena, arena, children_cut_off, children_cut_off);
SAME_PLACE(their_arena, arena, news, news);
SAME_PLACE(their_arena, arena, events_undeclared, events_undeclared);
SAME_PLACE(their_arena, arena, threads_without_payloads, threads_without_payloads);
SAME_PLACE(their_arena, arena, forks_begun, forks.begun);
SAME_PLACE(their_arena, arena, forks_noted, forks.noted);
SAME_PLACE(their_arena, arena, nr_forks, forks.nr);
SAME_PLACE(their_arena, arena, fork_pids, forks.pids);

int main(void)
{
	puts("the hostile client speaks today's protocol");
	return 0;
}
