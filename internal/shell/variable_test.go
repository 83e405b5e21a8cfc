package shell

import (
	"strings"
	"testing"
)

// TestVariables_Known: what the text sets a variable to is known, wherever a word has it. What is computed
// isn't.
func TestVariables_Known(t *testing.T) {
	check(t, []row{
		{"f=new.txt; echo x > $f; rm \"$f\" ${f}.bak", "new.txt new.txt.bak"},
		{"f=new; f=\"$f\".txt; rm -f \"$f\"", "new.txt"},
		{"d='x y'; rm $d/a \"$d\"/b", "x y/b"}, // without quotes it is two words
		{"f=; rm $f a.go \"$f\"", "a.go"},
		{"f=a.go f+=x; rm $f; f=(a.go); f[1]=x; rm $f", ""},
		{"f=a.go; rm ${f%.go} ${f:-x} ${#f} ${!f} ${f/a/b}", ""},
		{
			"i=1; i=$((i+1)); rm $i; j=1; ((j++)); rm $j; k=1; let k=2; rm $k; l=1; : ${l:=2}; rm $l; declare -i m=1+1; rm $m",
			"",
		},
		{"for ((i=0; i<3; i++)); do rm a$i; done; i=1; for ((i=0; i<3; i++)); do rm b$i; done", ""},
		{"f=a.go; read f; rm $f; f=a.go; printf -v f x; rm $f; f=a.go; mapfile f; rm $f; f=a.go; unset f; rm $f", ""},
		{"f=a.go; printf x f; rm $f", "a.go"},
		{"f=a.go; . ./env; rm $f", ""},
		{"f=a.go; eval \"$x\"; rm $f", ""},
		{"f=a.go; if x; then f=b.go; fi; rm $f", ""},
		{"f=a.go; while read x; do f=b.go; done; rm $f", ""},
		{"f=a.go; x || f=b.go; rm $f", ""},
		{"f=a.go; x | read f; rm $f; (f=b.go; rm $f); f=c.go & rm $f", "a.go b.go"},
		{"f=a.go; IFS=o; rm $f; rm \"$f\"", "a.go"},
		{"f=a.go; IFS= read -r line; rm $f", "a.go"},
		{"F='a\\b'; rm $F; rm \"$F\"", "a\\b"},
		{"f=a.go; set x; rm $1; set -- $f; rm $1 ${1} $2", "x a.go"},
		{"set -e -o pipefail; rm $1; set +e; rm \"$@\"", ""},
		{"f() { local x=$1 y; rm $x $y; }; x=b.go; y=c; f a.go; rm $x $y $1", "a.go b.go c"},
		{"for f in a $x b; do rm $f; done; rm $f", "a b"},
		{"for d in sub $x; do cd $d; rm c.go; done; rm a.go", "sub/c.go"},
		{"select f in a b; do rm $f; done; for f in $x; do rm \"$f\"; done", ""},
		{"rm $" + strings.Repeat("x", 10) + "; export F; rm $F/x; declare G; rm $G/x; rm \"$*\" $# $? $$", ""},
		{"x=$(pwd)/sub; rm $x/c.go; cd \"$x\"; rm d.txt", "sub/c.go sub/d.txt"},
		{"x=rm; $x a.go; y='rm -f'; $y b.go; \"$y\" z", "a.go b.go"},
		{"sudo=; $sudo rm a.go", "a.go"},
	})
}

// TestVariables_Limits: what grows with each step is known only so far, and what follows is read all the
// same.
func TestVariables_Limits(t *testing.T) {
	many := "for a in " + strings.Repeat("x ", 100) + "; do for b in " + strings.Repeat("y ", 100) + "; do rm $a; done; done; rm a.go"
	check(t, []row{
		{"x=a;" + strings.Repeat("x=$x$x;", 40) + "rm $x a.go", "a.go"},
		{"f() { f \"$@\" \"$@\"; }; f a", ""},
		{many, "x a.go"},
		{"for f in " + strings.Repeat("x ", maxRounds+1) + "; do rm $f b.go; done; rm a.go", "b.go a.go"},
	})
}
