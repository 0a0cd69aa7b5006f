/*
 * Events that a program declares. When they are selected, they become lines in a log. See
 * fstrace(3).
 *
 * The interface is that of F-Secure's fstrace. A program that was written for F-Secure's fstrace
 * needs no change, but must be compiled again.
 */
#ifndef FSTRACE_H
#define FSTRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fstrace fstrace_t;

/* Programs read @enabled without a call, so this layout never changes. */
typedef struct {
	struct fstrace_event_impl *impl;
	volatile int enabled;
} fstrace_event_t;

typedef struct fstrace_event_spec {
	struct fstrace_event_spec *next;
	fstrace_event_t **variable;
	const char *id, *format;
} fstrace_event_spec_t;

/*
 * Open a log in PREFIX.log. The file is created at the first event. When it has more than
 * @rotate_size bytes, it is renamed, and a new file begins. If @rotate_size is negative, no file is
 * renamed. Returns NULL with errno set on failure.
 */
fstrace_t *fstrace_open(const char *prefix, ssize_t rotate_size);
/* Open a log whose lines go to the stream @f. fstrace_close() does not close @f. */
fstrace_t *fstrace_direct(FILE *f);
/* Close the log and free its events. Returns 0. */
int fstrace_close(fstrace_t *trace);

/*
 * Declare a new event. It is disabled at first, unless the user of a recorder has chosen it.
 * Returns NULL when the format is wrong, or when there is no memory.
 */
fstrace_event_t *fstrace_declare(fstrace_t *trace, const char *id, const char *format);
/*
 * Set the format of a text that precedes the text of each event. The format must not contain
 * directives that need arguments. NULL, "" and wrong formats remove the preceding text.
 */
void fstrace_set_common_format(fstrace_t *trace, const char *format);

/*
 * The value of @condition. Tells the compiler that both outcomes are equally likely, so that the
 * compiler tests the condition without a branch.
 */
#if defined(__GNUC__) && (__GNUC__ >= 9 || (defined(__clang_major__) && __clang_major__ >= 11))
#define FSTRACE_LIKELY_OR_NOT_(condition) __builtin_expect_with_probability(condition, 1, 0.5)
#else
#define FSTRACE_LIKELY_OR_NOT_(condition) (condition)
#endif

/*
 * The functions that log an event. They are marked cold, so that compilers separate two pieces of
 * code: the code that prepares the arguments of a call, and the code that runs while the event is
 * disabled.
 */
void fstrace_log(fstrace_event_t *event, ...) __attribute__((cold));
void fstrace_log_2(fstrace_event_t *event, const char *file, unsigned line, ...)
	__attribute__((cold));

/* A function that is inlined even without optimisation, and never recorded as a call. */
#define FSTRACE_INLINE_ static inline __attribute__((always_inline, no_instrument_function))

/*
 * Replaces NULL by an event that is never enabled. So a caller needs one branch, which tests
 * event->enabled, and no second branch for NULL.
 */
FSTRACE_INLINE_ fstrace_event_t *fstrace_or_never_(fstrace_event_t *event)
{
	static fstrace_event_t never;

	return FSTRACE_LIKELY_OR_NOT_(event != NULL) ? event : &never;
}

FSTRACE_INLINE_ bool fstrace_is_on_(const fstrace_event_t *event)
{
	return __builtin_expect(event->enabled, 0);
}

FSTRACE_INLINE_ bool FSTRACE_ENABLED(fstrace_event_t *event)
{
	return fstrace_is_on_(fstrace_or_never_(event));
}

#ifdef FSTRACE_CHECK
/*
 * Names for `utrail events check-sources`. The command searches preprocessed text for these names,
 * and so finds the places that declare an event or log an event. For each place that logs an
 * event of known format, the command writes a call of fstrace_check_() into the text. The compiler
 * checks the arguments of this call. No built program contains the names, because programs are
 * built without FSTRACE_CHECK.
 */
