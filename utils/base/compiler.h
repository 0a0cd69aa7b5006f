/* Compiler attributes and small macros for all code of the project. */
#ifndef UTRAIL_BASE_COMPILER_H
#define UTRAIL_BASE_COMPILER_H

#include <stddef.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define PRINTF_FORMAT(fmt, first) __attribute__((format(printf, fmt, first)))
#define NORETURN		  __attribute__((noreturn))
#define NOINLINE		  __attribute__((noinline))
#define INLINE			  __attribute__((always_inline)) inline
/* For functions that read beyond the end of an object on purpose. */
#define NO_SANITIZE_ADDRESS	  __attribute__((no_sanitize_address))
/* A symbol of the probe that programs can see. All other symbols of the probe are hidden. */
#define EXPORTED		  __attribute__((visibility("default")))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define MIN(a, b)                                  \
	({                                         \
		__typeof__(a) min_a_ = (a);        \
		__typeof__(b) min_b_ = (b);        \
		min_a_ < min_b_ ? min_a_ : min_b_; \
	})
#define MAX(a, b)                                  \
	({                                         \
		__typeof__(a) max_a_ = (a);        \
		__typeof__(b) max_b_ = (b);        \
		max_a_ > max_b_ ? max_a_ : max_b_; \
	})

/* @n rounded up to a multiple of @align, a power of two. */
#define ALIGN_UP(n, align) (((n) + ((align)-1)) & ~((__typeof__(n))(align)-1))

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif
