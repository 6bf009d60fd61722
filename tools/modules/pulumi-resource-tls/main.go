// Command pulumi-resource-tls is a plugin for the npm package @pulumi/tls.
//
// Pulumi's own plugin is HashiCorp's Terraform provider for TLS behind Pulumi's
// bridge. No other module can build that one, because its go.mod replaces a
// dependency by a folder of its repository; so the same two are joined here.
// The provider's package is internal to its module, which is why the path of
// this module lies below that of the provider.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-provider-tls/internal/provider"
	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/tokens"
)

// version is set by the linker; it has to be the version of the npm package @pulumi/tls in use.
var version string

func main() {
	info := tfbridge.ProviderInfo{
		P:       pf.ShimProvider(provider.New()),
		Name:    "tls",
		Version: version,
		// It records names that a generated SDK has given; here they follow from the provider's.
		MetadataInfo: tfbridge.NewProviderMetadata([]byte("{}")),
		// As in Pulumi's own plugin, so that either reads the state that the other has written.
		EnableZeroDefaultSchemaVersion: true,
	}
	// tls_private_key becomes tls:index/privateKey:PrivateKey, as in the npm package.
	if err := info.ComputeTokens(tokens.SingleModule("tls_", "index", tokens.MakeStandard("tls"))); err != nil {
		log.Fatalf("pulumi-resource-tls: naming the provider's resources: %v", err)
	}
	// Programs in TypeScript have their types from npm; nothing they do asks the plugin for a schema.
	pf.Main(context.Background(), "tls", info, pf.ProviderMetadata{PackageSchema: []byte("{}")})
}
