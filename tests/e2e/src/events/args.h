/*
 * Probes with arguments, compiled once for each place that arguments may have. ARGS is the event's
 * provider, and STAP_SDT_ARG_CONSTRAINT the places that the compiler may choose from. Each function
 * prints the same wherever its arguments are.
 */
#include <stdint.h>
#include <sys/sdt.h>

#define PART	      __attribute__((noinline, noipa))
#define PASTE(a, b)   a##_##b
#define NAME_OF(a, b) PASTE(a, b)
#define FUNC(name)    NAME_OF(ARGS, name)

/* Room for the jump: the code after a probe may be too short, or a branch may lead into it. */
#define ROOM() __asm__ volatile("nop; nop; nop; nop; nop")

void FUNC(all)(void);

#ifndef ONLY_REAL
/* FUNC() makes names that no other file of the program has. */
static volatile int8_t FUNC(byte) = -100;
static volatile uint16_t FUNC(half) = 65000;
static int words[4] = { 10, -20, 30, -40 };
int64_t FUNC(wide) = INT64_MIN;

static PART void FUNC(are_signed)(int8_t a, int16_t b, int32_t c, int64_t d)
{
	STAP_PROBE4(ARGS, signed, a, b, c, d);
	ROOM();
}

static PART void FUNC(are_unsigned)(uint8_t a, uint16_t b, uint32_t c, uint64_t d)
{
	STAP_PROBE4(ARGS, unsigned, a, b, c, d);
	ROOM();
}

static PART void FUNC(are_static)(void)
{
	STAP_PROBE3(ARGS, static, FUNC(byte), FUNC(half), FUNC(wide));
	ROOM();
}

static PART void FUNC(is_indexed)(const int *from, long i)
{
	STAP_PROBE2(ARGS, indexed, from[i], i);
	ROOM();
}

/* On x86-64 a call passes six of these arguments in registers, and the others on the stack. */
static PART int FUNC(are_many)(int a, int b, int c, int d, int e, int f, int g, int h)
{
	STAP_PROBE8(ARGS, many, a, b, c, d, e, f, g, h);
	ROOM();
	return a + b + c + d + e + f + g + h;
}

static PART void FUNC(is_same)(int a, const void *b)
{
	STAP_PROBE1(ARGS, same, a);
	ROOM();
	STAP_PROBE2(ARGS, same, b, a);
	ROOM();
	STAP_PROBE(ARGS, same);
	ROOM();
}
#endif

static PART void FUNC(are_real)(float a, double b)
{
	STAP_PROBE2(ARGS, real, a, b);
	ROOM();
}

void FUNC(all)(void)
{
#ifndef ONLY_REAL
	FUNC(are_signed)(-1, -2, -3, -4);
	FUNC(are_signed)(INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN);
	FUNC(are_unsigned)(1, 2, 3, 4);
	FUNC(are_unsigned)(UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX);
	FUNC(are_static)();
	FUNC(byte) = 100;
	FUNC(half) = 1;
	FUNC(wide) = -1;
	FUNC(are_static)();
	FUNC(is_indexed)(words, 1);
	FUNC(is_indexed)(words, 2);
	words[FUNC(are_many)(1, -2, 3, -4, 5, -6, 7, -8) & 3]++;
	FUNC(is_same)(7, (void *)0x7777);
#endif
	FUNC(are_real)(-1.5F, 1e100);
	FUNC(are_real)(0.1F, 0.1);
}
