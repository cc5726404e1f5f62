#!/usr/bin/env bash
# What the action runs: `plimsoll gate` by the variables that action.yml sets, its Markdown into the summary of the job, its answer and page as outputs.
# Ends with the exit code of `plimsoll gate`.
set -euo pipefail

store=${GATE_STORE:-.plimsoll/plimsoll.db}
folder=$(dirname "$store")
mkdir -p "$folder"
page=$folder/gate.html
words=("${GATE_PLIMSOLL:-plimsoll}" gate "$GATE_BASE" "$GATE_NEW" --store "$store" --within "${GATE_WITHIN:-15m}")
words+=(--markdown "$folder/gate.md" --page "$page" --json --quiet)
[ -z "${GATE_FILE:-}" ] || words+=(--file "$GATE_FILE")
[ -z "${GATE_MARGIN:-}" ] || words+=(--margin "$GATE_MARGIN")
words+=(--open "${GATE_OPEN:-fail}" --junit "$folder/gate.xml")

code=0
"${words[@]}" >"$folder/gate.json" || code=$?
if [ -f "$folder/gate.md" ]; then
    cat "$folder/gate.md" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
    answer=$(sed -n '/"gate": {/,/}/s/.*"outcome": "\([a-z]*\)".*/\1/p' "$folder/gate.json")
    printf 'answer=%s\npage=%s\n' "$answer" "$page" >>"${GITHUB_OUTPUT:-/dev/stdout}"
fi
exit "$code"
