/* Fuzz target: whole data directories (archive.h), through every command that reads them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/opts.h"
#include "tests/fuzz/archive.h"
#include "tests/fuzz/fuzz.h"

/*
 * The command lines of all views, with each option that runs other code. A new command or view adds
 * its lines here.
 */
static const char *const command_lines[] = {
	"replay",
	"replay --flat --event-full",
	"replay -f all --no-merge --color=on",
	"replay --column-view --task-newline --libname --no-comment",
	"replay -t 1us --demangle=full",
	"replay -r 1us~ -D 3 --no-libcall --no-sched",
	"replay --format=html --tid=1,2,3,4242 -Z 16",
	"report",
	"report -f all --avg-total -s max,func",
	"report -f +cpu-list,cpu-mask --avg-self --format=csv",
	"report --task -f all",
	"report -f cpu-count,cpu-mask,cpu-list -s call",
	"report --task --format=csv -t 1us",
	"report -f all --num-thread 4 -s p99.9",
	"report --format=json -f p50,cpu-list,total-min-ts",
	"report --callers a",
	"report --callees main",
	"report --slowest main",
	"report --histogram leaf",
	"report --diff @ --diff-policy full,percent -f all",
	"graph",
	"graph -f all --event-full -t 1us",
	"graph -r 1us~ --format=html main",
	"graph --task --color=on",
	"graph --diff @",
	"graph --diff @ --format=svg main",
	"info",
	"info --symbols --demangle=full",
	"info --task",
	"dump",
	"dump -v -r 1us~ -D 2",
	"dump --tid=4242",
	"dump --format=chrome",
	"dump --format=chrome --event-full -r 1us~",
	"dump --format=flame-graph -t 1us",
	"dump --format=graphviz",
	"dump --format=mermaid",
	"dump --format=folded --event-full",
	"dump --format=perfetto",
	"dump --format=speedscope",
	"dump --format=callgrind",
	"dump --format=pprof",
	"dump --format=jsonl",
	"dump --format=firefox",
	"dump --format=sqlite",
	"dump --format=svg",
	"dump --format=html",
	"replay --no-args --srcline --inline -f none",
	"replay --srcline --inline --color=on --no-merge",
	"report --srcline",
	"dump --no-args",
	"report --events -f all -s p99.9,name",
	"report --events --format=json",
	"report --between SOLD,QUIET,pid",
	"report --between SOLD,SOLD,NR --format=json",
	"events list",
	"events show --path",
	"events export --as=fstrace",
	"events export --as=json",
	"events export --as=csv -E trace:SOLD",
	"build -o -",
	"build --as=json",
	"build --as=dot",
};

#define NR_COMMAND_LINES ARRAY_SIZE(command_lines)

static void choose_colors(struct opts *opts)
{
	if (opts->color == OPTS_COLOR_ON)
		opts->color_mode = COLOR_MODE_TERM;
	if (opts->format == OPTS_FORMAT_HTML)
		opts->color_mode = COLOR_MODE_HTML;
}

/* Run a command line as main() does, with all output discarded. */
static void run(const char *command_line, const char *dir)
{
	char *words cleanup_free = strdup(command_line);
	char *argv[32] = { "utrail", "-d", (char *)dir };
	int argc = 3;
	struct opts opts cleanup_opts;
	struct uft_err err = { 0 };

	for (char *at = words; at; argc++) {
		argv[argc] = strsep(&at, " ");
		if (strcmp(argv[argc], "@") == 0)
			argv[argc] = (char *)dir;
	}
	opts_init(&opts);
	opts.msg.file = fopen("/dev/null", "we");

	/* The directory's default.opts is a part of the options. */
	int status = opts_parse(&opts, argc, argv, &err);

	if (status == 0 && opts.cmd->check)
		status = opts.cmd->check(&opts, &err);
	if (status == 0) {
		choose_colors(&opts);
		status = opts.cmd->run(&opts, &err);
	}
	fuzz_check_error(status != CMD_DONE, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *dir = fuzz_empty_dir();

	fuzz_mute_stdout();
	archive_unpack(data, size, dir);
	if (!fuzz_is_thorough) {
		run(command_lines[fuzz_hash(data, size) % NR_COMMAND_LINES], dir);
		return 0;
	}
	for (size_t i = 0; i < NR_COMMAND_LINES; i++)
		run(command_lines[i], dir);
	return 0;
}

/*
 * A mutation that stays within one entry of the archive: bytes of a record file are no use in a
 * symbol file. Half of the time it leaves the directory's other files as they were.
 */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#ifdef UTRAIL_FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct archive_entry entry;
	unsigned nr = 0;

	for (size_t at = 0; archive_next(data, size, &at, &entry);)
		nr++;
	if (nr == 0 || seed % 8 == 0)
		return LLVMFuzzerMutate(data, size, max_size);

	unsigned chosen = seed / 8 % nr;

	for (size_t at = 0, i = 0; archive_next(data, size, &at, &entry) && i < chosen; i++)
		continue;

	size_t offset = entry.content - data;
	size_t behind = size - offset - entry.size;
	size_t room = max_size - offset - behind;
	uint8_t *content = malloc(room ? room : 1);

	if (!content || size > max_size) {
		free(content);
		return LLVMFuzzerMutate(data, size, max_size);
	}
	memcpy(content, entry.content, entry.size);

	size_t len = LLVMFuzzerMutate(content, entry.size, room);

	memmove(data + offset + len, data + offset + entry.size, behind);
	memcpy(data + offset, content, len);
	free(content);
	return offset + len + behind;
}
#endif
