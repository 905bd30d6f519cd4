// SPDX-License-Identifier: GPL-2.0

// A transfer over HTTP/3 with quic-go.
//
//	quic-go-transfer serve ADDRESS FOLDER
//	quic-go-transfer get ADDRESS BYTES CERTIFICATE FOLDER
//
// The path of a request is how many bytes it gets.  FOLDER gets a qlog and, from the server, its
// certificate, made as it starts.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlog"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func certificate(folder string) tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	now := time.Now()
	template := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"server"},
		NotBefore: now, NotAfter: now.Add(24 * time.Hour)}
	made := must(x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key))
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
	if err := os.WriteFile(filepath.Join(folder, "certificate.pem"), text, 0o644); err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}
}

func answer(to http.ResponseWriter, request *http.Request) {
	count, err := strconv.Atoi(request.URL.Path[1:])
	if err != nil {
		http.Error(to, "expected a number of bytes as the path", http.StatusBadRequest)
		return
	}
	to.Write(make([]byte, count))
}

func serve(address, folder string) {
	secret := &tls.Config{Certificates: []tls.Certificate{certificate(folder)}}
	server := http3.Server{Addr: address, Handler: http.HandlerFunc(answer),
		TLSConfig:  http3.ConfigureTLSConfig(secret),
		QUICConfig: &quic.Config{Tracer: qlog.DefaultConnectionTracer}}
	log.Fatal(server.ListenAndServe())
}

func get(address, size, trusted string) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(os.ReadFile(trusted)))
	transport := &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		QUICConfig: &quic.Config{Tracer: qlog.DefaultConnectionTracer}}
	began := time.Now()
	response := must((&http.Client{Transport: transport}).Get("https://" + address + "/" + size))
	count := must(io.Copy(io.Discard, response.Body))
	took := time.Since(began).Seconds()
	transport.Close()
	fmt.Printf("{\"bytes\": %d, \"seconds\": %f, \"mbit\": %f}\n", count, took, float64(count)*8e-6/took)
	if strconv.FormatInt(count, 10) != size {
		log.Fatalf("expected %s bytes, got %d", size, count)
	}
}

func main() {
	if len(os.Args) > 3 { // the library's own variable: where its qlogs go
		os.Setenv("QLOGDIR", os.Args[len(os.Args)-1])
	}
	switch {
	case len(os.Args) == 4 && os.Args[1] == "serve":
		serve(os.Args[2], os.Args[3])
	case len(os.Args) == 6 && os.Args[1] == "get":
		get(os.Args[2], os.Args[3], os.Args[4])
	default:
		log.Fatal("expected serve ADDRESS FOLDER, or get ADDRESS BYTES CERTIFICATE FOLDER")
	}
}
