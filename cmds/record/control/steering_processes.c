/* Lists and visits the recorded processes (see steering_processes.h). */
#include "cmds/record/control/steering_processes.h"

#include <errno.h>
#include <stdlib.h>

#include "cmds/record/base/peer.h"
#include "utils/base/cleanup.h"

int steering_list_live(const struct steering *steer, struct process ***out)
{
	size_t nr = 0;

	for (struct process *p = steer->processes->live; p; p = p->next_live)
		nr++;
	*out = calloc(nr + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	nr = 0;
	for (struct process *p = steer->processes->live; p; p = p->next_live)
		(*out)[nr++] = p;
	return 0;
}

int steering_each_process(struct steering *steer,
			  int (*fn)(struct steering *steer, const struct process *p, void *arg,
				    struct uft_err *err),
			  void *arg, struct uft_err *err)
{
	struct process **list cleanup_free = NULL;
	int ret = steering_list_live(steer, &list);

	for (size_t i = 0; ret == 0 && list[i]; i++) {
		struct uft_err why = { 0 };

		if (list[i]->pidfd < 0 || !list[i]->arena)
			continue;
		ret = fn(steer, list[i], arg, &why);
		/* It is not an error if the process has ended, or now runs another program. */
		if (ret < 0 && (ret == -ESRCH || peer_has_ended(list[i]->pidfd, PEER_END_MS)))
			ret = 0;
		if (ret < 0)
			*err = why;
	}
	return ret;
}
