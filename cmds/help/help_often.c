/* Examples and options of each command's help (see help_often.h). */
#include "cmds/help/help_often.h"

/* clang-format off */
static const struct help_often table[] = {
	{ NULL,
	  { { "record -P . ./prog", "record what a program does" },
	    { "replay", "show it" } },
	  { NULL } },
	{ &cmd_record,
	  { { "record -a ./prog", "with arguments and results" },
	    { "record -P . -p PID --for 3s", "look into a process that runs already" } },
	  { "filter", "notrace", "depth", "time-filter", "auto-args", "patch", "pid", "Event", "kernel", "data", NULL } },
	{ &cmd_replay,
	  { { "replay -F main -D 3", "three levels of the calls in main()" },
	    { "replay -t 1ms -f +time", "calls of a millisecond and longer, with their times" } },
	  { "filter", "notrace", "hide", "depth", "time-filter", "time-range", "tid", "output-fields", "no-libcall", "data", NULL } },
	{ &cmd_report,
	  { { "report -s self", "where the time goes" },
	    { "report --diff before.data", "what has changed since another recording" } },
	  { "sort", "output-fields", "filter", "notrace", "callers", "callees", "slowest", "histogram", "diff", "data", NULL } },
	{ &cmd_graph,
	  { { "graph", "what called what" },
	    { "graph FUNC", "how a function came to be called, and what it calls" } },
	  { "filter", "notrace", "hide", "depth", "time-filter", "output-fields", "task", "diff", "no-libcall", "data", NULL } },
	{ &cmd_dump,
	  { { "dump --format=html > shop.html", "one page with a timeline and a flame graph" },
	    { "dump --format=chrome > shop.json", "for Chrome's chrome://tracing and Perfetto" } },
	  { "format", "diff", "filter", "notrace", "depth", "time-filter", "time-range", "tid", "no-args", "data", NULL } },
	{ &cmd_script,
	  { { "script -S count.py", "call functions of a script for each call of the recording" },
	    { "script -S count.lua -F main", "only for calls in main()" } },
	  { "script", "filter", "notrace", "depth", "time-filter", "time-range", "tid", "match", "no-args", "data", NULL } },
	{ &cmd_live,
	  { { "live ./prog", "see the calls while the program runs" },
	    { "live -p PID -F FUNC", "change what a recording with -g records" } },
	  { "filter", "notrace", "depth", "time-filter", "auto-args", "patch", "pid", "record", "report", "tui", NULL } },
	{ &cmd_tui,
	  { { "tui", "walk through the call graph, the report and the calls" },
	    { "tui --report -s self", "begin with the report, by self time" } },
	  { "report", "sort", "filter", "notrace", "depth", "time-filter", "time-range", "tid", "srcline", "data", NULL } },
	{ &cmd_show,
	  { { "show", "look at the recording in the browser" },
	    { "show --no-browser --port=8000", "print the address, for a browser elsewhere (ssh -L)" } },
	  { "no-browser", "port", "filter", "notrace", "depth", "time-filter", "time-range", "tid", "no-args", "data", NULL } },
	{ &cmd_info,
	  { { "info", "when, where and how a recording was made" },
	    { "info --task", "its tasks" } },
	  { "task", "symbols", "system", "data", NULL } },
	{ &cmd_build,
	  { { "build make -j8", "write compile_commands.json" },
	    { "build --as=deps -o deps.mk make", "what was made of what" } },
	  { "as", "output", "append", "all", "needs", "used-by", "declared", "ignore-files", "proc", "data", NULL } },
	{ &cmd_events,
	  { { "events list", "which events a recording has" },
	    { "events export --as=csv", "all of them as a table" } },
	  { "Event", "as", "filter", "time-range", "tid", "calls", "path", "into", "common", "data", NULL } },
	{ &cmd_import,
	  { { "import trace.dat", "take the kernel's trace from trace-cmd into uftrace.data" } },
	  { "into", "no-limit", "data", NULL } },
	{ &cmd_convert,
	  { { "convert small.data plain.data", "make a compact recording readable for other programs" },
	    { "convert --compact plain.data small.data", "write it in an eighth of the space" } },
	  { "compact", "data", NULL } },
	{ &cmd_control,
	  { { "control server.data", "what a recording with -g records now" },
	    { "control server.data filter FUNC", "record only what FUNC does, from now on" } },
	  { "match", "data", NULL } },
	{ &cmd_snapshot,
	  { { "snapshot -d server.data", "save what a recording with --flight has in memory" } },
	  { "data", NULL } },
};
/* clang-format on */

const struct help_often *help_often_of(const struct cmd *cmd)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].cmd == cmd)
			return &table[i];
	}
	return NULL;
}
