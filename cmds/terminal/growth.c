/* Makes the stamp that shows whether a recording has grown (see growth.h). */
#include "cmds/terminal/growth.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "utils/base/cleanup.h"
#include "utils/format/datadir.h"

uint64_t growth_stamp(const char *dir)
{
	DIR *folder cleanup_dir = opendir(dir);
	uint64_t stamp = 0;
	struct stat st;

	for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
		if (datadir_has_name(e->d_name) &&
		    fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			stamp += (uint64_t)st.st_size * 31 + st.st_mtim.tv_sec * 1000003ULL +
				 st.st_mtim.tv_nsec;
	}
	return stamp;
}
