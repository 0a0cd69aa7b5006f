/*
 * Functions of all shapes for tests of files that were not compiled for tracing, in assembler. They
 * are never called. x86_64.
 */

/* The functions follow each other without a gap. Each one ends with its last instruction. */
#define FUNCTION_OF(name, type, body)                            \
	__asm__(".text\n"                                        \
		".globl " name "\n"                              \
		".type " name ", " type "\n" name ":\n"          \
		"	.cfi_startproc\n" body "	.cfi_endproc\n" \
		".size " name ", . - " name "\n")
#define FUNCTION(name, body) FUNCTION_OF(name, "@function", body)

#define BODY                           \
	"	mov %edi, %eax\n"            \
	"	imul $1234567, %eax, %eax\n" \
	"	imul $7654321, %eax, %eax\n" \
	"	ret\n"

FUNCTION("shape_plain", BODY);
FUNCTION("shape_pad", "	endbr64\n" BODY);
FUNCTION("shape_exact", "	lea 1(%rdi,%rsi), %eax\n	ret\n");
FUNCTION("shape_byte", "	ret\n");
FUNCTION("shape_loop", "1:	dec %edi\n	jnz 1b\n" BODY);
FUNCTION("shape_short", "	mov %edi, %eax\n	ret\n");
FUNCTION("shape_behind", BODY);
/* Room for a jump of another function. */
__asm__(".text\n.rept 4\nnopw 0x0(%rax,%rax,1)\n.endr\n");
FUNCTION_OF("shape_chosen", "@gnu_indirect_function", "	xor %eax, %eax\n	ret\n");

/* Names of the C library's functions, and names that are nearly like them. */
FUNCTION("memcpy", BODY);
FUNCTION("__memcpy", BODY);
FUNCTION("__memcpy_any", BODY);
FUNCTION("__GI_memcpy", BODY);
FUNCTION("__GI___memcpy_any", BODY);
FUNCTION("memcpy_any", BODY);
FUNCTION("__memcpyx", BODY);
FUNCTION("memcp", BODY);
FUNCTION("xmemcpy", BODY);
FUNCTION("errno_location", BODY);
FUNCTION("__GI_nothing", BODY);
FUNCTION("syscall", BODY);
