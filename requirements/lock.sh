#!/bin/sh
# Write the lock files by uv: what each installation needs, every package with its hashes, one release for all of them.
#   sh requirements/lock.sh              keep the locked releases, add what pyproject.toml has gained
#   sh requirements/lock.sh --upgrade    take the newest releases
set -eu
cd "$(dirname "$0")/.."

compile() { uv pip compile --quiet --config-file requirements/uv.toml "$@"; }
subset() { # of dev.txt: the file, then its extras; hatchling builds PropCite itself
	name=$1 && shift
	echo 'hatchling>=1.25' | compile --no-emit-package torch "$@" -c requirements/dev.txt pyproject.toml - -o "requirements/$name.txt"
}

compile --no-emit-package torch --extra dev "$@" pyproject.toml -o requirements/dev.txt
subset app --extra app
subset server --extra app --extra llm --extra ocr --extra postgres
subset cluster --extra app --extra llm --extra ocr --extra postgres --extra cluster --extra s3
compile "$@" requirements/tools.in -o requirements/tools.txt
# The releases of torch come from pyproject.toml; what it brings for CUDA is resolved here alone.
sed -n 's/^  "\(torch>=[^"]*\)",$/\1/p' pyproject.toml |
	uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		"$@" -c requirements/dev.txt - -o requirements/torch.txt
