/* Helpers of all fuzz targets: checks, inputs taken apart, a scratch directory. */
#ifndef UTRAIL_TESTS_FUZZ_FUZZ_H
#define UTRAIL_TESTS_FUZZ_FUZZ_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/err.h"

/*
 * The target: one per file fuzz_<name>.c, called with every input. It is linked twice: with libFuzzer
 * (-Dfuzzing=true), and with runner.c, which replays corpora in each test run. Returns 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * True when each input goes through everything the target can do with it (the runner). False when
 * it goes through a part that depends on the input: libFuzzer has more inputs than time.
 */
extern bool fuzz_is_thorough;

/* A promise of the code under test. */
#define FUZZ_CHECK(cond)                                                                   \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* Check that a failure has a code and one line of text, and that a success has neither. */
void fuzz_check_error(bool failed, const struct uft_err *err);

/* Returns a number that depends on all of the input, to choose among variants. */
uint32_t fuzz_hash(const uint8_t *data, size_t size);

/* An input that is taken from front to end. Bytes beyond its end read as zeros. */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};
uint8_t fuzz_u8(struct fuzz_input *in);
uint16_t fuzz_u16(struct fuzz_input *in);
/* Takes at most @max bytes from the front; their number goes to @len. */
const uint8_t *fuzz_bytes(struct fuzz_input *in, size_t max, size_t *len);

/* Returns the path of an empty scratch directory below $TMPDIR; it is removed at exit. */
const char *fuzz_empty_dir(void);
/* Write a file in the scratch directory. */
void fuzz_write_file(const char *name, const void *data, size_t size);

/* Discard the output of the code under test. */
void fuzz_mute_stdout(void);

#endif
