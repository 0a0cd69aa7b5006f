/*
 * The option table and the command line: the options that words set, and the consistency of the
 * table.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/cmd.h"
#include "cmds/help/help.h"
#include "cmds/advice/unsupported.h"
#include "cmds/filter_opts.h"
#include "cmds/opts.h"

static struct uft_err last_err;

/* Parses @line, split at blanks. The caller deinits @opts. */
static int parse(const char *line, struct opts *opts)
{
	static char copy[512];
	static char *argv[64];
	int argc = 0;

	opts_init(opts);
	last_err = (struct uft_err){ 0 };
	argv[argc++] = "utrail";
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return opts_parse(opts, argc, argv, &last_err);
}

TEST(commands)
{
	struct opts opts cleanup_opts;

	assert_int_equal(parse("replay -D 3 --flat", &opts), 0);
	assert_string_equal(opts.cmd->name, "replay");
	assert_int_equal(opts.depth, 3);
	assert_true(opts.flat);
	assert_int_equal(opts.nr_args, 0);
	opts_deinit(&opts);

	/* All words from the program on belong to the program. */
	assert_int_equal(parse("-d dir/ record -t 5us ./prog -D 3 record", &opts), 0);
	assert_string_equal(opts.cmd->name, "record");
	assert_string_equal(opts.data_dir, "dir");
	assert_int_equal(opts.time_filter_ns, 5000);
	assert_int_equal(opts.depth, 1024);
	assert_int_equal(opts.nr_args, 4);
	assert_string_equal(opts.args[0], "./prog");
	assert_null(opts.args[4]);
	opts_deinit(&opts);

	assert_int_equal(parse("--no-libcall ls replay", &opts), 0);
	assert_string_equal(opts.cmd->name, "live");
	assert_string_equal(opts.args[0], "ls");
	assert_string_equal(opts.data_dir, OPTS_DEFAULT_DIR);
	opts_deinit(&opts);

	/* A command that runs no program takes options after its words, too. */
	assert_int_equal(parse("graph main -d dir -D 3", &opts), 0);
	assert_int_equal(opts.depth, 3);
	assert_string_equal(opts.data_dir, "dir");
	assert_int_equal(opts.nr_args, 1);
	assert_string_equal(opts.args[0], "main");
	assert_null(opts.args[1]);
	opts_deinit(&opts);

	assert_int_equal(parse("graph a -D 3 b -f total c -- -d e", &opts), 0);
	assert_int_equal(opts.depth, 3);
	assert_string_equal(opts.fields, "total");
	assert_int_equal(opts.nr_args, 5);
	for (int i = 0; i < 5; i++)
		assert_string_equal(opts.args[i],
				    ((const char *[]){ "a", "b", "c", "-d", "e" })[i]);
	opts_deinit(&opts);

	assert_int_equal(parse("-- replay", &opts), 0);
	assert_string_equal(opts.cmd->name, "live");
	assert_string_equal(opts.args[0], "replay");
	opts_deinit(&opts);

	assert_int_equal(parse("", &opts), 0);
	assert_null(opts.cmd);
}

