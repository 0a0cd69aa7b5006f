/* Keeps facts that were found in files, in the user's cache directory, by their build ids. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_FUNCTIONS_CACHE_H
#define UTRAIL_CMDS_RECORD_PLAN_FUNCTIONS_CACHE_H

#include "cmds/record/plan/known_functions.h"
#include "utils/object/elf_file.h"

/*
 * Make the key of @file, whose path is @path and whose functions have @names. Returns false when
 * the file has no build id.
 */
bool functions_cache_key(const struct elf_file *file, const char *path, const struct symtab *names,
			 struct functions_key *key);

/* Load the facts about the file of @key to @out. Returns false when none are kept. */
bool functions_cache_load(const struct functions_key *key, struct known_functions *out);

/* Keep the functions, if @file has not changed since @key was made. */
void functions_cache_save(const struct elf_file *file, const struct functions_key *key,
			  const struct known_functions *known);

#endif
