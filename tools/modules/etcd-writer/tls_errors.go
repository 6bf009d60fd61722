package main

import (
	"context"
	"net"
	"strings"

	"google.golang.org/grpc/credentials"
)

// watchedCredentials tells of every error of TLS itself. The library tries again in silence, so that a member and a
// client that do not trust each other for a while would show as a slow write at most.
type watchedCredentials struct {
	credentials.TransportCredentials
	tell func(error)
}

func (w watchedCredentials) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	connection, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		tellOfTLS(err, w.tell)
		return connection, info, err
	}
	return watchedConnection{connection, w.tell}, info, nil
}

func (w watchedCredentials) Clone() credentials.TransportCredentials {
	return watchedCredentials{w.TransportCredentials.Clone(), w.tell}
}

// watchedConnection is needed for TLS 1.3: there a server refuses a client's certificate after the handshake.
type watchedConnection struct {
	net.Conn
	tell func(error)
}

func (w watchedConnection) Read(buffer []byte) (int, error) {
	n, err := w.Conn.Read(buffer)
	if err != nil {
		tellOfTLS(err, w.tell)
	}
	return n, err
}

// tellOfTLS leaves out connections that broke off: members come and go.
func tellOfTLS(err error, tell func(error)) {
	text := err.Error()
	if strings.Contains(text, "tls: use of closed connection") {
		return
	}
	if strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ") {
		tell(err)
	}
}