TEST(values)
{
	struct opts opts cleanup_opts;

	assert_int_equal(parse("replay --tid 3,5 --tid=7 -r 1ms~2ms --color=no --trace=off "
			       "--demangle full -f +task",
			       &opts),
			 0);
	assert_int_equal(opts.nr_tids, 3);
	assert_int_equal(opts.tids[2], 7);
	assert_int_equal(opts.range.stop.time_ns, 2000000);
	assert_int_equal(opts.color, OPTS_COLOR_OFF);
	assert_false(opts.trace_on);
	assert_int_equal(opts.demangle, DEMANGLE_FULL);
	assert_string_equal(opts.fields, "+task");
	opts_deinit(&opts);

	assert_int_equal(parse("report -s call -s self --format=csv --avg-total", &opts), 0);
	assert_string_equal(opts.sort_keys, "call,self");
	assert_int_equal(opts.format, OPTS_FORMAT_CSV);
	assert_true(opts.average_total);
	opts_deinit(&opts);

	assert_int_equal(parse("record -b 1m --clock=boot --max-stack=65535 --arg-elements=255 "
			       "--debug-domain=symbol:3,wrap x",
			       &opts),
			 0);
	assert_int_equal(opts.rec.segment_bytes, 1 << 20);
	assert_int_equal(opts.rec.clock_id, 7);
	assert_int_equal(opts.rec.max_stack, 65535);
	assert_int_equal(opts.msg.levels[MSG_SYMBOL], 3);
	assert_int_equal(opts.msg.levels[MSG_WRAP], 1);
	opts_deinit(&opts);

	/* The next word is never taken as an optional argument. */
	assert_int_equal(parse("record --proc ptrace", &opts), 0);
	assert_int_equal(opts.rec.proc_way, PROC_WAY_AUTO);
	assert_int_equal(opts.nr_args, 1);
	opts_deinit(&opts);
	assert_int_equal(parse("record --proc=ptrace x", &opts), 0);
	assert_int_equal(opts.rec.proc_way, PROC_WAY_PTRACE);
	opts_deinit(&opts);
	assert_int_equal(parse("build --proc=bpf x", &opts), 0);
	assert_int_equal(opts.rec.proc_way, PROC_WAY_BPF);
}

