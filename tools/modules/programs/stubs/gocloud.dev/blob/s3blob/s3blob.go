// Package s3blob stands in for state in S3.
package s3blob
