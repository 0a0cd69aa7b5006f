/*
 * The runtimes of some languages find the frames of their code by the return addresses on the
 * stack. object_own_frames() finds such code in a file, because the probe must not replace return
 * addresses into such code.
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
 * @is_everywhere: while the file is loaded, no return address may be replaced in any code
 */
struct own_frames {
	uint64_t start;
	uint64_t end;
	const char *why;
	bool is_copied;
	bool is_everywhere;
};

/*
 * Return addresses into some code of @file must not be replaced. Find this code. Append each range
 * of the code to @out, as a struct own_frames. Returns 0 or -ENOMEM. These ranges are found:
 *
 * - all code of languages with a runtime of their own (runtimes.h)
 * - builtin functions of V8, which V8's compiler makes when the file is built; in a stripped
 *   library, each stretch of 16 KiB or more of code without call frame information
 * - code with an unwinder of its own, such as LuaJIT's interpreter. The mark of such code is a
 *   personality routine that uses no tables
 * - libraries that copy pieces of stacks: Ruby's continuation.so, and libraries whose code adds one
 *   register to both the stack pointer and the frame pointer (greenlet). Sections above 1 MiB are
 *   not searched for such code
 *
 * In a file with V8, only the ranges of V8's builtin functions are appended.
 *
 * @code: the code of the file; NULL: it is loaded when needed
 */
int object_own_frames(const struct elf_file *file, const struct code *code, struct strbuf *out);

#endif
