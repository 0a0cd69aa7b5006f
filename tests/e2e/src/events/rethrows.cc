/* Throws, catches and rethrows: libstdc++ has static probes (SDT) for all three. */
#include <cstdio>

__attribute__((noinline)) static int pass(int i)
{
	try {
		throw i;
	} catch (int e) {
		if (e > 1)
			throw;
		return e;
	}
}

int main()
{
	for (int i = 0; i < 4; i++) {
		try {
			std::printf("%d\n", pass(i));
		} catch (int e) {
			std::printf("caught %d\n", e);
		}
	}
	return 0;
}
