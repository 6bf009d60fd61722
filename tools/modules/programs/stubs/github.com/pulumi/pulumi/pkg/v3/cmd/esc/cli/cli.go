// Package cli stands in for Pulumi ESC, with the SDKs of three clouds: stacks that import no environment need none of it.
package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/pulumi/pulumi/sdk/v3/go/common/esc"
)

var errLeftOut = errors.New("this Pulumi CLI was built without environments (ESC)")

type Options struct{ ParentPath, Colors, CredentialHelpers, Login, UserAgent any }

type CLI struct{}

func New(*Options) *CLI { return &CLI{} }

func (*CLI) Commands() []*cobra.Command {
	run := func(*cobra.Command, []string) error { return errLeftOut }
	return []*cobra.Command{{Use: "env", Hidden: true, RunE: run}}
}

type PrepareOptions struct{ Pretend, Redact bool }

func PrepareEnvironment(*esc.Environment, *PrepareOptions) (files, environ, secrets []string, diags any, err error) {
	return nil, nil, nil, nil, errLeftOut
}
