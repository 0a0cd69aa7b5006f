/* Inputs of files, as declared by rules of make. */
#ifndef UTRAIL_BUILDDB_MAKE_RULES_H
#define UTRAIL_BUILDDB_MAKE_RULES_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strmap.h"

#define MAKE_RULES_NONE SIZE_MAX

/*
 * @targets: by path of a target, index plus one of its newest input
 * @inputs: the words after the colon; @next: the next input of the same target, or MAKE_RULES_NONE
 *
 * Paths are absolute; those of existing files have no links. Starts as { 0 }, ends with
 * make_rules_deinit().
 */
struct make_rules {
	struct strmap targets;
	struct make_input {
		char *path;
		size_t next;
	} * inputs;
	size_t nr_inputs;
	char **paths; /* paths of targets */
	size_t nr_paths;
};

/*
 * Add the rules of @text, which begins in the directory @dir. The text is the output of `make -pn`,
 * with that of makes that it runs ("Entering directory", "Leaving directory"), or of a compiler
 * with -MD. Variables and recipes are skipped, patterns match nothing. 0 or -ENOMEM.
 */
int make_rules_parse(struct make_rules *declared, const char *dir, const char *text);
void make_rules_deinit(struct make_rules *declared);
#define cleanup_make_rules cleanup(make_rules_deinit)

/* Returns the index of the first input of the target @path, or MAKE_RULES_NONE. */
size_t make_rules_first(const struct make_rules *declared, const char *path);

#endif
