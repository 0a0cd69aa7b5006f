/* Names of the registers that arguments are passed in (see argspec.h). */
#include <string.h>
#include <strings.h>

#include "utils/base/compiler.h"
#include "utils/spec/argspec.h"

/* doc/facts/language.md, "Arguments". The psABI documents of the instruction sets say which these are. */
static const char *const names[] = {
	/* x86_64 */
	"rdi",
	"rsi",
	"rdx",
	"rcx",
	"r8",
	"r9",
	"xmm0",
	"xmm1",
	"xmm2",
	"xmm3",
	"xmm4",
	"xmm5",
	"xmm6",
	"xmm7",
	/* i386 */
	"ecx",
	"edx",
	/* arm */
	"r0",
	"r1",
	"r2",
	"r3",
	"s0",
	"s1",
	"s2",
	"s3",
	"s4",
	"s5",
	"s6",
	"s7",
	"s8",
	"s9",
	"s10",
	"s11",
	"s12",
	"s13",
	"s14",
	"s15",
	"d0",
	"d1",
	"d2",
	"d3",
	"d4",
	"d5",
	"d6",
	"d7",
	/* aarch64, which has s0 and d0, too */
	"x0",
	"x1",
	"x2",
	"x3",
	"x4",
	"x5",
	"x6",
	"x7",
	/* riscv64 */
	"a0",
	"a1",
	"a2",
	"a3",
	"a4",
	"a5",
	"a6",
	"a7",
	"fa0",
	"fa1",
	"fa2",
	"fa3",
	"fa4",
	"fa5",
	"fa6",
	"fa7",
};

int argreg_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
			return i;
	}
	return -1;
}

const char *argreg_name(unsigned reg)
{
	return reg < ARRAY_SIZE(names) ? names[reg] : "?";
}
