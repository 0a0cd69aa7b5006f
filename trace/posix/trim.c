/*
 * Releases memory that a child process has from its parent process. The child lives as long as the
 * parent. If the child kept all pages, each page that the parent writes to would exist twice. The
 * child keeps private mappings of files (the code and data of the program and its libraries), the
 * stack, and the pages that the caller names.
 */
#include "posix/keeper.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma weak __asan_init
#pragma weak __hwasan_init
#pragma weak __msan_init
#pragma weak __tsan_init
void __asan_init(void);
void __hwasan_init(void);
void __msan_init(void);
void __tsan_init(void);

bool pxt_has_thread_sanitizer(void)
{
	return __tsan_init;
}

/* If the program has a sanitizer, no memory is released, since the sanitizer needs it. */
static bool has_sanitizer(void)
{
	return __asan_init || __hwasan_init || __msan_init || pxt_has_thread_sanitizer();
}

/*
 * The kernel may merge unrelated anonymous mappings into one. So if an address in @keeps lies in an
 * anonymous mapping, the child may not need the whole mapping. Only the memory around each such
 * address stays mapped: at least WINDOW bytes on each side.
 */
#define WINDOW	      (256ul << 10)
#define ZERO_DATA_MAX (4ul << 20)

/*
 * @end_of_file: the end of the private file mapping that was looked at last. A mapping that begins
 *               at this address has the zero-initialized data of that file
 */
struct trimming {
	const void *const *keeps;
	int nr_keeps;
	uintptr_t end_of_file;
};

static uintptr_t take_hex(const char **at)
{
	uintptr_t number = 0;

	for (;; ++*at) {
		char c = **at;

		if (c >= '0' && c <= '9')
			number = number << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return number;
	}
}

static bool is_named(const struct trimming *trimming, uintptr_t begin, uintptr_t end)
{
	for (int nr = 0; nr < trimming->nr_keeps; nr++) {
		uintptr_t at = (uintptr_t)trimming->keeps[nr];

		if (at >= begin && at < end)
			return true;
	}
	return false;
}

/*
 * Finds the first range at or after @at that stays mapped. Returns its beginning, and stores its
 * end in *@end. Returns UINTPTR_MAX if there is no such range.
 */
static uintptr_t find_window(const struct trimming *trimming, uintptr_t at, uintptr_t *end)
{
	uintptr_t best = UINTPTR_MAX;

	for (int nr = 0; nr < trimming->nr_keeps; nr++) {
		uintptr_t middle = (uintptr_t)trimming->keeps[nr] & ~(WINDOW - 1);
		uintptr_t first = middle - WINDOW < at ? at : middle - WINDOW;

		if (middle < WINDOW || middle + 2 * WINDOW <= at || first >= best)
			continue;
		best = first;
		*end = middle + 2 * WINDOW;
	}
	return best;
}

static void unmap_range(uintptr_t begin, uintptr_t end)
{
	if (begin < end)
		munmap((void *)begin, end - begin);
}

static void unmap_others(const struct trimming *trimming, uintptr_t begin, uintptr_t end)
{
	uintptr_t window_end = 0, window;

	while (begin < end) {
		window = find_window(trimming, begin, &window_end);
		unmap_range(begin, window < end ? window : end);
		if (window >= end)
			break;
		begin = window_end;
	}
}

/*
 * Unmaps those parts of a mapping that the child does not need. Mappings with names in brackets,
 * like "[stack]" and "[vdso]", stay. "[heap]" and "[anon:...]" are exceptions: in these mappings,
 * the child needs only the pages that the caller names.
 */
static void look_at_mapping(struct trimming *trimming, uintptr_t begin, uintptr_t end,
			    bool is_shared, const char *path)
{
	if (*path == '/' && !is_shared) {
		trimming->end_of_file = end;
		return;
	}
	if (*path == '/') {
		if (!is_named(trimming, begin, end))
			unmap_range(begin, end);
		return;
	}
	if (*path == '[' && path[1] != 'h' && path[1] != 'a')
		return;
	if (begin == trimming->end_of_file)
		begin += ZERO_DATA_MAX;
	unmap_others(trimming, begin, end);
}

/* Looks at a line in the format of proc(5): begin-end rwxp offset device inode path */
static void look_at_line(struct trimming *trimming, const char *line)
{
	const char *at = line;
	uintptr_t begin = take_hex(&at), end;
	bool is_shared;

	if (*at++ != '-')
		return;
	end = take_hex(&at);
	if (strlen(at) < 5)
		return;
	is_shared = at[4] == 's';
	at++;
	for (int field = 0; field < 4 && *at; field++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	look_at_mapping(trimming, begin, end, is_shared, at);
}

/* Looks at lines of any length. Long lines are cut, since only the start of a path is needed. */
static void look_at_lines(struct trimming *trimming, int maps)
{
	char text[512], line[256];
	size_t len = 0;
	ssize_t nr;

	while ((nr = read(maps, text, sizeof(text))) > 0) {
		for (ssize_t at = 0; at < nr; at++) {
			if (text[at] != '\n') {
				if (len < sizeof(line) - 1)
					line[len++] = text[at];
				continue;
			}
			line[len] = '\0';
			look_at_line(trimming, line);
			len = 0;
		}
	}
}

void pxt_trim(const void *const *keeps, int nr)
{
	struct trimming trimming = { keeps, nr, 0 };
	int maps;

	if (has_sanitizer())
		return;
	maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (maps < 0)
		return;
	look_at_lines(&trimming, maps);
	close(maps);
}
