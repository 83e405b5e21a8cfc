package sticktest

import (
	"flag"
)

// ExploreLong is the flag -explore.long: the large configurations are explored, too.
var ExploreLong = flag.Bool("explore.long", false, "explore the large configurations of the stick too")
