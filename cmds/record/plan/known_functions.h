/*
 * The facts found out of a file that was not compiled for it: its functions, and the patches where
 * they begin; in one image, which can be kept.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_KNOWN_FUNCTIONS_H
#define UTRAIL_CMDS_RECORD_PLAN_KNOWN_FUNCTIONS_H

#include "cmds/record/plan/unprepared.h"
#include "utils/object/build_id.h"

/*
 * The identity of the file, and of the program that looked at it. A build id alone can be copied;
 * the kernel's word on the file's place and last change cannot.
 *
 * @build_id: hex, with zeros after it; "" when the file has none
 * @device, @inode, @size, @mtime_ns, @ctime_ns: of the file, as stat(2) has them
 * @names: a sum of the names that the file did not have itself
 * @maker_size, @maker_mtime_ns: of the program that has found it out: another version may find
 *                 something else
 */
struct functions_key {
	char build_id[48];
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	uint64_t mtime_ns;
	uint64_t ctime_ns;
	uint64_t names;
	uint64_t maker_size;
	uint64_t maker_mtime_ns;
};

/*
 * One function.
 *
 * @name, @why_not: where the texts are; 0: the file's symbols name it, and it can be patched
 * @patches: where its @nr_patches begin
 * @kind: enum function_kind; @way: enum unprepared_way, as if a rule had chosen it
 */
struct known_function {
	uint64_t start;
	uint32_t len;
	uint32_t name;
	uint32_t why_not;
	uint32_t patches;
	uint8_t kind;
	uint8_t way;
	uint8_t nr_patches;
	uint8_t pad[5];
};

/*
 * Starts as { 0 }, ends with known_functions_deinit().
 *
 * @image: what may be kept; all below points into it
 * @list: sorted by start
 * @main_at: where main() is, as the program's first instructions say; 0: they do not
 */
struct known_functions {
	struct strbuf image;
	const struct known_function *list;
	size_t nr;
	const uint8_t *patches;
	size_t patches_len;
	const char *texts;
	size_t texts_len;
	uint64_t main_at;
};

void known_functions_deinit(struct known_functions *known);
#define cleanup_known_functions cleanup(known_functions_deinit)

/*
 * Find out about all functions of @u. @names: of the file's symbols, relative to @base: functions
 * that these name get no name of their own. 0; -ENOMEM; -E2BIG: there is more than an image can
 * say.
 */
int known_functions_make(struct known_functions *out, const struct unprepared *u,
			 const struct symtab *names, uint64_t base, const struct functions_key *key,
			 struct uft_err *err);

/*
 * Take @image, which is empty afterwards, for what is known of the file of @key. False when it is
 * of another one, or damaged in any way: whatever is accepted can be used.
 */
bool known_functions_take(struct known_functions *out, struct strbuf *image,
			  const struct functions_key *key);

/*
 * The key that stands in @image; false: there is no room for one. And the sum that it should have
 * is written to it.
 */
bool known_functions_key(const struct strbuf *image, struct functions_key *key);
void known_functions_seal(struct strbuf *image);

/* The texts of a function, or NULL. */
const char *known_function_name(const struct known_functions *known, size_t index);
const char *known_function_why_not(const struct known_functions *known, size_t index);

/* Append its patches to @found: struct found_patch. */
void known_function_add_patches(const struct known_functions *known, size_t index,
				struct strbuf *found);

#endif
