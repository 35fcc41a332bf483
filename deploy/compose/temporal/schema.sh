#!/bin/sh
# Brings Temporal's two databases to the schema of this version; harmless when they have it.
set -eu

for name in temporal temporal_visibility; do
    folder=temporal
    [ "$name" = temporal ] || folder=visibility
    set -- temporal-sql-tool --plugin postgres12 --endpoint postgres --port 5432 --user temporal --database "$name"
    "$@" setup-schema --version 0.0
    "$@" update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$folder/versioned"
done
