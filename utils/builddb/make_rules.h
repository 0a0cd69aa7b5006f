/* Inputs of files, as declared by rules of make. */
#ifndef UTRAIL_BUILDDB_MAKE_RULES_H
#define UTRAIL_BUILDDB_MAKE_RULES_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strmap.h"

#define MAKE_RULES_NONE SIZE_MAX

/*
 * @targets: the index of the newest input of each target, plus one, by its path
 * @inputs: the words after the colon; @next: the next one of the same target, or MAKE_RULES_NONE
 *
 * Paths are absolute and, where the files are there, without links. Starts as { 0 }, ends with
 * make_rules_deinit().
 */
struct make_rules {
	struct strmap targets;
	struct make_input {
		char *path;
		size_t next;
	} * inputs;
	size_t nr_inputs;
	char **paths; /* of targets */
	size_t nr_paths;
};

/*
 * Add the rules of @text, which begins in the directory @dir: what `make -pn` says, of makes that
 * it runs, too (in its "Entering directory" and "Leaving directory"), or what compilers write with
 * -MD. Variables and recipes are skipped, patterns match nothing. 0 or -ENOMEM.
 */
int make_rules_parse(struct make_rules *declared, const char *dir, const char *text);
void make_rules_deinit(struct make_rules *declared);
#define cleanup_make_rules cleanup(make_rules_deinit)

/* The index of the first input of the target @path, or MAKE_RULES_NONE. */
size_t make_rules_first(const struct make_rules *declared, const char *path);

#endif
