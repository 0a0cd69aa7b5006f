/* Source files for the page (see source_text.h). */
#include "utils/export/page/source_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"
#include "utils/base/fd.h"
#include "utils/base/path.h"

#define SOURCE_BYTES_MAX (4 << 20)
#define TAB_WIDTH	 8
#define NS_PER_S	 1000000000ULL

void source_text_deinit(struct source_text *source)
{
	strbuf_deinit(&source->text);
	free(source->starts);
	*source = (struct source_text){ 0 };
}

/*
 * True when @path ends like the name of a source file. Files with other names are not read: the
 * recording is not trusted, and may name a private key or a list of passwords.
 */
static bool is_source_name(const char *path)
{
	static const char *const endings[] = {
		"c",   "h",   "cc",  "cpp", "cxx", "c++", "hh",	 "hpp",	  "hxx", "h++",
		"inl", "inc", "ipp", "tcc", "s",   "asm", "rs",	 "py",	  "pyx", "go",
		"d",   "f",   "f90", "f95", "f03", "f08", "for", "adb",	  "ads", "m",
		"mm",  "cu",  "zig", "nim", "pas", "ml",  "hs",	 "swift", "y",	 "l",
	};
	const char *dot = strrchr(path_base(path), '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(endings); i++) {
		if (strcasecmp(dot + 1, endings[i]) == 0)
			return true;
	}
	return false;
}

/*
 * True when the open file itself has the name of a source. The path with which the file was opened
 * may be a symbolic link, and the link may have another name than the file.
 */
static bool has_source_name(int fd)
{
	char link[32];
	char path[4096];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);

	ssize_t len = readlink(link, path, sizeof(path) - 1);

	if (len < 0)
		return false;
	path[len] = '\0';
	return is_source_name(path);
}

static const char *check_file(int fd, const struct source_asker *asker)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return "cannot be read";
	if (!has_source_name(fd))
		return "does not have the name of a source file";
	if (!(st.st_mode & S_IROTH) && st.st_uid != asker->owner)
		return "is neither readable for all users nor the recording's owner's";
	if (st.st_size > SOURCE_BYTES_MAX)
		return "is larger than 4 MB";
	if (st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec > asker->built_ns)
		return "is newer than the program";
	return NULL;
}

static bool find_lines(struct source_text *source)
{
	const char *text = strbuf_str(&source->text);
	const char *end = text + source->text.len;

	for (const char *at = text; at < end;) {
		const char *stop = memchr(at, '\n', end - at);
		size_t *starts = vec_grow(source->starts, source->nr, sizeof(*starts));

		if (!starts)
			return false;
		source->starts = starts;
		starts[source->nr++] = at - text;
		at = stop ? stop + 1 : end;
	}
	return true;
}

const char *source_text_read(struct source_text *source, const char *path,
			     const struct source_asker *asker)
{
	if (!is_source_name(path))
		return "does not have the name of a source file";

	int fd cleanup_fd = file_open_regular(path, NULL);
	const char *why = fd < 0 ? (fd == -ENOENT ? "is not there" : "cannot be read")
				 : check_file(fd, asker);

	if (why)
		return why;
	if (!strbuf_grow(&source->text, SOURCE_BYTES_MAX))
		return "is too large for memory";

	ssize_t len = fd_read_full(fd, source->text.data, SOURCE_BYTES_MAX);

	if (len < 0)
		return "cannot be read";
	source->text.len = len;
	source->text.data[len] = '\0';
	if (memchr(source->text.data, '\0', len))
		return "is no text";
	source->is_python = strncasecmp(strrchr(path, '.'), ".py", 3) == 0;
	return find_lines(source) ? NULL : "is too large for memory";
}

const char *source_text_line(const struct source_text *source, size_t number, size_t *len)
{
	const char *text = strbuf_str(&source->text);
	const char *line = text + source->starts[number - 1];
	const char *end = number < source->nr ? text + source->starts[number]
					      : text + source->text.len;

	while (end > line && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	*len = end - line;
	return line;
}

/*
 * Returns the indentation of @line in columns, or -1 if @line is empty or blank. @begins gets the
 * first character after the indentation
 */
static int indentation(const char *line, size_t len, char *begins)
{
	int columns = 0;

	for (size_t i = 0; i < len; i++) {
		*begins = line[i];
		if (line[i] == '\t')
			columns += TAB_WIDTH - columns % TAB_WIDTH;
		else if (line[i] == ' ')
			columns++;
		else
			return columns;
	}
	return -1;
}

static bool is_one_liner(const char *line, size_t len)
{
	return len && memchr(line, '{', len) && line[len - 1] == '}';
}

static size_t end_of_block(const struct source_text *source, size_t first, size_t last, int base)
{
	bool was_inside = false;
	size_t end = first;

	for (size_t number = first + 1; number <= last; number++) {
		size_t len;
		char begins;
		const char *line = source_text_line(source, number, &len);
		int columns = indentation(line, len, &begins);

		if (columns < 0)
			continue;
		if (source->is_python) {
			/*
			 * If the function's first line is a decorator, the `def` line has the same
			 * indentation, but does not end the function. So a line with this
			 * indentation ends the function only after an indented line. A line that
			 * begins with ')' closes the arguments, and does not end the function.
			 */
			if (was_inside && columns <= base && begins != ')')
				return end;
		} else if (columns <= base && memchr(line, '}', len)) {
			return number;
		}
		was_inside |= columns > base;
		end = number;
	}
	return end;
}

size_t source_text_end(const struct source_text *source, size_t first)
{
	size_t last = MIN(source->nr, first + SOURCE_LINES_MAX - 1);
	size_t len;
	char begins;
	const char *line = source_text_line(source, first, &len);

	if (!source->is_python && is_one_liner(line, len))
		return first;
	return end_of_block(source, first, last, MAX(indentation(line, len, &begins), 0));
}
