#!/bin/sh
# `systemctl` on a host of the tests: `show` reads what the supervisor wrote, the rest is asked of it.
room=/run/supervisor
verb= unit= noblock=
for word in "$@"; do
  case "$word" in
    --no-block) noblock=no-block ;;
    -*) ;;
    *) if [ -z "$verb" ]; then verb=$word; else unit=$word; fi ;;
  esac
done
if [ "$verb" = show ]; then
  cat "$room/show/$unit" 2>/dev/null || printf 'ActiveState=inactive\nSubState=dead\nMainPID=0\n'
  exit 0
fi
request="$room/requests/$$"
echo "$verb $unit $noblock" >"$room/$$.new"
mv "$room/$$.new" "$request"
while [ ! -e "$request.done" ]; do sleep 0.02; done
said=$(cat "$request.done")
rm -f "$request.done"
[ -z "$said" ] || { echo "$said" >&2; exit 1; }
