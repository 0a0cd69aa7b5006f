/* The layout of pages of kernel-cpu<N>.dat (the kernel's kernel/trace/ring_buffer.c). */
#ifndef UTRAIL_FORMAT_KERNEL_RING_H
#define UTRAIL_FORMAT_KERNEL_RING_H

/* Bits of a page's field "commit": the length of the data, and flags. */
#define COMMIT_MASK	     ((1U << 27) - 1)
#define COMMIT_MISSED	     (1U << 31)
#define COMMIT_MISSED_STORED (1U << 30) /* the number of missed records follows the records */

/* The type in a record's first word. A type from 1 to 28 is the length of the data in words. */
enum record_kind {
	KIND_LONG = 0, /* the length is in the next word */
	KIND_PADDING = 29,
	KIND_TIME_EXTEND = 30,
	KIND_TIME_STAMP = 31,
};

#define WORD 4

#endif
