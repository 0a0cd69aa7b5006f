/* Structs by value with fields of every kind, whose text is known. */
#include <string>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define USE(x) __asm__ volatile("" : : "g"(&(x)) : "memory")

enum color {
	RED,
	GREEN,
	BLUE
};
enum class Mode : unsigned char {
	OFF,
	ON = 3
};

struct numbers {
	signed char a;
	unsigned char b;
	short c;
	unsigned d;
	long e;
};

struct bits {
	unsigned one : 1;
	int three : 3;
	unsigned long wide : 40;
	bool flag : 1;
	enum color color : 2;
	unsigned : 3;
	unsigned last : 7;
};

struct words {
	char letter;
	bool yes;
	enum color color;
	Mode mode;
	float single;
	double real;
	const char *text;
	int *pointer;
};

struct inner {
	int x, y;
};

struct outer {
	struct inner first;
	struct inner two[2];
	union {
		int number;
		unsigned char byte;
	};
	struct {
		short s;
	} unnamed;
	struct {
		short t;
	};
};

struct arrays {
	char name[8];
	short few[3];
	int many[10];
	int matrix[2][2];
};

struct base {
	int low;
	static int shared;
};
int base::shared;

struct derived : base {
	int high;
};

template <class T> struct box {
	T what;
	int n;
};

typedef struct {
	int a;
	float b;
} untagged;

struct counted {
	std::string name;
	int count;
};

struct huge {
	int elements[100];
	long words[30];
};

struct long_names {
	long a_field_with_a_name_that_is_far_longer_than_necessary_1,
		a_field_with_a_name_that_is_far_longer_than_necessary_2,
		a_field_with_a_name_that_is_far_longer_than_necessary_3,
		a_field_with_a_name_that_is_far_longer_than_necessary_4,
		a_field_with_a_name_that_is_far_longer_than_necessary_5,
		a_field_with_a_name_that_is_far_longer_than_necessary_6;
};

/* The last member has no bytes, so it is not shown. */
struct tailed {
	int nr;
	int tail[];
};

#define TAKE(name, type)              \
	KEPT type name(type t, int n) \
	{                             \
		USE(t);               \
		USE(n);               \
		return t;             \
	}

TAKE(take_numbers, numbers)
TAKE(take_bits, bits)
TAKE(take_words, words)
TAKE(take_outer, outer)
TAKE(take_arrays, arrays)
TAKE(take_derived, derived)
TAKE(take_box_int, box<int>)
TAKE(take_box_float, box<float>)
TAKE(take_untagged, untagged)
TAKE(take_counted, counted)
TAKE(take_huge, huge)
TAKE(take_long_names, long_names)
TAKE(take_tailed, tailed)

int global;

int main()
{
	bits b = {};
	outer o = { { 1, 2 }, { { 3, 4 }, { 5, 6 } }, { 0x107 }, { -8 }, { 9 } };

	derived d;

	d.low = 7;
	d.high = 8;
	b.one = 1;
	b.three = -3;
	b.wide = 0x1234567890;
	b.flag = true;
	b.color = BLUE;
	b.last = 99;
	take_numbers({ -1, 200, -300, 70000, -5000000000 }, 1);
	take_bits(b, 2);
	take_words({ 'w', true, GREEN, Mode::ON, 1.5f, -2.25, "text", &global }, 3);
	take_outer(o, 4);
	take_arrays(
		{ "name", { 1, -2, 3 }, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, { { 1, 2 }, { 3, 4 } } },
		5);
	take_derived(d, 6);
	take_box_int({ 5, 7 }, 7);
	take_box_float({ 0.5f, 8 }, 8);
	take_untagged({ 9, 0.25f }, 9);
	take_counted({ "me", 10 }, 10);
	take_huge({ { 1, 2, 3 }, { 4 } }, 11);
	take_long_names({ 1, 2, 3, 4, 5, 6 }, 12);
	take_tailed({ 3 }, 13);
	return 0;
}
