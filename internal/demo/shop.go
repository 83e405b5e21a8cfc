package demo

import "strings"

// The files of the scratch repository.
const (
	cartFile   = "cart.sh"
	pricesFile = "prices.md"
	taxFile    = "tax.sh"
	gateFile   = "test.sh"
	scriptFile = "tidy.sh"
)

// shop is what the first commit has.
var shop = map[string]string{
	"AGENTS.md":           "A shop in the shell. sh test.sh tests it.\n",
	cartFile:              emptyCart,
	pricesFile:            firstPrices,
	gateFile:              gate,
	scriptFile:            "# Makes the checkout tidy.\ngit checkout --quiet -- .\ngit clean --quiet --force\n",
	".gitignore":          "/worktrees/\n/.talking-stick/\n",
	".talking-stick.toml": "[gate]\ncommand = \"sh " + gateFile + "\"\n",
}

const gate = `# What has to hold before something lands.
set -e
. ./cart.sh
[ "$(total 4 5)" = 9 ]
[ "$(discounted 200)" = 180 ]
[ ! -e tax.sh ] || . ./tax.sh
[ ! -e tax.sh ] || [ "$(with_tax 100)" = 120 ]
echo the shop adds up
`

// The states of the cart: as committed, after claude's turn, when gemini is killed, and at the end.
const (
	emptyCart = "# The cart.\n"

	cartWithTotal = emptyCart + `
total() {
	sum=0
	for price in "$@"; do sum=$((sum + price)); done
	echo "$sum"
}
`

	cartHalfDone = cartWithTotal + "\n# 10 % off, from 100 on\ndiscounted() {\n"

	cartWithDiscount = cartHalfDone + `	[ "$1" -lt 100 ] && echo "$1" || echo $(($1 - $1 / 10))
}
`
)

// The states of the price list: as committed, and after codex's edit.
const (
	firstPrices  = "# Prices\n\ntea 4\ncake 5\n"
	raisedPrices = "# Prices\n\ntea 5\ncake 6\npie 7\n"
)

// taxText returns the file of the task, after the review has returned it so often.
func taxText(returned int) string {
	return strings.Repeat("# In percent of the price.\n", returned) + "with_tax() { echo $(($1 * 120 / 100)); }\n"
}
