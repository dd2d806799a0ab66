"""What several tools share, and the parts of one that are too long for its file. No tool is declared here."""
