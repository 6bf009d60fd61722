package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const validity = 10 * 365 * 24 * time.Hour

type subject struct {
	commonName   string
	organization string
	dnsNames     []string
	addresses    []net.IP
}

// pair is a certificate and its key.
type pair struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func newAuthority(commonName string) (*pair, error) {
	template := newTemplate(subject{commonName: commonName})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	return sign(template, nil)
}

func (ca *pair) issue(s subject) (*pair, error) {
	template := newTemplate(s)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	return sign(template, ca)
}

func newTemplate(s subject) *x509.Certificate {
	name := pkix.Name{CommonName: s.commonName}
	if s.organization != "" {
		name.Organization = []string{s.organization}
	}
	return &x509.Certificate{
		Subject:     name,
		DNSNames:    s.dnsNames,
		IPAddresses: s.addresses,
		NotBefore:   time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(validity),
	}
}

// sign makes a key and a certificate for it; without an issuer the certificate is self-signed.
func sign(template *x509.Certificate, issuer *pair) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, err
	}
	parent, signer := template, crypto.Signer(key)
	if issuer != nil {
		parent, signer = issuer.certificate, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &pair{certificate, key}, err
}

func (p *pair) certificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw})
}

func keyPEM(key crypto.Signer) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err) // only for key types that this command does not make
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (p *pair) save(directory, name string) error {
	if err := os.WriteFile(filepath.Join(directory, name+".crt"), p.certificatePEM(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, name+".key"), keyPEM(p.key), 0o600)
}

func writeServiceAccountKeys(directory string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	if err := os.WriteFile(filepath.Join(directory, "service-accounts.pub"), publicPEM, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, "service-accounts.key"), keyPEM(key), 0o600)
}

// kubeconfig is written as JSON, which is YAML too.
func kubeconfig(server string, ca, client *pair) []byte {
	named := func(kind string, value map[string]any) []any {
		return []any{map[string]any{"name": "local", kind: value}}
	}
	text, err := json.MarshalIndent(map[string]any{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters":   named("cluster", map[string]any{"server": server, "certificate-authority-data": ca.certificatePEM()}),
		"users": named("user", map[string]any{
			"client-certificate-data": client.certificatePEM(),
			"client-key-data":         keyPEM(client.key),
		}),
		"contexts":        named("context", map[string]any{"cluster": "local", "user": "local"}),
		"current-context": "local",
	}, "", "  ")
	if err != nil {
		panic(err) // maps of strings always encode
	}
	return append(text, '\n')
}
