#!/bin/sh
# Run once, by the image, when its volume is empty: a database and a user each for the journal and for Temporal.
set -eu

psql --username postgres --set ON_ERROR_STOP=1 \
    --set journal="$TURNWRIGHT_DB_PASSWORD" --set temporal="$TEMPORAL_DB_PASSWORD" <<'SQL'
CREATE USER turnwright PASSWORD :'journal';
CREATE DATABASE turnwright OWNER turnwright;
CREATE USER temporal PASSWORD :'temporal';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SQL
