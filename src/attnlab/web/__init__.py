"""The page in the browser, one file per view: parse, check, call. Loads no torch by itself."""
