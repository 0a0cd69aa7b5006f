/*
 * The text of one line of an fstrace log, value by value. It is used in signal handlers of any
 * program: no malloc(), no lock, no locale. Short lines stay on the stack, a longer one gets pages
 * of its own.
 */
#ifndef UTRAIL_FSTRACE_TEXT_H
#define UTRAIL_FSTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct fst_text {
	char *base;
	size_t len;
	size_t room;
	bool is_fixed;	 /* @base belongs to the caller, and is all there is */
	bool has_failed; /* there was no memory: the text at @base is not all */
	char local[1000];
};

void fst_text_init(struct fst_text *text);
/* Write into @room bytes at @base, and no more: a longer text makes it fail. */
static inline void fst_text_init_at(struct fst_text *text, void *base, size_t room)
{
	text->base = base;
	text->len = 0;
	text->room = room;
	text->is_fixed = true;
	text->has_failed = false;
}

void fst_text_free(struct fst_text *text);

void fst_put(struct fst_text *text, const char *bytes, size_t len);
void fst_put_char(struct fst_text *text, char c);
void fst_put_signed(struct fst_text *text, int64_t value);
void fst_put_unsigned(struct fst_text *text, uint64_t value);
void fst_put_hex(struct fst_text *text, uint64_t value);
/* As "%.17g" prints it in the C locale. */
void fst_put_double(struct fst_text *text, double value);
/* URL-encoded: a blank becomes '+', a byte that is not in the table "%XX". */
void fst_put_encoded(struct fst_text *text, const void *bytes, size_t len);
/* The same for a string; NULL is "%00". */
void fst_put_string(struct fst_text *text, const char *string);
/* Pairs of lower-case digits. */
void fst_put_octets(struct fst_text *text, const void *bytes, size_t len);
/* The symbol of an error number, or the number. */
void fst_put_errno(struct fst_text *text, int number);
/* A network address (struct sockaddr) of @len bytes. It need not be aligned. */
void fst_put_address(struct fst_text *text, const void *address, size_t len);
/* "2026-11-23 01:02:03.123456", or with 'T' between date and time, UTC. */
void fst_put_time(struct fst_text *text, const struct timespec *time, char between);
/* The same of microseconds since 1970, wherever time_t has 32 bits. */
void fst_put_time_us(struct fst_text *text, int64_t us, char between);

/* The name of an error number of this machine, or NULL. */
const char *fst_errno_name(int number);

#endif
