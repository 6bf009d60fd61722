// Package v2 stands in for resources from YAML files: it needs the whole Go SDK of Kubernetes, which takes longer to compile than all
// the rest.
package v2

import (
	"errors"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)

func NewConfigFileProvider(*resource.ResourceProviderOptions) resource.ResourceProvider {
	return leftOut
}

func NewConfigGroupProvider(*resource.ResourceProviderOptions) resource.ResourceProvider {
	return leftOut
}

var leftOut = &resource.ResourceProviderFuncs{ConstructF: func(
	_ *pulumi.Context, typ, _ string, _ provider.ConstructInputs, _ pulumi.ResourceOption,
) (*provider.ConstructResult, error) {
	return nil, errors.New("this Kubernetes plugin was built without " + typ)
}}
