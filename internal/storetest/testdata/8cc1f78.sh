#!/bin/bash
# Makes the database of 8cc1f78.sql: bash 8cc1f78.sh <a tt built from commit 8cc1f78> <where the database goes>
#
# It needs Linux, root, git and sqlite3. Everything runs in namespaces of its own, with a home, a machine id
# and a boot id that are made up, so that nothing of the machine gets into the database.
if [ -z "$STAGE" ]; then
  mkdir -p "$2"
  exec env -i STAGE=1 PATH=/usr/bin:/bin unshare --mount --pid --uts --fork --mount-proc bash "$(realpath "$0")" "$(realpath "$1")" "$(realpath "$2")"
fi

out=$2
hostname build1
mount -t tmpfs tmpfs /home
mkdir -p /home/ann/bin /home/ann/app
boot() {
  echo "5e1f0c2b-0000-4000-8000-00000000000$1" >/home/boot$1
  mount --bind /home/boot$1 /proc/sys/kernel/random/boot_id
}
boot 1
echo 0123456789abcdef0123456789abcdef >/home/machine-id
mount --bind /home/machine-id /etc/machine-id
export HOME=/home/ann USER=ann LOGNAME=ann PATH=/home/ann/bin:/usr/bin:/bin LC_ALL=C.UTF-8 TZ=UTC
git config --global init.defaultBranch main
git config --global user.name Ann
git config --global user.email ann@example.org
cp "$1" /home/ann/bin/tt
cp /bin/bash /home/ann/bin/claude # a harness is known by the name of its program
cp /bin/bash /home/ann/bin/codex
cat >/home/ann/bin/git <<'E' # it hangs where it is asked for $HANG
#!/bin/sh
case "${HANG:+ $* }" in
*" $HANG "*) echo $$ >/home/ann/hanging; mv /home/ann/hanging /home/ann/hung; exec sleep 1000;;
esac
exec /usr/bin/git "$@"
E
chmod +x /home/ann/bin/git
cd /home/ann/app || exit
set -x

as() { local a=$1; shift; TT_HARNESS_AGENT_ID=$a tt "$@"; }
# start a harness: start <name> <program> <variable>
start() {
  mkfifo /home/ann/$1.in /home/ann/$1.out
  env $3 /home/ann/bin/$2 -c 'while read -r l; do eval "$l" >>/home/ann/$0.log 2>&1; echo $? >/home/ann/$0.out; done' $1 </home/ann/$1.in &
  eval "PID_$1=$!"
  exec {fd}>/home/ann/$1.in
  eval "FD_$1=$fd"
}
inside() { local fd=FD_$1 n=$1 rc; shift; echo "cd $PWD; $*" >&${!fd}; read -r rc </home/ann/$n.out; tail -n 3 /home/ann/$n.log; }
killed() { local pid=PID_$1; kill -9 ${!pid}; wait ${!pid}; }
numbers() { grep -o "\"$1\": [0-9]*" | grep -o '[0-9]*$'; }
edit() { # edit <harness> <session> <event of its hook>
  echo "{\"session_id\":\"$2\",\"hook_event_name\":\"$3\",\"cwd\":\"/home/ann/app\",\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"/home/ann/app/src/parse.go\",\"old_string\":\"a\",\"new_string\":\"b\"}}" >/home/ann/hook.json
  inside $1 'tt hook claude </home/ann/hook.json'
}
repository() { # repository <gate>
  git init -q
  printf '[gate]\ncommand = "%s"\n' "$1" >.talking-stick.toml
  mkdir src; echo lex >src/parse.go; echo fine >state
  git add .; git commit -q -m first
  tt join
}

# Turns.
repository 'grep -q fine state'
for a in codex claude gemini opus; do as $a join; done
as codex wait
as codex release --status 'wrote the parser' --next-action 'review it' --question 'is it fast?' --do-not 'rename Lex' --artifact src/parse.go:1-1:review:look
as claude wait
as claude pass gemini --status 'reviewed' --next-action 'fix the lexer'
as gemini wait
tt take --operator-requested --reason 'gemini hangs'
tt release --status 'took it back' --next-action 'go on'
as codex wait
as claude take --operator-requested --reason 'ann says so'
as claude leave --abandon 'had to go'
as claude join
tt kick opus --force --reason 'not needed'
as codex kick gemini --force --reason 'ann says so'
as gemini join
tt reorder claude codex gemini
tt policy set order=sequence
tt policy set order=fair
as codex wait
as codex close --status 'all done' --next-action 'nothing' --reason 'over'
as codex join
tt close --reason 'holiday'
as claude join
as codex join

