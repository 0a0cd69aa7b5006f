/* Machine instructions of x86_64 in a build without capstone: not supported (see insn.h). */
#include "arch/insn.h"

#include <errno.h>

static int say_no(struct insns **out, struct uft_err *err)
{
	return err_set(err, -ENOSYS, "utrail was built without capstone, which reads machine code");
}

/* open() always fails, so no other function of struct insn_set is called. */
const struct insn_set x86_64_insns = { .open = say_no };
