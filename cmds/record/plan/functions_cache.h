/*
 * A cache of facts about ELF files. Each entry is a file "<build id>.functions" in the user's cache
 * directory.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_FUNCTIONS_CACHE_H
#define UTRAIL_CMDS_RECORD_PLAN_FUNCTIONS_CACHE_H

#include "cmds/record/plan/known_functions.h"
#include "utils/object/elf_file.h"

/*
 * Make the key of @file. @path is the path of @file, and @names has the names of the functions in
 * @file. Returns false when @file has no build id, or on failure.
 */
bool functions_cache_key(const struct elf_file *file, const char *path, const struct symtab *names,
			 struct functions_key *key);

/* Load the facts about the file of @key into @out. Returns false when the cache has none. */
bool functions_cache_load(const struct functions_key *key, struct known_functions *out);

/* Store the facts, if @file has not changed since @key was made. */
void functions_cache_save(const struct elf_file *file, const struct functions_key *key,
			  const struct known_functions *known);

#endif
