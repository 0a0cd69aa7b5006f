/* A library that the act "dlopen" loads. */
#include "acts.h"

FN int plugin_leaf(int n)
{
	KEEP();
	return n + 1;
}

__attribute__((visibility("default"))) FN int in_plugin(int n);

int in_plugin(int n)
{
	int sum = plugin_leaf(n) + plugin_leaf(n + 10);

	KEEP();
	return sum;
}
