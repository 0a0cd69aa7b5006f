#!/bin/sh
# Formats all C sources of the tree with clang-format 14 and .clang-format, except sample programs,
# which tests/rules/sources.py leaves out, too.
#
#   misc/format.sh            formats the files in place
#   misc/format.sh --check    names the places that it would change, and fails if there is one
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
	'') how=-i ;;
	--check) how="--dry-run --Werror" ;;
	*)
		echo "usage: misc/format.sh [--check]" >&2
		exit 2
		;;
esac
# shellcheck disable=SC2086  # one word or two
git ls-files -z '*.c' '*.h' ':!tests/e2e/src' ':!tests/bench' | xargs -0 clang-format $how
