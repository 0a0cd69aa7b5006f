/* Functions that the compiler puts into their callers. */
__attribute__((always_inline)) static inline int square(int x)
{
	return x * x;
}

__attribute__((always_inline)) static inline int squares(int a, int b)
{
	return square(a) + square(b);
}

__attribute__((noinline)) int calc(int a, int b)
{
	return squares(a, b) + 1;
}

int main(int argc, char **argv)
{
	return calc(argc, 2) == 6 ? 0 : 1;
}
