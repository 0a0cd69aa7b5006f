/* The places in a file that jump into the middle of bytes that will be overwritten. */
#ifndef UTRAIL_OBJECT_ENTRANCES_H
#define UTRAIL_OBJECT_ENTRANCES_H

#include "utils/object/code/code.h"
#include "arch/insn.h"

#define WINDOW_BYTES 5 /* a jump that reaches 2 GiB */

#define WINDOW_BEFORE 24 /* the greatest distance of a jump before its place */
#define WINDOW_BEHIND 64 /* number of bytes after the site that are examined */

/* The reasons against a jump. */
enum site_refusal {
	SITE_CAN,
	SITE_NOT_CODE, /* a part of the function is no known code */
	SITE_NO_FUNCTION,
	SITE_LANDINGS, /* the places that catch exceptions are unknown */
	/*
	 * An instruction of the function jumps into the bytes of the patch, or back to its
	 * beginning
	 */
	SITE_LED_TO,
	SITE_LED_TO_BY_DATA, /* a table or an address in the data leads there */
	SITE_LED_TO_BY_OTHERS,
	SITE_NO_ROOM,  /* the function ends before the jump would */
	SITE_TOO_NEAR, /* too near to another site */
	SITE_INSN,     /* an instruction in these bytes cannot be moved */
	SITE_REFUSALS
};

/*
 * The kind of reference to a byte. If there are several references, the kind that is last in this
 * list counts.
 */
enum lead {
	LEAD_NONE,
	LEAD_OWN, /* an instruction of the function itself */
	LEAD_FAR,
	LEAD_FUNC,
	LEAD_GAP,
	LEAD_GAP_MAYBE,
	LEAD_LANDING,
	LEAD_WORD,
	LEAD_TABLE,
};

/* Returns the kind of reference in words, a static string. */
const char *lead_text(enum lead lead);

/*
 * The surroundings of a place in the code. A jump that is written to @site or before it overwrites
 * WINDOW_BYTES. A reference may lead to the first of these bytes only.
 *
 * @site, @is_padding, @entry: filled in by the caller
 * @is_padding: @site need not be part of a function
 * @entry: the start of the function whose first relevant instruction is @site; 0: there is none.
 *         References may lead to @site and @entry, but jumps of the function itself may not: they
 *         would become new calls
 * @why_not: the reason why no jump may be written here, a static string; NULL: none known
 * @refusal: the reason as enum site_refusal
 * @led_to: for each byte from @site - WINDOW_BEFORE on: enum lead
 */
struct window {
	uint64_t site;
	bool is_padding;
	uint64_t entry;
	const char *why_not;
	uint8_t refusal;
	uint8_t led_to[WINDOW_BEFORE + WINDOW_BEHIND];
};

/*
 * Find out whether a jump of @bytes may be written to @from, at most WINDOW_BEFORE before the site,
 * so that each thread that comes to the site takes it. Returns the reason why not, or NULL when no
 * reason is known.
 * @lead: the kind of reference that is the reason; LEAD_NONE for another reason.
 */
const char *window_check(const struct window *window, uint64_t from, unsigned bytes,
			 enum lead *lead);

/* A place whose window is needed; the members are those of struct window. */
struct lead_place {
	uint64_t site;
	uint64_t entry;
};

/*
 * A reference to @addr.
 *
 * @func: the index of the function that contains it; UINT32_MAX: none
 * @lead: enum lead; or LEAD_UNKNOWN: the function's landing pads are unknown
 */
struct lead_note {
	uint64_t addr;
	uint32_t func;
	uint8_t lead;
};

#define LEAD_UNKNOWN UINT8_MAX

/* References, sorted by address. Starts as { 0 }, ends with leads_deinit(). */
struct leads {
	struct lead_note *list;
	size_t nr;
};

void leads_deinit(struct leads *leads);
#define cleanup_leads cleanup(leads_deinit)

/*
 * Search the whole file, in several threads, for references to the surroundings of the @nr @places,
 * which are sorted by site. Short jumps from the functions around are not included. 0 or -ENOMEM.
 */
int leads_find(const struct code *code, struct insns *insns, const struct lead_place *places,
	       size_t nr, struct leads *out);

/*
 * Fill in the windows of some of the places that @leads is about. Each thread needs its own @insns.
 */
void windows_fill(const struct code *code, struct insns *insns, const struct leads *leads,
		  struct window *windows, size_t nr);

/*
 * Fill in the @nr windows, which are sorted by site, with all references that lead into them
 * (leads_find() and windows_fill()):
 *
 *  - jumps and calls by a distance. In the functions around they are found instruction by
 *    instruction. Anywhere else all bytes count that could be a distance of 32 bits, at any offset.
 *    (Distances of 8 bits do not reach so far.)
 *  - tables of distances (switch): from each address in read-only data that some code takes, as
 *    long as the entries lead to code
 *  - tables of addresses: any aligned word of data, and the relocations that make one
 *  - the places where exceptions land
 *
 * Windows may not be used outside of functions, or when their function has undecodable bytes.
 * -ENOMEM, else 0.
 */
int entrances_find(const struct code *code, struct insns *insns, struct window *windows, size_t nr);

#endif