typedef __INT64_TYPE__ fstrace_check_int64_;
__attribute__((format(printf, 1, 2))) void fstrace_check_(const char *format, ...);
#define FSTRACE(...)	       fstrace_check_use_(__VA_ARGS__)
#define FSTRACE_NO_ARGS(event) fstrace_check_use_(event)
#define FSTRACE_DECL(NAME, FORMAT)    \
	static fstrace_event_t *NAME; \
	fstrace_check_decl_(NAME, FORMAT)
#else
/*
 * FSTRACE(event, ...) logs the event if the event is enabled. If the event is disabled, the
 * arguments after the event are not evaluated. Before C23 and C++20, a macro with the parameters
 * (event, ...) needs at least two arguments. Therefore FSTRACE() passes its arguments and an unused
 * 0 to FSTRACE_FIRST_() and FSTRACE_REST_().
 */
#define FSTRACE(...)                                                      \
	do {                                                              \
		fstrace_event_t *fstrace_event_ = fstrace_or_never_(      \
			FSTRACE_FIRST_(__VA_ARGS__, 0));                  \
		if (fstrace_is_on_(fstrace_event_))                       \
			fstrace_log_2(fstrace_event_, __FILE__, __LINE__, \
				      FSTRACE_REST_(__VA_ARGS__, 0));     \
	} while (0)
#define FSTRACE_FIRST_(event, ...) event
#define FSTRACE_REST_(event, ...)  __VA_ARGS__

#define FSTRACE_NO_ARGS(event)                                              \
	do {                                                                \
		fstrace_event_t *fstrace_event_ = fstrace_or_never_(event); \
		if (fstrace_is_on_(fstrace_event_))                         \
			fstrace_log_2(fstrace_event_, __FILE__, __LINE__);  \
	} while (0)
#endif

/*
 * Call @cb for each event that is declared. A result above 0 enables the event, a result below 0
 * disables it, and 0 leaves it unchanged. fstrace_select() takes no lock, and may be used in signal
 * handlers. fstrace_select_safe() calls @cb with the lock of the library held.
 */
void fstrace_select(fstrace_t *trace, int (*cb)(void *data, const char *id), void *data);
void fstrace_select_safe(fstrace_t *trace, int (*cb)(void *data, const char *id), void *data);
/*
 * Enable the events that match @include_re and do not match @exclude_re, and disable all other
 * events. The two parameters are POSIX extended regular expressions. NULL matches no event. Returns
 * false and changes nothing when an expression is wrong.
 */
bool fstrace_select_regex(fstrace_t *trace, const char *include_re, const char *exclude_re);
void fstrace_select_event(fstrace_event_t *event, int selection);

/*
 * Returns a new number, which the caller can give to an object. The number is unique in the
 * process, and most likely unique across processes.
 */
uint64_t fstrace_get_unique_id(void);

/* Set the path of the lock file, once, before the first fstrace_open(). */
void fstrace_set_lock_path(const char *path);
/* Set the owner of new logs and of the lock file. Returns 0, or -1 and errno. */
int fstrace_chown(uid_t uid, gid_t gid);
/*
 * A child process that has closed all its descriptors must call fstrace_reinit(), and then
 * fstrace_reopen() for each log. The two functions return 0.
 */
int fstrace_reinit(void);
int fstrace_reopen(fstrace_t *trace);

/*
 * Limit the number, the age and the total size of the old logs that rotation leaves. A negative
 * number means no limit.
 */
void fstrace_limit_rotation_file_count(fstrace_t *trace, int count);
void fstrace_limit_rotation_file_age(fstrace_t *trace, int seconds);
void fstrace_limit_rotation_byte_count(fstrace_t *trace, int64_t count);

#ifndef FSTRACE_CHECK
/*
 * FSTRACE_DECL(DISK_FULL, "FREE=%64u") makes a static event "DISK-FULL", which
 * fstrace_declare_globals() declares. Tools find the event in a section of the program's file. The
 * section contains NAME, a blank, and the source text of FORMAT.
 */
