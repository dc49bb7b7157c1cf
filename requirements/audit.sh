#!/bin/sh
# Ask PyPI for known vulnerabilities of the packages in the lock files.
# Status 1: there are some, or a package could not be asked about; 3: the service does not answer.
set -eu
cd "$(dirname "$0")"

service=https://pypi.org/pypi/pip/24.0/json
if ! python3 -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=20)' "$service" 2>/dev/null; then
	echo "not audited: $service, where pip-audit asks for vulnerabilities, does not answer" >&2
	exit 3
fi
for file in dev server tools torch; do
	echo "requirements/$file.txt"
	pip-audit --strict --require-hashes --disable-pip --progress-spinner off --requirement "$file.txt" "$@"
done
