// Package s3 stands in for S3.
package s3

type CopyObjectInput struct{ CopySource *string }
