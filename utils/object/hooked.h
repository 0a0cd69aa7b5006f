/*
 * How calls that are open in a program would have been seen: which hook a function calls, and which
 * library call an address returns from.
 */
#ifndef UTRAIL_OBJECT_HOOKED_H
#define UTRAIL_OBJECT_HOOKED_H

#include "utils/object/code.h"
#include "utils/object/plt.h"

enum hooked_by {
	HOOKED_NOT,
	HOOKED_AT_ENTRY, /* mcount(), __fentry__(): its return slot is known */
	HOOKED_BY_STACK, /* -finstrument-functions */
};

/* Starts as { 0 }, ends with hooked_deinit(). @file: borrowed */
struct hooked {
	const struct elf_file *file;
	struct code code;
	struct plt_entries plt;
};

/* 0 or -ENOMEM. What is damaged is as if absent. */
int hooked_load(const struct elf_file *file, struct hooked *out);
void hooked_deinit(struct hooked *hooked);

/*
 * The function that has @addr, one of the file's own addresses: how it is hooked, and where it
 * begins.
 */
enum hooked_by hooked_function(const struct hooked *hooked, uint64_t addr, uint64_t *start);

/*
 * Whether @ret is behind a call that leads to the PLT, and what that call is known by in a
 * recording.
 */
bool hooked_library_call(const struct hooked *hooked, uint64_t ret, uint64_t *addr);

#endif
