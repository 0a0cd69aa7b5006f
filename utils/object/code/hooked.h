/*
 * Reads a file's code, in order to find the open calls of a running program. Tells the kind of hook
 * that a function calls, and the library call that returns to an address.
 */
#ifndef UTRAIL_OBJECT_HOOKED_H
#define UTRAIL_OBJECT_HOOKED_H

#include "arch/hook_code.h"
#include "utils/object/code/code.h"
#include "utils/object/names/plt.h"

enum hooked_by {
	HOOKED_NOT,
	HOOKED_AT_ENTRY, /* mcount(), __fentry__(): the place of the return address is known */
	HOOKED_BY_STACK, /* -finstrument-functions */
};

/*
 * Returns the functions that recognise places for hooks in the file's code. Returns NULL when there
 * are no such functions for the file's machine.
 */
const struct hook_code *hooked_code_of(const struct elf_file *file);

/*
 * hooked_named() returns the kind of the hook that @entry names. hooked_called() returns the kind
 * of the hook to which @call leads.
 */
enum hooked_by hooked_named(const struct plt_entry *entry);
enum hooked_by hooked_called(const struct plt_entries *plt, const struct hook_call *call);

/* The struct starts as { 0 } and ends with hooked_deinit(). @file: borrowed. */
struct hooked {
	const struct elf_file *file;
	struct code code;
	struct plt_entries plt;
};

/* Load code and PLT of @file. Returns 0 or -ENOMEM. A damaged part of the file counts as absent. */
int hooked_load(const struct elf_file *file, struct hooked *out);
void hooked_deinit(struct hooked *hooked);

/*
 * Find the function that contains @addr. Returns the kind of hook that this function calls. @start
 * gets the start of the function. @addr and @start are the file's own addresses.
 */
enum hooked_by hooked_function(const struct hooked *hooked, uint64_t addr, uint64_t *start);

/*
 * True when @ret follows a call to the PLT. *@addr gets the address that recordings have for this
 * call.
 */
bool hooked_library_call(const struct hooked *hooked, uint64_t ret, uint64_t *addr);

#endif
