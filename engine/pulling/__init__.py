"""Models from elsewhere: downloaded from a hub or taken from a file, and never in place before they are whole."""
