/* Capture programs: what of a call's arguments and return value a probe copies behind the records, step by step. */
#ifndef UTRAIL_FORMAT_CAPTURE_H
#define UTRAIL_FORMAT_CAPTURE_H

#include <stdint.h>

#include "utils/format/argblob.h"

/*
 * One step adds one value to the payload, or a part of one (a struct in two registers). "The word" is the @index-th integer
 * argument, from 1 on, where the calling convention has it (arch_int_arg()); of a return value the @index-th word of the result,
 * from 0 on.
 */
enum capture_op {
	CAPTURE_HEAD, /* the start of a program: @bytes steps for arguments, then @index for the return value */
	CAPTURE_WORD,	    /* the low @bytes (at most 8) of the word */
	CAPTURE_VECTOR,	    /* the low @bytes (at most 16) of vector register @index, from 0 on */
	CAPTURE_X87,	    /* the floating point stack's top: ten bytes */
	CAPTURE_STACK,	    /* @bytes from word @index above the return address, from 1 on */
	CAPTURE_POINTED,    /* @bytes that the word points to */
	CAPTURE_STRING,	    /* the C string that the word points to */
	CAPTURE_STD_STRING, /* the std::string of GNU's library that the word points to */
	CAPTURE_STD_STRING_LLVM, /* and of LLVM's */
	CAPTURE_ZEROS,		 /* @bytes of nothing: what cannot be had */
};

/*
 * What a register has above a narrow type is not defined: the value's own bytes count. It is widened to 32 bits by its
 * sign or with zeros, from there with zeros.
 */
#define CAPTURE_SIGNED 0x80
#define CAPTURE_WIDE   0x40 /* to 64 bits, by its sign */

struct capture_step {
	uint8_t op;	/* enum capture_op */
	uint8_t narrow; /* CAPTURE_WORD: bytes that count, with CAPTURE_SIGNED; 0: all */
	uint16_t bytes;
	uint32_t index;
};
_Static_assert(sizeof(struct capture_step) == 8, "capture_step is laid out without holes");

/* Of the steps of one program for arguments, or for the return value. */
#define CAPTURE_STEPS_MAX 256U

/* No payload is longer; what would be is not recorded at all. */
#define CAPTURE_MAX_BYTES (ARGBLOB_MAX_BYTES - 8)

#endif
