package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// memberFacts is an entry of the raft membership.
type memberFacts struct {
	Name       string   `json:"name"`
	ID         string   `json:"id"`
	PeerURLs   []string `json:"peerUrls"`
	ClientURLs []string `json:"clientUrls"`
}

// admission says for each way to get into a member what came of it: `accepted`, `refused: ...` or `unreachable: ...`.
type admission struct {
	Member       string `json:"member"`
	Plaintext    string `json:"plaintext"`
	AnonymousTLS string `json:"anonymousTls"`
	TLS          string `json:"tls"`
}

type inspection struct {
	Scheme    string        `json:"scheme"`
	Members   []memberFacts `json:"members"`
	Admission []admission   `json:"admission"`
	Served    []served      `json:"served"`
	Keys      int           `json:"keys"`
}

// inspect prints what the cluster is from outside, and writes the keys below the prefix into the log file.
func inspect(ctx context.Context, config *Config) error {
	result := inspection{Members: []memberFacts{}, Served: []served{}}
	result.Admission = config.admissions(ctx)
	for _, member := range config.Members {
		result.Served = append(result.Served, config.servedBy(member)...)
	}
	client, scheme, err := config.connectAnyhow(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	result.Scheme = scheme
	list, err := client.MemberList(ctx)
	if err != nil {
		return fmt.Errorf("member list: %w", err)
	}
	for _, member := range list.Members {
		id := strconv.FormatUint(member.ID, 16)
		facts := memberFacts{Name: member.Name, ID: id, PeerURLs: member.PeerURLs, ClientURLs: member.ClientURLs}
		result.Members = append(result.Members, facts)
	}
	if config.Prefix != "" {
		if result.Keys, err = config.readBack(ctx, client); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// printAdmissions prints who gets in, and nothing else: also where that is nobody.
func printAdmissions(ctx context.Context, config *Config) error {
	return json.NewEncoder(os.Stdout).Encode(config.admissions(ctx))
}

func (c *Config) admissions(ctx context.Context) []admission {
	all := []admission{}
	for _, member := range c.Members {
		all = append(all, c.admissionTo(ctx, member))
	}
	return all
}

func (c *Config) admissionTo(ctx context.Context, member Member) admission {
	try := func(way access) string {
		connection, err := net.DialTimeout("tcp", member.Address, 3*time.Second)
		if err != nil {
			return "unreachable: " + err.Error()
		}
		connection.Close()
		// Two ways in: over HTTP/1.1, whose answer says why somebody is refused, and as etcd's clients do.
		refusal := c.tryVersion(ctx, member, way)
		if refusal == nil || c.tryStatus(ctx, member, way) == nil {
			return "accepted"
		}
		return "refused: " + refusal.Error()
	}
	return admission{
		Member:       member.Name,
		Plaintext:    try(access{scheme: "http"}),
		AnonymousTLS: try(access{scheme: "https", anonymous: true}),
		TLS:          try(access{scheme: "https"}),
	}
}

func (c *Config) tryVersion(ctx context.Context, member Member, way access) error {
	transport := &http.Transport{DisableKeepAlives: true}
	if way.scheme == "https" {
		tlsConfig, err := c.Credentials.tlsConfig(way.anonymous)
		if err != nil {
			return err
		}
		transport.TLSClientConfig = tlsConfig
	}
	limited, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, way.scheme+"://"+member.Address+"/version", nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("HTTP %d: %s", response.StatusCode, strings.TrimSpace(string(body)))
	}
	return nil
}

func (c *Config) connectAnyhow(ctx context.Context) (*clientv3.Client, string, error) {
	var last error
	for _, scheme := range []string{"https", "http"} {
		if last = c.tryStatus(ctx, c.Members[0], access{scheme: scheme}); last != nil {
			continue
		}
		client, err := c.connect(c.Members, access{scheme: scheme})
		return client, scheme, err
	}
	return nil, "", fmt.Errorf("%s lets nobody in: %w", c.Members[0].Name, last)
}

// readBack lists the keys whose value is what was written, by linearizable reads, a page at a time.
func (c *Config) readBack(ctx context.Context, client *clientv3.Client) (int, error) {
	file, err := os.Create(c.Log)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	count := 0
	for from, end := c.Prefix, clientv3.GetPrefixRangeEnd(c.Prefix); ; {
		page, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(5000),
			clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))
		if err != nil {
			return count, fmt.Errorf("read back: %w", err)
		}
		for _, pair := range page.Kvs {
			if string(pair.Key) == string(pair.Value) {
				count++
				fmt.Fprintln(out, string(pair.Key))
			}
		}
		if !page.More {
			return count, out.Flush()
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}
