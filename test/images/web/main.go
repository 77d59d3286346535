// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command web is a member of a set for tests: it reports its name and the content of its disk, and
// stores a value.
//
//	GET  /         its name, how often it was started on this disk, and the stored value, as JSON
//	PUT  /value    stores the body on the disk
//	GET  /readyz   200, or 503 after PUT /readyz with the body "no"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// longestValue limits the size of the stored value.
const longestValue = 1 << 20

type member struct {
	name, revision, dir string
	starts              int
	unready             atomic.Bool
}

func main() {
	address := flag.String("listen", ":8080", "address to listen at")
	dir := flag.String("dir", "/data", "directory of the disk")
	other := flag.String("ask", "", "print the response of this URL, and exit")
	flag.Parse()
	err := error(nil)
	if *other != "" {
		err = ask(*other)
	} else {
		err = run(*address, *dir)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// ask exists because the wget of a static busybox does not resolve names reliably.
func ask(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("requesting %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("requesting %s: %s", url, response.Status)
	}
	_, err = io.Copy(os.Stdout, response.Body)
	return err
}

func run(address, dir string) error {
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("reading the host name: %w", err)
	}
	m := &member{name: name, revision: os.Getenv("REVISION"), dir: dir}
	if err := m.countStart(); err != nil {
		return err
	}
	log.Printf("%s, started %d times on its disk, is listening at %s", m.name, m.starts, address)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: address, Handler: m.routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		log.Printf("%s is shutting down", m.name)
		_ = server.Shutdown(context.WithoutCancel(ctx))
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

func (m *member) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", m.show)
	mux.HandleFunc("PUT /value", m.keep)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if m.unready.Load() {
			http.Error(w, "set to not ready", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("PUT /readyz", func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, longestValue))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.unready.Store(strings.TrimSpace(string(body)) == "no")
		log.Printf("%s: readiness set to %s", m.name, body)
	})
	return mux
}

func (m *member) show(w http.ResponseWriter, _ *http.Request) {
	value, err := os.ReadFile(m.file("value"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": m.name, "revision": m.revision, "starts": m.starts, "value": string(value)})
}

func (m *member) keep(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, longestValue))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := m.write("value", body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// countStart stores on the disk how often a member was started on it.
func (m *member) countStart() error {
	before, err := os.ReadFile(m.file("starts"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the disk: %w", err)
	}
	// An unreadable number counts as 0.
	n, _ := strconv.Atoi(strings.TrimSpace(string(before)))
	m.starts = n + 1
	return m.write("starts", []byte(strconv.Itoa(m.starts)))
}

func (m *member) file(name string) string { return filepath.Join(m.dir, name) }

// write replaces a file in one step, and returns when it is on the disk.
func (m *member) write(name string, data []byte) error {
	partial := m.file(name + ".partial")
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing to the disk: %w", err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing to the disk: %w", err)
	}
	return os.Rename(partial, m.file(name))
}
