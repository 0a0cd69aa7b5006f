/*
 * Declares two events, and calls FSTRACE() for both. A pattern chooses one of them, and the log has
 * only the chosen event.
 *
 *     cc fstrace_shop.c $(pkg-config --cflags --libs utrail-trace) -o fstrace_shop
 *     ./fstrace_shop /tmp/shop && cat /tmp/shop.log
 */
#include <fstrace.h>
#include <stdio.h>

FSTRACE_DECL(SHOP_SOLD, "ITEM=%s PIECES=%d");
FSTRACE_DECL(SHOP_COUNTED, "PIECES=%d");

int main(int argc, char *argv[])
{
	fstrace_t *trace = fstrace_open(argc > 1 ? argv[1] : "shop", -1);
	int left = 10;

	if (!trace) {
		perror("fstrace_open");
		return 1;
	}
	fstrace_declare_globals(trace);
	fstrace_select_regex(trace, "SOLD", NULL);
	while (left > 0) {
		FSTRACE(SHOP_SOLD, "apple", 5);
		left -= 5;
		FSTRACE(SHOP_COUNTED, left);
	}
	return fstrace_close(trace) != 0;
}
