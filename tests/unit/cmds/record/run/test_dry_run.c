/*
 * --dry-run: the output for a file whose functions have room for hooks, or have none; and for a
 * missing file.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/record/run/dry_run.h"
#include "utils/spec/events.h"

static const char *with_room;
static const char *without;

static struct patch_rules patches;
static struct filters filters;
static struct watch_spec watch;
static struct event_rules events;
static struct opts opts;
static char warned[1024];

/* Returns all that was printed to stdout for @path with rules @text. */
static const char *printed(const char *path, const char *text, int level, int expected)
{
	static char out[8192];
	struct run run = { .opts = &opts };
	FILE *file = tmpfile();
	int before = dup(STDOUT_FILENO);
	ssize_t n;
	int ret;

	assert_true(file && before >= 0);
	assert_int_equal(patch_rules_parse(text, MATCH_GLOB, &patches, NULL), 0);
	run.settings = (struct record_settings){
		.filters = &filters,
		.watch = &watch,
		.events = &events,
		.patches = &patches,
	};
	snprintf(run.program.path, sizeof(run.program.path), "%s", path);
	memset(warned, 0, sizeof(warned));
	opts.msg = (struct msg){ .file = fmemopen(warned, sizeof(warned), "w"), .level = level };
	fflush(stdout);
	assert_int_equal(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
	ret = dry_run(&run, NULL);
	fflush(stdout);
	assert_int_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
	close(before);
	fclose(opts.msg.file);
	assert_int_equal(ret, expected);
	n = pread(fileno(file), out, sizeof(out) - 1, 0);
	assert_true(n >= 0);
	out[n] = '\0';
	fclose(file);
	patch_rules_deinit(&patches);
	patches = (struct patch_rules){ 0 };
	return out;
}

/* Check that @out begins with the line "FILE: ...". */
static void check_line(const char *out, const char *path, const char *text)
{
	char line[PATH_MAX + 128];

	snprintf(line, sizeof(line), "%s: %s", path, text);
	assert_memory_equal(out, line, strlen(line));
}

TEST(with_room_for_hooks)
{
	check_line(printed(with_room, "victim_*", 0, CMD_DONE), with_room,
		   "4 functions would be patched\n");
	assert_string_equal(warned, "");
	check_line(printed(with_room, "victim_l*", 0, CMD_DONE), with_room,
		   "2 functions would be patched\n");
}

/*
 * Check "N of M". The lines after it tell for all of these functions how they are patched, or why
 * not.
 */
static size_t check_counts(const char *out)
{
	size_t nr, chosen, sum = 0;
	unsigned count;

	check_line(out, without, "");
	out += strlen(without) + strlen(": ");
	assert_int_equal(sscanf(out, "%zu of %zu functions would be patched", &nr, &chosen), 2);
	assert_int_equal(chosen, 3);
	assert_true(nr >= 2);
	while ((out = strchr(out, '\n')) && strncmp(++out, "        ", 8) == 0 &&
	       sscanf(out, "%u", &count) == 1)
		sum += count;
	assert_int_equal(sum, 3);
	return nr;
}

/* Each function has its own line only with -v. */
TEST(without_room)
{
	const char *out = printed(without, "victim_large;victim_sum;victim_same", 0, CMD_DONE);
	size_t nr = check_counts(out);

	assert_null(strstr(out, "victim_"));
	out = printed(without, "victim_large;victim_sum;victim_same", 1, CMD_DONE);
	assert_int_equal(check_counts(out), nr);
	assert_non_null(strstr(out, "victim_same"));
	assert_non_null(strstr(out, "victim_sum"));
	assert_null(strstr(out, "victim_leaf"));
}

TEST(rules_about_nothing)
{
	printed(with_room, "no_such_function", 0, CMD_DONE);
	assert_non_null(strstr(warned, "no_such_function"));
}

TEST(no_file)
{
	assert_string_equal(printed("/there/is/none", "main", 0, -ENOENT), "");
}

int main(int argc, char **argv)
{
	assert_int_equal(argc, 3);
	with_room = argv[1];
	without = argv[2];
	return unit_run();
}
