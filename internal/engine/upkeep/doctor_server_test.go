package upkeep

import (
	"strings"
	"testing"
	"time"

	"talkingstick/internal/store"
)

func TestServerProblems(t *testing.T) {
	sound := store.Server{
		Name: "PostgreSQL at db:5432, database x", Schema: "talkingstick", Version: 15, Role: "tt", Used: 79,
		Most: 100, Delivers: true, Dead: 200_000, Live: 300_000, Longest: 4 * time.Minute,
		Clock: -4 * time.Second,
	}
	for name, c := range map[string]struct {
		change func(*store.Server)
		says   string // the words of the finding; empty for none
	}{
		"nothing": {func(*store.Server) {}, ""},
		"a pooler": {
			func(s *store.Server) { s.Delivers = false }, "a pooler gives each transaction another session",
		},
		"old":         {func(s *store.Server) { s.Version = 14 }, "PostgreSQL 14"},
		"full":        {func(s *store.Server) { s.Used = 80 }, "80 of the server's 100 connections"},
		"long":        {func(s *store.Server) { s.Longest = 5 * time.Minute }, "open for 5 min"},
		"bloated":     {func(s *store.Server) { s.Dead = 300_001 }, "300001 old rows"},
		"small":       {func(s *store.Server) { s.Dead, s.Live = 99_999, 1 }, ""},
		"clock ahead": {func(s *store.Server) { s.Clock = time.Hour }, "ahead of this host's"},
		"and behind":  {func(s *store.Server) { s.Clock = -time.Hour }, "behind this host's"},
		"superuser":   {func(s *store.Server) { s.Super = true }, "may do anything"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			s := sound
			c.change(&s)
			found := serverProblems(&s)
			switch {
			case c.says == "" && len(found) > 0:
				t.Errorf("it finds %+v", found)
			case c.says != "" &&
				(len(found) != 1 || !strings.Contains(string(found[0].Detail), c.says) || found[0].Fix == ""):
				t.Errorf("it finds %+v", found)
			}
		})
	}
}
