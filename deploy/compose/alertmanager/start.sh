#!/bin/sh
# Sends alerts to the webhook of ALERTS_WEBHOOK_URL, or as an alertmanager.yml of your own beside this file says.
set -eu

config=$(dirname "$0")/alertmanager.yml
if [ ! -f "$config" ]; then
    config=${TMPDIR:-/tmp}/alertmanager.yml
    # A page is repeated every hour until somebody mends it, a ticket every day.
    cat >"$config" <<'END'
route:
  receiver: webhook
  group_by: [alertname]
  group_wait: 10s
  group_interval: 1m
  repeat_interval: 24h
  routes:
    - matchers: ['severity="page"']
      receiver: webhook
      repeat_interval: 1h
receivers:
  - name: webhook
END
    if [ -n "${ALERTS_WEBHOOK_URL:-}" ]; then
        url=$(printf '%s' "$ALERTS_WEBHOOK_URL" | sed "s/'/''/g")
        printf "    webhook_configs: [{url: '%s'}]\n" "$url" >>"$config"
    else
        echo "ALERTS_WEBHOOK_URL is not set: alerts are sent to nobody, and only shown" >&2
    fi
fi
exec alertmanager --config.file="$config" --cluster.listen-address= "$@"
