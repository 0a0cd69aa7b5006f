/* The facts found out of files, kept in the user's cache directory by their build ids. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_FUNCTIONS_CACHE_H
#define UTRAIL_CMDS_RECORD_PLAN_FUNCTIONS_CACHE_H

#include "cmds/record/plan/known_functions.h"
#include "utils/object/elf_file.h"

/*
 * The key of @file, which @path names and of which @names are known, into @key. False when it
 * cannot be known again: it has no build id.
 */
bool functions_cache_key(const struct elf_file *file, const char *path, const struct symtab *names,
			 struct functions_key *key);

/* Load the facts about the file of @key to @out; false when none are kept. */
bool functions_cache_load(const struct functions_key *key, struct known_functions *out);

/* Keep the functions, if @file is still as its key says. */
void functions_cache_save(const struct elf_file *file, const struct functions_key *key,
			  const struct known_functions *known);

#endif
