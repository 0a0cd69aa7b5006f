/*
 * Arguments in registers, in memory, and in unmapped memory. args.h has them; it is compiled
 * several times.
 */
#include <stdint.h>
#include <sys/mman.h>

#define ARGS			anywhere
#define STAP_SDT_ARG_CONSTRAINT nor
#include "args.h"

void registers_all(void);
void memory_all(void);
void vectors_all(void);
void library_all(void);

static PART void constants(void)
{
	STAP_PROBE5(only, constants, 3, -1, 0x80000000U, INT64_MIN, UINT64_MAX);
	ROOM();
}

/*
 * Arguments that are read from bad addresses: 0, memory without read permission, and the last bytes
 * before it.
 */
static PART void wild(const int *a, const uint64_t *b, const uint16_t *c)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b, 0, 0\n"
			 ".asciz \"only\"\n"
			 ".asciz \"wild\"\n"
			 ".asciz \"-4@(%0) 8@(%1) 2@(%2) 8@-4(%2) 8@what 4@$5\"\n"
			 "994: .balign 4\n"
			 ".popsection\n"
			 :
			 : "r"(a), "r"(b), "r"(c));
	ROOM();
}

int main(void)
{
	char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(page + 4096, 4096, PROT_NONE);
	page[4094] = 0x34;
	page[4095] = 0x12;
	anywhere_all();
	registers_all();
	memory_all();
	vectors_all();
	library_all();
	constants();
	wild(0, (uint64_t *)(page + 4096), (uint16_t *)(page + 4094));
	return 0;
}
