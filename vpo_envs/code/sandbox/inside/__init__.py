"""What runs in the untrusted process tree. Imports nothing but the standard library and itself."""
