/*
 * Code whose run time finds its frames by return addresses: return addresses that lead to such code
 * must not be replaced on the stack.
 */
#ifndef UTRAIL_OBJECT_OWN_FRAMES_H
#define UTRAIL_OBJECT_OWN_FRAMES_H

#include "utils/base/containers/strbuf.h"
#include "utils/object/code/code.h"

/*
 * A range [@start, @end) of such code, in the file's own addresses. @why: the reason, a static
 * string. @is_copied: the run time copies or moves the code, so it must not be patched.
 * @is_everywhere: where that file is loaded, no return address may be replaced in any code
 */
struct own_frames {
	uint64_t start;
	uint64_t end;
	const char *why;
	bool is_copied;
	bool is_everywhere;
};

/*
 * Append the parts of @file that are such code to @out, each as a struct own_frames. These are all
 * code of languages with a run time of their own (runtimes.h). V8's builtin functions are such
 * parts, too: V8's compiler makes them when the file is built. A stripped library of V8 is
 * recognised by the symbols that remain; then all code without call frame information counts. An
 * engine with an unwinder of its own, as LuaJIT's interpreter, is recognised by a personality
 * routine without tables. Libraries that copy pieces of stacks, as greenlet does, are recognised by
 * the instructions with which they move the stack pointer and the frame pointer by one distance.
 * @code: the code of the file, for callers that have it; NULL: it is loaded when it is needed. 0 or
 * -ENOMEM.
 */
int object_own_frames(const struct elf_file *file, const struct code *code, struct strbuf *out);

#endif
