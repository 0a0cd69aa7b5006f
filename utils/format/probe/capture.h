/*
 * Capture programs: the steps by which a probe copies values of a call's arguments and return value
 * to the payload after the record.
 */
#ifndef UTRAIL_FORMAT_CAPTURE_H
#define UTRAIL_FORMAT_CAPTURE_H

#include <stdint.h>

#include "utils/format/argblob.h"

/*
 * One step adds a value, or a part of one (a struct in two registers), to the payload. "The word"
 * is the @index-th integer argument, from 1 on, at its place in the calling convention
 * (arch_int_arg()). For a return value it is the @index-th word of the result, from 0 on.
 */
enum capture_op {
	/* The start of a program: @bytes steps for arguments, then @index for the return value */
	CAPTURE_HEAD,
	CAPTURE_WORD,	    /* the low @bytes (at most 8) of the word */
	CAPTURE_VECTOR,	    /* the low @bytes (at most 16) of vector register @index, from 0 on */
	CAPTURE_X87,	    /* the floating point stack's top: ten bytes */
	CAPTURE_STACK,	    /* @bytes from word @index above the return address, from 1 on */
	CAPTURE_POINTED,    /* @bytes that the word points to */
	CAPTURE_STRING,	    /* the C string that the word points to */
	CAPTURE_STD_STRING, /* the std::string of libstdc++ that the word points to */
	CAPTURE_STD_STRING_LLVM, /* and of LLVM's */
	CAPTURE_TEXT,  /* the @index-th of the struct capture_texts that the first word points to */
	CAPTURE_ZEROS, /* @bytes of nothing: the value cannot be had */
	CAPTURE_BOX,   /* @bytes for the contents of a container: see below */
};

/*
 * The register bits above a narrow type are undefined: only the value's own bytes count. It is
 * widened to 32 bits by its sign or with zeros, and beyond that with zeros.
 */
#define CAPTURE_SIGNED 0x80
#define CAPTURE_WIDE   0x40 /* to 64 bits, by its sign */

struct capture_step {
	uint8_t op;	/* enum capture_op */
	uint8_t narrow; /* CAPTURE_WORD: valid bytes, with CAPTURE_SIGNED; 0: all */
	uint16_t bytes;
	uint32_t index;
};
_Static_assert(sizeof(struct capture_step) == 8, "capture_step is laid out without holes");

/*
 * The content of a container is recorded in a box, which simple readers can treat as a struct of a
 * fixed size. A second step follows CAPTURE_BOX. Its @bytes is the number of steps that assemble
 * the object, when its parts are in registers (BOX_IN_PARTS). Its @index is the number of steps
 * that describe the content: a tree in the order of utils/spec/args/shape.h, a struct box_step and
 * then its children. Steps of other kinds are leaves.
 *
 * @narrow of CAPTURE_BOX: the place of the object: the word @index points to it, is it, or it is in
 *         parts
 *
 * A box begins with BOX_GOOD or BOX_NOTHING in one byte. Values follow one another: bytes as they
 * are; texts after their length (two bytes); a presence byte (optional, pointers) or an index byte
 * (variant), then the value. A container of elements has their number (four bytes; BOX_WILD when it
 * is invalid, BOX_MANY when it is unknown) and the number of those that follow (two bytes). The
 * rest is zeros.
 */
enum box_place {
	BOX_POINTED,
	BOX_ON_STACK,
	BOX_IN_PARTS,
};

#define BOX_NOTHING 0
#define BOX_GOOD    1
#define BOX_WILD    UINT32_MAX
#define BOX_MANY    (UINT32_MAX - 1) /* more than BOX_WALK_MAX */
#define BOX_NO_CASE 0xff
/* The presence byte of an expired weak_ptr. */
#define BOX_EXPIRED 2

/* The maximum of nodes counted in a container without a size. */
#define BOX_WALK_MAX 256

/* The object is in two registers at most. */
#define BOX_PARTS_BYTES 16

enum box_op {
	BOX_BYTES,	     /* @a: offset, @b: bytes */
	BOX_STRING,	     /* @a: offset of the pointer to a C string */
	BOX_STD_STRING,	     /* @a: offset */
	BOX_STD_STRING_LLVM, /* @a: offset */
	BOX_TEXT,	     /* @a: offset of the pointer, @b: of the length */
	/* @a, @b: offsets of pointers to the first element and past the last; @c: bytes of one */
	BOX_RANGE,
	BOX_COUNTED,  /* @a: offset of the pointer, @b: of the number; @c: bytes of one */
	BOX_FIXED,    /* @a: offset of the pointer, @b: the number; @c: bytes of one */
	BOX_ARRAY,    /* @a: offset of the first, @b: the number, @c: bytes of one */
	BOX_MEMBERS,  /* @a: offset, @b: how many children */
	BOX_OPTIONAL, /* @a: offset of the flag, @b: its bytes */
	BOX_FOLLOW,   /* @a: offset of the pointer */
	BOX_VARIANT,  /* @a: offset of the index, @b: its bytes, @c: how many children */
	/*
	 * @a: offset of the first node's address, @b: of the number; in a node @c: of the next, @d:
	 *     of the value
	 */
	BOX_CHAIN,
	BOX_TREE, /* the same; @c, @e, @f: offsets of left, right, parent in a node */
	/*
	 * A chain without a number: @a: offset of the first node's address; in a node @b: of the
	 * next, @c: of the value
	 */
	BOX_LINKS,
	/*
	 * @a: offset of the pointer to the first; @b: of the pointer into the last word, followed
	 *     by the bit's number
	 */
	BOX_BITS,
	BOX_COUNTED_BITS, /* @a: the same; @b: offset of the number */
	/* Blocks of elements, of which there is a table: */
	/*
	 * @a, @b: offsets of the iterators to the first element and past the last (libstdc++);
	 *         @c: bytes of one
	 */
	BOX_DEQUE,
	/*
	 * @a: offset of the table's address, @b: of the first element's index, @c: of the number
	 *     (libc++); @d: bytes of one
	 */
	BOX_COUNTED_DEQUE,
	/*
	 * @a: offset of the pointer, @b: of the address of the owner counter, which is at offset @c
	 *     there, in @d bytes, and is by @e smaller than the number of owners
	 */
	BOX_FOLLOW_WEAK,
	/*
	 * A struct: @a: offset, @b: bytes; then @c children: the contents of its fields that are
	 * containers or strings
	 */
	BOX_FIELDS,
};

/*
 * @skip: the number of box_steps of the children
 * @limit: maximum of elements
 */
struct box_step {
	uint8_t op; /* enum box_op */
	uint8_t limit;
	uint16_t skip;
	uint32_t a;
	uint32_t b;
	uint32_t c;
	uint16_t d;
	uint16_t e;
	uint16_t f;
	uint16_t pad;
};
#define BOX_STEP_UNITS (sizeof(struct box_step) / sizeof(struct capture_step))
_Static_assert(sizeof(struct box_step) % sizeof(struct capture_step) == 0,
	       "box_steps lie among steps");

/*
 * A text that the probe itself has made of a value. A return value has index 0.
 *
 * @is_real: of a floating point number, whose bits as a double are @real
 */
struct capture_text {
	uint64_t real;
	bool is_real;
	uint16_t len;
	char text[ARGBLOB_STRING_MAX];
};

/* Steps of one program for arguments, or for the return value. */
#define CAPTURE_STEPS_MAX 1024U

/* The maximum length of a payload; a longer one is not recorded at all. */
#define CAPTURE_MAX_BYTES (ARGBLOB_MAX_BYTES - 8)

#endif
