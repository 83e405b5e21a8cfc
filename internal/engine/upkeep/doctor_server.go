package upkeep

import (
	"context"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// What the doctor warns of on a server.
const (
	oldestPostgres     = 15              // the oldest major version that is tested
	maxClockDifference = 5 * time.Second // times of a host and of the server look odd beside each other
	longTransaction    = 5 * time.Minute // rows stay that nobody needs
	manyDeadRows       = 100_000         // rows, of which vacuum should have removed most
	fullConnections    = 0.8             // of all that the server takes
)

// checkServer looks at the server of a database that several hosts share.
func (u *Upkeep) checkServer(ctx context.Context) core.Finding {
	db, err := u.core.Open(ctx, false)
	if err == store.ErrAbsent {
		return core.Finding{
			Status: core.FindingOK,
			Detail: "it answers, and has no tables of tt yet; the first tt join makes them",
		}
	}
	if err != nil {
		return core.Fault(err)
	}

	s, err := db.Server(ctx)
	if err != nil {
		return core.Fault(err)
	}

	if problems := serverProblems(s); len(problems) > 0 {
		return core.FindingOf(core.FindingWarning, problems)
	}

	return core.Finding{
		Status: core.FindingOK,
		Detail: stick.Wordsf("%s, schema %s, version %d, as the role %s; %d of %s in use",
			s.Name, s.Schema, s.Version, s.Role, s.Used, stick.Count(s.Most, "connection")),
	}
}

// serverProblems lists what is wrong with a server, what hurts most first.
func serverProblems(s *store.Server) (all []core.Problem) {
	reportIf := func(isWrong bool, fix stick.Words, format string, args ...any) {
		if isWrong {
			all = append(all, core.Problem{Detail: stick.Wordsf(format, args...), Fix: fix})
		}
	}

	reportIf(!s.Delivers, "give the address of the server itself, or of a pooler in session mode",
		"notices don't arrive: a pooler gives each transaction another session. Waits wake only by a slow timer")
	reportIf(s.Version < oldestPostgres, stick.Wordsf("use PostgreSQL %d or newer", oldestPostgres),
		"the server is PostgreSQL %d, and tt is tested with %d and newer", s.Version, oldestPostgres)
	reportIf(float64(s.Used) >= fullConnections*float64(s.Most),
		"raise max_connections, or put a pooler in session mode before the server",
		"%d of the server's %s are in use", s.Used, stick.Count(s.Most, "connection"))
	reportIf(s.Longest >= longTransaction,
		stick.Wordsf("see what it does: SELECT * FROM pg_stat_activity WHERE pid = %d", s.LongestPID),
		"a transaction has been open for %s; until it ends, old rows stay and slow everything down",
		stick.Age(s.Longest))
	reportIf(s.Dead >= manyDeadRows && s.Dead > s.Live, "let autovacuum run, or as the owner of the tables: VACUUM",
		"the tables have %d old rows beside %d that count", s.Dead, s.Live)
	reportIf(s.Clock.Abs() >= maxClockDifference, "set this host's clock, or the server's",
		"the server's clock is %s this host's, and tt goes by the server's", clockDifference(s.Clock))
	reportIf(s.Super, "make a role of its own for tt, which owns only its schema",
		"tt works as the role %s, which may do anything on the server", s.Role)

	return all
}

func clockDifference(d time.Duration) stick.Words {
	if d < 0 {
		return stick.Age(-d) + " behind"
	}
	return stick.Age(d) + " ahead of"
}

// checkStarts says which database each way of starting tt opens: a variable is not in the environment of
// every program.
func (u *Upkeep) checkStarts(configured string) core.Finding {
	here, err := store.NameOf(u.core.Config.Database)
	if err != nil {
		return core.Fault(err)
	}

	if u.core.Config.Database == configured {
		return core.Finding{Status: core.FindingOK, Detail: "whatever starts tt opens " + here}
	}

	there := stick.Words("the file in the data directory")
	if configured != "" {
		if there, err = store.NameOf(configured); err != nil {
			return core.Fault(err)
		}
	}

	return core.Finding{
		Status: core.FindingWarning,
		Fix:    "put the same address into your own file, talking-stick/config.toml in ~/.config, with mode 0600",
		Detail: stick.Wordsf("with TALKING_STICK_DATABASE_URL tt opens %s; programs that don't have it, "+
			"such as one started from a desktop, open %s",
			here, there),
	}
}
