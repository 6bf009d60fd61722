// Command etcd-writer is an etcd client that watches what a change does to clients: it writes at a steady rate, tells
// who leads, and looks at a cluster from outside. Everything it needs is in a JSON file.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: etcd-writer write|leader|inspect|admission|enable-auth CONFIG.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "etcd-writer:", err)
		os.Exit(1)
	}
}

func run(command, path string) error {
	config, err := loadConfig(path)
	if err != nil {
		return err
	}
	ctx, cancel := untilTold(config)
	defer cancel()
	switch command {
	case "write":
		return write(ctx, config)
	case "leader":
		return sampleLeader(ctx, config)
	case "inspect":
		return inspect(ctx, config)
	case "admission":
		return printAdmissions(ctx, config)
	case "enable-auth":
		return enableAuth(ctx, config)
	}
	return fmt.Errorf("there is no command %q: use write, leader, inspect, admission or enable-auth", command)
}

// staleAfter is how long the run file may go untouched before whoever started this is taken for dead.
const staleAfter = 20 * time.Second

// untilTold ends when the run file is gone or no longer touched, a signal comes or the time is up: a writer that
// outlives its test would disturb the next one.
func untilTold(config *Config) (context.Context, context.CancelFunc) {
	limit := time.Duration(config.MaxSeconds) * time.Second
	timed, cancelTimed := context.WithTimeout(context.Background(), limit)
	ctx, cancel := signal.NotifyContext(timed, os.Interrupt, syscall.SIGTERM)
	if config.RunFile != "" {
		go func() {
			for ctx.Err() == nil && isFresh(config.RunFile) {
				time.Sleep(100 * time.Millisecond)
			}
			cancel()
		}()
	}
	return ctx, func() { cancel(); cancelTimed() }
}

func isFresh(path string) bool {
	file, err := os.Stat(path)
	return err == nil && time.Since(file.ModTime()) < staleAfter
}
