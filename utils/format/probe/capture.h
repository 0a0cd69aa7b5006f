/* Capture programs: the steps that copy arguments or return values of a call into a payload. */
#ifndef UTRAIL_FORMAT_CAPTURE_H
#define UTRAIL_FORMAT_CAPTURE_H

#include <stdint.h>

#include "utils/format/argblob.h"

/*
 * A step adds a value, or a part of a value (a struct in two registers), to the payload. "The word"
 * depends on the kind of value:
 *
 * - Arguments: "the word" is the integer argument @index, counted from 1, in a register or stack
 *   slot (arch_int_arg()).
 * - Return values: "the word" is the word @index of the return value, counted from 0.
 */
enum capture_op {
	/*
	 * The start of a capture program. @bytes is the number of steps for arguments, which come
	 * next. @index is the number of steps for the return value, which come last
	 */
	CAPTURE_HEAD,
	CAPTURE_WORD,	    /* the low @bytes (at most 8) of the word */
	CAPTURE_VECTOR,	    /* the low @bytes (at most 16) of vector register @index (from 0) */
	CAPTURE_X87,	    /* the ten bytes at the top of the floating point stack */
	CAPTURE_STACK,	    /* @bytes of the stack from word @index on; word 0: return address */
	CAPTURE_POINTED,    /* @bytes bytes at the address in the word */
	CAPTURE_STRING,	    /* the C string that the word points to */
	CAPTURE_STD_STRING, /* the std::string (libstdc++) that the word points to */
	CAPTURE_STD_STRING_LLVM, /* the std::string (LLVM's library) that the word points to */
	/*
	 * Text @index of an array of struct capture_text. In a step for an argument, integer
	 * argument 1 points to the array. In a step for the return value, word 0 of the return
	 * value points to the array
	 */
	CAPTURE_TEXT,
	CAPTURE_ZEROS, /* @bytes of zeros: the value is not available */
	CAPTURE_BOX,   /* @bytes for the contents of a container: see below */
};

/*
 * In a register, the bits above a narrow type are undefined. So the value is extended to 64 bits.
 * With CAPTURE_WIDE, it is sign-extended. With CAPTURE_SIGNED alone, it is sign-extended to 32
 * bits, and then zero-extended. With neither flag, it is zero-extended.
 */
#define CAPTURE_SIGNED 0x80
#define CAPTURE_WIDE   0x40

struct capture_step {
	uint8_t op;	/* enum capture_op */
	uint8_t narrow; /* CAPTURE_WORD: number of valid bytes (0: all), ORed with flags above */
	uint16_t bytes;
	uint32_t index;
};
_Static_assert(sizeof(struct capture_step) == 8, "capture_step is laid out without holes");

/*
 * A box has the content of a container in a fixed number of bytes. A second step comes directly
 * after the CAPTURE_BOX step, and two lists come after the second step. The members of the second
 * step are the sizes of the lists:
 *
 * @bytes: the number of steps in the first list. With BOX_IN_PARTS, these steps copy the container
 *         object from registers to memory. Otherwise the list is empty
 * @index: the size of the second list, in units of struct capture_step. This list describes the
 *         content as a tree of struct box_step. Each box_step is before its children
 *         (utils/spec/args/shape.h)
 *
 * A box begins with BOX_GOOD or BOX_NOTHING in one byte. The values follow, and then zeros:
 *
 *   bytes                 as they are
 *   text                  its length (two bytes), then its bytes
 *   optional, pointer     a presence byte, then the value
 *   variant               an index byte, then the value
 *   container             the number of elements (four bytes), the number of elements in the box
 *                         (two bytes), then the elements in the box. BOX_WILD as the first number:
 *                         the container is invalid. BOX_MANY: its number of elements is unknown
 */
enum box_place {      /* @narrow of CAPTURE_BOX */
	BOX_POINTED,  /* the object's address is in the word @index */
	BOX_ON_STACK, /* the object is on the stack */
	BOX_IN_PARTS, /* the object is in registers */
};

#define BOX_NOTHING 0
#define BOX_GOOD    1
#define BOX_WILD    UINT32_MAX
#define BOX_MANY    (UINT32_MAX - 1) /* more elements than BOX_WALK_MAX */
#define BOX_NO_CASE 0xff
/* The presence byte of an expired weak_ptr. */
#define BOX_EXPIRED 2

