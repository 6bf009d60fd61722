// Command local-volume-provisioner makes a directory and a local
// PersistentVolume for every claim of its storage class.
//
// The volumes are of the type "local" and not "hostPath", because the kubelet
// applies a pod's fsGroup to the former only.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig of the cluster")
	root := flag.String("root", "", "folder that holds the volumes' directories")
	name := flag.String("provisioner", "pulumi-etcd/local-volume", "name that StorageClasses give as their provisioner")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *root, *name); err != nil {
		fmt.Fprintln(os.Stderr, "local-volume-provisioner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, root, name string) error {
	if !filepath.IsAbs(root) {
		return fmt.Errorf("--root must be an absolute path, not %q", root)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %q: %w", kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("building the client: %w", err)
	}
	provisioner := &localVolumes{root: root}
	controller.NewProvisionController(ctx, client, name, provisioner, controller.LeaderElection(false)).Run(ctx)
	return nil
}

type localVolumes struct{ root string }

func (p *localVolumes) Provision(_ context.Context, options controller.ProvisionOptions) (*v1.PersistentVolume, controller.ProvisioningState, error) {
	if options.SelectedNodeName == "" {
		return nil, controller.ProvisioningFinished, fmt.Errorf("no node is selected: the StorageClass needs volumeBindingMode WaitForFirstConsumer")
	}
	path := filepath.Join(p.root, options.PVName)
	if err := os.MkdirAll(path, 0o770); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	return volume(options, path), controller.ProvisioningFinished, nil
}

func volume(options controller.ProvisionOptions, path string) *v1.PersistentVolume {
	mode := v1.PersistentVolumeFilesystem
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: v1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			VolumeMode:                    &mode,
			Capacity:                      v1.ResourceList{v1.ResourceStorage: options.PVC.Spec.Resources.Requests[v1.ResourceStorage]},
			PersistentVolumeSource:        v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: path}},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{
					Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{options.SelectedNodeName},
				}},
			}}}},
		},
	}
}

func (p *localVolumes) Delete(_ context.Context, volume *v1.PersistentVolume) error {
	if volume.Spec.Local == nil || !strings.HasPrefix(volume.Spec.Local.Path, p.root+string(filepath.Separator)) {
		return &controller.IgnoredError{Reason: "its directory is not below " + p.root}
	}
	return os.RemoveAll(volume.Spec.Local.Path)
}
