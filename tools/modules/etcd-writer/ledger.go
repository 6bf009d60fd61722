package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
	"time"
)

// event is one write.
type event struct {
	Key    string  `json:"key"`
	At     int64   `json:"at"`
	Ms     float64 `json:"ms"`
	Scheme string  `json:"scheme"`
	OK     bool    `json:"ok"`
	Error  string  `json:"error,omitempty"`
}

// note is something that happened beside the writes.
type note struct {
	Note   string `json:"note"`
	At     int64  `json:"at"`
	Detail string `json:"detail"`
}

// summary is what a run comes to.
type summary struct {
	Acknowledged int     `json:"acknowledged"`
	Failed       int     `json:"failed"`
	LongestMs    float64 `json:"longestMs"`
	// When the slowest write was started.
	LongestAt  int64          `json:"longestAt"`
	StartedAt  int64          `json:"startedAt"`
	EndedAt    int64          `json:"endedAt"`
	SwitchedAt int64          `json:"switchedAt,omitempty"`
	Schemes    map[string]int `json:"schemes"`
	// How often the client was made anew because its files had changed.
	Reloads int `json:"reloads"`
	// Errors of TLS itself, the first few: members and clients that did not trust each other.
	TLSErrors []string `json:"tlsErrors"`
	// The first few, for the reader of a failed run.
	Errors []string `json:"errors"`
}

// ledger keeps the log of events and the summary of them.
type ledger struct {
	mutex   sync.Mutex
	path    string
	file    *os.File
	buffer  *bufio.Writer
	encoder *json.Encoder
	summary summary
}

func openLedger(config *Config) (*ledger, error) {
	file, err := os.Create(config.Log)
	if err != nil {
		return nil, err
	}
	buffer := bufio.NewWriter(file)
	return &ledger{
		path: config.Summary, file: file, buffer: buffer, encoder: json.NewEncoder(buffer),
		summary: summary{StartedAt: time.Now().UnixMilli(), Schemes: map[string]int{}, Errors: []string{}, TLSErrors: []string{}},
	}, nil
}

func (l *ledger) record(e event, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	e.OK = err == nil
	if err == nil {
		l.summary.Acknowledged++
		l.summary.Schemes[e.Scheme]++
	} else {
		e.Error = err.Error()
		l.summary.Failed++
		if len(l.summary.Errors) < 20 {
			l.summary.Errors = append(l.summary.Errors, e.Key+": "+e.Error)
		}
	}
	if e.Ms > l.summary.LongestMs {
		l.summary.LongestMs, l.summary.LongestAt = e.Ms, e.At
	}
	_ = l.encoder.Encode(e)
}

func (l *ledger) note(what, detail string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	at := time.Now().UnixMilli()
	switch what {
	case "switch":
		l.summary.SwitchedAt = at
	case "reload":
		l.summary.Reloads++
	case "tls":
		if len(l.summary.TLSErrors) < 20 {
			l.summary.TLSErrors = append(l.summary.TLSErrors, detail)
		}
	}
	_ = l.encoder.Encode(note{Note: what, At: at, Detail: detail})
}

// close writes the summary last: a reader that finds it finds the whole log too.
func (l *ledger) close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.summary.EndedAt = time.Now().UnixMilli()
	if err := l.buffer.Flush(); err != nil {
		return err
	}
	if err := l.file.Close(); err != nil {
		return err
	}
	text, err := json.Marshal(l.summary)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.path+".part", text, 0o600); err != nil {
		return err
	}
	return os.Rename(l.path+".part", l.path)
}
