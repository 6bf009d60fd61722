// Package tfgen stands in for the generator of SDKs, which downloads and parses examples to do so.
package tfgen

import (
	"errors"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
)

func GenerateSchema(tfbridge.ProviderInfo, diag.Sink) (schema.PackageSpec, error) {
	return schema.PackageSpec{}, errors.New("this plugin was built without the generator of schemas")
}
