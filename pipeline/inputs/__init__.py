"""How the files that commands read are found and opened, here or on any filesystem."""
