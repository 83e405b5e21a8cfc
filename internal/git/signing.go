package git

import (
	"context"
	"strings"
	"time"

	"talkingstick/stick"
)

// Signing says how commits are signed. Its zero value leaves them unsigned.
type Signing struct {
	Program string        // that signs
	Limit   time.Duration // how long it may take for one commit; 0 for the limit of every command

	IsSSH  bool   // it signs with a key of ssh
	SSHKey string // the file of that key; empty where the configuration names none
}

// Signing returns how git itself would sign a commit in dir, by the user's configuration: not at all, unless
// commit.gpgSign is true.
func (c Client) Signing(ctx context.Context, dir string) (Signing, error) {
	signs, err := c.runText(ctx, dir, "config", "--type=bool", "--get", "commit.gpgSign")
	if exitedWith(err, 1) || err == nil && signs != "true" {
		return Signing{}, nil
	}
	if err != nil {
		return Signing{}, err
	}

	// Git has a program for each format, and two keys for the one of OpenPGP.
	format, err := c.Config(ctx, dir, "gpg.format")
	if err != nil {
		return Signing{}, err
	}

	keys, s := []string{"gpg.openpgp.program", "gpg.program"}, Signing{Program: "gpg"}
	switch format {
	case "ssh":
		keys = []string{"gpg.ssh.program"}
		s = Signing{Program: "ssh-keygen", IsSSH: true, SSHKey: c.sshKeyFile(ctx, dir)}
	case "x509":
		keys, s = []string{"gpg.x509.program"}, Signing{Program: "gpgsm"}
	}

	for _, key := range keys {
		set, err := c.Config(ctx, dir, key)
		if err != nil {
			return Signing{}, err
		}

		if set != "" {
			s.Program = set
			break
		}
	}

	return s, nil
}

// sshKeyFile returns the file of the private key that git signs with. It is empty where the configuration has
// the key itself, or a command that finds one.
func (c Client) sshKeyFile(ctx context.Context, dir string) string {
	key, err := c.runText(ctx, dir, "config", "--type=path", "--get", "user.signingKey")
	if err != nil || strings.HasPrefix(key, "key::") || strings.HasPrefix(key, "ssh-") {
		return ""
	}
	return strings.TrimSuffix(key, ".pub")
}

// CheckSigning signs a commit that no branch gets, to learn whether the signing program answers. Call it
// before what would be half done without a signature. It fails as [Client.CommitTree] does.
func (c Client) CheckSigning(ctx context.Context, dir string, s Signing) error {
	if s.Program == "" {
		return nil
	}
	_, err := c.CommitTree(ctx, dir, s, "HEAD^{tree}", "A test of the signing program\n")
	return err
}

// errUnsigned is the error for a commit that couldn't be signed.
func errUnsigned(err error, dir string, s Signing) error {
	f := asFailure(err)
	if f == nil {
		return err
	}

	why := f.reason()
	if IsTooLong(err) {
		why = stick.Wordsf("it didn't answer within %s", stick.Lasted(s.Limit))
	}

	e := stick.Errorf(stick.CodeGitFailed, "git couldn't sign the commit with %s: %s", s.Program, why).
		With("signer", s.Program)
	e.Err = f
	// A passphrase typed at a terminal unlocks a key of gpg's agent, but one of ssh only for that commit.
	unlock, command := stick.Words("sign once at a terminal, which unlocks the key"),
		stick.Cmd("git -C <path> commit-tree -S -m test HEAD^{tree}", dir)
	if s.IsSSH {
		unlock, command = "load the key into ssh-agent at a terminal", s.loadCommand()
	}

	return e.Hintf("%s: %s; then run the same command again; "+
		"or, to let tt commit without signatures, put sign = false under [worker] into .talking-stick.toml",
		unlock, command)
}

// loadCommand returns the command that loads the key into ssh's agent.
func (s Signing) loadCommand() stick.Command {
	if s.SSHKey == "" {
		return stick.Cmd("ssh-add")
	}
	return stick.Cmd("ssh-add <path>", s.SSHKey)
}
