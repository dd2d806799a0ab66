"""What several tools share, and parts of tools that are too long for one file. No tool is declared here."""
