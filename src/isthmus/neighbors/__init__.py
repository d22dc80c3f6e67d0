"""Points → their nearest neighbours."""
