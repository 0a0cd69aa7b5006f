/* C++ with debug information: objects, references, strings, templates, namespaces. */
#include <string>
#include <vector>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define USE(x) __asm__ volatile("" : : "g"(x) : "memory")

namespace shop {

enum class Fruit : unsigned char { APPLE = 1, PEAR = 2 };

struct Point {
	int x, y;
};

struct Empty {
};

/* Passed by reference, since it has a destructor that does something. */
struct Owner {
	std::string name;
	int number;
	~Owner() { USE(this); }
};

class Cart {
	int items;

public:
	explicit Cart(int n) : items(n) {}
	KEPT int add(int n) const;
	KEPT virtual int price(short s);
	KEPT static bool is_open(bool b);
	virtual ~Cart() {}
};

KEPT int Cart::add(int n) const
{
	USE(this);
	return items + n;
}

KEPT int Cart::price(short s)
{
	USE(this);
	return s;
}

KEPT bool Cart::is_open(bool b)
{
	USE(&b);
	return !b;
}

KEPT Fruit taste(Fruit f)
{
	USE(&f);
	return f;
}

KEPT Point move(Point p, const Point &by)
{
	USE(&by);
	return p;
}

KEPT int owned(Owner o, int n)
{
	USE(&o);
	return n;
}

KEPT std::string join(std::string a, const std::string &b, int n)
{
	USE(&b);
	return a + b;
}

KEPT int empty(Empty e, int n)
{
	USE(&e);
	return n;
}

template <class T> KEPT T twice(T t)
{
	USE(&t);
	return t + t;
}

}

int main()
{
	shop::Cart cart(3);
	std::string small("small");
	std::string large(120, 'l');

	cart.add(4);
	cart.price(-5);
	shop::Cart::is_open(true);
	shop::taste(shop::Fruit::PEAR);
	shop::move({1, 2}, {3, 4});
	shop::owned({"me", 7}, 8);
	shop::join(small, large, 1);
	shop::join(std::string(), small, 2);
	shop::empty({}, 9);
	shop::twice(21);
	shop::twice(2.25);
	return 0;
}
