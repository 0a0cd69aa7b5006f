/* Refuses to trace processes by eBPF, in builds without eBPF. */
#include "cmds/record/proc/proc.h"

#include <errno.h>

static int bpf_none_prepare(struct proc *proc, const struct record_settings *settings,
			    struct uft_err *err)
{
	return err_set(err, -EOPNOTSUPP,
		       "cannot follow processes by eBPF: this utrail was built without (meson "
		       "option 'bpf', with libbpf and a clang for eBPF); --proc=ptrace does "
		       "without");
}

/* Does nothing, since no tracer is ever prepared. */
static void bpf_none_release(struct proc *proc)
{
}

const struct proc_way proc_by_bpf = { .prepare = bpf_none_prepare, .release = bpf_none_release };
