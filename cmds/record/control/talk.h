/* One conversation with a probe, the lists of those that are open, and answers. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_TALK_H
#define UTRAIL_CMDS_RECORD_CONTROL_TALK_H

#include "cmds/record/base/peer.h"
#include "cmds/record/control/control.h"

/*
 * The state of a conversation. HELLO is believed when only a process of ours can say it.
 *
 *   STRANGER --HELLO--> REPORTING --MODULE--> REPORTING --READY--> SERVED
 *                 |---> ENDING --CRASH--> over
 *                 |---> DECLARING --DECLARE--> SERVED
 *                 |---> NAMING --CALLABLE--> NAMING
 *                 \---> STEERED --READY--> SERVED
 *
 * STATUS is answered in each state but the first. Any other message is refused, and the
 * conversation is over.
 */
enum talk_state {
	TALK_OVER = CONTROL_OVER,
	TALK_STRANGER,	/* has not said HELLO, or is not believed */
	TALK_REPORTING, /* a fresh image, a forked child, or one that has loaded more modules */
	TALK_ENDING,	/* about to die */
	TALK_SERVED,	/* has its answer to READY */
	TALK_STEERED,	/* wants the newest plan */
	TALK_DECLARING, /* has an event that the program declares */
	TALK_NAMING,	/* has functions of a language that has no addresses */
};

/*
 * One connection. It collects HELLO and the MODULEs; READY makes it act and answer. Nothing here
 * waits: a probe that stops talking costs a descriptor, not the recording.
 *
 * @list: strangers, or those that are believed
 * @seq: of the message that is served just now
 * @origin: whose token HELLO had; NULL for a fresh image
 * @module_bytes: of @modules
 * @nr_others: messages that are none of those that make it go on
 * @older, @newer: in @list
 */
struct conversation {
	struct served served;
	int fd;
	struct peer peer;
	struct talk_list *list;
	unsigned state; /* enum talk_state */
	uint32_t seq;
	struct control_hello hello;
	struct process *origin;
	struct control_module **modules; /* heap copies, in the order they came */
	size_t nr_modules;
	size_t cap_modules;
	size_t module_bytes;
	unsigned nr_others;
	struct conversation *older;
	struct conversation *newer;
};

/* At the end of @list, and out of the list that it is in. */
void talk_link(struct talk_list *list, struct conversation *talk);
void talk_unlink(struct conversation *talk);

/* The process has sent a message: others have their turn before it. */
void talk_touch(struct conversation *talk);

/* The reports of the peer are not needed any more. */
void talk_free_modules(struct control *ctl, struct conversation *talk);

/* The conversation is over, and freed. */
void talk_end(struct control *ctl, struct conversation *talk);

/* The same, because others need its place. */
void talk_drop(struct control *ctl, struct conversation *talk);

/* The number of entries of @list that are of that process. */
unsigned talk_count_peer(const struct talk_list *list, pid_t pid);

/*
 * Our number of the thread of the peer that it knows as @tid; that of the peer itself when there is
 * no such thread.
 */
pid_t talk_number(const struct conversation *talk, pid_t tid);

/*
 * @packet: a whole message, but for its header; @fds: @nr descriptors that go with it. False: it
 * could not be sent.
 */
bool talk_answer(struct conversation *talk, enum control_type type, void *packet, size_t len,
		 const int *fds, int nr);

/* @packet, which the peer has sent, was not taken. */
void talk_say_error(struct conversation *talk, const void *packet, enum control_verdict verdict);

#endif
