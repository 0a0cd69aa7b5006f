// Arguments of C++ in all forms of debug information, and functions that exceptions leave.
#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "acts.h"

namespace acts {

enum class Kind : short { NONE, SOME = 3 };

struct Base {
	int id;
};

struct Item : Base {
	double weight;
	std::string name;
	Kind kind;
};

FN int strings(const std::string &a, std::string b, std::string_view c)
{
	KEEP();
	return a.size() + b.size() + c.size();
}

FN int vectors(const std::vector<int> &a, const std::vector<std::string> &b, std::array<short, 3> c)
{
	KEEP();
	return a.size() + b.size() + c[0];
}

FN int lists(const std::list<int> &a, const std::deque<long> &b, const std::set<char> &c)
{
	KEEP();
	return a.size() + b.size() + c.size();
}

FN int linked(const std::forward_list<int> &a, const std::forward_list<std::string> &b)
{
	KEEP();
	return a.empty() + b.empty();
}

FN int bits(const std::vector<bool> &a, const std::multimap<int, char> &b)
{
	KEEP();
	return a.size() + b.size();
}

FN int owned(const std::weak_ptr<int> &a, const std::weak_ptr<int> &b)
{
	KEEP();
	return a.expired() + b.expired();
}

FN int maps(const std::map<int, std::string> &a, const std::unordered_map<int, int> &b)
{
	KEEP();
	return a.size() + b.size();
}

FN int wrapped(std::optional<int> a, const std::unique_ptr<int> &b, const std::shared_ptr<Item> &c, const std::pair<int, bool> &d)
{
	KEEP();
	return a.value_or(0) + (b ? *b : 0) + (c ? c->id : 0) + d.first;
}

FN int variants(const std::variant<int, std::string> &a, const std::tuple<int, double> &b)
{
	KEEP();
	return a.index() + std::get<0>(b);
}

FN Item *pass(Item &item, const Item *other, Kind kind)
{
	KEEP();
	return other ? &item : nullptr;
}

FN std::string join(const std::string &a, int n)
{
	std::string out;

	for (int i = 0; i < n; i++)
		out += a;
	KEEP();
	return out;
}

template <typename T> FN T twice(T value)
{
	KEEP();
	return value + value;
}

FN void fail(int depth)
{
	if (depth == 0)
		throw std::runtime_error("as expected");
	fail(depth - 1);
	KEEP();
}

FN int attempt(int depth)
{
	try {
		fail(depth);
	} catch (const std::exception &) {
		KEEP();
		return depth;
	}
	return -1;
}

} // namespace acts

using namespace acts;

int main()
{
	auto item = std::make_shared<Item>();

	item->id = 5;
	item->weight = 2.5;
	item->name = "an item with a longer name";
	item->kind = Kind::SOME;
	strings("short", std::string(200, 'l'), "view");
	vectors({ 1, 2, 3 }, { "one", "two" }, { { 7, 8, 9 } });
	vectors(std::vector<int>(100, 4), {}, { { 0, 0, 0 } });
	lists({ 1, 2 }, { 3, 4, 5 }, { 'a', 'b' });
	lists({}, std::deque<long>(300, 6), {});
	{
		/* The deque begins and ends in the middle of blocks of 64. */
		std::deque<long> moved;

		for (long i = 0; i < 190; i++)
			moved.push_back(i);
		for (int i = 0; i < 62; i++)
			moved.pop_front();
		lists({ 7 }, moved, { 'z', 'x', 'y', 'w' });
		moved.resize(1);
		lists({}, moved, {});
	}
	linked({ 1, 2, 3 }, { "a", "list" });
	linked({}, { std::string(40, 'm') });
	bits({ true, false, true, true, false, false, false, true, true }, { { 1, 'b' }, { 1, 'a' }, { 0, 'c' } });
	bits(std::vector<bool>(70, true), {});
	{
		auto kept = std::make_shared<int>(31);
		std::weak_ptr<int> gone = std::make_shared<int>(32);

		owned(kept, gone);
		owned({}, kept);
	}
	maps({ { 1, "one" }, { 2, "two" } }, { { 3, 4 } });
	maps({}, {});
	wrapped(7, std::make_unique<int>(8), item, { 9, true });
	wrapped({}, nullptr, nullptr, { 0, false });
	variants(11, { 1, 2.5 });
	variants("text", { -1, -2.5 });
	pass(*item, item.get(), Kind::SOME);
	pass(*item, nullptr, Kind::NONE);
	join("ab", 2);
	join("abc", 30);
	twice(21);
	twice(1.5);
	twice(std::string("x"));
	return attempt(2) + attempt(0) - 2;
}
