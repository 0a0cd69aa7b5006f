/* Known arguments and results of library functions (see autoargs.h). */
#include "utils/spec/args/autoargs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/autoargs_table.h"

static int compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct autoargs *)row)->name);
}

const struct autoargs *autoargs_find(const char *name)
{
	return bsearch(name, autoargs_table, autoargs_table_nr, sizeof(*autoargs_table),
		       compare_name);
}

/*
 * Bits of flag arguments, for Linux on x86_64. BIT_CREAT is O_CREAT. BIT_TMPFILE is the bit that
 * O_TMPFILE has in addition to O_DIRECTORY. BIT_FIXED is MREMAP_FIXED. autoargs_enums contains the
 * names of these flags.
 */
#define BIT_CREAT   0x40
#define BIT_TMPFILE 0x400000
#define BIT_FIXED   2

static size_t count_open(uint64_t flags, size_t without, size_t with)
{
	return flags & (BIT_CREAT | BIT_TMPFILE) ? with : without;
}

static bool is_among(uint64_t value, const uint32_t *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (list[i] == (uint32_t)value)
			return true;
	}
	return false;
}

static size_t count_fcntl(uint64_t command)
{
	/*
	 * Commands without an argument: F_GETFD, F_GETFL, F_GETOWN, F_GETSIG, F_GETLEASE,
	 * F_GETPIPE_SZ, F_GET_SEALS
	 */
	static const uint32_t without[] = { 1, 3, 9, 11, 1025, 1032, 1034 };

	return is_among(command, without, ARRAY_SIZE(without)) ? 2 : 3;
}

static size_t count_ioctl(uint64_t request)
{
	/*
	 * ioctl(2) requests without an argument: TIOCEXCL, TIOCNXCL, TIOCCONS, TIOCNOTTY,
	 * TIOCSBRK, TIOCCBRK, TIOCVHANGUP, FIONCLEX, FIOCLEX
	 */
	static const uint32_t without[] = { 0x540c, 0x540d, 0x541d, 0x5422, 0x5427,
					    0x5428, 0x5437, 0x5450, 0x5451 };

	return is_among(request, without, ARRAY_SIZE(without)) ? 2 : 3;
}

static size_t count_prctl(uint64_t option)
{
	/* @alone: options without an argument; @one: options with one argument */
	static const uint32_t alone[] = { 3, 7, 13, 21, 27, 30, 31, 32, 34, 39, 42 };
	static const uint32_t one[] = { 1,  2,	4,  8,	14, 15, 16, 23, 24,	   25,
					26, 28, 29, 36, 37, 38, 40, 41, 0x59616d61 };

	return is_among(option, alone, ARRAY_SIZE(alone)) ? 1
	       : is_among(option, one, ARRAY_SIZE(one))	  ? 2
							  : 5;
}

static size_t count_semctl(uint64_t command)
{
	/* Commands without an argument: IPC_RMID, GETPID, GETVAL, GETNCNT, GETZCNT */
	static const uint32_t without[] = { 0, 11, 12, 14, 15 };

	return is_among(command, without, ARRAY_SIZE(without)) ? 3 : 4;
}

static size_t count_mremap(uint64_t flags)
{
	return flags & BIT_FIXED ? 5 : 4;
}

static size_t count_open_at_2(uint64_t flags)
{
	return count_open(flags, 2, 3);
}

static size_t count_open_at_3(uint64_t flags)
{
	return count_open(flags, 3, 4);
}

static size_t count_open_ipc(uint64_t flags)
{
	return count_open(flags, 2, 4);
}

size_t autoargs_count(const char *name, const uint64_t *values, size_t nr)
{
	/*
	 * @decides: the index of the argument whose value determines the number of arguments
	 * @count: computes the number of arguments from this value
	 */
	static const struct {
		const char *name;
		size_t decides;
		size_t (*count)(uint64_t value);
	} rules[] = {
		{ "open", 1, count_open_at_2 },	  { "open64", 1, count_open_at_2 },
		{ "openat", 2, count_open_at_3 }, { "openat64", 2, count_open_at_3 },
		{ "mq_open", 1, count_open_ipc }, { "sem_open", 1, count_open_ipc },
		{ "fcntl", 1, count_fcntl },	  { "fcntl64", 1, count_fcntl },
		{ "ioctl", 1, count_ioctl },	  { "prctl", 0, count_prctl },
		{ "mremap", 3, count_mremap },	  { "semctl", 2, count_semctl },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (strcmp(rules[i].name, name) == 0 && rules[i].decides < nr)
			return rules[i].count(values[rules[i].decides]);
	}
	return SIZE_MAX;
}

/*
 * Write @items, the arguments or the result of the function @name, in the syntax of uftrace. An
 * octal format becomes hexadecimal, because uftrace 0.13 refuses octal formats. utrail's own
 * readers get the octal formats from autoargs_find().
 */
static void put_row(const char *name, const char *items, struct strbuf *out)
{
	strbuf_addf(out, "%s@", name);
	for (const char *at = items; *at; at++)
		strbuf_addch(out, *at == 'o' && at[-1] == '/' ? 'x' : *at);
	strbuf_addch(out, ';');
}

void autoargs_put_args(struct strbuf *out)
{
	for (size_t i = 0; i < autoargs_table_nr; i++) {
		const struct autoargs *row = &autoargs_table[i];

		if (row->args)
			put_row(row->name, row->args, out);
	}
}

void autoargs_put_retvals(struct strbuf *out)
{
	for (size_t i = 0; i < autoargs_table_nr; i++) {
		const struct autoargs *row = &autoargs_table[i];

		if (row->retval)
			put_row(row->name, row->retval, out);
	}
}

void autoargs_put_enums(struct strbuf *out)
{
	for (size_t i = 0; i < autoargs_enums_nr; i++)
		strbuf_addf(out, "%s;", autoargs_enums[i]);
}
