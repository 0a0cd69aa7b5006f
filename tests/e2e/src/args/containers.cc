/*
 * Containers by value, by reference, and returned; and bytes that are no containers. A number
 * follows each container. It is shown right only if the place after the container was found.
 */
#include <array>
#include <cstring>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif
#define USE(x) __asm__ volatile("" : : "g"(x) : "memory")

struct point {
	int x, y;
};

enum class fruit : unsigned char { APPLE = 1, PEAR = 2 };

template <class T> KEPT int by_reference(const T &t, int n)
{
	USE(&t);
	return n;
}

template <class T> KEPT int by_value(T t, int n)
{
	USE(&t);
	return n;
}

template <class T> KEPT T returned(const T &t)
{
	USE(&t);
	return t;
}

template <class T> KEPT T &same(T &t)
{
	USE(&t);
	return t;
}

KEPT int by_text(const std::string &s, std::string &&t, int n)
{
	USE(&s);
	USE(&t);
	return n;
}

KEPT int many(const std::vector<std::string> &a, const std::vector<std::string> &b, const std::vector<std::string> &c,
	      const std::vector<std::string> &d, int n)
{
	USE(&a);
	USE(&b);
	USE(&c);
	USE(&d);
	return n;
}

static void vectors()
{
	std::vector<int> three{ 1, -2, 3 };
	std::vector<int> none;
	std::vector<int> long_one(1000, 7);
	std::vector<std::string> texts{ "one", "", std::string(40, 'x') };
	std::vector<std::vector<int>> nested{ { 1 }, {}, { 2, 3 } };
	std::vector<const char *> names{ "a", nullptr, "c" };

	by_reference(three, 1);
	by_value(three, 2);
	returned(three);
	same(three);
	by_reference(none, 3);
	by_reference(long_one, 4);
	by_reference(texts, 5);
	by_reference(nested, 6);
	by_reference(names, 7);
	by_reference(std::vector<point>{ { 1, 2 }, { 3, 4 } }, 8);
	by_reference(std::vector<double>{ 0.5 }, 9);
	by_reference(std::vector<fruit>{ fruit::PEAR, fruit::APPLE }, 10);
	by_reference(std::vector<bool>{ true, false }, 11);
	many(texts, texts, texts, texts, 12);
	by_text(texts[0], std::string("two"), 13);
	by_reference(std::vector<std::string>(8, std::string(90, 'l')), 14);
}

static void others()
{
	static const int numbers[] = { 4, 5, 6 };

	by_reference(std::string_view("view"), 20);
	by_value(std::string_view("view and more", 4), 21);
	returned(std::string_view());
	by_reference(std::optional<int>(5), 22);
	by_value(std::optional<int>(), 23);
	by_reference(std::optional<std::string>("text"), 24);
	by_reference(std::make_unique<int>(6), 25);
	by_reference(std::unique_ptr<point>(), 26);
	by_reference(std::make_shared<point>(point{ 7, 8 }), 27);
	by_value(std::make_shared<std::string>("shared"), 28);
	by_value(std::span<const int>(numbers), 29);
	by_value(std::span<const int, 3>(numbers), 30);
	by_value(std::array<int, 3>{ 1, 2, 3 }, 31);
	by_reference(std::array<int, 12>{ 1, 2, 3 }, 32);
	by_value(std::pair<int, char>(1, 'p'), 33);
	by_reference(std::pair<int, std::string>(2, "pair"), 34);
	by_reference(std::tuple<int, char, double>(1, 'c', 2.5), 35);
	by_reference(std::variant<int, std::string, double>(2.5), 36);
	by_reference(std::variant<int, std::string, double>("text"), 37);
	by_reference(std::optional<std::vector<std::pair<int, int>>>({ { 1, 2 }, { 3, 4 } }), 38);
	by_value(std::initializer_list<int>{ 8, 9 }, 39);
}

