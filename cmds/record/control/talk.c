/* Manages open conversations, and sends answers (see talk.h). */
#include "cmds/record/control/talk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cmds/record/base/numbers.h"

void talk_unlink(struct conversation *talk)
{
	struct talk_list *list = talk->list;

	*(talk->older ? &talk->older->newer : &list->oldest) = talk->newer;
	*(talk->newer ? &talk->newer->older : &list->newest) = talk->older;
	talk->older = talk->newer = NULL;
	list->nr--;
}

void talk_link(struct talk_list *list, struct conversation *talk)
{
	talk->list = list;
	talk->older = list->newest;
	talk->newer = NULL;
	*(list->newest ? &list->newest->newer : &list->oldest) = talk;
	list->newest = talk;
	list->nr++;
}

void talk_touch(struct conversation *talk)
{
	talk_unlink(talk);
	talk_link(talk->list, talk);
}

void talk_free_modules(struct control *ctl, struct conversation *talk)
{
	for (size_t i = 0; i < talk->nr_modules; i++)
		free(talk->modules[i]);
	free(talk->modules);
	ctl->talks.module_bytes -= talk->module_bytes;
	talk->modules = NULL;
	talk->nr_modules = talk->cap_modules = talk->module_bytes = 0;
}

void talk_end(struct control *ctl, struct conversation *talk)
{
	talk_unlink(talk);
	talk_free_modules(ctl, talk);
	loop_close_fd(ctl->loop, &talk->fd, &talk->served);
	free(talk);
}

void talk_drop(struct control *ctl, struct conversation *talk)
{
	ctl->talks.nr_dropped += talk->state == TALK_REPORTING || talk->state == TALK_ENDING;
	talk_end(ctl, talk);
}

unsigned talk_count_peer(const struct talk_list *list, pid_t pid)
{
	unsigned nr = 0;

	for (const struct conversation *talk = list->oldest; talk; talk = talk->newer)
		nr += talk->peer.pid == pid;
	return nr;
}

pid_t talk_number(const struct conversation *talk, pid_t tid)
{
	if (talk->hello.pid == talk->peer.pid)
		return tid;

	pid_t ours = numbers_of_thread(talk->peer.pid, tid);

	return ours ? ours : talk->peer.pid;
}

bool talk_answer(struct conversation *talk, enum control_type type, void *packet, size_t len,
		 const int *fds, int nr)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(CONTROL_FD_MAX * sizeof(int))] = { 0 };
	struct iovec iov = { packet, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	control_stamp(packet, type, CONTROL_ANSWER, len, talk->seq);
	if (nr) {
		msg.msg_control = space;
		msg.msg_controllen = CMSG_SPACE(nr * sizeof(int));

		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr * sizeof(int));
	}
	return sendmsg(talk->fd, &msg, MSG_NOSIGNAL) == (ssize_t)len;
}

void talk_say_error(struct conversation *talk, const void *packet, enum control_verdict verdict)
{
	struct control_error error = control_error_about(packet, verdict);

	send(talk->fd, &error, sizeof(error), MSG_NOSIGNAL);
}
