# What a person sees who upgrades tt while agents wait: $1 is the older program, $2 one that adds to the database what the older can
# live with, $3 one whose database the older can't use. It runs in a process namespace of its own, in an empty workspace.
set -eu
older=$1 adds=$2 breaks=$3

waiting() { until "$older" state --json | grep -q '"listening"'; do kill -0 "$!"; done; } # … as long as the wait lives
fails() { # STATUS COMMAND…
	want=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" = "$want" ] || { echo "status $got, want $want: $*"; exit 1; }
}
says() { grep -q -e "$2" "$1" || { echo "$1 lacks $2:"; cat "$1"; exit 1; }; }

echo "== the newer program adds something: old and new work side by side"
"$older" try --as alice >alice
"$older" wait --as bob >bob 2>&1 &
waiting
"$adds" join --as carol >carol
"$adds" doctor >doctor
"$adds" release --as alice --status 'halfway' --next-action 'go on' >released
wait "$!"
says bob 'your turn, turn 2'
says bob 'halfway'
"$older" state >state
says state 'carol'

echo "== the newer program changes what the older relies on: the older one's wait is told so"
mkfifo in out
"$older" mcp <in >out 2>mcp.err &
mcp=$!
exec 3>in 4<out
ask() { printf '%s\n' "$1" >&3; }
ask '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"cursor","version":"0"}}}'
read -r line <&4
ask '{"jsonrpc":"2.0","method":"notifications/initialized"}'
"$older" wait --as alice --json >alice 2>alice.err &
waiting
wait=$!
"$breaks" release --as bob --status 'done' --next-action 'review it' >released
fails 7 wait "$wait"
says alice.err '"error":"upgraded"'
says alice.err 'run the command again with the newer tt'

echo "== what still runs as the older program refuses, and harms nothing"
fails 7 "$older" release --as bob --status 'again' --next-action 'nothing' --json 2>refused
says refused '"error":"schema_too_new"'
ask '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_rooms","arguments":{}}}'
read -r line <&4
printf '%s\n' "$line" >answer
says answer '"isError":true'
says answer 'upgraded\|schema_too_new'
exec 3>&- 4<&-
wait "$mcp" || true
echo '{"hook_event_name":"SessionStart","session_id":"s1","source":"startup"}' | "$older" hook claude >hook
[ ! -s hook ] || { echo 'the hook of the older program spoke:'; cat hook; exit 1; }

echo "== the newer program goes on where the older was"
"$breaks" wait --as alice >alice
says alice 'your turn, turn 3'
says alice 'review it'
"$breaks" doctor >doctor
says doctor 'hook claude of session s1: the database needs schema' # what the hook couldn't say
echo "== all of it happened"
