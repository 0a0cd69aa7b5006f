/* Tells the probe of a process which calls have not returned yet (see hand_over.h). */
#include "cmds/record/attach/hand_over.h"

#include <errno.h>
#include <string.h>

#include "cmds/record/attach/open_calls.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

#define CALL_MS 60000
#define CALLS_AT_ONCE \
	((ATTACH_THREAD_BYTES_MAX - sizeof(struct attach_thread)) / sizeof(struct attach_call))
_Static_assert(ATTACH_THREAD_BYTES_MAX <= ATTACHED_ARGS_BYTES, "the room holds it");

/*
 * @thread: the recorder forces this thread to call utrail_leave() in the probe
 * @leave_fn: the address of utrail_leave()
 */
struct handing {
	struct attached *w;
	struct attached_thread *thread;
	uint64_t leave_fn;
};

/* Hands over @nr calls of thread @tid. @nr must not exceed CALLS_AT_ONCE. */
static int hand_some(struct handing *h, pid_t tid, const struct attach_call *calls, size_t nr,
		     struct uft_err *err)
{
	uint64_t room[ATTACH_THREAD_BYTES_MAX / sizeof(uint64_t)];
	const struct attach_thread head = { .tid = tid, .nr = nr };
	const uint64_t bytes = attach_thread_bytes(nr);
	const uint64_t args[6] = { ATTACH_OPEN_CALLS, attached_args(h->w), bytes };
	uint64_t result = 0;

	memcpy(room, &head, sizeof(head));
	memcpy((char *)room + sizeof(head), calls, nr * sizeof(*calls));
	if (attached_write(h->w, attached_args(h->w), room, bytes) != bytes)
		return err_set_errno(err, -EIO, "cannot write to the memory of process %d",
				     h->w->pid);

	int ret = attached_call(h->w, h->thread, h->leave_fn, args, CALL_MS, &result, err);

	if (ret == 0 && (int64_t)result < 0)
		return err_set_errno(err, -ENOENT, "the probe has no room for them");
	return ret;
}

static int hand_thread(struct handing *h, pid_t tid, const struct attach_call *calls, size_t nr,
		       struct uft_err *err)
{
	int ret = 0;

	for (size_t at = 0; ret == 0 && at < nr; at += CALLS_AT_ONCE)
		ret = hand_some(h, tid, calls + at, MIN(nr - at, CALLS_AT_ONCE), err);
	return ret;
}

int hand_over_calls(struct attached *w, struct unwinder *u, struct attached_thread *thread,
		    uint64_t leave_fn, const struct msg *msg, struct uft_err *err)
{
	struct handing h = { w, thread, leave_fn };
	struct open_calls calls cleanup_open_calls = { 0 };

	for (size_t i = 0; i < w->nr; i++) {
		const struct attached_thread *t = w->threads[i];
		struct attach_call *list cleanup_free = NULL;

		if (t->is_gone)
			continue;

		struct uft_err why = { 0 };
		int nr = open_calls_find(&calls, u, t, &list, &why);
		int ret = nr < 0 ? -ENOENT : hand_thread(&h, t->tid, list, nr, &why);

		if (ret < 0 && ret != -ENOENT)
			return err_set(err, ret, "%s", why.text);
		if (ret < 0)
			msg_debug(msg, MSG_MCOUNT, 1,
				  "thread %d: its open calls are not known, so it begins at depth "
				  "0: %s",
				  t->tid, why.text);
		else
			msg_debug(msg, MSG_MCOUNT, 2, "thread %d: calls that are open in it: %d",
				  t->tid, nr);
	}
	return 0;
}
