package main

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
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
	mode := os.Args[1]
	if mode == "version" {
		info, _ := debug.ReadBuildInfo()
		for _, one := range info.Deps {
			if one.Path == "github.com/go-sql-driver/mysql" {
				fmt.Println(one.Version[1:])
			}
		}
		return
	}
	// A machine whose own store has the CA, for tls=true: it is read when it is first asked.
	os.Setenv("SSL_CERT_FILE", os.Getenv("SEALION_CA"))
	pem, err := os.ReadFile(os.Getenv("SEALION_CA"))
	end(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	end(mysql.RegisterTLSConfig("custom", &tls.Config{RootCAs: roots, ServerName: os.Getenv("SEALION_HOST")}))

	config := mysql.NewConfig()
	config.Net = "tcp"
	config.Addr = os.Getenv("SEALION_HOST") + ":" + os.Getenv("SEALION_PORT")
	config.User = os.Getenv("SEALION_USER")
	config.Passwd = os.Getenv("SEALION_PASSWORD")
	config.Timeout = 5 * time.Second
	config.ReadTimeout = 5 * time.Second
	switch mode {
	case "default":
	case "settings":
		base := config.FormatDSN()
		joint := "?"
		if strings.Contains(base, "?") {
			joint = "&"
		}
		config, err = mysql.ParseDSN(base + joint + os.Getenv("SEALION_SETTINGS"))
		end(err)
	case "true-fallback":
		config.TLSConfig = "true"
		config.AllowFallbackToPlaintext = true
	case "custom-fallback":
		config.TLSConfig = "custom"
		config.AllowFallbackToPlaintext = true
	default:
		config.TLSConfig = mode
	}
	db, err := sql.Open("mysql", config.FormatDSN())
	end(err)
	rows, err := db.Query("SELECT 1")
	end(err)
	end(rows.Close())
}