static void nodes()
{
	std::map<int, std::string> names;
	std::set<int> numbers;
	std::list<int> ring{ 1, 2, 3 };

	for (int i = 20; i-- > 0;) {
		names[i * 7 % 20] = "n" + std::to_string(i * 7 % 20);
		numbers.insert(i * 3 % 20);
	}
	by_reference(names, 40);
	by_value(names, 41);
	returned(numbers);
	by_reference(std::map<std::string, int>{ { "a", 1 }, { "b", 2 } }, 42);
	by_reference(std::map<char, char>{ { 'a', 'z' } }, 43);
	by_reference(std::set<std::string>{ "y", "x" }, 44);
	by_reference(std::map<int, std::vector<int>>{ { 1, { 2, 3 } } }, 45);
	by_reference(std::multimap<int, int>{ { 1, 2 }, { 1, 3 } }, 46);
	by_reference(ring, 47);
	by_reference(std::unordered_map<int, double>{ { 1, 0.5 } }, 48);
	by_reference(std::unordered_set<std::string>{ "hash" }, 49);
	by_reference(std::list<std::string>(), 60);
	by_reference(std::set<int>(), 61);
	by_reference(std::unordered_map<std::string, int>{ { "k", 3 } }, 62);
}

static void blocks()
{
	std::deque<int> moved;
	std::deque<int> ending(128, 6);
	std::forward_list<int> chain{ 4, 5 };

	for (int i = 0; i < 3000; i++)
		moved.push_back(i);
	/* The end of a block is among the elements that are shown. */
	for (int i = 0; i < 1020; i++)
		moved.pop_front();
	by_reference(moved, 70);
	by_value(moved, 71);
	by_reference(std::deque<int>(), 72);
	by_reference(ending, 73);
	by_reference(std::deque<std::array<char, 600>>(3), 74);
	by_reference(std::deque<std::string>{ "a", "b" }, 75);
	by_reference(chain, 76);
	by_reference(std::forward_list<std::string>(), 77);
	by_reference(std::forward_list<char>(300, 'f'), 78);
	by_reference(std::vector<bool>(70, true), 79);
	by_value(std::vector<bool>(), 80);
}

static void weak()
{
	auto owner = std::make_shared<int>(9);
	std::weak_ptr<int> pointer(owner);

	by_reference(pointer, 81);
	by_value(pointer, 82);
	owner.reset();
	by_reference(pointer, 83);
	by_reference(std::weak_ptr<point>(), 84);
}

struct order {
	int id;
	std::string name;
	std::vector<int> items;
	double price;
};

struct small {
	std::string_view text;
};

struct base {
	std::optional<int> maybe;
};

struct nested : base {
	char letter;
	order first;
	point at;
};

struct tree {
	std::string name;
	std::vector<tree> below;
};

struct wide {
	std::string name;
	char rest[200];
};

struct crowd {
	std::shared_ptr<int> p[4];
	std::map<int, int> m;
};

static void structs()
{
	order one{ 7, "abc", { 1, 2 }, 2.5 };
	nested two;
	tree three{ "root", { { "leaf", {} } } };
	wide four{ "wide", {} };

	two.maybe = 3;
	two.letter = 'n';
	two.first = one;
	two.at = { 1, 2 };
	by_value(one, 90);
	returned(one);
	by_reference(std::vector<order>{ one }, 91);
	by_value(small{ "small" }, 92);
	by_value(two, 93);
	by_value(three, 94);
	by_value(four, 95);
	by_value(crowd{ {}, { { 1, 2 } } }, 96);
}

/* Memory that holds no containers: a reader of them must survive it. */
static void wild()
{
	alignas(16) unsigned char bytes[3][96];
	unsigned long words[3] = { 0x10, 0x4141414141414141, 0x8000000000000000 };

	for (int i = 0; i < 3; i++) {
		memset(bytes[i], 0xff, sizeof(bytes[i]));
		memcpy(bytes[i], &words[i], sizeof(words[i]));
		by_reference(*(std::vector<int> *)bytes[i], 50);
		by_reference(*(std::vector<std::string> *)bytes[i], 51);
		by_reference(*(std::string_view *)bytes[i], 52);
		by_reference(*(std::unique_ptr<int> *)bytes[i], 53);
		by_reference(*(std::shared_ptr<point> *)bytes[i], 54);
		by_reference(*(std::span<const int> *)bytes[i], 55);
		by_reference(*(std::variant<int, std::string, double> *)bytes[i], 56);
		by_reference(*(std::vector<int> *)words[i], 57);
		by_reference(*(std::map<int, std::string> *)bytes[i], 58);
		by_reference(*(std::list<int> *)bytes[i], 59);
		by_reference(*(std::deque<int> *)bytes[i], 63);
		by_reference(*(std::forward_list<int> *)bytes[i], 64);
		by_reference(*(std::vector<bool> *)bytes[i], 65);
		by_reference(*(std::weak_ptr<int> *)bytes[i], 66);
	}
}

int main()
{
	vectors();
	others();
	nodes();
	blocks();
	weak();
	structs();
	wild();
	return 0;
}
