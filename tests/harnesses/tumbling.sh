#!/bin/sh
# A harness and its engine: tumbling windows of 10 ms from 0 on, and of each element the subject of its one triple, as ?x.
field() { printf '%s' "$line" | sed "s/.*\"$1\": \"*<*\([^\",}>]*\).*/\1/"; }
report() { [ -z "$rows" ] || told="${told:+$told,}{\"rows\":[$rows]}"; rows=; }
while IFS= read -r line; do
  told=
  case $(field command) in
    start) more='"protocol":1,"engine":"tumbling","version":"1"' ;;
    register) rows= window= ;;
    push)
      now=$(($(field at) / 10))
      [ "$now" = "$window" ] || report
      window=$now
      rows="${rows:+$rows,}{\"x\":{\"type\":\"uri\",\"value\":\"$(field graph)\"}}" ;;
    end) report ;;
  esac
  case $(field command) in start) ;; stop) more= ;; *) more="\"relations\":[$told]" ;; esac
  printf '{"seq":%s,"reply":"result"%s}\n' "$(field seq)" "${more:+,$more}"
  [ "$(field command)" != stop ] || exit 0
done
