"""Outputs and contents in an object store with the S3 API."""
