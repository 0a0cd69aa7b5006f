/* The functions of the two libraries. */
#ifndef SAMPLE_NAMES_H
#define SAMPLE_NAMES_H

int lib_one(int n);
int lib_two(int n);
int lib_back(int (*back)(int), int n);
int lib_ifunc(int n);
int lib_nested(int n);
int deep_one(int n);
int deep_two(int n);

/* Fifty functions, which have fifty first calls. FUNCTIONS() applies a macro to each name. */
#define TEN(m, n)                                                                               \
	m(f##n##0) m(f##n##1) m(f##n##2) m(f##n##3) m(f##n##4) m(f##n##5) m(f##n##6) m(f##n##7) \
		m(f##n##8) m(f##n##9)
#define FUNCTIONS(m) TEN(m, 0) TEN(m, 1) TEN(m, 2) TEN(m, 3) TEN(m, 4)

#define DECLARE(name) int name(int n);
FUNCTIONS(DECLARE)

#endif
