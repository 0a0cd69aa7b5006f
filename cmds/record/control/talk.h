/* Keeps conversations with probes in lists, and answers the probes. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_TALK_H
#define UTRAIL_CMDS_RECORD_CONTROL_TALK_H

#include "cmds/record/base/peer.h"
#include "cmds/record/control/control.h"

/*
 * The state of a conversation. A HELLO is believed only if it proves that the peer belongs to this
 * recording. The picture below shows the expected messages of each state. In addition, STATUS is
 * answered in each state except STRANGER. After a believed HELLO, a message of an unknown type is
 * skipped if the message has CONTROL_OPTIONAL. Any other message ends the conversation.
 *
 *   STRANGER --HELLO--> REPORTING --MODULE--> REPORTING --READY--> SERVED
 *                 |---> ENDING --CRASH--> over
 *                 |---> DECLARING --DECLARE--> SERVED
 *                 |---> NAMING --CALLABLE--> NAMING
 *                 \---> STEERED --READY--> SERVED
 */
enum talk_state {
	TALK_OVER = CONTROL_OVER,
	TALK_STRANGER, /* the peer has not sent HELLO yet */
	/*
	 * the peer reports modules. The peer is a new image, a forked child, or a process that has
	 * loaded more modules
	 */
	TALK_REPORTING,
	TALK_ENDING,	/* the peer is about to die */
	TALK_SERVED,	/* the peer has got its answer to READY or DECLARE */
	TALK_STEERED,	/* the peer asks for the newest plan */
	TALK_DECLARING, /* the peer reports an event that its program declares */
	TALK_NAMING,	/* the peer reports functions that have no addresses */
};

/*
 * A connection with a peer. The recorder stores the peer's HELLO and MODULE messages in this
 * struct. When the peer sends READY, the recorder uses the stored messages, and answers. The
 * recorder never waits for a probe.
 *
 * @list: ctl->talks.strangers or ctl->talks.believed
 * @seq: the number of the message that is being served
 * @origin: the process to which the recorder gave the token in @hello. This process is the peer or
 *          an ancestor of the peer. If the peer is a new image, @origin is NULL at first. When
 *          the recorder adds a process for the peer, @origin becomes the added process
 * @module_bytes: the size of @modules
 * @nr_others: the number of messages that do not advance the conversation
 * @older, @newer: the neighbours in @list
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
	struct control_module **modules; /* heap copies, in the order of arrival */
	size_t nr_modules;
	size_t cap_modules;
	size_t module_bytes;
	unsigned nr_others;
	struct conversation *older;
	struct conversation *newer;
};

/* talk_link() appends @talk to @list. talk_unlink() removes @talk from talk->list. */
void talk_link(struct talk_list *list, struct conversation *talk);
void talk_unlink(struct conversation *talk);

/*
 * Called when the peer of @talk has sent messages. Moves @talk to the end of talk->list. When
 * another conversation needs room, the recorder ends the conversation at the start of the list.
 */
void talk_touch(struct conversation *talk);

/* Free the modules that the peer has reported. They are no longer needed. */
void talk_free_modules(struct control *ctl, struct conversation *talk);

/* End the conversation, and free it. */
void talk_end(struct control *ctl, struct conversation *talk);

/* End the conversation because another conversation needs its place. */
void talk_drop(struct control *ctl, struct conversation *talk);

/* Returns the number of conversations in @list whose peer is process @pid. */
unsigned talk_count_peer(const struct talk_list *list, pid_t pid);

/*
 * Returns the tid that the peer's thread @tid has in the recorder's pid namespace. @tid is the
 * thread's tid in the peer's namespace. If there is no such thread, returns the peer's pid.
 */
pid_t talk_number(const struct conversation *talk, pid_t tid);

/* Fill in the header of @packet, and send it with @nr descriptors. Returns false on failure. */
bool talk_answer(struct conversation *talk, enum control_type type, void *packet, size_t len,
		 const int *fds, int nr);

/* Inform the peer that its message @packet was rejected. */
void talk_say_error(struct conversation *talk, const void *packet, enum control_verdict verdict);

#endif
