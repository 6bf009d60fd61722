// Package cloud stands in for secrets that are encrypted with a key in a cloud.
package cloud

import (
	"encoding/json"
	"errors"

	"github.com/pulumi/pulumi/pkg/v3/secrets"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

const Type = "cloud"

var errLeftOut = errors.New("this Pulumi CLI was built without secrets providers of clouds: use a passphrase")

func EditProjectStack(*workspace.ProjectStack, json.RawMessage) error { return errLeftOut }

func NewCloudSecretsManagerFromState(json.RawMessage) (secrets.Manager, error) { return nil, errLeftOut }

func NewCloudSecretsManager(*workspace.ProjectStack, string, bool) (secrets.Manager, error) {
	return nil, errLeftOut
}
