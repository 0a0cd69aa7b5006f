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

/* The members before the array fill two registers. */
struct wide {
	long a;
	long b;
	char tail[];
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

KEPT struct wide take_wide(struct wide w, int n)
{
	return w;
}

KEPT int take_outer(struct outer o, int n)
{
	return o.inner.nr + n;
}

int main(void)
{
	take_tailed((struct tailed){ 3 }, 4);
	take_bounded((struct bounded){ 5 }, 6);
	take_wide((struct wide){ 10, 11 }, 12);
	return take_outer((struct outer){ 7, { 8 } }, 9) != 17;
}
