package web

import (
	"context"
	"testing"
	"time"

	"talkingstick/stick"
)

// TestJobs_Run: a job's failure is recorded, and answered to whoever still waits for it.
func TestJobs_Run(t *testing.T) {
	failure := stick.Errorf(stick.CodeUsage, "the gate failed")
	newJobs := func(patient time.Duration) *jobs {
		return &jobs{ctx: t.Context(), patience: patient, onEnd: func() {}, now: func() stick.Time { return 1 }}
	}

	t.Run("a failure while the page waits", func(t *testing.T) {
		js, j := newJobs(patience), &job{}
		answer, err, over := js.runJob(j, func(context.Context) (any, error) { return "report", failure })
		if answer != "report" || err != failure || !over || j.Err != failure {
			t.Errorf("it answered %v, %v, %v, and recorded %v", answer, err, over, j.Err)
		}
	})

	t.Run("a failure after the page has gone on", func(t *testing.T) {
		js, j, gate := newJobs(0), &job{}, make(chan struct{})
		answer, err, over := js.runJob(j, func(context.Context) (any, error) { <-gate; return "report", failure })
		if answer != nil || err != nil || over || !j.Running() {
			t.Errorf("it answered %v, %v, %v", answer, err, over)
		}

		close(gate)
		js.waitForAll()
		if j.Err != failure {
			t.Errorf("it recorded %v", j.Err)
		}
	})

	// Nothing orders the end of the job and that of the wait. The race detector sees what they share.
	t.Run("a failure while the page stops waiting", func(t *testing.T) {
		for range 200 {
			js, j := newJobs(0), &job{}
			_, err, over := js.runJob(j, func(context.Context) (any, error) { return "report", failure })
			js.waitForAll()
			if over != (err != nil) || j.Err != failure {
				t.Fatalf("it answered %v, %v, and recorded %v", err, over, j.Err)
			}
		}
	})
}
