/*
 * The run times of some languages find the frames of their code by the return addresses on the
 * stack. The functions of this file find such code, because the probe must not replace return
 * addresses into such code.
 */
#ifndef UTRAIL_OBJECT_OWN_FRAMES_H
#define UTRAIL_OBJECT_OWN_FRAMES_H

#include "utils/base/containers/strbuf.h"
#include "utils/object/code/code.h"

/*
 * A range of code. A run time finds the frames of this code by return addresses. @start and @end
 * are the file's own addresses.
 *
 * @why: the reason, a static string
 * @is_copied: the run time copies or moves the code, so it must not be patched
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
 * Some run times find the frames of their code by return addresses. Append the ranges of such code
 * in @file to @out, each as a struct own_frames. Returns 0 or -ENOMEM. These ranges are found:
 *
 * - all code of languages with a run time of their own (runtimes.h)
 * - builtin functions of V8, which V8's compiler makes when the file is built; in a stripped
 *   library, each stretch of 16 KiB or more of code without call frame information
 * - code with an unwinder of its own (LuaJIT's interpreter): a personality routine without tables
 * - libraries that copy pieces of stacks: those whose code moves stack pointer and frame pointer by
 *   the same distance (greenlet), and Ruby's continuation.so. Sections above 1 MiB are not searched
 *
 * In a file with V8, only the ranges of V8's builtin functions are appended.
 *
 * @code: the code of the file; NULL: it is loaded when needed
 */
int object_own_frames(const struct elf_file *file, const struct code *code, struct strbuf *out);

#endif
