package storetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// access is who gets in, and how. Roles that a test makes for this have these names.
const access = `
local   all all                        trust
local   replication all                trust
hostssl all needs_tls  127.0.0.1/32    trust
host    all needs_tls  127.0.0.1/32    reject
host    all needs_word 127.0.0.1/32    scram-sha-256
host    all all        127.0.0.1/32    trust
`

// PostgresTCP returns the address of a role's schema over TCP, with further settings of the address, and the file with the
// certificate of the server, which is for the name localhost.
func PostgresTCP(t testing.TB, user *url.Userinfo, host, settings string) (address, certificate string) {
	t.Helper()
	pg := requirePostgres(t)
	return fmt.Sprintf("postgres://%s@%s:%d/postgres?%s", user, host, pg.port, settings), filepath.Join(pg.dir, "server.crt")
}

// freePort finds a port that nobody uses.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// secure gives the server its certificate and says who gets in.
func (pg *cluster) secure(attr *syscall.SysProcAttr, data string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	err = errors.Join(
		os.WriteFile(filepath.Join(pg.dir, "server.crt"), public, 0o644),
		os.WriteFile(filepath.Join(data, "server.crt"), public, 0o600),
		os.WriteFile(filepath.Join(data, "server.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(access), 0o600),
	)
	if c := attr.Credential; err == nil && c != nil {
		for _, name := range []string{"server.crt", "server.key"} {
			err = errors.Join(err, os.Chown(filepath.Join(data, name), int(c.Uid), int(c.Gid)))
		}
	}
	return err
}
