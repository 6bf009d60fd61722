// Command cluster-pki makes the certificates and kubeconfigs of the local cluster.
//
// Everything is signed by one CA, which lives in the cluster's state folder and
// is removed with it.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

type options struct {
	directory string
	server    string
	node      string
	domain    string
	addresses []net.IP
}

func main() {
	var o options
	var addresses string
	flag.StringVar(&o.directory, "directory", "", "folder to write to")
	flag.StringVar(&o.server, "server", "", "URL of the API server")
	flag.StringVar(&o.node, "node", "", "name of the node")
	flag.StringVar(&o.domain, "domain", "cluster.local", "DNS domain of the cluster")
	flag.StringVar(&addresses, "addresses", "", "comma-separated IP addresses of the API server and of the kubelet")
	flag.Parse()
	for _, text := range strings.Split(addresses, ",") {
		ip := net.ParseIP(text)
		if ip == nil {
			fail(fmt.Errorf("--addresses: %q is not an IP address", text))
		}
		o.addresses = append(o.addresses, ip)
	}
	if err := write(o); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "cluster-pki:", err)
	os.Exit(1)
}

func write(o options) error {
	if err := os.MkdirAll(o.directory, 0o700); err != nil {
		return err
	}
	ca, err := newAuthority("kubernetes")
	if err != nil {
		return err
	}
	if err := ca.save(o.directory, "ca"); err != nil {
		return err
	}
	if err := writeServiceAccountKeys(o.directory); err != nil {
		return err
	}
	if err := writeServers(o, ca); err != nil {
		return err
	}
	return writeClients(o, ca)
}

func writeServers(o options, ca *pair) error {
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + o.domain}
	apiserver, err := ca.issue(subject{commonName: "kube-apiserver", dnsNames: names, addresses: o.addresses})
	if err != nil {
		return err
	}
	if err := apiserver.save(o.directory, "apiserver"); err != nil {
		return err
	}
	kubelet, err := ca.issue(subject{commonName: o.node, dnsNames: []string{o.node}, addresses: o.addresses})
	if err != nil {
		return err
	}
	return kubelet.save(o.directory, "kubelet-server")
}

// Each component has its own user, so that it has its own rights and its own name in the API server's log.
func writeClients(o options, ca *pair) error {
	masters := "system:masters"
	clients := map[string]subject{
		"admin":                    {commonName: "kubernetes-admin", organization: masters},
		"kube-controller-manager":  {commonName: "system:kube-controller-manager"},
		"kube-scheduler":           {commonName: "system:kube-scheduler"},
		"kube-proxy":               {commonName: "system:kube-proxy"},
		"kubelet":                  {commonName: "system:node:" + o.node, organization: "system:nodes"},
		"kubelet-client":           {commonName: "kube-apiserver-kubelet-client", organization: masters},
		"coredns":                  {commonName: "coredns", organization: masters},
		"cert-manager":             {commonName: "cert-manager", organization: masters},
		"local-volume-provisioner": {commonName: "local-volume-provisioner", organization: masters},
	}
	for name, s := range clients {
		client, err := ca.issue(s)
		if err != nil {
			return err
		}
		if err := client.save(o.directory, name); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(o.directory, name+".kubeconfig"), kubeconfig(o.server, ca, client), 0o600); err != nil {
			return err
		}
	}
	return nil
}
