#!/bin/sh
# The namespace, once, and the search attributes by which a session's workflows are found in Temporal's own tools.
set -eu

temporal operator namespace describe --namespace default >/dev/null 2>&1 ||
    temporal operator namespace create --namespace default --retention 72h
for name in Tenant User Session Agent Turn; do
    temporal operator search-attribute create --namespace default --name "Turnwright$name" --type Keyword
done
