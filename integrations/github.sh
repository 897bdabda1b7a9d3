#!/usr/bin/env bash
# The second step of action.yml: run referee, and leave its report in the job's summary. Exits as referee does.
# MODE, TASK and ARGUMENTS (one option on each line) come from the action's inputs.
set -uo pipefail

more=()
while IFS= read -r line; do
  [ -n "$line" ] && more+=("$line")
done <<<"${ARGUMENTS:-}"
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/referee.XXXXXX")

fenced() { # no line of it can end the fence
  printf '~~~~~~~~\n'
  sed 's/^~~~/ ~~~/' "$1"
  printf '\n~~~~~~~~\n'
}

case "${MODE:-check}" in
  check)
    referee check ${more[@]+"${more[@]}"} --output "$folder/referee.sarif" >"$folder/said.txt"
    code=$?
    cat "$folder/said.txt"
    fenced "$folder/said.txt" >>"$GITHUB_STEP_SUMMARY"
    [ -f "$folder/referee.sarif" ] && echo "sarif=$folder/referee.sarif" >>"$GITHUB_OUTPUT"
    ;;
  fix)
    referee fix ${more[@]+"${more[@]}"} --json -- "${TASK:-}" >"$folder/report.json"
    code=$?
    run=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["run_id"])' "$folder/report.json" 2>/dev/null)
    if [ -n "$run" ]; then
      echo "run=$run" >>"$GITHUB_OUTPUT"
      referee show "$run" --format markdown >>"$GITHUB_STEP_SUMMARY"
    fi
    ;;
  *)
    echo "mode is check or fix, not ${MODE}" >&2
    code=2
    ;;
esac
exit "$code"
