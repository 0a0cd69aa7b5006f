/* The places in a file that jump into the middle of bytes that are to be overwritten. */
#ifndef UTRAIL_OBJECT_ENTRANCES_H
#define UTRAIL_OBJECT_ENTRANCES_H

#include "utils/object/code/code.h"
#include "arch/insn.h"

#define WINDOW_BYTES 5 /* a jump that reaches 2 GiB */

#define WINDOW_BEFORE 24 /* a jump may be so far before its place */
#define WINDOW_BEHIND 64 /* so many bytes after it are looked at */

/* Why there may be no jump. */
enum site_refusal {
	SITE_CAN,
	SITE_NOT_CODE, /* something of the function is no code that is known */
	SITE_NO_FUNCTION,
	SITE_LANDINGS, /* nobody knows where exceptions are caught */
	/*
	 * An instruction of the function leads into the bytes of the jump, or back to its beginning
	 */
	SITE_LED_TO,
	SITE_LED_TO_BY_DATA, /* a table or an address in the data does */
	SITE_LED_TO_BY_OTHERS,
	SITE_NO_ROOM,  /* the function ends too soon */
	SITE_TOO_NEAR, /* to another site */
	SITE_INSN,     /* an instruction there cannot be moved */
	SITE_REFUSALS
};

/* The kind of reference that leads to a byte. The last one in this list counts, of several. */
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
 * WINDOW_BYTES. Nothing may lead to any of these but the first.
 *
 * @is_padding: it is no part of any function, and need not be. Filled in by the caller, like @site
 * @entry: the beginning of the function of which @site is the first instruction that counts; 0: it
 *         is none's. Anybody may lead to these two but jumps of the function itself: these would be
 *         new calls. Filled in by the caller, too
 * @why_not: nothing may be written here, with the reason; NULL: not known yet. All reasons live for
 *           ever
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
 * site, so that each thread that comes to the site takes it; NULL: nothing is known against it.
 * @lead: the kind of reference into it then, LEAD_NONE when the reason is another one.
 */
const char *window_check(const struct window *window, uint64_t from, unsigned bytes,
			 enum lead *lead);

/* A place whose window somebody wants to know of: see struct window. */
struct lead_place {
	uint64_t site;
	uint64_t entry;
};

/*
 * Something leads to @addr.
 *
 * @func: the index of the code's function that it is in; UINT32_MAX: none
 * @lead: enum lead; or LEAD_UNKNOWN: nobody knows where the function catches exceptions
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
 * Look through all of the file, in several threads, for references to the surroundings of the @nr
 * @places, which are sorted by site. Short jumps from the functions around are not among them. 0 or
 * -ENOMEM.
 */
int leads_find(const struct code *code, struct insns *insns, const struct lead_place *places,
	       size_t nr, struct leads *out);

/* Fill in windows of some of these places. No two threads may have the same @insns. */
void windows_fill(const struct code *code, struct insns *insns, const struct leads *leads,
		  struct window *windows, size_t nr);

/*
 * Both: look for references into one of the @nr windows, which are sorted by site:
 *
 *  - jumps and calls by a distance: within the functions around, instruction by instruction; from
 *    anywhere else whatever could be one of 32 bits, from any byte on (those of 8 bits do not come
 *    from further away)
 *  - tables of distances (switch): from each address in read-only data that some code takes, as
 *    long as the entries lead to code
 *  - tables of addresses: any aligned word of data, and the relocations that make one
 *  - the places where exceptions land
 *
 * Windows may not be used when no function holds them, or when bytes of their function are no
 * instruction. -ENOMEM, else 0.
 */
int entrances_find(const struct code *code, struct insns *insns, struct window *windows, size_t nr);

#endif
