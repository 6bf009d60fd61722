package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// Config is what all commands read; each uses its part.
type Config struct {
	Members     []Member    `json:"members"`
	Credentials Credentials `json:"credentials"`
	// As whom to come where etcd's authentication is on.
	User *User `json:"user,omitempty"`
	// Keys are written, and counted, below this.
	Prefix        string `json:"prefix"`
	RatePerSecond int    `json:"ratePerSecond"`
	// Deadline of one write; there are no retries but those that the client library makes by itself.
	WriteTimeoutMs int `json:"writeTimeoutMs"`
	// The scheme that works at the start, and the one to move to as soon as all members accept it.
	Start       string `json:"start"`
	Destination string `json:"destination"`
	// Where events go, one JSON object a line, and the summary of them.
	Log     string `json:"log"`
	Summary string `json:"summary"`
	// Commands that go on until told to end do so while this file is there and is touched.
	RunFile    string `json:"runFile"`
	MaxSeconds int    `json:"maxSeconds"`
}

// Member is one etcd member and the host:port of its client port.
type Member struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// User is a user of etcd's own authentication.
type User struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

// Credentials are files that may appear only later; they are read anew whenever a client is made.
type Credentials struct {
	CA          string `json:"ca"`
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

func loadConfig(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config := &Config{RatePerSecond: 40, WriteTimeoutMs: 5000, Start: "http", Destination: "http", MaxSeconds: 600}
	if err := json.Unmarshal(text, config); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(config.Members) == 0 {
		return nil, fmt.Errorf("%s: names no members", path)
	}
	return config, nil
}

func (c *Credentials) trust() (*x509.CertPool, error) {
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate in it", c.CA)
	}
	return pool, nil
}

// tlsConfig has the client certificate, unless it is for a caller without one.
func (c *Credentials) tlsConfig(anonymous bool) (*tls.Config, error) {
	pool, err := c.trust()
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if anonymous {
		return config, nil
	}
	pair, err := tls.LoadX509KeyPair(c.Certificate, c.Key)
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// access is a way to get in.
type access struct {
	scheme    string
	anonymous bool
	// Told of every error of TLS itself; absent: nobody wants to know.
	onTLSError func(error)
}

// stamp changes whenever a file is replaced.
func (c *Credentials) stamp() string {
	stamp := ""
	for _, path := range []string{c.CA, c.Certificate, c.Key} {
		if file, err := os.Stat(path); err == nil {
			stamp += fmt.Sprintf("%d ", file.ModTime().UnixNano())
		}
	}
	return stamp
}

// connect makes a client of the library's defaults. It does not wait for a connection.
func (c *Config) connect(members []Member, way access) (*clientv3.Client, error) {
	config := clientv3.Config{Logger: zap.NewNop()}
	if c.User != nil {
		config.Username, config.Password = c.User.Name, c.User.Password
		// The token is asked for before the client is there, by default without a limit.
		config.DialTimeout = 3 * time.Second
	}
	for _, member := range members {
		config.Endpoints = append(config.Endpoints, way.scheme+"://"+member.Address)
	}
	switch way.scheme {
	case "http":
	case "https":
		tlsConfig, err := c.Credentials.tlsConfig(way.anonymous)
		if err != nil {
			return nil, err
		}
		config.TLS = tlsConfig
		if way.onTLSError != nil {
			watched := watchedCredentials{credentials.NewTLS(tlsConfig), way.onTLSError}
			config.DialOptions = append(config.DialOptions, grpc.WithTransportCredentials(watched))
		}
	default:
		return nil, errors.New("scheme must be http or https")
	}
	return clientv3.New(config)
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1000
}
