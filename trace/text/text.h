/*
 * Composes the text of one line of an fstrace log, value by value. Signal handlers may call the
 * functions of this file, because these functions use no malloc() and no lock. The text does not
 * depend on the locale. A short line is stored on the stack, and a longer one gets its own pages.
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
	bool is_fixed;	 /* the caller owns @base, so @base cannot grow */
	bool has_failed; /* there was no room or no memory: the text at @base is incomplete */
	char local[1000];
};

void fst_text_init(struct fst_text *text);
/* Make a text that is written into the @room bytes at @base. A longer text fails (has_failed). */
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
/* Append a string as it is. */
void fst_put_word(struct fst_text *text, const char *word);
void fst_put_char(struct fst_text *text, char c);
void fst_put_signed(struct fst_text *text, int64_t value);
void fst_put_unsigned(struct fst_text *text, uint64_t value);
void fst_put_hex(struct fst_text *text, uint64_t value);
/* Append a number as "%.17g" prints it in the C locale. */
void fst_put_double(struct fst_text *text, double value);
/*
 * Append URL-encoded bytes. Letters, digits and some other characters stay as they are, a blank
 * becomes '+', and any other byte becomes "%XX".
 */
void fst_put_encoded(struct fst_text *text, const void *bytes, size_t len);
/* Append a URL-encoded string. NULL becomes "%00". */
void fst_put_string(struct fst_text *text, const char *string);
/* Append each byte as two lower-case hexadecimal digits. */
void fst_put_octets(struct fst_text *text, const void *bytes, size_t len);
/* Append the symbol of an error number, or the number itself. */
void fst_put_errno(struct fst_text *text, int number);
/* Append a network address: the struct sockaddr of @len bytes at @address, aligned or not. */
void fst_put_address(struct fst_text *text, const void *address, size_t len);
/* Append a time in UTC: "2026-11-23 01:02:03.123456". @between: ' ', or 'T'. */
void fst_put_time(struct fst_text *text, const struct timespec *time, char between);
/*
 * Like fst_put_time(), for a time of @us microseconds since 1970-01-01 UTC. On machines with a
 * time_t of 32 bits, @us can express later times than a struct timespec.
 */
void fst_put_time_us(struct fst_text *text, int64_t us, char between);

/* Returns the name of an error number of this machine, or NULL. */
const char *fst_errno_name(int number);

#endif
