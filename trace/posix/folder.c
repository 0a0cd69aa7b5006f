/* Lists the names in a folder without malloc(). Signal-safe. */
#include "posix/posix.h"

#include <sys/syscall.h>
#include <unistd.h>

/* The format of getdents64(2). */
struct directory_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short bytes;
	unsigned char type;
	char name[];
};

void pxt_list(int folder, void (*visit)(const char *name, void *argument), void *argument)
{
	_Alignas(struct directory_entry) char buf[4096];
	long nr;

	lseek(folder, 0, SEEK_SET);
	while ((nr = syscall(SYS_getdents64, folder, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < nr;) {
			struct directory_entry *entry = (struct directory_entry *)(buf + at);

			visit(entry->name, argument);
			at += entry->bytes;
		}
	}
}
