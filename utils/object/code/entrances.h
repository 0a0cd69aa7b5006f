/* The places in a file that jump into the middle of bytes that will be overwritten. */
#ifndef UTRAIL_OBJECT_ENTRANCES_H
#define UTRAIL_OBJECT_ENTRANCES_H

#include "utils/object/code/code.h"
#include "arch/insn.h"

#define WINDOW_BYTES 5 /* a jump that reaches 2 GiB */

#define WINDOW_BEFORE 24 /* a jump may be so far before its place */
#define WINDOW_BEHIND 64 /* so many bytes after the site are looked at */

/* The reasons against a jump. */
enum site_refusal {
	SITE_CAN,
	SITE_NOT_CODE, /* something of the function is no code that is known */
	SITE_NO_FUNCTION,
	SITE_LANDINGS, /* the places that catch exceptions are unknown */
	/*
	 * An instruction of the function jumps into the bytes of the patch, or back to its
	 * beginning
	 */
	SITE_LED_TO,
	SITE_LED_TO_BY_DATA, /* a table or an address in the data does */
	SITE_LED_TO_BY_OTHERS,
	SITE_NO_ROOM,  /* the function ends too soon */
	SITE_TOO_NEAR, /* too near to another site */
	SITE_INSN,     /* an instruction there cannot be moved */
	SITE_REFUSALS
};

/* The kind of reference to a byte. The last one in this list counts, if there are several. */
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

/* The same in words, which live for ever. */
const char *lead_text(enum lead lead);

/*
 * The surroundings of a place in the code. A jump that is written to @site or before it overwrites
 * WINDOW_BYTES. No reference may lead to any of these except the first.
 *
 * @is_padding: it is not part of a function, and need not be. Filled in by the caller, like @site
 * @entry: the start of the function whose first relevant instruction is @site; 0: there is none.
 *         All references to these two are allowed except jumps of the function itself: these would
 *         become new calls. Filled in by the caller, too
 * @why_not: the reason why no jump may be written here; NULL: none known. All reasons are static
 *           strings
 * @refusal: the same as enum site_refusal
 * @led_to: for each byte from @site - WINDOW_BEFORE on enum lead
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
 * The reason why a jump of @bytes may not be written to @from, at most WINDOW_BEFORE before the
 * site, so that each thread that comes to the site takes it; NULL: there is no known reason.
 * @lead: the kind of reference into it then, LEAD_NONE for another reason.
 */
const char *window_check(const struct window *window, uint64_t from, unsigned bytes,
			 enum lead *lead);

/* A place whose window is needed: see struct window. */
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

/* Sorted by address. Starts as { 0 }, ends with leads_deinit(). */
struct leads {
	struct lead_note *list;
	size_t nr;
};

void leads_deinit(struct leads *leads);
#define cleanup_leads cleanup(leads_deinit)

/*
 * Search the whole file, in several threads, for references to the surroundings of the @nr
 * @places, which are sorted by site. Short jumps from the functions around are not included. 0 or
 * -ENOMEM.
 */
int leads_find(const struct code *code, struct insns *insns, const struct lead_place *places,
	       size_t nr, struct leads *out);

/* Fill in windows of some of these places. Each thread needs its own @insns. */
void windows_fill(const struct code *code, struct insns *insns, const struct leads *leads,
		  struct window *windows, size_t nr);

/*
 * Both steps: find references into one of the @nr windows, which are sorted by site:
 *
 *  - jumps and calls by a distance: within the functions around, instruction by instruction; from
 *    anywhere else whatever could be one of 32 bits, from any byte on (those of 8 bits do not come
 *    from further away)
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
