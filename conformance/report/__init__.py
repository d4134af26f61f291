"""Reports: pages, EARL, Markdown and badges, made of results alone. No engine is asked and no query evaluated here."""
