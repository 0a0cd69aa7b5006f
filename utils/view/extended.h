/* Numbers of x87's 80-bit type as text, even on machines without that type. */
#ifndef UTRAIL_VIEW_EXTENDED_H
#define UTRAIL_VIEW_EXTENDED_H

#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/*
 * Write the text that printf("%#Lf") makes on x86: the complete integer part, a point and six
 * decimals. The number is rounded to nearest, ties to even.
 *
 * @fraction: 64 bits, including the bit before the binary point
 * @head: sign and exponent (Intel SDM volume 1, 4.2.2)
 */
void put_extended(uint64_t fraction, uint16_t head, struct strbuf *out);

#endif
