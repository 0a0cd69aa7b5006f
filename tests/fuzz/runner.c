/*
 * main() of a fuzz target as a test: it replays files, and all files of directories, with a time
 * limit for each.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

#define INPUT_MAX_BYTES (64 << 20)
#define LIMIT_S		60 /* for sanitizers on a busy machine; an input takes milliseconds */

static unsigned nr_inputs;

static void replay_file(const char *path)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	if (file_read_all(path, INPUT_MAX_BYTES, &text, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}

	/* A buffer of the exact size shows a sanitizer each byte that is read too far. */
	uint8_t *exact cleanup_free = malloc(text.len ? text.len : 1);

	FUZZ_CHECK(exact);
	if (text.len)
		memcpy(exact, text.data, text.len);
	/* This path is the last line of the output when the input kills the program. */
	fprintf(stderr, "%s\n", path);
	alarm(LIMIT_S);
	LLVMFuzzerTestOneInput(exact, text.len);
	alarm(0);
	nr_inputs++;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_dir(const char *path)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, is_visible, alphasort);

	if (nr < 0) {
		fprintf(stderr, "cannot open '%s': %s\n", path, strerror(errno));
		exit(2);
	}
	for (int i = 0; i < nr; i++) {
		char name[PATH_MAX];

		FUZZ_CHECK(snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name) <
			   (int)sizeof(name));
		replay_file(name);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	fuzz_is_thorough = true;
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			replay_dir(argv[i]);
		else
			replay_file(argv[i]);
	}
	/* A corpus that is missing must not look like success. */
	if (nr_inputs == 0) {
		fprintf(stderr, "no inputs\n");
		return 2;
	}
	fprintf(stderr, "%u inputs\n", nr_inputs);
	return 0;
}
