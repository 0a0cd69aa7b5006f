/*
 * The runtime of a language such as Go finds the frames of Go code by the return addresses on the
 * stack. The probe must not replace a return address that points into code of such a language.
 * object_own_frames() finds this code in a file.
 */
#ifndef UTRAIL_OBJECT_OWN_FRAMES_H
#define UTRAIL_OBJECT_OWN_FRAMES_H

#include "utils/base/containers/strbuf.h"
#include "utils/object/code/code.h"

/*
 * A range of code. The runtime of a language finds the frames of this code by return addresses.
 *
 * @start, @end: virtual addresses, as in the section headers of the file that contains the code
 * @why: the reason why return addresses into this code must not be replaced; a static string
 * @is_copied: the runtime copies or moves the code, so the code must not be patched
 * @is_everywhere: while the file is loaded in a process, the probe must not replace any return
 *                 address in this process
 */
struct own_frames {
	uint64_t start;
	uint64_t end;
	const char *why;
	bool is_copied;
	bool is_everywhere;
};

/*
 * Find the ranges of code in @file for which this holds: a return address into the range must not
 * be replaced. Append each range to @out, as a struct own_frames. Returns 0 or -ENOMEM. These
 * ranges are found:
 *
 * - in a file of Go, OCaml or Haskell (runtimes.h): all code
 * - in a file with V8: only the builtin functions, which V8's compiler makes when the file is
 *   built. If symbols do not tell where the builtin functions are, as in a stripped library: each
 *   range of at least 16 KiB of code without call frame information
 * - functions with an unwinder of their own, such as LuaJIT's interpreter. The mark of such a
 *   function is a personality routine that uses no tables
 * - in a library that copies pieces of the stack: one code section, with @is_everywhere. In Ruby's
 *   continuation.so, this is the first code section. In other libraries such as greenlet, this is
 *   the first code section with code that adds the same register to the stack pointer and to the
 *   frame pointer. Sections larger than 1 MiB are not searched for such code
 *
 * @code: the code of the file; NULL: it is loaded when needed
 */
int object_own_frames(const struct elf_file *file, const struct code *code, struct strbuf *out);

#endif
