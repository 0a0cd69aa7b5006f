/* Unique ids of objects; integers as text; events that are declared before there is a log. */
#include "events/trace.h"

#include <unistd.h>

static _Atomic uint64_t counter;

/*
 * An id is the sum of three numbers: the pid times a million, the low 18 bits of the counter, and
 * the counter's higher bits times a large number. Therefore, if two processes have different pids,
 * the first 2^18 ids of one process differ from the first 2^18 ids of the other process.
 */
uint64_t fstrace_get_unique_id(void)
{
	uint64_t nr = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
	uint64_t pid = getpid();

	return pid * 1000000 + (nr & 0x3ffff) + (nr >> 18) * 1410065407;
}

static __thread char repr[24]; /* a sign and 20 digits fit */

static const char *make_repr(const struct fst_text *text)
{
	for (size_t i = 0; i < text->len; i++)
		repr[i] = text->base[i];
	repr[text->len] = '\0';
	return repr;
}

const char *fstrace_signed_repr(int64_t value)
{
	struct fst_text text;

	fst_text_init(&text);
	fst_put_signed(&text, value);
	return make_repr(&text);
}

const char *fstrace_unsigned_repr(uint64_t value)
{
	struct fst_text text;

	fst_text_init(&text);
	fst_put_unsigned(&text, value);
	return make_repr(&text);
}

const char *fstrace_hex_repr(uint64_t value)
{
	struct fst_text text;

	fst_text_init(&text);
	fst_put_hex(&text, value);
	return make_repr(&text);
}

/*
 * The list of static events, the newest first. It needs no lock: constructors run one after the
 * other, even if several threads open libraries.
 */
static fstrace_event_spec_t *specs;

void fstrace_specify(fstrace_event_spec_t *spec, fstrace_event_t **variable, char name[],
		     const char *format)
{
	for (char *at = name; *at; at++) {
		if (*at == '_')
			*at = '-';
	}
	spec->variable = variable;
	spec->id = name;
	spec->format = format;
	spec->next = specs;
	specs = spec;
}

void fstrace_declare_globals(fstrace_t *trace)
{
	for (const fstrace_event_spec_t *spec = specs; spec; spec = spec->next)
		*spec->variable = fstrace_declare(trace, spec->id, spec->format);
}
