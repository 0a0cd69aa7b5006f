/*
 * Errors about unknown words: "unknown field 'totl': expected some of total, self; the nearest:
 * total".
 */
#ifndef UTRAIL_BASE_UNKNOWN_H
#define UTRAIL_BASE_UNKNOWN_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/base/containers/nearest.h"
#include "utils/base/containers/strbuf.h"

/*
 * An unknown word that a user has typed. The caller passes the known words one by one to
 * unknown_offer(). The caller must keep these words in memory until unknown_set() has returned.
 *
 * @known: the offered words, separated by commas
 */
struct unknown {
	struct strbuf typed;
	struct strbuf known;
	struct nearest near;
};

#define cleanup_unknown cleanup(unknown_deinit)

/* Copies @word, the unknown word of @len bytes. The caller ends @u with unknown_deinit(). */
void unknown_init(struct unknown *u, const char *word, size_t len);
void unknown_deinit(struct unknown *u);
void unknown_offer(struct unknown *u, const char *name);

/*
 * Set the error. Returns @code.
 *
 * @what: the kind of the word. With "field", the error begins with "unknown field"
 * @expected: "some of" or "one of"
 * @more: a text after the known words, for example ", or a counter"; "": no text
 */
int unknown_set(const struct unknown *u, struct uft_err *err, int code, const char *what,
		const char *expected, const char *more);

#endif
