package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"time"
)

// served is the certificate that a member shows on one of its ports; without one, why not.
type served struct {
	Member string `json:"member"`
	Port   string `json:"port"`
	Serial string `json:"serial,omitempty"`
	Error  string `json:"error,omitempty"`
}

func (c *Config) servedBy(member Member) []served {
	host, clientPort, err := net.SplitHostPort(member.Address)
	if err != nil {
		return []served{{Member: member.Name, Error: err.Error()}}
	}
	result := []served{}
	for _, port := range []string{clientPort, "2380"} {
		found := served{Member: member.Name, Port: port}
		if certificate, err := shown(net.JoinHostPort(host, port)); err != nil {
			found.Error = err.Error()
		} else {
			found.Serial = fmt.Sprintf("%X", certificate.SerialNumber)
		}
		result = append(result, found)
	}
	return result
}

// shown shows no certificate itself: a server shows its own before it refuses a client for that.
func shown(address string) (*x509.Certificate, error) {
	var leaf *x509.Certificate
	config := &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			leaf = state.PeerCertificates[0]
			return nil
		},
	}
	connection, err := tls.DialWithDialer(&net.Dialer{Timeout: 3 * time.Second}, "tcp", address, config)
	if err == nil {
		connection.Close()
	}
	if leaf != nil {
		return leaf, nil
	}
	return nil, err
}
