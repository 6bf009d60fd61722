// Command pulumi-resource-kubernetes is Pulumi's Kubernetes plugin.
//
// The main package of its own module embeds two files that a release generates
// from schema.json and terraform-mapping.json beside it. The build copies these
// two next to this file instead, and gives the version.
package main

import (
	_ "embed"
	"encoding/json"
	"log"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

//go:embed generated-schema.json
var schema []byte

//go:embed generated-terraform-mapping.json
var terraformMapping []byte

// pluginVersion is set by the linker; it has to be the version of the npm package @pulumi/kubernetes in use.
var pluginVersion string

func main() {
	provider.Serve("kubernetes", pluginVersion, withVersion(schema), terraformMapping)
}

// withVersion writes the version into the package schema, as a release does when it generates the embedded file.
func withVersion(schema []byte) []byte {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(schema, &fields); err != nil {
		log.Fatalf("pulumi-resource-kubernetes: the embedded schema.json is not JSON: %v", err)
	}
	quoted, _ := json.Marshal(pluginVersion)
	fields["version"] = quoted
	versioned, err := json.Marshal(fields)
	if err != nil {
		log.Fatalf("pulumi-resource-kubernetes: writing the version into the schema: %v", err)
	}
	return versioned
}
