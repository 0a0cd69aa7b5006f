/* The text of picture.js. It goes into a script element, in CDATA. */
#ifndef UTRAIL_VIEW_PICTURE_SCRIPT_H
#define UTRAIL_VIEW_PICTURE_SCRIPT_H

extern const char picture_script[];

#endif
