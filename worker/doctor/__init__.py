"""What `turnwright doctor` looks at before anybody depends on it."""
