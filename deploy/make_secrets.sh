#!/bin/sh
# Write deploy/secrets/ for compose.yaml: a new password of the database, and an empty list of the page's users.
# The folder keeps others on this machine out; each file can be read by the user of the container that it is given to.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
	echo "deploy/secrets is there already, and the database knows its password: nothing was written" >&2
	exit 2
fi
mkdir -m 700 secrets
password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
printf '%s' "$password" >secrets/database_password
printf 'postgresql://propcite:%s@database/propcite' "$password" >secrets/propcite_database
: >secrets/page_users
chmod 644 secrets/*
