/*
 * Functions for tests of patches, compiled with room for hooks and without. They are never called.
 */
int victim_large(int a, int *out);
int victim_leaf(int a);
int victim_same(int a);
int victim_sum(int a, int b, int c);

int victim_large(int a, int *out)
{
	for (int i = 0; i < a; i++)
		out[i] = victim_leaf(out[i] * 3 + i) ^ out[a - i];
	return out[0] + victim_sum(a, out[1], out[2]);
}

__attribute__((noinline)) int victim_leaf(int a)
{
	return a * 1234567 + (a >> 3);
}

/* This function is shorter than a jump. */
int victim_same(int a)
{
	return a;
}

__attribute__((noinline)) int victim_sum(int a, int b, int c)
{
	return a * b + b * c + c * a + 100000;
}
