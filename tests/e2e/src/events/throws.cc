/* Exceptions around probes: through moved calls, into landing pads beside them.
 *
 * shows: main{e:start outer{e:outer inner{e:inner thrower{e:thrower}} e:cleanup} e:caught outer{e:outer inner{e:inner
 *        thrower{e:thrower} e:survived} e:passed e:cleanup} e:end}
 */
#include <cstdio>
#include <stdexcept>

#include "part.h"

struct guard {
	~guard()
	{
		DTRACE_PROBE(e, cleanup);
	}
};

PART int thrower(int n)
{
	DTRACE_PROBE1(e, thrower, n);
	if (n > 0)
		throw std::runtime_error("thrown");
	return n;
}

PART int inner(int n)
{
	DTRACE_PROBE(e, inner);
	n = thrower(n);
	DTRACE_PROBE(e, survived);
	return n + 1;
}

PART int outer(int n)
{
	guard g;

	DTRACE_PROBE(e, outer);
	n = inner(n);
	DTRACE_PROBE(e, passed);
	return n + 2;
}

int main()
{
	DTRACE_PROBE(e, start);
	for (int i = 1; i >= 0; i--) {
		try {
			std::printf("%d\n", outer(i));
		} catch (const std::exception &e) {
			DTRACE_PROBE(e, caught);
			std::printf("caught %s\n", e.what());
		}
	}
	DTRACE_PROBE(e, end);
	return 0;
}
