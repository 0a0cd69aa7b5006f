/* libcapstone at run time (see capstone.h). */
#include "arch/x86_64/capstone.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "utils/base/compiler.h"
#include "utils/base/library.h"

#define TEXT_OF(x)   #x
#define TEXT_OF_2(x) TEXT_OF(x)
/* The soname of libcapstone ends with the major version of the library's interface. */
#define SONAME	     "libcapstone.so." TEXT_OF_2(CS_API_MAJOR)

static const struct library_function functions[] = {
	{ "cs_open", offsetof(struct capstone, open) },
	{ "cs_close", offsetof(struct capstone, close) },
	{ "cs_option", offsetof(struct capstone, option) },
	{ "cs_malloc", offsetof(struct capstone, malloc) },
	{ "cs_free", offsetof(struct capstone, free) },
	{ "cs_disasm_iter", offsetof(struct capstone, disasm_iter) },
};

static struct capstone library;
static char why_not[256]; /* the error of dlerror(3); empty when the library is loaded */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_capstone(void)
{
	const char *error = library_load(SONAME, functions, ARRAY_SIZE(functions), &library);

	if (error)
		snprintf(why_not, sizeof(why_not), "%s", error);
}

int capstone_load(const struct capstone **out, struct uft_err *err)
{
	pthread_once(&once, load_capstone);
	if (why_not[0])
		return err_set(err, -ENOSYS,
			       "cannot load capstone, which reads machine code: %s; install it "
			       "(Debian: libcapstone" TEXT_OF_2(CS_API_MAJOR) ")",
			       why_not);
	*out = &library;
	return 0;
}
