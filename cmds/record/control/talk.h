/* A conversation with a probe, the lists of open conversations, and answers. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_TALK_H
#define UTRAIL_CMDS_RECORD_CONTROL_TALK_H

#include "cmds/record/base/peer.h"
#include "cmds/record/control/control.h"

/*
 * The state of a conversation. HELLO is believed when only a process of this recording can send it.
 * STATUS is answered in each state but the first. Any other message ends the conversation.
 *
 *   STRANGER --HELLO--> REPORTING --MODULE--> REPORTING --READY--> SERVED
 *                 |---> ENDING --CRASH--> over
 *                 |---> DECLARING --DECLARE--> SERVED
 *                 |---> NAMING --CALLABLE--> NAMING
 *                 \---> STEERED --READY--> SERVED
 */
enum talk_state {
	TALK_OVER = CONTROL_OVER,
	TALK_STRANGER, /* has not sent HELLO, or is not believed */
	/*
	 * reports modules: a fresh image, a forked child, or a process that has loaded more modules
	 */
	TALK_REPORTING,
	TALK_ENDING,	/* is about to die */
	TALK_SERVED,	/* has got its answer to READY */
	TALK_STEERED,	/* asks for the newest plan */
	TALK_DECLARING, /* reports an event that the program declares */
	TALK_NAMING,	/* reports functions of a language that has no addresses */
};

/*
 * A connection. It collects HELLO and the MODULEs; READY makes the recorder act and answer. The
 * recorder never waits for a probe.
 *
 * @list: the list of strangers, or the list of believed peers
 * @seq: the number of the message that is being served
 * @origin: the process whose token HELLO had; NULL for a fresh image
 * @module_bytes: the bytes of @modules
 * @nr_others: messages that do not bring the conversation forward
 * @older, @newer: neighbours in @list
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

/* talk_link(): put the conversation at the end of @list. talk_unlink(): take it out of its list. */
void talk_link(struct talk_list *list, struct conversation *talk);
void talk_unlink(struct conversation *talk);

/*
 * Move the conversation to the end of its list, since its process has sent a message. When room is
 * needed, conversations at the front are ended first.
 */
void talk_touch(struct conversation *talk);

/* Free the reports of the peer, which are not needed any more. */
void talk_free_modules(struct control *ctl, struct conversation *talk);

/* End the conversation, and free it. */
void talk_end(struct control *ctl, struct conversation *talk);

/* End the conversation, because others need its place. */
void talk_drop(struct control *ctl, struct conversation *talk);

/* Returns the number of conversations in @list with that process. */
unsigned talk_count_peer(const struct talk_list *list, pid_t pid);

/*
 * Returns the number, in the recorder's namespace, of the peer's thread that the peer knows as
 * @tid. Without such a thread, returns the peer's number.
 */
pid_t talk_number(const struct conversation *talk, pid_t tid);

/* Complete @packet by its header, and send it with @nr descriptors. False: it was not sent. */
bool talk_answer(struct conversation *talk, enum control_type type, void *packet, size_t len,
		 const int *fds, int nr);

/* Tell the peer that its message @packet was not taken. */
void talk_say_error(struct conversation *talk, const void *packet, enum control_verdict verdict);

#endif
