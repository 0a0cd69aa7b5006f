/* Reads rules of make. A rule declares the inputs of its targets. */
#ifndef UTRAIL_BUILDDB_MAKE_RULES_H
#define UTRAIL_BUILDDB_MAKE_RULES_H

#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strmap.h"

#define MAKE_RULES_NONE SIZE_MAX

/*
 * Starts as { 0 } and ends with make_rules_deinit(). Paths are absolute, and paths of existing
 * files contain no symbolic links.
 *
 * @targets: maps the path of a target to 1 + i. inputs[i] is the last input that was added to the
 *          target
 * @inputs: the words after the colons of rules
 * @next: the index of the input that was added to the same target before this input, or
 *        MAKE_RULES_NONE
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
 * Add the rules of @text. Its paths are relative to @dir, until a line of @text names another
 * directory. Variables and recipes are skipped. A pattern, such as %.o, is treated as a path.
 * Returns 0 or -ENOMEM.
 *
 * @text: a file that a compiler makes for -MD, or the output of `make -pn`, which may include the
 *         output of nested makes ("Entering directory", "Leaving directory")
 */
int make_rules_parse(struct make_rules *declared, const char *dir, const char *text);
void make_rules_deinit(struct make_rules *declared);
#define cleanup_make_rules cleanup(make_rules_deinit)

/*
 * Returns the index of an input of the target @path, or MAKE_RULES_NONE. From this input,
 * make_input.next leads to the other inputs of the target.
 */
size_t make_rules_first(const struct make_rules *declared, const char *path);

#endif
