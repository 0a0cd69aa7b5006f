/* Demangled names for each kind of mangled names (the peer's output is the reference). */
#include "tests/unit/lib/unit.h"

#include "utils/object/names/demangle.h"

static void check(enum demangle_mode mode, const char *mangled, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	strbuf_addstr(&out, "x");
	demangle(mangled, mode, &out);
	assert_string_equal(strbuf_str(&out) + 1, expected);
}

TEST(simple_cxx)
{
	static const char *const names[][2] = {
		{ "_ZN3foo3barEv", "foo::bar" },
		{ "_Z3addii", "add" },
		{ "_ZNK3Foo3getEv", "Foo::get" },
		{ "_ZN1AC1Ev", "A::A" },
		{ "_ZN1AD0Ev", "A::~A" },
		{ "_ZN2ns5inner3BoxIdEC1Ed", "ns::inner::Box::Box" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back" },
		{ "_ZNSs4sizeEv", "std::basic_string<>::size" },
		{ "_ZN12_GLOBAL__N_13fooEv", "_GLOBAL__N_1::foo" },
		{ "_ZZ4mainENKUlvE_clEv", "main::$_0::operator()" },
		{ "_ZZ4mainENKUlvE0_clEv", "main::$_1::operator()" },
		{ "_ZN1AUt0_C1Ev", "A::A" },
		{ "_ZNK3FoocvbEv", "Foo::operator(cast)" },
		{ "_ZN1AplERKS_", "A::operator+" },
		{ "_ZN1AnwEm", "A::operator new" },
		{ "_ZN1AdaEPv", "A::operator delete[]" },
		{ "_ZN1AclEi", "A::operator()" },
		{ "_ZN1AcmEv", "A::operator," },
		{ "_Zli3_kmx", "operator\"\"" },
		{ "_Z3fooB5cxx11v", "foo::cxx11" },
		{ "_ZN3foo3barEv.constprop.1", "foo::bar" },
		{ "_ZN3foo3barEv.isra.0.cold", "foo::bar" },
		{ "_GLOBAL__sub_I__ZN3foo3barEv", "_GLOBAL__sub_I_foo::bar" },
		{ "_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main" },
		{ "__device_stub__Z3fooi", "__device_stub_foo" },
		{ "_ZThn8_N1D1bEv", "D::b" },
		{ "_ZTv0_n24_N1D1bEv", "D::b" },
		{ "_ZTV3foo", "__vtable__foo" },
		{ "_ZTT3foo", "__VTT__foo" },
		{ "_ZTI3foo", "__typeinfo__foo" },
		{ "_ZTS3foo", "__typeinfo_name__foo" },
		{ "_ZTC1A0_1B", "__construction_vtable__A" },
		{ "_ZGVZ3foovE1x", "__guard_variable__foo::x" },
		{ "_ZTH1a", "TLS_init::a" },
		{ "_ZTW1a", "TLS_wrap::a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check(DEMANGLE_SIMPLE, names[i][0], names[i][1]);
}

TEST(rust)
{
	check(DEMANGLE_SIMPLE, "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
	      "core::fmt::Formatter::write_str");
	check(DEMANGLE_SIMPLE, "_ZN33_$LT$$RF$str$u20$as$u20$m..Tr$GT$2go17hd9fe75e784ab2b6bE",
	      "<&str as m::Tr>::go");
	check(DEMANGLE_SIMPLE, "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	check(DEMANGLE_SIMPLE, "_RINvCs1_3foo3barNtCs2_3baz3QuxE", "foo::bar");
	check(DEMANGLE_FULL, "_RINvCs1_3foo3barNtCs2_3baz3QuxE", "foo::bar::<baz::Qux>");
}

static void check_others(const char *name, enum demangle_mode mode, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	demangle_others(name, mode, &out);
	for (size_t i = 0; i < out.len; i++) {
		if (!out.data[i])
			out.data[i] = '|';
	}
	assert_string_equal(strbuf_str(&out), expected);
}

TEST(copies_of_functions)
{
	static const char *const names[][2] = {
		{ "f.part.0", "f" },
		{ "f.constprop.0.isra.12", "f" },
		{ "f.lto_priv.0", "f" },
		{ "f.cold", "f" },
		{ "f.part.3.cold", "f" },
		{ "f.cold.7", "f" },
		{ "f.localalias", "f" },
		{ "f.__uniq.123.llvm.456", "f" },
		{ "f.part", "f.part" },
		{ "f.0", "f.0" },
		{ "f._omp_fn.0", "f._omp_fn.0" },
		{ ".cold", ".cold" },
		{ "part.0", "part.0" },
		{ ".part.0.isra.0", ".part.0" },
		{ "f.avx2", "f.avx2" },
		{ "_ZN1nL5heavyEPNS_1SEii.constprop.0", "n::heavy" },
		{ "_ZN1m4boom17h0123456789abcdefE.llvm.123", "m::boom" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check(DEMANGLE_SIMPLE, names[i][0], names[i][1]);
	check(DEMANGLE_FULL, "f.part.0", "f.part.0");
	check(DEMANGLE_FULL, "_Z1fv.part.0", "f() [clone .part.0]");
	check(DEMANGLE_NO, "f.part.0", "f.part.0");
}

TEST(other_names)
{
	check_others("main", DEMANGLE_SIMPLE, "");
	check_others("_Z1fv", DEMANGLE_SIMPLE, "");
	check_others("f.part.0", DEMANGLE_SIMPLE, "f.part.0|");
	check_others("f.part.0", DEMANGLE_FULL, "f|");
	check_others("f.part.0", DEMANGLE_NO, "f|");
	check_others("_Z1fv.part.0", DEMANGLE_SIMPLE, "f.part.0|");
	check_others("_Z1fv.part.0", DEMANGLE_FULL, "f()|");
	check_others("_Z1fv.part.0", DEMANGLE_NO, "_Z1fv|");
	/* crate::m::boom; then a function at the top of a crate */
	check_others("_ZN5crate1m4boom17h0123456789abcdefE", DEMANGLE_SIMPLE, "m::boom|");
	check_others("_RNvNtCs1234_7mycrate3foo3bar", DEMANGLE_SIMPLE, "foo::bar|");
	check_others("_RNvCs1234_7mycrate4main", DEMANGLE_SIMPLE, "");
	check_others("_RNvCs1234_7mycrate4main", DEMANGLE_NO, "");
	/* <m::shapes::P>::go */
	check_others("_RNvMNtCs1_1m6shapesNtB2_1P2go", DEMANGLE_SIMPLE,
		     "m::shapes::P::go|shapes::P::go|");
	check_others("_ZN33_$LT$$RF$str$u20$as$u20$m..Tr$GT$2go17hd9fe75e784ab2b6bE",
		     DEMANGLE_SIMPLE, "&str::go|");
	check_others("_ZN40_$LT$a..Vec$LT$b..X$u20$as$u20$Y$GT$$GT$2go17hd9fe75e784ab2b6bE",
		     DEMANGLE_SIMPLE, "a::Vec<b::X as Y>::go|Vec<b::X as Y>::go|");
}

TEST(full_and_no)
{
	check(DEMANGLE_FULL, "_ZN3foo3barIiEEvT_", "void foo::bar<int>(int)");
	check(DEMANGLE_FULL, "_ZNK3Foo3getEv", "Foo::get() const");
	check(DEMANGLE_FULL, "main", "main");
	check(DEMANGLE_NO, "_ZN3foo3barEv", "_ZN3foo3barEv");
}

TEST(what_is_no_mangled_name_stays)
{
	static const char *const names[] = { "",     "_",	 "_Z",	     "_ZN",
					     "_ZNE", "_Zfoo",	 "_ZN99foo", "_R",
					     "main", "foo.part", "_ZN3fo",   "_RNvC6_123foo3b",
					     "_RC0", "a::b<c>",	 "\xff\xfe", "_ZTIDd" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		check(DEMANGLE_SIMPLE, names[i], names[i]);
		if (strcmp(names[i], "_ZTIDd") != 0)
			check(DEMANGLE_FULL, names[i], names[i]);
	}
}

/* Names come from files: a long name, or one with deep nesting, must do no harm. */
TEST(monsters)
{
	size_t len = 200000;
	char *name = malloc(len + 1);
	struct strbuf out cleanup_strbuf = { 0 };

	memset(name, 'P', len);
	name[len] = '\0';
	memcpy(name, "_Z1f", 4);
	demangle(name, DEMANGLE_SIMPLE, &out);
	assert_int_equal(out.len, len);
	name[60000] = '\0';
	demangle(name, DEMANGLE_FULL, &out);
	for (size_t i = 2; i + 2 < 60000; i += 2)
		memcpy(name + i, i == 2 ? "N1" : "1a", 2);
	demangle(name, DEMANGLE_SIMPLE, &out);
	for (size_t i = 0; i + 2 < 60000; i += 2)
		memcpy(name + i, "_Z", 2);
	demangle(name, DEMANGLE_SIMPLE, &out);
	free(name);

	/* A tuple of two tuples of two tuples, and so on: written out, it has 2^40 names. */
	char twice[2048] = "_RINvC1a1f";
	size_t at = strlen(twice), older = at;

	at += sprintf(twice + at, "TiiE");
	for (int level = 0; level < 40; level++) {
		static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
					     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		/* Positions are counted from the byte after "_R". In base 62, "0_" is 1. */
		size_t back = older - 2 - 1;
		char ref[8];

		if (back < 62)
			sprintf(ref, "B%c_", digits[back]);
		else
			sprintf(ref, "B%c%c_", digits[back / 62], digits[back % 62]);
		older = at;
		at += sprintf(twice + at, "T%s%sE", ref, ref);
	}
	strcpy(twice + at, "E");
	strbuf_reset(&out);
	demangle(twice, DEMANGLE_FULL, &out);
	assert_string_equal(strbuf_str(&out), twice);
}

/* Identifiers in Punycode are decoded on the heap: a sanitizer finds memory that is not freed. */
TEST(long_names_in_punycode)
{
	static const struct {
		const char *before;
		const char *after;
	} names[] = {
		{ "_RNvC1au60000_", "" },
		{ "_RINvC1au60000_", "lE" },
	};

	check(DEMANGLE_SIMPLE, "_RNvC1au1_a", "a::\xc2\x80");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct strbuf name cleanup_strbuf = { 0 };

		strbuf_addstr(&name, names[i].before);
		strbuf_addchars(&name, 'a', 60000);
		strbuf_addstr(&name, names[i].after);
		check(DEMANGLE_SIMPLE, strbuf_str(&name), strbuf_str(&name));
		check(DEMANGLE_FULL, strbuf_str(&name), strbuf_str(&name));
	}
}

/* Each constructor repeats the last part of the name: the readable name grows without limit. */
TEST(constructors_of_constructors)
{
	struct strbuf name cleanup_strbuf = { 0 };

	check(DEMANGLE_SIMPLE, "_ZN1AC1C1D1Ev", "A::A::A::~A");
	check(DEMANGLE_SIMPLE, "_ZNSdC1Ev", "std::basic_iostream::basic_iostream");
	check(DEMANGLE_SIMPLE, "_ZTVN1AC1E", "__vtable__A::A");
	strbuf_addstr(&name, "_ZN30000");
	strbuf_addchars(&name, 'a', 30000);
	for (int i = 0; i < 10000; i++)
		strbuf_addstr(&name, "C1");
	strbuf_addstr(&name, "Ev");
	check(DEMANGLE_SIMPLE, strbuf_str(&name), strbuf_str(&name));
}

/*
 * Names that clang writes for every std::vector and that libiberty cannot read; and other hard
 * names.
 */
TEST(types_are_skipped)
{
	static const char *const names[][2] = {
		{ "_ZSt14__relocate_a_1IiiENSt9enable_ifIXsr3std24__is_bitwise_relocatableIT_"
		  "EE5valueE"
		  "PS1_E4typeES2_S2_S2_RSaIT0_E",
		  "std::__relocate_a_1" },
		{ "_ZSt4swapIN4llvm5APIntEENSt9enable_ifIXsr6__and_ISt6__not_ISt15__is_tuple_"
		  "likeIT_"
		  "EESt21is_move_constructibleIS5_ESt18is_move_assignableIS5_EEE5valueEvE4typeERS5_"
		  "SE_",
		  "std::swap" },
		{ "_Z1fILj5ELb1ELN2ns4enumE3ELDnELd40000000EEvv", "f" },
		{ "_ZN1AIXadL_Z3foovEEE3barEv", "A::bar" },
		{ "_ZN1AIXsrSt7is_sameIiiE5valueEE1bEv", "A::b" },
		{ "_Z1fIJidEEDTcl3barfp_spfp0_EEDpT_", "f" },
		{ "_Z1fM1AFivEPA10_KcDv4_fU8__vectori", "f" },
		{ "_ZZN1A3fooEiEd_NKUlvE_clEv", "A::foo::$_0::operator()" },
		{ "_ZZ3foovE1x_0", "foo::x" },
		{ "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv",
		  "std::__cxx11::basic_string::size" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i][0]);

		check(DEMANGLE_SIMPLE, names[i][0], names[i][1]);
		/*
		 * The names are cut or damaged. Any answer is right; a sanitizer finds bad reads.
		 */
		for (size_t at = 0; at < len; at++) {
			struct strbuf out cleanup_strbuf = { 0 };
			char *copy = exact_copy(names[i][0], len + 1);

			copy[at] ^= 1 << (at % 7);
			demangle(copy, DEMANGLE_SIMPLE, &out);
			copy[at] = '\0';
			demangle(copy, DEMANGLE_SIMPLE, &out);
			free(copy);
		}
	}
}