# A recipient that ends, an owner that is idle, an owner that ends.
start kim codex CODEX_SESSION_ID=kim
start pat claude CLAUDE_CODE_SESSION_ID=pat
inside kim 'tt wait'
inside pat 'tt join'
inside kim "tt pass $(tt state --json | grep -o 'claude:[0-9a-f]*' | sort -u | head -1) --status 'found a race' --next-action 'fix it'"
killed pat
as gemini wait
start sam claude CLAUDE_CODE_SESSION_ID=sam
as gemini release --status 'fixed' --next-action 'go on'
inside sam 'tt wait'
tt policy set owner_idle_ttl=300ms waiter_grace=100ms
TT_HARNESS_AGENT_ID=codex timeout 10 tt wait
sleep 1
as codex take --reason 'sam sleeps'
tt policy set owner_idle_ttl=45m waiter_grace=5s
start dan codex CODEX_SESSION_ID=dan
as codex release --status 'woke it' --next-action 'go on'
inside dan 'tt wait'
killed dan
as codex take --reason 'dan has ended'
as codex leave --status 'so far' --next-action 'the rest'
as codex wait

# Edits that aren't allowed.
tt policy set enforce=stick
edit sam sam PreToolUse
as codex release --status 'a' --next-action 'b'
inside sam 'tt wait'
edit sam sam PreToolUse
as codex take --operator-requested --reason 'it hangs'
edit sam sam PostToolUse
start new claude CLAUDE_CODE_SESSION_ID=new
inside new 'tt join'
edit new new PostToolUse
tt policy set enforce=off

# Messages and notes.
as codex msg send claude 'where is the state?' --subject state --thread parser --task T-1
as codex msg send room 'the build is green' --category INFO --interrupt
as codex msg send claude,gemini 'stuck' --category BLOCKED --blocker 'no disk' --requested-action 'free some' --urgency high
as codex msg send claude 'yours now' --category HANDOFF --done 'lexer' --remaining 'parser' --next-action 'write it'
as codex msg send system 'for the log'
set -- $(as claude inbox --json | numbers message_id)
as claude msg read $1
as claude ack "$@"
as claude msg send codex 'in the lexer' --reply-to $1
printf 'two lines:\n  größer als “zwei” <&> 漢字\n' | as gemini msg send claude --stdin
as gemini inbox
as codex msg withdraw $(as codex msg send gemini 'oops' --requires-ack --json | numbers message_id)
as gemini wait --park --timeout 2s
as opencode join
as codex msg send opencode 'will you?' --requires-ack
as opencode leave
as codex notes add 'the generated files are not in git'
as codex notes add 'leave lex.go alone' --turn
as claude notes resolve $(as claude notes list --json | numbers note_id | head -1)

# Reservations.
as claude reserve src 'docs/*.md' --task T-1
as codex reserve 'src/*.go'
as codex reserve src
as claude reserve src --ttl 5m
as claude unreserve 'docs/*.md'
start rob codex CODEX_SESSION_ID=rob
inside rob 'tt join'
inside rob 'tt reserve web'
killed rob
as gemini reserve web --takeover-stale
as gemini reserve 'tests/**'
tt unreserve $(as codex reservations --of codex --json | numbers reservation_id | head -1)

# Sessions.
start one claude CLAUDE_CODE_SESSION_ID=one
inside one 'tt session start'
start two codex CODEX_SESSION_ID=two
inside two 'tt session start'
killed one
start three claude CLAUDE_CODE_SESSION_ID=three
inside three 'tt session start'
inside three 'tt session end'
inside two 'tt session promote'
start four claude CLAUDE_CODE_SESSION_ID=four
inside four 'tt session start'
start five codex CODEX_SESSION_ID=five
inside five 'tt session start'
inside five 'tt session end'
killed two

