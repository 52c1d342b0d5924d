// Connects and says goodbye, again and again: HOST PORT CA|- SECONDS THREADS. Prints how often, and in how many seconds.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	host, port, ca := os.Args[1], os.Args[2], os.Args[3]
	seconds, err := strconv.ParseFloat(os.Args[4], 64)
	end(err)
	threads, err := strconv.Atoi(os.Args[5])
	end(err)
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", host+":"+port, "root"
	if ca != "-" {
		pem, err := os.ReadFile(ca)
		end(err)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		config.TLS = &tls.Config{RootCAs: roots, ServerName: host}
	}
	connector, err := mysql.NewConnector(config)
	end(err)
	var count atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for range threads {
		running.Add(1)
		go func() {
			defer running.Done()
			for time.Since(began).Seconds() < seconds {
				connection, err := connector.Connect(context.Background())
				end(err)
				end(connection.Close())
				count.Add(1)
			}
		}()
	}
	running.Wait()
	fmt.Println(count.Load(), time.Since(began).Seconds())
}
