/*
 * Functions with static probes for tests, in assembler: their notes are those of <sys/sdt.h>. They
 * are never called. x86_64.
 */
#include <stdint.h>

extern int probed_counter;
extern uint16_t probed_semaphore;
int probed_counter = 1;
uint16_t probed_semaphore;

#define FUNCTION(name, body)                             \
	__asm__(".text\n"                                \
		".balign 16\n"                           \
		".globl " name "\n"                      \
		".type " name ", @function\n" name ":\n" \
		"	mov %edi, %eax\n"                      \
		"	add $1, %eax\n" body "	ret\n"    \
		".size " name ", . - " name "\n")

/* A probe at an instruction of one byte. The instructions after it leave room for a jump. */
#define PROBE(insn, provider, name, semaphore, args)   \
	"990:	" insn "\n"                            \
	"	imul $1234567, %eax, %eax\n"                 \
	"	imul $7654321, %eax, %eax\n"                 \
	".pushsection .note.stapsdt, \"\", \"note\"\n" \
	".balign 4\n"                                  \
	".4byte 992f - 991f, 994f - 993f, 3\n"         \
	"991:	.asciz \"stapsdt\"\n"                    \
	"992:	.balign 4\n"                             \
	"993:	.8byte 990b, 0, " semaphore "\n"       \
	"	.asciz \"" provider "\"\n"             \
	"	.asciz \"" name "\"\n"                 \
	"	.asciz \"" args "\"\n"                 \
	"994:	.balign 4\n"                             \
	".popsection\n"

#define SIX "4@%eax 4@%eax 4@%eax 4@%eax 4@%eax 4@%eax "

/* The notes have another order than the addresses. */
FUNCTION("probed_second", PROBE("nop", "app", "begin", "0", "  "));
FUNCTION("probed_first", PROBE("nop", "app", "begin", "probed_semaphore", ""));
FUNCTION("probed_args", PROBE("nop", "app", "args", "0", "-4@%edi 8@$7 4@probed_counter(%rip)"));
FUNCTION("probed_types", PROBE("nop", "app", "args", "0", "8@%rsi"));
FUNCTION("probed_many", PROBE("nop", "app", "many", "0", SIX SIX SIX));
FUNCTION("probed_most", PROBE("nop", "app", "most", "0", SIX SIX "1@%al 1@%al 1@%al 1@%al"));
FUNCTION("probed_wrong",
	 PROBE("cltq\n", "app", "wrong", "0", "") PROBE("nop", "app", "behind", "0", "")
		 PROBE("cltq\n", "app", "wrong", "0", ""));
FUNCTION("probed_other", PROBE("nop", "other", "one", "0", ""));
