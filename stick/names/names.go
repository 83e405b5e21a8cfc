// Package names chooses what people call an agent whose id tt has made, and shows those names in place of the ids.
// Ids stay what everything is recorded by; names are for people.
package names

import (
	"crypto/sha256"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"talkingstick/stick"
)

// nameWords are what agents are called by, beside their harness: 512 short words that are no colours, since a
// screen gives each agent a colour as well. The order must not change: an id's hash says where to begin.
var nameWords = sync.OnceValue(func() []string {
	return strings.Fields(`
	acacia acorn adder agate alder alpaca altair anchor anchovy anemone antares antelope anvil aspen
	aster atoll aurora axolotl badger bagel baobab barley basalt basil basket beach beacon bear beaver
	beech beetle begonia bell beluga beryl birch biscuit bison blizzard bobbin bobcat bog bracken bream
	breeze brioche brook broom bucket buffalo bumble butte button buzzard cabbage camel camellia candle
	canoe canyon cape caracal caribou carp cashew castle cedar celery cello chamois cheetah chervil
	chickpea chisel cicada civet clam clarinet cliff clove clover cockatoo cockle comet compass condor
	cougar cove cowslip coyote crab cradle crane crater creek cricket crocus crumpet cuckoo cucumber
	cumin curlew cuttle cyclone cygnet cymbal cypress daffodil dagger dahlia daisy dale dawn delta deneb
	desert dill dingo dolphin donkey dove drizzle drum dumpling dune easel echidna eel egret eland
	elephant elk elm emu falcon fen fennel fern ferret fiddle fig finch firefly fjord flint flounder
	flute forest foxglove frog frost gale gander gannet garlic gazelle gecko genet gentian geranium
	gerbil geyser giraffe glacier glen gnocchi goat gondola gorge gorse gourd granite grebe grouse grove
	guava guitar guppy haddock hail halibut hammock hamster hare harp hawthorn hazelnut hedge hedgehog
	helmet hemlock heron herring hippo holly hornet hyena ibex ibis iceberg icicle iguana impala iris
	isle ivy jackal jackdaw jaguar jasmine jasper jungle juniper jupiter kale kangaroo kayak kestrel
	kettle kiwi knoll koala kudu ladder ladle ladybird lagoon lake lamb lantern larch lark laurel leek
	lentil leopard lettuce lichen lily limpet linden lion lizard llama lobster locust loon lotus lute
	lychee lynx lyra macaw mackerel magnolia magpie mammoth manatee mandolin mango mantis maple marble
	marigold marl marlin marmot mars marsh marten mayfly meadow meerkat melon merlin mesa meteor millet
	mimosa mink minnow mitten mole mongoose monsoon moor moose mosaic moss moth muffin mullet mussel
	myrtle narwhal nautilus nebula needle neptune nettle newt noodle nougat nutmeg oak oasis oat oboe
	obsidian ocelot octopus okapi omelette onion orca orchard oregano orion oryx osprey ostrich otter
	owl oyster paddle pancake panther papaya parrot parsley parsnip pastry peacock peanut pear pebble
	pelican pencil peony pepper perch petrel petunia pheasant piano pigeon pillow pine piranha plaice
	planet plateau platypus plover pluto polaris polecat pond pony poplar poppy porpoise possum prairie
	prawn pretzel primrose pudding puffin pulley pulsar puma pumice pumpkin quail quartz quasar quill
	quince quinoa rabbit raccoon radish raven raviolo reef reindeer rhino ridge rigel risotto roach
	robin rosemary rowan rudder rye saddle sardine savanna scallop schist schooner scone scorpion
	seahorse seal sequoia serval sextant shale shallot shark shovel shrew shrimp sirius skink skunk
	sleigh snail sorbet sorrel sparrow spica spider spinach spindle spoon spruce squid squirrel stapler
	starfish starling steppe stingray stoat stork strudel sturgeon summit sundial swallow swamp swan
	swift taiga tambour tapir tarragon teapot tench tern terrapin thicket thimble thrush thunder thyme
	tiger toad toffee tornado tortoise toucan tractor trombone trout truffle trumpet tuba tulip tuna
	tundra turbot turnip turtle typhoon ukulele umbrella uranus urchin valley vase vega venus viola
	violin volcano vole waffle wagon wallaby walnut walrus weasel whale whelk whistle willow windmill
	wolf wombat wren yacht yak yew zebra zinnia zircon zither
`)
})

// generatedID is an id that tt made of a session: nobody chose it, and nobody likes to read it.
var generatedID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9][a-z0-9._-]*):[0-9a-f]{8,64}(-[0-9]+)?$`)
})

// isGenerated reports whether tt made an id, whose agent therefore gets a name that people can read.
// Persons, and agents that were given a name with --as, are called by their ids.
func isGenerated(a stick.AgentID) bool { return !a.Human() && generatedID().MatchString(string(a)) }

// Choose returns what people call a, such as claude-otter, or nothing where its id was chosen to be read.
// It begins at the id's hash and takes the first name that isTaken denies. When all words are taken, it numbers
// them. It fails with the errors of isTaken.
func Choose(a stick.AgentID, isTaken func(name string) (bool, error)) (string, error) {
	if !isGenerated(a) {
		return "", nil
	}

	harness, _, _ := strings.Cut(string(a), ":")
	words := nameWords()
	sum := sha256.Sum256([]byte(a))
	begin := (int(sum[0])<<8 | int(sum[1])) % len(words)

	for round := 1; ; round++ {
		for i := range words {
			name := harness + "-" + words[(begin+i)%len(words)]
			if round > 1 {
				name += "-" + strconv.Itoa(round)
			}

			if taken, err := isTaken(name); err != nil || !taken {
				return name, err
			}
		}
	}
}

// Show returns a text with each id in it that tt has made replaced by what people call its agent, as far as
// nameOf knows that. It is for our own words, see [stick.Words]: what stands in quotation marks in them is somebody
// else's, and stays as it is.
func Show(text string, nameOf func(stick.AgentID) string) string {
	var shown strings.Builder
	done := 0 // what comes before it is in shown

	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			i = endOfQuote(text, i)
			continue
		}
		if text[i] != ':' {
			continue
		}

		begin, end := boundsOfID(text, i)
		if begin < done || !isGenerated(stick.AgentID(text[begin:end])) {
			continue
		}
		if name := nameOf(stick.AgentID(text[begin:end])); name != "" {
			shown.WriteString(text[done:begin])
			shown.WriteString(name)
			done = end
		}
		i = end - 1
	}

	if done == 0 {
		return text
	}
	return shown.String() + text[done:]
}

// endOfQuote returns where the quotation ends that begins at i: at the last character, if nothing ends it.
func endOfQuote(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++ // what follows is escaped
		case '"':
			return i
		}
	}
	return len(text) - 1
}

// boundsOfID returns where the word begins and ends whose colon stands at i.
func boundsOfID(text string, i int) (begin, end int) {
	begin, end = i, i+1
	for begin > 0 && isInID(text[begin-1]) {
		begin--
	}
	for end < len(text) && isInID(text[end]) {
		end++
	}

	// A full stop ends a sentence, and no id.
	for text[end-1] == '.' {
		end--
	}
	return begin, end
}

func isInID(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._-/@", c) >= 0
}
