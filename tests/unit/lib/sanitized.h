/* Tells tests that the runtime of a sanitizer is in the process. */
#ifndef UTRAIL_TESTS_UNIT_SANITIZED_H
#define UTRAIL_TESTS_UNIT_SANITIZED_H

/* gcc has macros for the two sanitizers; clang before version 20 has only __has_feature(). */
#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#endif
