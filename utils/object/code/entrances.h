/* Finds instructions and data of a file that refer to bytes which a patch will overwrite. */
#ifndef UTRAIL_OBJECT_ENTRANCES_H
#define UTRAIL_OBJECT_ENTRANCES_H

#include "utils/object/code/code.h"
#include "arch/insn.h"

#define WINDOW_BYTES 5 /* length of a jump that reaches 2 GiB */

/*
 * The search finds references to the WINDOW_BEFORE bytes before a site, and to WINDOW_BEHIND bytes
 * that begin at the site. The jump for a site begins at most WINDOW_BEFORE bytes before the site.
 */
#define WINDOW_BEFORE 24
#define WINDOW_BEHIND 64

/* The reasons why no jump can be written for a site (sites.h). */
enum site_refusal {
	SITE_CAN,      /* a jump can be written: no refusal */
	SITE_NOT_CODE, /* a part of the function, or of a function near it, cannot be decoded */
	SITE_NO_FUNCTION,
	SITE_LANDINGS,	     /* the places that catch exceptions are unknown */
	SITE_LED_TO,	     /* the function itself jumps to the bytes of the patch */
	SITE_LED_TO_BY_DATA, /* a table or an address in data refers to the bytes of the patch */
	SITE_LED_TO_BY_OTHERS,
	SITE_NO_ROOM,  /* the function is shorter than the jump */
	SITE_TOO_NEAR, /* another site is too close */
	SITE_INSN,     /* an instruction in the bytes of the patch cannot be moved */
	SITE_REFUSALS
};

/*
 * The kinds of references to a byte. If several references lead to a byte, the reference with the
 * greatest enum value counts.
 */
enum lead {
	LEAD_NONE,
	LEAD_OWN,	/* an instruction of the function itself */
	LEAD_FAR,	/* outside of functions: bytes that look like a jump or a call */
	LEAD_FUNC,	/* in another function: an instruction, or bytes like those of LEAD_FAR */
	LEAD_GAP,	/* code between functions */
	LEAD_GAP_MAYBE, /* bytes that look like a jump, in undecodable code between functions */
	LEAD_LANDING,	/* an exception is caught there */
	LEAD_WORD,	/* an address in the data */
	LEAD_TABLE,	/* an entry of a table (switch): the distance from the table to code */
};

/*
 * The bytes around a site. A jump that is written to @site, or before @site, overwrites at most
 * WINDOW_BYTES. Some overwritten bytes may be targets of references (enum lead):
 *
 * - If @entry is 0, only the first overwritten byte may be a target.
 * - If @entry is not 0, only the bytes at @site and @entry may be targets. A jump of the function
 *   itself must not lead to these bytes, because such a jump would be recorded as a new call.
 *
 * The caller sets @site, @is_padding and @entry.
 *
 * @is_padding: @site need not be part of a function
 * @entry: the start of the function, if @site is at this start, or follows an `endbr64` at this
 *         start. Otherwise 0
 * @why_not, @refusal: the reason why no jump may be written here, as a static string (or NULL), and
 *         as enum site_refusal
 * @led_to: enum lead for each byte, beginning at @site - WINDOW_BEFORE
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
 * Check that a jump may be written to @from, and that each thread which reaches the site
 * would execute the jump. Returns NULL, or the reason why the jump must not be written.
 *
 * @from: the address of the jump; at most WINDOW_BEFORE bytes before the site
 * @bytes: the length of the jump
 * @lead: gets the kind of reference that is the reason, or LEAD_NONE for another reason
 */
const char *window_check(const struct window *window, uint64_t from, unsigned bytes,
			 enum lead *lead);

/*
 * A site for leads_find(), which searches for references to the bytes around the site. @site and
 * @entry mean the same as in struct window.
 */
struct lead_place {
	uint64_t site;
	uint64_t entry;
};

/*
 * A reference to @addr.
 *
 * @func: index of the function that contains the reference; UINT32_MAX: none
 * @lead: enum lead; LEAD_UNKNOWN: the landing pads of the function are unknown
 */
struct lead_note {
	uint64_t addr;
	uint32_t func;
	uint8_t lead;
};

#define LEAD_UNKNOWN UINT8_MAX

/*
 * The references that leads_find() has found, sorted by lead_note.addr. The struct starts as { 0 }
 * and ends with leads_deinit().
 */
struct leads {
	struct lead_note *list;
	size_t nr;
};

void leads_deinit(struct leads *leads);
#define cleanup_leads cleanup(leads_deinit)

/*
 * Search the whole file for references to the bytes around each of the @nr @places. Several threads
 * share the work. @places must be sorted by site. This function does not find short jumps.
 * windows_fill() finds short jumps in the code near each site. Returns 0 or -ENOMEM.
 */
int leads_find(const struct code *code, struct insns *insns, const struct lead_place *places,
	       size_t nr, struct leads *out);

/*
 * Fill in the @nr windows, which must be sorted by site. leads_find() must have found @leads for
 * places that include the sites of all these windows. Each thread needs its own @insns.
 */
void windows_fill(const struct code *code, struct insns *insns, const struct leads *leads,
		  struct window *windows, size_t nr);

/*
 * Fill in the @nr windows, which must be sorted by site. This function calls leads_find() and then
 * windows_fill(). Returns 0 or -ENOMEM. The search finds these references:
 *
 * - relative jumps and calls. Functions around a window are decoded instruction by instruction.
 *   Elsewhere, any four bytes count as a distance
 * - tables of distances (switch). A table may begin at each aligned address that an instruction
 *   computes. A table ends at the next such address, or at an entry that does not lead to code
 * - tables of addresses: aligned words of data, and relocations that make an address
 * - the places where exceptions land
 *
 * These windows are refused:
 *
 * - windows outside of code sections
 * - windows outside of functions, unless window.is_padding is true
 * - windows in a function with undecodable bytes
 * - windows that a short jump in a function with undecodable bytes may reach
 * - windows in a function whose landing pads of exceptions are unknown
 */
int entrances_find(const struct code *code, struct insns *insns, struct window *windows, size_t nr);

#endif
