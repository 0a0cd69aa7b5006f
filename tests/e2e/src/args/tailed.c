/* Structs that end in an array without a bound, passed and returned by value. */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

struct tailed {
	int nr;
	int tail[];
};

/* This array has a bound, which is 0. */
struct bounded {
	int nr;
	int tail[0];
};

struct outer {
	int before;
	struct tailed inner;
};

KEPT struct tailed take_tailed(struct tailed t, int n)
{
	return t;
}

KEPT struct bounded take_bounded(struct bounded b, int n)
{
	return b;
}

KEPT int take_outer(struct outer o, int n)
{
	return o.inner.nr + n;
}

int main(void)
{
	take_tailed((struct tailed){ 3 }, 4);
	take_bounded((struct bounded){ 5 }, 6);
	return take_outer((struct outer){ 7, { 8 } }, 9) != 17;
}
