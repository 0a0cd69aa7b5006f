/*
 * Facts found in a file that was not compiled for tracing: its functions, and the patches at their
 * beginnings. They form one image, which can be kept.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_KNOWN_FUNCTIONS_H
#define UTRAIL_CMDS_RECORD_PLAN_KNOWN_FUNCTIONS_H

#include "cmds/record/plan/unprepared.h"
#include "utils/object/build_id.h"

/*
 * The identity of the file, and of the program that has read it. A build id can be copied; the
 * kernel's data of the file's place and last change cannot.
 *
 * @build_id: hex, with zeros after it; "" when the file has none
 * @device, @inode, @size, @mtime_ns, @ctime_ns: of the file, from stat(2)
 * @names: a sum of the functions' names, which may come from other files
 * @maker_size, @maker_mtime_ns: of the program that has made the image; another version may find
 *         other facts
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
 * @name: the offset of its name; 0: the file's symbols name it
 * @why_not: the offset of the reason why it cannot be patched; 0: it can be patched
 * @patches: the offset of its @nr_patches patches
 * @kind: enum function_kind
 * @way: enum unprepared_way, as if a rule had chosen the function
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
 * All functions of a file. Starts as { 0 }.
 *
 * @image: may be kept in a file; the members below point into it
 * @list: sorted by start
 * @main_at: the address of main(), found in the program's first instructions; 0: unknown
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
 * Make the facts about all functions of @u. Returns 0, -ENOMEM, or -E2BIG when an image cannot hold
 * so much.
 *
 * @names: the file's symbols, relative to @base; functions with a name there get none in the image
 */
int known_functions_make(struct known_functions *out, const struct unprepared *u,
			 const struct symtab *names, uint64_t base, const struct functions_key *key,
			 struct uft_err *err);

/*
 * Make @out from @image, which is empty afterwards. Returns false when the image is not about the
 * file of @key, or is damaged: an accepted image is safe to use.
 */
bool known_functions_take(struct known_functions *out, struct strbuf *image,
			  const struct functions_key *key);

/*
 * known_functions_key(): read the key in @image; false: @image is too short for a key.
 * known_functions_seal(): write the sum into @image.
 */
bool known_functions_key(const struct strbuf *image, struct functions_key *key);
void known_functions_seal(struct strbuf *image);

/* Return the name of a function, and the reason why it cannot be patched; NULL: none. */
const char *known_function_name(const struct known_functions *known, size_t index);
const char *known_function_why_not(const struct known_functions *known, size_t index);

/* Append the function's patches to @found, as struct found_patch. */
void known_function_add_patches(const struct known_functions *known, size_t index,
				struct strbuf *found);

#endif
