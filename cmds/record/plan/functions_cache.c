/*
 * Stores the functions of ELF files, and the patches for these functions, in a cache (see
 * functions_cache.h).
 */
#include "cmds/record/plan/functions_cache.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmds/record/base/settings.h"
#include "cmds/record/store/user_cache.h"
#include "utils/base/path.h"
#include "utils/base/units.h"

static uint64_t add_to_sum(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ULL;
	return sum ^ sum >> 32;
}

static uint64_t add_text_to_sum(uint64_t sum, const char *text)
{
	size_t len = strlen(text);
	uint64_t word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		sum = add_to_sum(sum, word);
	}
	word = 0;
	memcpy(&word, text, len);
	return add_to_sum(sum, word ^ (uint64_t)len << 56);
}

/*
 * Returns a checksum of @names. The cache key contains this checksum, because names may come from
 * debug files or from --with-syms instead of the ELF file itself.
 */
static uint64_t sum_of_names(const struct symtab *names)
{
	uint64_t sum = names->nr;

	for (size_t i = 0; i < names->nr; i++) {
		sum = add_to_sum(sum, names->syms[i].addr);
		sum = add_to_sum(sum, names->syms[i].size ^ (uint64_t)names->syms[i].type << 56);
		sum = add_text_to_sum(sum, names->syms[i].name);
	}
	return sum;
}

bool functions_cache_key(const struct elf_file *file, const char *path, const struct symtab *names,
			 struct functions_key *key)
{
	struct stat st, maker;

	*key = (struct functions_key){ 0 };
	elf_build_id(file, key->build_id);
	if (!key->build_id[0] || fstat(file->fd, &st) < 0 || stat("/proc/self/exe", &maker) < 0)
		return false;
	key->device = st.st_dev;
	key->inode = st.st_ino;
	key->size = st.st_size;
	key->mtime_ns = timespec_ns(&st.st_mtim);
	key->ctime_ns = timespec_ns(&st.st_ctim);
	/* Include the file's name, because the loader and the C library are recognized by it. */
	key->names = add_text_to_sum(sum_of_names(names), path_base(path));
	key->maker_size = maker.st_size;
	key->maker_mtime_ns = timespec_ns(&maker.st_mtim);
	return true;
}

/*
 * Makes the name of a cache entry from the build id. Files with equal build ids overwrite each
 * other's entries.
 */
static void name_of(const struct functions_key *key, char *out, size_t size)
{
	snprintf(out, size, "%s.functions", key->build_id);
}

bool functions_cache_load(const struct functions_key *key, struct known_functions *out)
{
	int dir cleanup_fd = user_cache_open();
	struct strbuf image cleanup_strbuf = { 0 };
	char name[64];

	name_of(key, name, sizeof(name));
	return dir >= 0 && user_cache_read(dir, name, &image) &&
	       known_functions_take(out, &image, key);
}

/*
 * If a file changes twice within this period, stat(2) can show the same time after both changes. So
 * nothing is stored about a file that was changed less than this period ago.
 */
#define FRESH_NS (100 * NSEC_PER_MSEC)

static bool is_settled(const struct functions_key *key)
{
	return clock_now_ns(CLOCK_REALTIME) - key->ctime_ns > FRESH_NS;
}

void functions_cache_save(const struct elf_file *file, const struct functions_key *key,
			  const struct known_functions *known)
{
	int dir cleanup_fd = user_cache_open();
	struct stat st;
	char name[64];

	/* Store nothing if another process may have changed the file while the recorder read it. */
	if (dir < 0 || !is_settled(key) || fstat(file->fd, &st) < 0 ||
	    timespec_ns(&st.st_mtim) != key->mtime_ns ||
	    timespec_ns(&st.st_ctim) != key->ctime_ns || (uint64_t)st.st_size != key->size)
		return;
	name_of(key, name, sizeof(name));
	user_cache_write(dir, name, known->image.data, known->image.len);
}
