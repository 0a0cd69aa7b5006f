/* Helpers of the fuzz targets (see fuzz.h). */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"

bool fuzz_is_thorough;

static char scratch[PATH_MAX];

void fuzz_check_error(bool failed, const struct uft_err *err)
{
	FUZZ_CHECK(failed == (err->code != 0));
	FUZZ_CHECK(failed == (err->text[0] != '\0'));
}

uint32_t fuzz_hash(const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619u;
	return hash ^ hash >> 15;
}

const uint8_t *fuzz_bytes(struct fuzz_input *in, size_t max, size_t *len)
{
	const uint8_t *bytes = in->data;

	*len = max < in->size ? max : in->size;
	in->data += *len;
	in->size -= *len;
	return bytes;
}

uint8_t fuzz_u8(struct fuzz_input *in)
{
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, 1, &len);

	return len ? bytes[0] : 0;
}

uint16_t fuzz_u16(struct fuzz_input *in)
{
	uint16_t low = fuzz_u8(in);

	return low | fuzz_u8(in) << 8;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	/* The scratch directory itself stays until the end. */
	if (ftw->level > 0)
		remove(path);
	return 0;
}

static void empty_scratch(void)
{
	nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_scratch(void)
{
	empty_scratch();
	rmdir(scratch);
}

const char *fuzz_empty_dir(void)
{
	if (scratch[0]) {
		empty_scratch();
		return scratch;
	}

	const char *parent = getenv("TMPDIR");

	snprintf(scratch, sizeof(scratch), "%s/utrail-fuzz-XXXXXX", parent ? parent : "/tmp");
	FUZZ_CHECK(mkdtemp(scratch));
	atexit(remove_scratch);
	return scratch;
}

void fuzz_write_file(const char *name, const void *data, size_t size)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);

	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(fd_write_all(fd, data, size) == 0);
	close(fd);
}

void fuzz_mute_stdout(void)
{
	static bool is_mute;

	if (is_mute)
		return;
	is_mute = true;

	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	close(fd);
}

/* LeakSanitizer ignores these leaks: libtraceevent loses a few bytes when it rejects a format. */
EXPORTED const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}
