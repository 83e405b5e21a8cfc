package testenv

import "testing"

func TestAlone(t *testing.T) {
	for crowded, skips := range map[string]bool{"": false, "1": true} {
		t.Setenv("TT_TEST_CROWDED", crowded)
		r := &recorder{}
		Alone(r)
		if r.skipped != skips {
			t.Errorf("with TT_TEST_CROWDED=%q, a test is skipped: %v", crowded, r.skipped)
		}
	}
}
