package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// sample is what one member says about who leads.
type sample struct {
	At     int64  `json:"at"`
	Member string `json:"member"`
	ID     string `json:"id"`
	Leader string `json:"leader"`
	Term   uint64 `json:"term"`
}

// sampleLeader asks every member, each on its own and through whichever scheme it speaks, again and again.
func sampleLeader(ctx context.Context, config *Config) error {
	file, err := os.Create(config.Log)
	if err != nil {
		return err
	}
	defer file.Close()
	encoder := json.NewEncoder(file)
	var mutex sync.Mutex
	var members sync.WaitGroup
	for _, member := range config.Members {
		members.Go(func() {
			followMember(ctx, config, member, func(s sample) {
				mutex.Lock()
				defer mutex.Unlock()
				_ = encoder.Encode(s)
			})
		})
	}
	members.Wait()
	return nil
}

func followMember(ctx context.Context, config *Config, member Member, record func(sample)) {
	schemes := []string{"http", "https"}
	var client *clientv3.Client
	for ctx.Err() == nil {
		if client == nil {
			client, _ = config.connect([]Member{member}, access{scheme: schemes[0]})
		}
		answered := false
		if client != nil {
			limited, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
			started := time.Now()
			status, err := client.Status(limited, schemes[0]+"://"+member.Address)
			cancel()
			if answered = err == nil; answered {
				id := strconv.FormatUint(status.Header.MemberId, 16)
				leader := strconv.FormatUint(status.Leader, 16)
				record(sample{At: started.UnixMilli(), Member: member.Name, ID: id, Leader: leader, Term: status.RaftTerm})
			}
		}
		if !answered {
			// The member is away, or speaks the other scheme now.
			schemes[0], schemes[1] = schemes[1], schemes[0]
			if client != nil {
				client.Close()
				client = nil
			}
		}
		time.Sleep(150 * time.Millisecond)
	}
	if client != nil {
		client.Close()
	}
}