#define FSTRACE_DECL(NAME, FORMAT)                                                               \
	static fstrace_event_t *NAME;                                                            \
	__attribute__((constructor, no_instrument_function)) static void fstrace_specify_##NAME( \
		void)                                                                            \
	{                                                                                        \
		static const char fstrace_decl_[]                                                \
			__attribute__((section("fstrace_decl"), used)) = #NAME                   \
			" " FSTRACE_SOURCE_(FORMAT);                                             \
		static fstrace_event_spec_t fstrace_spec_;                                       \
		static char fstrace_name_[] = #NAME;                                             \
		/* This keeps the event when the linker removes unused data. */                  \
		__asm__ volatile("" : : "r"(fstrace_decl_));                                     \
		fstrace_specify(&fstrace_spec_, &NAME, fstrace_name_, FORMAT);                   \
	}
#define FSTRACE_SOURCE_(...) #__VA_ARGS__
#endif

void fstrace_specify(fstrace_event_spec_t *spec, fstrace_event_t **variable, char name[],
		     const char *format);
void fstrace_declare_globals(fstrace_t *trace);

/*
 * The three functions fstrace_..._repr() return a number as text, for %I. The text is valid until
 * the same thread calls one of these three functions again.
 */
const char *fstrace_signed_repr(int64_t value);
const char *fstrace_unsigned_repr(uint64_t value);
const char *fstrace_hex_repr(uint64_t value);

#ifdef __cplusplus
}

/* A program may include this header within an extern "C". */
extern "C++" {
#include <string>

namespace fsecure
{
namespace fstrace
{

/* A base class that gives each object a number for logs. */
class UniqueId
{
      public:
	UniqueId() : id_(fstrace_get_unique_id())
	{
	}
	virtual ~UniqueId()
	{
	}
	/* A copy is another object, and gets another number. */
	UniqueId(const UniqueId &) : id_(fstrace_get_unique_id())
	{
	}
	UniqueId &operator=(const UniqueId &)
	{
		return *this;
	}
#if __cplusplus >= 201103L
	UniqueId(UniqueId &&other) noexcept : id_(other.id_)
	{
	}
	UniqueId &operator=(UniqueId &&) noexcept
	{
		return *this;
	}
#endif
	uint64_t id() const
	{
		return id_;
	}

      private:
	uint64_t id_;
};

/* trace_iterator_of_<T> is the iterator type of the container T, or T if T is no container. */
template <typename T> struct trace_void_ {
	typedef void type;
};
template <typename T, typename = void> struct trace_iterator_of_ {
	typedef T type;
};
template <typename T>
struct trace_iterator_of_<T, typename trace_void_<typename T::const_iterator>::type> {
	typedef typename T::const_iterator type;
};

/*
 * Logs the strings or numbers between two iterators, for %J: FSTRACE(EVENT,
 * TraceIterator<T>::trace, &iterator). T is the type of the two iterators, or the type of the
 * container to which both iterators belong. C++17 deduces T.
 */
template <typename T> class TraceIterator
{
      public:
	typedef typename trace_iterator_of_<T>::type iterator;

	TraceIterator(iterator begin, iterator end) : at_(begin), end_(end), text_()
	{
	}
	/* Returns the next element's text; NULL at the end. */
	static const char *trace(TraceIterator *self)
	{
		return self->at_ == self->end_ ? NULL : self->text_of(*self->at_++);
	}

      private:
	/*
	 * A string may be a temporary object of the iterator, so a copy is kept until the next
	 * string.
	 */
	const char *text_of(const std::string &element)
	{
		text_ = element;
		return text_.c_str();
	}
	const char *text_of(const char *element)
	{
		return element;
	}
	const char *text_of(uint64_t element)
	{
		return fstrace_unsigned_repr(element);
	}

	iterator at_, end_;
	std::string text_;
};

#if __cplusplus >= 201703L
template <typename I> TraceIterator(I, I) -> TraceIterator<I>;
#endif

} // namespace fstrace
} // namespace fsecure
}
#endif

#endif
