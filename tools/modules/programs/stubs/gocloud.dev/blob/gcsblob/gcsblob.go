// Package gcsblob stands in for state in Google's storage.
package gcsblob

const Scheme = "gs"
