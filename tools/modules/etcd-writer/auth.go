package main

import (
	"context"
	"errors"
	"fmt"
)

// enableAuth makes the configured user, gives it the role root, and switches authentication on.
func enableAuth(ctx context.Context, config *Config) error {
	if config.User == nil {
		return errors.New("enable-auth: the config names no user")
	}
	anonymous := *config
	anonymous.User = nil
	client, err := anonymous.connect(config.Members, access{scheme: config.Start})
	if err != nil {
		return err
	}
	defer client.Close()
	for _, step := range []struct {
		what string
		run  func() error
	}{
		{"role root", func() error { _, err := client.RoleAdd(ctx, "root"); return err }},
		{"user", func() error { _, err := client.UserAdd(ctx, config.User.Name, config.User.Password); return err }},
		{"grant", func() error { _, err := client.UserGrantRole(ctx, config.User.Name, "root"); return err }},
		{"enable", func() error { _, err := client.AuthEnable(ctx); return err }},
	} {
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}
