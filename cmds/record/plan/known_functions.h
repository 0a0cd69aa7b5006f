/*
 * Facts about a file that was not compiled for tracing: its functions, and the patches with which
 * the probe can record these functions. The facts are stored in one image, a block of bytes that
 * can be saved as a file.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_KNOWN_FUNCTIONS_H
#define UTRAIL_CMDS_RECORD_PLAN_KNOWN_FUNCTIONS_H

#include "cmds/record/plan/unprepared.h"
#include "utils/object/build_id.h"

/*
 * Identifies a file, and the utrail program that has read the file. Two different files may have
 * equal build ids. So the key also has the kernel's data about the file's inode and last change.
 *
 * @build_id: in hex; all bytes after the digits are zero; "" when the file has none
 * @device, @inode, @size, @mtime_ns, @ctime_ns: the file's data from stat(2)
 * @names: a checksum of the file's base name, and of the functions' symbols. The symbols may come
 *         from another file
 * @maker_size, @maker_mtime_ns: the size and the last change of the utrail program. Another version
 *         of utrail may find other functions or patches in the same file
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
 * @name: the offset of the function's name in known_functions.texts; 0: the function's symbol has
 *         the name, or the name is unknown
 * @why_not: the offset in known_functions.texts of the reason why the function cannot be patched;
 *         0: the function can be patched
 * @patches: the offset of the function's @nr_patches patches in known_functions.patches
 * @kind: enum function_kind
 * @way: the enum unprepared_way that applies if a rule chooses the function
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
 * All functions of a file. The struct starts as { 0 }.
 *
 * @image: the bytes that can be saved as a file. @list, @patches and @texts point into @image
 * @list: the functions, sorted by start
 * @main_at: the address of main(), found in the first instructions of the program; 0: unknown
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
 * Make the facts about all functions of @u. Returns 0, -E2BIG when a number in the facts is too
 * large for its field in the image, or another negative errno.
 *
 * @names: the symbols of the file, with addresses relative to @base. If a function has a symbol in
 *         @names, the image does not store the function's name
 */
int known_functions_make(struct known_functions *out, const struct unprepared *u,
			 const struct symtab *names, uint64_t base, const struct functions_key *key,
			 struct uft_err *err);

/*
 * Move @image into @out. Afterwards @image is empty, even if the move fails. Returns false when the
 * image is damaged, or was made with a key other than @key. If the result is true, @out is safe to
 * use.
 */
bool known_functions_take(struct known_functions *out, struct strbuf *image,
			  const struct functions_key *key);

/*
 * known_functions_key() reads the key in @image, and returns false when @image is too short.
 * known_functions_seal() computes a checksum of the image, and stores the checksum in the image.
 * known_functions_take() checks this checksum.
 */
bool known_functions_key(const struct strbuf *image, struct functions_key *key);
void known_functions_seal(struct strbuf *image);

/*
 * known_function_name() returns the name of a function, and known_function_why_not() the reason why
 * the function cannot be patched. They return NULL when there is no name or no reason.
 */
const char *known_function_name(const struct known_functions *known, size_t index);
const char *known_function_why_not(const struct known_functions *known, size_t index);

/* Append the patches of the function to @found, as struct found_patch. */
void known_function_add_patches(const struct known_functions *known, size_t index,
				struct strbuf *found);

#endif
