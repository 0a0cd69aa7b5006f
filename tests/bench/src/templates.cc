/*
 * Many small functions, as templates and containers of the C++ library make them: the program sorts
 * and counts words.
 */
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

template <int N> __attribute__((noinline)) unsigned mix(unsigned x)
{
	return mix<N - 1>(x * 2654435761U + N) ^ x;
}
template <> unsigned mix<0>(unsigned x)
{
	return x;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? atoi(argv[1]) : 10;
	unsigned seed = 1;

	for (unsigned i = 0; i < rounds; i++) {
		std::map<std::string, int> tree;
		std::unordered_map<unsigned, std::vector<int>> table;
		std::vector<std::string> words;

		for (unsigned k = 0; k < 200; k++) {
			seed = mix<12>(seed + k);
			words.push_back(std::to_string(seed % 500));
			tree[words.back()]++;
			table[seed % 64].push_back(k);
		}
		std::sort(words.begin(), words.end());
	}
	return 0;
}
