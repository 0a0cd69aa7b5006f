/* The files that belong to a recording. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/datadir.h"

TEST(known)
{
	static const char *const names[] = {
		"info",
		"task.txt",
		"default.opts",
		"sid-0123456789abcdef.map",
		"p.sym",
		"libc.so.6.sym",
		"p-0a1b.sym",
		"libc.so.6.dbg",
		"1.dat",
		"4194304.dat",
		"17.cdat",
		"perf-cpu0.dat",
		"kernel-cpu127.dat",
		"kallsyms",
		"kernel_header",
		"events.txt",
		"left-out.txt",
		"extern.dat",
		"note.txt",
		".channel",
		".info.tmp",
		".task.txt.tmp",
		".17.dat.tmp",
		".default.opts.tmp",
		".libc.so.6.sym.tmp",
		"task",
		"\x1b[5m.sym",
		".hidden.sym",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(datadir_has_name(names[i]));
}

TEST(unknown)
{
	static const char *const names[] = {
		"",
		".",
		"..",
		".tmp",
		"..tmp",
		"precious",
		"info.bak",
		"infox",
		"xinfo",
		".info",
		"info.tmp",
		".sym",
		".dat",
		"a.dat",
		"a.cdat",
		"17.ccdat",
		"1a.dat",
		"-1.dat",
		"perf-cpu.dat",
		"perf-cpu0.dat~",
		"sid-0123456789abcde.map",
		"sid-0123456789abcdef0.map",
		"sid-0123456789abcde/.map",
		"task.txt.old",
		"p.map",
		".precious.tmp",
		"default.opts.orig",
		"p.c",
		"core",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(datadir_has_name(names[i]));
}