/* -U X and -P !X do the same, but messages name the option that was typed. */
TEST(rules_know_their_option)
{
	static const bool expected[] = { false, true, true, false, false, true, false };
	struct opts opts cleanup_opts;

	assert_int_equal(parse("record -P a -U b;c -P !d;e -U f -P g x", &opts), 0);
	assert_int_equal(opts.rec.patches->nr, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_int_equal(opts.rec.patches->rules[i].is_unpatch, expected[i]);
	opts_deinit(&opts);
	assert_int_equal(parse("record -U a;b x", &opts), 0);
	assert_true(opts.rec.patches->rules[0].is_unpatch);
	assert_true(opts.rec.patches->rules[1].is_unpatch);
	opts_deinit(&opts);
	/* -N X and -F !X do the same, too. */
	assert_int_equal(parse("replay -F !a -N b -F !c -T d@depth=1", &opts), 0);
	assert_string_equal(filter_as_typed(&opts.filters->entries[0]).option, "filter");
	assert_string_equal(filter_as_typed(&opts.filters->entries[0]).text, "!a");
	assert_string_equal(filter_as_typed(&opts.filters->entries[1]).option, "notrace");
	assert_string_equal(filter_as_typed(&opts.filters->entries[1]).text, "b");
	assert_string_equal(filter_as_typed(&opts.filters->entries[2]).option, "filter");
	assert_string_equal(filter_as_typed(&opts.filters->entries[3]).option, "trigger");
}

/* If both -t and -r are given, the later one counts. */
TEST(time_filter_or_range)
{
	struct opts opts cleanup_opts;

	assert_int_equal(parse("--logfile=/dev/null replay -t 5us -r 1s~", &opts), 0);
	assert_int_equal(opts.time_filter_ns, 0);
	assert_true(opts.range.start.is_set);
	opts_deinit(&opts);
	assert_int_equal(parse("--logfile=/dev/null replay -t 5us --last 1s", &opts), 0);
	assert_int_equal(opts.time_filter_ns, 0);
	assert_true(opts.range.start.is_from_end);
	opts_deinit(&opts);
	assert_int_equal(parse("replay -r 1s~ -t 5us", &opts), 0);
	assert_int_equal(opts.time_filter_ns, 5000);
	assert_false(opts.range.start.is_set);
}

TEST(refused)
{
	static const char *const cases[][2] = {
		{ "replay --bogus", "unknown option '--bogus'" },
		{ "record --arg-elements=256 x",
		  "option '--arg-elements': invalid number '256': expected 0 to 255" },
		{ "-D 0 replay", "option '--depth': invalid number '0': expected 1 to 65534" },
		{ "replay -D 65535", "option '--depth'" },
		{ "replay --tid=0", "option '--tid': invalid task '0'" },
		{ "replay --tid=1,", "option '--tid'" },
		{ "replay -r 5us", "option '--time-range': invalid time range '5us'" },
		{ "replay --last 5~", "option '--last': invalid time '5~'" },
		{ "replay --last 5ms -r 1s~", "--last and --time-range cannot be used together" },
		{ "report -r ~1s --last=5ms", "--last and --time-range cannot be used together" },
		{ "replay --format=csv", "option '--format': replay cannot show csv" },
		{ "replay --format=pdf", "option '--format': unknown word 'pdf'" },
		{ "report --avg-total --avg-self", "--avg-total and --avg-self" },
		{ "record --rt-prio=100 x", "option '--rt-prio'" },
		{ "record -Z 0 x", "option '--size-filter'" },
		{ "replay --debug-domain=fliter",
		  "option '--debug-domain': unknown domain 'fliter'; the "
		  "nearest: filter" },
		{ "replay --debug-domain=dwarf:x", "option '--debug-domain': invalid level" },
		{ "--data= replay", "option '--data' needs" },
		{ "record --proc=ebpf x", "option '--proc': unknown word 'ebpf'" },
		{ "record --proc= x", "option '--proc': unknown word ''" },
		{ "record --proc --agent x", "'--proc' cannot be used together with '--agent'" },
		{ "record --proc --pid=1", "'--proc' cannot be used together with '--pid'" },
		{ "record --proc --overhead=1 x", "'--proc' cannot be used together with" },
		{ "record --proc --keep-pid x", "'--proc' cannot be used together with" },
		{ "record --proc --flight=1m x", "'--proc' cannot be used together with" },
		{ "record --nop --proc x", "'--proc' cannot be used together with" },
		{ "record --proc-env x", "'--proc-env' needs '--proc'" },
		{ "record --no-proc-files x", "'--no-proc-files' needs '--proc'" },
		{ "live --proc x", "'--proc' is for record and build, not for live" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct opts opts cleanup_opts;

		assert_int_equal(parse(cases[i][0], &opts), -ERR_USAGE);
		assert_memory_equal(last_err.text, cases[i][1], strlen(cases[i][1]));
	}
}

TEST(table_is_sound)
{
	for (size_t i = 0; i < opts_table_nr; i++) {
		const struct opt_row *row = &opts_table[i];

		assert_non_null(opts_group_title(row->group));
		/* An option that no command has is in the table only to be refused. */
		assert_true(row->cmds != 0 || row->set == unsupported_refuse);
		assert_true(strlen(row->help) > 5 && row->help[strlen(row->help) - 1] != '.');
		assert_true(row->kind != OPT_SET || row->set);
		assert_true(row->kind != OPT_WORD || row->words);
		assert_true(row->kind != OPT_UINT || row->max > row->min);
		assert_true(row->kind != OPT_LIST || row->separator);
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(opts_table[j].name, row->name);
			/* A letter may mean different options of different commands. */
			assert_true(!row->letter || opts_table[j].letter != row->letter ||
				    !(opts_table[j].cmds & row->cmds));
		}
	}
}

TEST(help_shows_what_means_something)
{
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		struct strbuf text cleanup_strbuf = { 0 };

		help_full(*cmd, &text);
		for (size_t i = 0; i < opts_table_nr; i++) {
			char name[64];

			snprintf(name, sizeof(name), " --%s%s", opts_table[i].name,
				 opts_table[i].without ? "[="
				 : opts_table[i].arg   ? "="
						       : " ");

			/* The name of an option without argument may be at the end of a line. */
			char *found = strstr(strbuf_str(&text), name);

			if (!found && !opts_table[i].arg) {
				name[strlen(name) - 1] = '\n';
				found = strstr(strbuf_str(&text), name);
			}
			assert_int_equal(found != NULL, (opts_table[i].cmds & (*cmd)->bit) != 0);
		}
	}
}