# Tasks.
change() { (cd worktrees/$1 && echo $2 >$3 && git add . && git commit -q -m $1); }
review() { as claude worker diff $1 >/dev/null; as claude worker approve $1; }
work() { # work <task> <content> <file>: up to the request for a review
  as claude worker spawn $1
  as codex worker start --task $1
  change $1 $2 $3
  as codex worker done --task $1
}
tt worker init
echo 'Try three times.' | as claude worker spawn UI-7 --description 'Retry failed uploads' --spec -
as codex worker start --task ui-7
change UI-7 retry upload
as codex worker done --task ui-7 --evidence 'tests=echo all green'
as claude worker diff ui-7
as claude worker request-changes ui-7 'only twice'
change UI-7 twice upload
as codex worker done --task ui-7
review ui-7
as claude worker merge ui-7
as claude worker rollback ui-7 --reason 'it broke the build'
as claude worker retry ui-7
as codex worker start --task ui-7
as codex worker fail --task ui-7 'too hard'
as claude worker spawn c2 # c1 and c2 conflict
as opencode worker start --task c2
change c2 two lexer
as opencode worker done --task c2
work c1 one lexer
review c1
review c2
as claude worker merge --all
as opencode worker done --task c2
as claude worker cancel c2 --reason later
work red broken state # the gate is red
review red
as claude worker merge red
work queued q q
tt worker approve queued --override --reason 'I looked'
as claude worker spawn begun
as claude worker spawn run --run 'echo it broke; exit 3'
sleep 1
tt worker status
work reviewing r r
as codex worker heartbeat --task queued
as claude worker spawn dropped
as claude worker cancel dropped --delete --reason 'not needed'

# Commands about tasks that are killed in the midst of their work.
hang() { # hang <what git hangs at> <command>
  local at=$1 pid; shift; rm -f /home/ann/hung
  HANG=$at setsid "$@" & pid=$!
  until [ -e /home/ann/hung ]; do sleep 0.1; done
  kill -9 $pid $(cat /home/ann/hung); wait $pid # git has its command's locks
}
gated() { # in its gate
  local pid; rm -f /home/ann/gate; touch /home/ann/slow
  setsid "$@" & pid=$!
  until [ -e /home/ann/gate ]; do sleep 0.1; done
  kill -9 $pid; rm /home/ann/slow; wait $pid; sleep 0.5
}
slow='touch /home/ann/gate; while test -e /home/ann/slow; do sleep 0.1; done; grep -q fine state'
claude='env TT_HARNESS_AGENT_ID=claude tt' codex='env TT_HARNESS_AGENT_ID=codex tt'
mkdir /home/ann/lib; cd /home/ann/lib
repository "$slow"
as claude join; as codex join
tt worker init
work back b b; review back; as claude worker merge back
work landing l l; review landing
work waits w w; review waits
as claude worker spawn again
as codex worker start --task again
as codex worker fail --task again 'no'
as claude worker spawn finishing
as codex worker start --task finishing
change finishing f f
work tidied t t; review tidied
hang 'worktree unlock' $claude worker merge tidied
rm -rf worktrees/again; git worktree unlock worktrees/again; git worktree prune
hang 'worktree add' $claude worker retry again
hang 'worktree add' $claude worker spawn opening
hang 'rebase --quiet' $codex worker done --task finishing
gated $claude worker merge landing
tt worker status
mkdir /home/ann/web; cd /home/ann/web
repository "$slow"
as claude join; as codex join
tt worker init
work back b b; review back; as claude worker merge back
gated $claude worker rollback back --reason 'it is slow'

# A queue that stands still, because the branch itself is red.
mkdir /home/ann/doc; cd /home/ann/doc
repository 'grep -q fine state'
as claude join; as codex join
tt worker init
work page p p; review page
git switch -q --detach integration; echo broken >state; git commit -q -a -m broken; git branch -f integration HEAD
as claude worker merge page

# Another boot, before which somebody had the turn and a reservation, in two rooms.
as claude wait
as claude reserve api
cd /home/ann/app; as codex wait
boot 2
as codex wait
cd /home/ann/doc; as claude join
tt doctor

(
  echo "PRAGMA application_id=0x54547374;" # a dump leaves it out
  sqlite3 /home/ann/.local/share/talking-stick/rooms.sqlite .dump
) >"$out/8cc1f78.sql"
sqlite3 /home/ann/.local/share/talking-stick/rooms.sqlite "VACUUM INTO '$out/8cc1f78.sqlite'"
