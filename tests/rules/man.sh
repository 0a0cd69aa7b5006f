#!/bin/sh
# groff reports no error in the man pages. usage: man.sh PAGE...
# With a locale that this machine lacks, man would complain of that.
export LC_ALL=C.UTF-8
command -v groff >/dev/null || { echo "groff is not installed"; exit 77; }
for page in "$@"; do
	complaints=$(groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null)
	# The pages also fit narrow terminals.
	if command -v man >/dev/null; then
		for width in 60 80 120; do
			complaints=$complaints$(MANWIDTH=$width man --warnings -l "$page" 2>&1 >/dev/null)
		done
	fi
	if [ -n "$complaints" ]; then
		echo "$page: $complaints"
		failed=1
	fi
done
exit ${failed:-0}