/* The maximum number of nodes that are counted in a container without a size. */
#define BOX_WALK_MAX 256

/* The maximum number of bytes of an object that is in one or two registers. */
#define BOX_PARTS_BYTES 16

enum box_op {
	BOX_BYTES,	     /* @a: offset of the bytes, @b: their number */
	BOX_STRING,	     /* @a: offset of the pointer to a C string */
	BOX_STD_STRING,	     /* @a: offset of the std::string (libstdc++) */
	BOX_STD_STRING_LLVM, /* @a: offset of the std::string (libc++) */
	BOX_TEXT,	     /* @a: offset of the pointer, @b: offset of the length */
	/*
	 * @a: offset of the pointer to the first element. @b: offset of the pointer to the
	 *     byte after the last element. @c: bytes of an element
	 */
	BOX_RANGE,
	BOX_COUNTED,  /* @a: offset of the pointer, @b: offset of the count, @c: element size */
	BOX_FIXED,    /* @a: offset of the pointer, @b: element count, @c: element size */
	BOX_ARRAY,    /* @a: offset of the first element, @b: element count, @c: element size */
	BOX_MEMBERS,  /* @a: offset of a struct, @b: number of members; each member is a child */
	BOX_OPTIONAL, /* @a: offset of the flag, @b: size of the flag */
	BOX_FOLLOW,   /* @a: offset of the pointer */
	BOX_VARIANT,  /* @a: offset of the index, @b: size of the index, @c: number of children */
	/*
	 * @a: offset of the first node's address. @b: offset of the number of elements.
	 * @c, @d: offsets, in a node, of the next node's address and of the value
	 */
	BOX_CHAIN,
	/*
	 * A binary tree. @a, @b, @d: as for BOX_CHAIN. @c, @e, @f: offsets, in a node, of the
	 * addresses of the left child, of the right child and of the parent
	 */
	BOX_TREE,
	/*
	 * A chain that does not store its length. @a: offset of the first node's address. @b, @c:
	 * offsets, in a node, of the next node's address and of the value
	 */
	BOX_LINKS,
	/*
	 * @a: offset of the pointer to the word of the first bit. @b: offset of the pointer to the
	 *     word in which the bits end. The four bytes after the pointer at @b tell how many
	 *     bits of that word are used
	 */
	BOX_BITS,
	BOX_COUNTED_BITS, /* @a: as for BOX_BITS; @b: offset of the number of bits */
	/* BOX_DEQUE and BOX_COUNTED_DEQUE have a table of blocks of elements. */
	/*
	 * @a: offset of the iterator to the first element. @b: offset of the iterator to the place
	 *     after the last element (libstdc++). @c: bytes of an element
	 */
	BOX_DEQUE,
	/*
	 * @a, @b, @c: offsets of the table's address, of the first element's index, and of the
	 *     number of elements (libc++); @d: bytes of an element
	 */
	BOX_COUNTED_DEQUE,
	/*
	 * @a: offset of the pointer to the object. @b: offset of the pointer to the counters.
	 * @c, @d: offset and bytes of the counter of owners. @e: added to this counter to get the
	 *         number of owners
	 */
	BOX_FOLLOW_WEAK,
	/*
	 * A struct. @a: offset, @b: bytes, @c: number of children. The children are the containers
	 * and strings of the struct
	 */
	BOX_FIELDS,
};

/*
 * @skip: the number of box_steps that are below this step in the tree
 * @limit: the maximum number of elements that are recorded
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
 * A text that the probe has made of a value (CAPTURE_TEXT). In the array of texts, a return value
 * has index 0.
 *
 * @is_real: the value is a floating-point number, and @real has the bits of this number as a double
 */
struct capture_text {
	uint64_t real;
	bool is_real;
	uint16_t len;
	char text[ARGBLOB_STRING_MAX];
};

/*
 * A capture program may have at most CAPTURE_STEPS_MAX steps that make the values of arguments. The
 * CAPTURE_HEAD and the steps of the return value are not counted.
 */
#define CAPTURE_STEPS_MAX 1024U

/*
 * The longest payload. If a value could make the payload longer than this limit, no part of the
 * payload is recorded.
 */
#define CAPTURE_MAX_BYTES (ARGBLOB_MAX_BYTES - 8)

#endif
