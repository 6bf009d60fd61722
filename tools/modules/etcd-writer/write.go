package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// link is one client and the writes that are on their way through it.
type link struct {
	client *clientv3.Client
	scheme string
	writes sync.WaitGroup
}

// writer keeps the link that new writes take.
type writer struct {
	config *Config
	ledger *ledger
	mutex  sync.Mutex
	link   *link
}

func write(ctx context.Context, config *Config) error {
	ledger, err := openLedger(config)
	if err != nil {
		return err
	}
	w := &writer{config: config, ledger: ledger}
	stamp := config.Credentials.stamp()
	if w.link, err = w.open(config.Start); err != nil {
		return err
	}
	var besides sync.WaitGroup
	if config.Start != config.Destination {
		besides.Go(func() { w.moveWhenAccepted(ctx) })
	} else if config.Start == "https" {
		besides.Go(func() { w.reloadWhenChanged(ctx, stamp) })
	}
	w.writeSteadily(ctx)
	besides.Wait()
	w.link.writes.Wait()
	w.link.client.Close()
	return ledger.close()
}

// writeSteadily starts a write at each tick, whatever became of those before: a stall shows in full.
func (w *writer) writeSteadily(ctx context.Context) {
	ticker := time.NewTicker(time.Second / time.Duration(w.config.RatePerSecond))
	defer ticker.Stop()
	for number := 0; ; number++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			go w.put(fmt.Sprintf("%s%08d", w.config.Prefix, number), w.take())
		}
	}
}

// take counts a write on the current link, so that the link is not closed under it.
func (w *writer) take() *link {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.link.writes.Add(1)
	return w.link
}

func (w *writer) put(key string, through *link) {
	defer through.writes.Done()
	// Not bound to the end of the run: what has been started is seen through.
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(w.config.WriteTimeoutMs)*time.Millisecond)
	defer cancel()
	started := time.Now()
	_, err := through.client.Put(ctx, key, key)
	w.ledger.record(event{Key: key, At: started.UnixMilli(), Ms: milliseconds(time.Since(started)), Scheme: through.scheme}, err)
}

// moveWhenAccepted changes over to the destination as clients do during a bridge: when every member accepts it.
func (w *writer) moveWhenAccepted(ctx context.Context) {
	way := access{scheme: w.config.Destination}
	for !w.allAccept(ctx, way) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
	next, err := w.open(way.scheme)
	if err != nil {
		w.ledger.note("switch", err.Error())
		return
	}
	w.ledger.note("switch", way.scheme)
	w.replace(next)
}

// reloadWhenChanged makes the client anew whenever its files have changed, as clients do that watch what they mount.
func (w *writer) reloadWhenChanged(ctx context.Context, stamp string) {
	for ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		latest := w.config.Credentials.stamp()
		if latest == stamp {
			continue
		}
		next, err := w.open("https")
		if err != nil {
			// One file of a pair has been replaced and the other not yet.
			continue
		}
		stamp = latest
		w.ledger.note("reload", latest)
		w.replace(next)
	}
}

func (w *writer) open(scheme string) (*link, error) {
	tell := func(err error) { w.ledger.note("tls", err.Error()) }
	client, err := w.config.connect(w.config.Members, access{scheme: scheme, onTLSError: tell})
	return &link{client: client, scheme: scheme}, err
}

// replace gives new writes another link, and closes the old one once its writes are through.
func (w *writer) replace(next *link) {
	w.mutex.Lock()
	old := w.link
	w.link = next
	w.mutex.Unlock()
	old.writes.Wait()
	old.client.Close()
}

func (w *writer) allAccept(ctx context.Context, way access) bool {
	for _, member := range w.config.Members {
		if w.config.tryStatus(ctx, member, way) != nil {
			return false
		}
	}
	return true
}

// tryStatus asks one member through a client of its own: a kept one would wait out its back-off after each refusal.
func (c *Config) tryStatus(ctx context.Context, member Member, way access) error {
	client, err := c.connect([]Member{member}, way)
	if err != nil {
		return err
	}
	defer client.Close()
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = client.Status(limited, way.scheme+"://"+member.Address)
	return err
}
