"""The inspector: a web page that shows what an agent learned, and how; it reads runs only."""
