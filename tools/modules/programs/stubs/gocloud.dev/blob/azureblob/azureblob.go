// Package azureblob stands in for state in Azure's storage.
package azureblob

import (
	"context"
	"errors"
	"net/url"

	"gocloud.dev/blob"
)

const Scheme = "azblob"

type URLOpener struct {
	MakeClient        func()
	ServiceURLOptions struct{}
}

func NewDefaultClient() {}

func NewDefaultServiceURLOptions() *struct{} { return &struct{}{} }

func (*URLOpener) OpenBucketURL(context.Context, *url.URL) (*blob.Bucket, error) {
	return nil, errors.New("this Pulumi CLI was built without Azure")
}
